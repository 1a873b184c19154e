"""The nouns of qterm: personas, turns, facts, the mode, tasks and threads.

Frozen, and with no behaviour but their own: nothing here reads a file, a clock or a screen.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum

YOU = "you"
"""The operator's persona key. Nobody else can post as it (rule C4)."""

Q = "q"
"""Q's persona key. Nobody can post as it (rule C4)."""

RESERVED_PERSONAS = frozenset({YOU, Q})


class TurnState(StrEnum):
    """Where a turn stands (docs/rules.md, *Turn states*).

    A posted message of Mallory or Moneypenny is `SENT` from the start.
    """

    QUEUED = "queued"
    PENDING = "pending"
    SENT = "sent"
    FAILED = "failed"
    STOPPED = "stopped"
    INTERRUPTED = "interrupted"

    @property
    def is_open(self) -> bool:
        """True while the turn still waits for its outcome."""
        return self in {TurnState.QUEUED, TurnState.PENDING}

    @property
    def can_be_sent_again(self) -> bool:
        """True for an outcome after which the operator may send the same text once more."""
        return self in {TurnState.FAILED, TurnState.INTERRUPTED, TurnState.STOPPED}


SAID = frozenset({TurnState.SENT, TurnState.STOPPED})
"""The states whose turns belong to a transcript (rule C5)."""


class Degraded(StrEnum):
    """What a sent turn had to go without; shown beside it (rules C6 and S5)."""

    NO_CONTEXT = "no-context"
    ONE_SHOT = "one-shot"

    @property
    def sentence(self) -> str:
        """What it means for the operator, one line."""
        return {
            Degraded.NO_CONTEXT: "Q got this message without its context",
            Degraded.ONE_SHOT: "answered outside the task's session",
        }[self]


class Approvals(StrEnum):
    """What hermes does before a dangerous command (rule A1)."""

    ASK = "ask"
    DENY = "deny"
    BYPASS = "bypass"


@dataclass(frozen=True, slots=True)
class Persona:
    """Somebody who speaks in the feed. `colour` is a name or `#rrggbb`, and only ever helps."""

    key: str
    label: str
    colour: str = ""


@dataclass(frozen=True, slots=True)
class Owner:
    """The process that works on an open turn: its id, and a token of when it started."""

    pid: int
    started: str

    def __str__(self) -> str:
        """`PID:TOKEN`, as the store keeps it."""
        return f"{self.pid}:{self.started}"

    @classmethod
    def parse(cls, text: str) -> Owner | None:
        """Read what `str` wrote; None for anything else."""
        pid, _, started = text.partition(":")
        return cls(int(pid), started) if pid.isdigit() and started else None


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of one persona in one thread.

    `id` grows with time over the whole feed. `task_id` None is the home thread. `reply_to` is set
    on Q's turns: the operator's turn it answers. `reason` is one sentence for a turn that did not
    end well, `detail` what can be unfolded below it. `elapsed` is in seconds. `again_of` is the
    turn whose text this one sends once more.
    """

    id: int
    task_id: str | None
    persona: str
    text: str
    state: TurnState
    created_at: datetime
    reply_to: int | None = None
    hidden: bool = False
    degraded: Degraded | None = None
    reason: str = ""
    detail: str = ""
    elapsed: float | None = None
    owner: Owner | None = None
    again_of: int | None = None


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing worth knowing about the operator. `position` counts from 1, pinned ones first."""

    id: int
    text: str
    pinned: bool
    position: int


@dataclass(frozen=True, slots=True)
class Mode:
    """What the operator is at ("Deep work"), with the time at which it is over, if there is one."""

    text: str
    until: datetime | None = None

    def is_over(self, now: datetime) -> bool:
        """True once its time has passed: such a mode is not sent."""
        return self.until is not None and now >= self.until


def utc(moment: datetime) -> datetime:
    """The same moment in UTC; a naive one is taken for UTC already."""
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
