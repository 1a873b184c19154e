"""What the Conversation tells its faces: typed events, one turn's in the order of its steps."""

from __future__ import annotations

from dataclasses import dataclass

from qterm.context import QContext
from qterm.hermes import way as hermes
from qterm.model import Degraded, Turn


@dataclass(frozen=True, slots=True)
class Accepted:
    """The operator's message is stored; from here on it can't be lost."""

    turn: Turn


@dataclass(frozen=True, slots=True)
class Waiting:
    """The message waits for others of its thread, `ahead` of them."""

    turn: Turn
    ahead: int


@dataclass(frozen=True, slots=True)
class TakenBack:
    """The message was taken back while it waited; it is in the feed no more."""

    turn: Turn


@dataclass(frozen=True, slots=True)
class ContextReady:
    """What goes with the message; `context` is None where it was given or there is none."""

    turn: Turn
    context: QContext | None
    degraded: Degraded | None


@dataclass(frozen=True, slots=True)
class Began:
    """hermes is at work. `approvals` is what is in force for this turn (rule A1)."""

    turn: Turn
    approvals: hermes.Approvals
    transport: hermes.Transport = hermes.Transport.SPAWN


@dataclass(frozen=True, slots=True)
class ReplyText:
    """More of Q's answer; `reply` is Q's turn, its text as last stored."""

    turn: Turn
    reply: Turn
    delta: str


@dataclass(frozen=True, slots=True)
class Meanwhile:
    """What happens while Q works and is no part of the answer: tools, thoughts, the plan, how full
    the session is, and requests that `Conversation.answer` answers. It is not stored."""

    turn: Turn
    what: hermes.Happening


@dataclass(frozen=True, slots=True)
class Finished:
    """The turn is over and stored: its state says how. `reply` is Q's turn, if anything came."""

    turn: Turn
    reply: Turn | None
    failure: hermes.Failed | None = None


@dataclass(frozen=True, slots=True)
class NotStored:
    """The outcome could not be stored: here are its words. It is tried again until `close`."""

    turn: Turn
    text: str
    reason: str


Event = (
    Accepted
    | Waiting
    | TakenBack
    | ContextReady
    | Began
    | ReplyText
    | Meanwhile
    | Finished
    | NotStored
)
