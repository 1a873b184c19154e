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

QTERM = "qterm"
"""The key of qterm's own lines in a thread ("reopened: Q starts fresh"). Never told to Q."""

RESERVED_PERSONAS = frozenset({YOU, Q, QTERM})


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


class TransportChoice(StrEnum):
    """How hermes is to be reached; AUTO is live where hermes can, else spawn."""

    AUTO = "auto"
    LIVE = "live"
    SPAWN = "spawn"


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
        is_number = pid.isdecimal() and len(pid) < 20
        return cls(int(pid), started) if is_number and started else None


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of one persona in one thread.

    `id` grows with time over the whole feed. `task_id` None is the home thread. `reply_to` is set
    on Q's turns: the operator's turn it answers. `reason` is one sentence for a turn that did not
    end well, `detail` what can be unfolded below it. `elapsed` is in seconds. `again_of` is the
    turn whose text this one sends once more. `run` is the task's run (0 at home).
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
    run: int = 0


class TaskState(StrEnum):
    """Where a task stands. A done or cancelled one is read-only until it is reopened (rule S8)."""

    OPEN = "open"
    DONE = "done"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class Session:
    """The hermes session a task's run is bound to (rule S3).

    `id` is what hermes calls it, `hermes` which hermes it lives in (machine and home), `name` the
    title qterm gave it, empty as long as that has not worked.
    """

    id: str
    hermes: str
    name: str = ""


TURNS_CAP = 1_000
"""How far the turns of a task are counted where all tasks are read."""


@dataclass(frozen=True, slots=True)
class LastWord:
    """The newest thing that was said in a task: who said it, how it begins, and when."""

    persona: str
    text: str
    said_at: datetime


@dataclass(frozen=True, slots=True)
class Task:
    """One task with its thread.

    `run` counts from 1 and grows when the task is reopened. `lost` is how many sessions of this
    run hermes no longer has (rule S5). `turns` counts the operator's and Q's turns of this run, in
    a list of tasks only up to `TURNS_CAP`; `seen` is the newest turn that was shown, `newest` the
    newest there is, `heard` the newest that is not the operator's (0 for none). `last` is None
    where nothing was said yet.
    """

    id: str
    title: str
    state: TaskState
    cwd: str
    run: int
    created_at: datetime
    session: Session | None = None
    lost: int = 0
    turns: int = 0
    seen: int = 0
    newest: int = 0
    heard: int = 0
    last: LastWord | None = None

    @property
    def session_name(self) -> str:
        """The name a session of this run should have (rules S1 and S2)."""
        return f"q-task-{self.id}" + (f"-r{self.run}" if self.run > 1 else "")

    @property
    def is_unread(self) -> bool:
        """Whether something has come that was not shown yet."""
        return self.heard > self.seen


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
