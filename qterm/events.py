"""What the Conversation tells its faces: typed events, one turn's in the order of its steps."""

from __future__ import annotations

import msgspec

from qterm.context import QContext
from qterm.hermes import way as hermes
from qterm.model import Degraded, Turn


class Accepted(msgspec.Struct, frozen=True):
    """The operator's message is stored; from here on it can't be lost."""

    turn: Turn


class Waiting(msgspec.Struct, frozen=True):
    """The message waits for others of its thread, `ahead` of them."""

    turn: Turn
    ahead: int


class TakenBack(msgspec.Struct, frozen=True):
    """The message was taken back while it waited; it is in the feed no more."""

    turn: Turn


class ContextReady(msgspec.Struct, frozen=True):
    """What goes with the message; `context` is None where it was given or there is none."""

    turn: Turn
    context: QContext | None
    degraded: Degraded | None


class Began(msgspec.Struct, frozen=True):
    """hermes is at work. `approvals` is what is in force for this turn (rule A1)."""

    turn: Turn
    approvals: hermes.Approvals
    transport: hermes.Transport = hermes.Transport.SPAWN


class ReplyText(msgspec.Struct, frozen=True):
    """More of Q's answer; `reply` is Q's turn, its text as last stored."""

    turn: Turn
    reply: Turn
    delta: str


class Meanwhile(msgspec.Struct, frozen=True):
    """What happens while Q works and is no part of the answer: tools, thoughts, the plan, how full
    the session is, and requests that `Conversation.answer` answers. It is not stored."""

    turn: Turn
    what: hermes.Happening


class Finished(msgspec.Struct, frozen=True):
    """The turn is over and stored: its state says how. `reply` is Q's turn, if anything came."""

    turn: Turn
    reply: Turn | None
    failure: hermes.Failed | None = None


class NotStored(msgspec.Struct, frozen=True):
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
