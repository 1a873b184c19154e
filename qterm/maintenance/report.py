"""What a pass did, step by step, and what is said of it (pure)."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

import msgspec


class StepState(StrEnum):
    """How a step of a pass ended."""

    DONE = "done"
    FAILED = "failed"
    SKIPPED = "skipped"
    """It is not set up; its sentence, if it has one, is worth saying once."""


class Step(msgspec.Struct, frozen=True):
    """One step: which, how it ended, one sentence, how many of what, how long it took in seconds.

    A step that was skipped without a sentence is switched off.
    """

    name: str
    state: StepState
    sentence: str = ""
    counts: Mapping[str, int] = msgspec.field(default_factory=dict)
    seconds: float = 0.0
    changed: bool = False

    @property
    def line(self) -> str:
        """The step in one line, with how long it took."""
        if self.state is StepState.SKIPPED:
            return self.sentence
        return f"{self.sentence.removesuffix('.')} ({self.seconds:.1f} s)."


class Outcome(StrEnum):
    """What came of asking the gate."""

    OFF = "off"
    NOT_DUE = "not-due"
    BUSY = "busy"
    """Another process is at it."""
    WAITING = "waiting"
    """The last try of this process failed a short while ago."""
    NOTHING = "nothing"
    """The pass is due, but no step is set up."""
    DONE = "done"
    FAILED = "failed"


class Report(msgspec.Struct, frozen=True):
    """What came of asking the gate; times are milliseconds since the epoch, the window
    milliseconds. `last` is the last pass that succeeded, as it is known now."""

    outcome: Outcome
    now: int
    window: float = 0.0
    last: int | None = None
    steps: tuple[Step, ...] = ()
    trouble: str = ""

    @property
    def has_run(self) -> bool:
        """Whether a step was run."""
        return self.outcome in {Outcome.DONE, Outcome.FAILED}

    @property
    def lines(self) -> tuple[str, ...]:
        """What is worth telling the operator, a line a step; `trouble` last."""
        said = tuple(step.line for step in self.steps if step.sentence)
        return (*said, self.trouble) if self.trouble else said


def worked_out(steps: tuple[Step, ...]) -> Outcome:
    """What a pass of these steps came to."""
    states = {step.state for step in steps}
    if StepState.FAILED in states:
        return Outcome.FAILED
    return Outcome.DONE if StepState.DONE in states else Outcome.NOTHING
