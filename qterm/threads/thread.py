"""What an exchange with hermes needs to know of a thread, and the making of a context block."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Protocol

from qterm.context import QContext, render_q_context
from qterm.hermes.way import Failed, Outcome
from qterm.model import Degraded, Fact, Mode, Turn
from qterm.settings.schema import Settings


@dataclass(frozen=True, slots=True)
class Composed:
    """A message with what goes in front of it: the `prompt` as hermes gets it."""

    prompt: str
    context: QContext | None = None
    degraded: Degraded | None = None


class Thread(Protocol):
    """What an exchange needs to know of the thread its turn belongs to."""

    @property
    def is_task(self) -> bool:
        """Whether this is a task's thread."""
        ...

    @property
    def session(self) -> str | None:
        """The id of the session to continue, None for a call of its own."""
        ...

    @property
    def timeout(self) -> float | None:
        """Seconds after which a turn is ended, None for never."""
        ...

    async def compose(self, text: str) -> Composed:
        """The text for hermes."""
        ...

    async def refusal(self) -> Failed | None:
        """Why nothing may be sent into this thread's session from here; None when it may."""
        ...

    def folder(self, turn: Turn) -> AbstractAsyncContextManager[Path]:
        """The folder hermes runs in, for the length of the turn; may raise OSError."""
        ...

    async def saw(self, session: str) -> None:
        """hermes named the session while the turn runs."""
        ...

    async def without_session(self, text: str) -> Composed | None:
        """The text for a call outside of a session that is gone (rule S5); None for no call."""
        ...

    async def outcome(self, outcome: Outcome) -> None:
        """The turn has ended; before it is stored."""
        ...

    async def settle(self, outcome: Outcome) -> None:
        """The turn is stored and shown; a failure here is nobody's business but the log's."""
        ...


def render(
    settings: Settings,
    turns: list[Turn],
    facts: list[Fact],
    mode: Mode | None,
    notes: Sequence[str] = (),
    *,
    now: datetime,
    older: int,
) -> QContext:
    """The block with the settings' labels, caps and operator (rule C2)."""
    return render_q_context(
        turns,
        facts,
        mode,
        notes,
        labels={persona.key: persona.label for persona in settings.personas},
        operator=settings.operator,
        now=now,
        caps=settings.caps,
        older_turns=older,
    )
