"""The seam to hermes: one turn goes in, typed events come out, whatever runs behind it.

Spawning the command line is the first way (`spawn.py`). A hermes that is kept running and a hermes
on another machine come in behind the same protocol: the Conversation and the faces know only this.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Protocol

import msgspec

from qterm.model import Approvals

__all__ = [
    "Answer",
    "Approval",
    "Approvals",
    "Asked",
    "AskedNoMore",
    "CommandsSeen",
    "Diff",
    "Failed",
    "FailureKind",
    "Happening",
    "HermesCommand",
    "HermesEvent",
    "HermesRequest",
    "HermesWay",
    "ModesSeen",
    "Outcome",
    "PlanSeen",
    "PlanStep",
    "Replied",
    "SessionMode",
    "SessionRecord",
    "SessionSeen",
    "SessionState",
    "Standing",
    "Started",
    "Stopped",
    "TextDelta",
    "ThoughtDelta",
    "ToolSeen",
    "Transport",
    "UsageSeen",
]


@dataclass(frozen=True, slots=True)
class HermesRequest:
    """One turn for hermes.

    `key` names the turn for `stop`. `prompt` is the whole text: the context block, if any, and the
    message. `session` is the id to continue, None for a call of its own. `cwd` is the folder hermes
    runs in, `timeout` in seconds, None for no limit. `is_task` chooses how the call is marked in
    hermes's own list of sessions. `is_command` says that the text is meant for hermes itself
    (`/compact`); else it reaches the model whatever it begins with.
    """

    key: str
    prompt: str
    cwd: Path
    session: str | None = None
    is_task: bool = False
    timeout: float | None = None
    is_command: bool = False


class Transport(StrEnum):
    """How hermes is reached: kept running, or started for each turn."""

    LIVE = "live"
    SPAWN = "spawn"


class Standing(msgspec.Struct, frozen=True):
    """Which transport the next turn takes, and why, in one sentence for the operator."""

    transport: Transport
    why: str


class Started(msgspec.Struct, frozen=True):
    """The call is on its way. `approvals` is what is really in force (rule A1)."""

    approvals: Approvals
    transport: Transport = Transport.SPAWN


class SessionSeen(msgspec.Struct, frozen=True):
    """hermes named the session this turn runs in."""

    session: str


class TextDelta(msgspec.Struct, frozen=True):
    """More of the answer, to be added to what came before."""

    text: str


class ThoughtDelta(msgspec.Struct, frozen=True):
    """More of what the model thinks before it answers; no part of the answer."""

    text: str


class Diff(msgspec.Struct, frozen=True):
    """What an edit would make of a file; `old` is None for a new one."""

    path: str
    old: str | None
    new: str


class ToolSeen(msgspec.Struct, frozen=True):
    """hermes runs a tool, or one has ended; the same call is seen again as it goes on.

    `state` is hermes's own word: ACP's are `pending`, `in_progress`, `completed` and `failed`. `id`
    names the call (empty where hermes does not say), `name` is its title, `kind` ACP's (`execute`,
    `edit`, `read`, …). `detail` has its arguments and `result` what it gave back, as text; where a
    later sighting leaves one of them empty the earlier one holds.
    """

    name: str
    state: str
    detail: str = ""
    id: str = ""
    kind: str = ""
    result: str = ""
    diffs: tuple[Diff, ...] = ()

    @property
    def is_over(self) -> bool:
        """Whether it runs no more."""
        return self.state in {"completed", "failed"}


class PlanStep(msgspec.Struct, frozen=True):
    """A step of hermes's plan; `state` is ACP's: `pending`, `in_progress`, `completed`."""

    text: str
    state: str


class PlanSeen(msgspec.Struct, frozen=True):
    """hermes's plan, whole; it takes the place of the one before."""

    steps: tuple[PlanStep, ...]


class UsageSeen(msgspec.Struct, frozen=True):
    """How full the session is: tokens `used` of the `size` the model takes."""

    used: int
    size: int


class SessionMode(msgspec.Struct, frozen=True):
    """How freely hermes edits files in a session: `id` for hermes, the others for people."""

    id: str
    name: str
    description: str = ""


class ModesSeen(msgspec.Struct, frozen=True):
    """The session's mode (an id), and those there are."""

    current: str
    modes: tuple[SessionMode, ...]


class HermesCommand(msgspec.Struct, frozen=True):
    """A command of hermes's own that a message can begin with; `hint` says what follows it."""

    name: str
    description: str
    hint: str = ""


class CommandsSeen(msgspec.Struct, frozen=True):
    """The commands hermes takes in this session."""

    commands: tuple[HermesCommand, ...]


class Answer(StrEnum):
    """What the operator says to a request (rule A1)."""

    ONCE = "once"
    SESSION = "session"
    ALWAYS = "always"
    DENY = "deny"


class Approval(msgspec.Struct, frozen=True):
    """hermes asks before it acts (rule A1). All texts are hermes's: they are foreign.

    `id` names the request within its turn. `what` is the command or the edit, whole; `where` the
    folder or file; `why` hermes's reason for asking, and what ALWAYS would write into its config.
    `answers` are those hermes takes (DENY always is), `seconds` until hermes denies by itself.
    """

    id: str
    what: str
    where: str
    why: str
    kind: str
    answers: frozenset[Answer]
    seconds: float
    diffs: tuple[Diff, ...] = ()


class Asked(msgspec.Struct, frozen=True):
    """A request stands and hermes waits for `HermesWay.answer`."""

    approval: Approval


class AskedNoMore(msgspec.Struct, frozen=True):
    """A request (by its id) is over: answered so, or None where time or the turn ran out."""

    id: str
    answer: Answer | None


class FailureKind(StrEnum):
    """Why a turn failed, as far as somebody has to act differently on it."""

    NO_HERMES = "no-hermes"
    NO_MODEL = "no-model"
    TOO_LARGE = "too-large"
    TIMEOUT = "timeout"
    IN_USE = "session-in-use"
    SESSION_LOST = "session-lost"
    ELSEWHERE = "session-elsewhere"
    PROVIDER = "provider"
    EMPTY = "empty"
    CRASHED = "crashed"


class Replied(msgspec.Struct, frozen=True):
    """The turn ended well. `text` is the whole answer."""

    text: str
    session: str | None = None


class Failed(msgspec.Struct, frozen=True):
    """The turn ended badly. `reason` is one sentence with what to do; `detail` can be unfolded.

    `session` is the id hermes named all the same, `partial` what had come of the answer.
    """

    kind: FailureKind
    reason: str
    detail: str = ""
    session: str | None = None
    partial: str = ""


class Stopped(msgspec.Struct, frozen=True):
    """The operator stopped the turn. `partial` is what had come of the answer.

    `note` is a sentence for the operator where it is not known that everything has ended.
    """

    partial: str = ""
    session: str | None = None
    note: str = ""


Outcome = Replied | Failed | Stopped
Happening = (
    ToolSeen | ThoughtDelta | PlanSeen | UsageSeen | ModesSeen | CommandsSeen | Asked | AskedNoMore
)
"""What happens on the way to an answer and is no part of it; it is shown and not stored."""

HermesEvent = Started | SessionSeen | TextDelta | Happening | Outcome


class SessionState(StrEnum):
    """Whether hermes has a session. Only GONE lets go of a binding (rule S5)."""

    THERE = "there"
    GONE = "gone"
    UNKNOWN = "unknown"


class SessionRecord(msgspec.Struct, frozen=True):
    """A session as hermes keeps it: its title, and each message's role and text in order."""

    state: SessionState
    title: str = ""
    messages: tuple[tuple[str, str], ...] = ()


class HermesWay(Protocol):
    """A way to talk with hermes."""

    async def carries(self, prompt: str, *, is_task: bool = False) -> bool:
        """Whether a call can take this text at all (rule C6); never starts the turn."""
        ...

    async def identity(self) -> str:
        """Which hermes this is, `MACHINE:HOME`: a session id means something only there (S3).

        Empty where there is no hermes; `send` then says why.
        """
        ...

    async def name_session(self, session: str, name: str) -> bool:
        """Give a session a title; whether it has it now. Never raises (rule S3)."""
        ...

    async def read_session(self, session: str) -> SessionRecord:
        """What hermes holds under this id. Never raises."""
        ...

    def send(self, request: HermesRequest) -> AsyncIterator[HermesEvent]:
        """Run one turn. Yields `Started` first and exactly one `Outcome`, last; never raises.

        A consumer that leaves early does not end the turn: `stop` or `close` does.
        """
        ...

    async def answer(self, key: str, approval_id: str, answer: Answer) -> bool:
        """Answer a request of the turn with this key; False where it stands no more (rule A1)."""
        ...

    async def set_mode(self, session: str, mode: str) -> bool:
        """Set a session's mode for its turns from now on; whether hermes took it."""
        ...

    async def standing(self) -> Standing:
        """Which transport the next turn takes. Never raises; may start a short look at hermes."""
        ...

    def warm(self, folder: Path | None = None) -> None:
        """Begin in the background whatever makes the next turn quick; returns at once.

        `folder` is a task's whose first message is about to be written: hermes reads what it finds
        where it was started.
        """
        ...

    async def stop(self, key: str) -> None:
        """End the turn with this key, and all it started; returns when nothing of it is left."""
        ...

    async def close(self) -> None:
        """End everything, quickly (hermes gets 2 s); afterwards nothing may be sent."""
        ...
