"""What hermes asks before it acts: the requests that stand, in their order (no widget in here)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

from qterm.hermes.way import Answer, Approval
from qterm.model import Turn

LATE = 1.0
"""So many seconds before its end a request that ended is taken to have run out of time."""


@dataclass(slots=True)
class Request:
    """A request of one turn; `until` is when hermes denies by itself, in seconds of the clock."""

    turn: Turn
    approval: Approval
    until: float
    rung: bool = False

    @property
    def key(self) -> tuple[int, str]:
        """It is told apart by its turn and its id there."""
        return self.turn.id, self.approval.id

    def left(self, now: float) -> int | None:
        """The whole seconds that are left; None where hermes says nothing of a limit."""
        return None if math.isinf(self.until) else max(math.ceil(self.until - now), 0)


@dataclass(slots=True)
class Requests:
    """The requests that stand. `clock` gives seconds that never go back."""

    clock: Callable[[], float]
    _standing: dict[tuple[int, str], Request] = field(default_factory=dict)

    def add(self, turn: Turn, approval: Approval) -> Request:
        """hermes asks."""
        until = self.clock() + approval.seconds if approval.seconds > 0 else math.inf
        request = Request(turn, approval, until)
        self._standing[request.key] = request
        return request

    def take(self, turn_id: int, approval_id: str) -> Request | None:
        """A request is answered, or over; returns it where it stood."""
        return self._standing.pop((turn_id, approval_id), None)

    def drop(self, turn_id: int) -> list[Request]:
        """A turn is over: nothing of it can be answered any more."""
        keys = [key for key in self._standing if key[0] == turn_id]
        return [self._standing.pop(key) for key in keys]

    def of(self, task_id: str | None) -> list[Request]:
        """The requests of one thread, the oldest first."""
        return [each for each in self._standing.values() if each.turn.task_id == task_id]

    def first(self) -> Request | None:
        """The one that has stood for the longest."""
        return next(iter(self._standing.values()), None)

    def elsewhere(self, task_id: str | None, *, here: bool) -> list[Request]:
        """Those of other threads than the one on the screen; of all where none is `here`."""
        standing = self._standing.values()
        return [each for each in standing if not here or each.turn.task_id != task_id]

    def end_words(self, request: Request, answer: Answer | None) -> str:
        """How a request ended that was not answered on this screen."""
        if answer is not None:
            verb = "denied" if answer is Answer.DENY else "allowed"
            return f"It was {verb} elsewhere."
        if self.clock() >= request.until - LATE:
            return f"hermes denied it itself after {request.approval.seconds:g} s."
        return "hermes asks no more: the turn went on or ended without an answer."
