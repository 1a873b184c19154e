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

from qterm.model import Approvals

__all__ = [
    "Approvals",
    "Failed",
    "FailureKind",
    "HermesEvent",
    "HermesRequest",
    "HermesWay",
    "Outcome",
    "Replied",
    "SessionRecord",
    "SessionSeen",
    "SessionState",
    "Started",
    "Stopped",
    "TextDelta",
    "ToolSeen",
]


@dataclass(frozen=True, slots=True)
class HermesRequest:
    """One turn for hermes.

    `key` names the turn for `stop`. `prompt` is the whole text: the context block, if any, and the
    message. `session` is the id to continue, None for a call of its own. `cwd` is the folder hermes
    runs in, `timeout` in seconds, None for no limit. `is_task` chooses how the call is marked in
    hermes's own list of sessions.
    """

    key: str
    prompt: str
    cwd: Path
    session: str | None = None
    is_task: bool = False
    timeout: float | None = None


@dataclass(frozen=True, slots=True)
class Started:
    """The call is on its way. `approvals` is what is really in force (rule A1)."""

    approvals: Approvals


@dataclass(frozen=True, slots=True)
class SessionSeen:
    """hermes named the session this turn runs in."""

    session: str


@dataclass(frozen=True, slots=True)
class TextDelta:
    """More of the answer, to be added to what came before."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolSeen:
    """hermes runs a tool, or one has ended. `state` is hermes's own word for it."""

    name: str
    state: str
    detail: str = ""


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


@dataclass(frozen=True, slots=True)
class Replied:
    """The turn ended well. `text` is the whole answer."""

    text: str
    session: str | None = None


@dataclass(frozen=True, slots=True)
class Failed:
    """The turn ended badly. `reason` is one sentence with what to do; `detail` can be unfolded.

    `session` is the id hermes named all the same, `partial` what had come of the answer.
    """

    kind: FailureKind
    reason: str
    detail: str = ""
    session: str | None = None
    partial: str = ""


@dataclass(frozen=True, slots=True)
class Stopped:
    """The operator stopped the turn. `partial` is what had come of the answer.

    `note` is a sentence for the operator where it is not known that everything has ended.
    """

    partial: str = ""
    session: str | None = None
    note: str = ""


Outcome = Replied | Failed | Stopped
HermesEvent = Started | SessionSeen | TextDelta | ToolSeen | Outcome


class SessionState(StrEnum):
    """Whether hermes has a session. Only GONE lets go of a binding (rule S5)."""

    THERE = "there"
    GONE = "gone"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class SessionRecord:
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

    async def stop(self, key: str) -> None:
        """End the turn with this key, and all it started; returns when nothing of it is left."""
        ...

    async def close(self) -> None:
        """End everything, quickly (hermes gets 2 s); afterwards nothing may be sent."""
        ...
