"""The home thread: every turn is a call of its own, with a context block (rules C1 to C6)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from qterm.context import QContext, reading_limit
from qterm.feed.source import FeedSource
from qterm.hermes.way import Failed, HermesWay, Outcome
from qterm.model import Degraded, Fact, Mode, Turn
from qterm.private import private_folder
from qterm.settings.schema import Settings
from qterm.threads.thread import Composed, render

log = logging.getLogger(__name__)

CONTEXT_SECONDS = 2.0
"""How long the making of a context may take before the message goes bare (rule C6)."""


@dataclass(slots=True)
class HomeThread:
    """The home thread. `given` is the context that came with the frame (rule F1), None for none;
    `home_cwd` is where each turn gets an empty folder (rule S8). `notes` reads the working notes,
    newest first (rule M5); it is called in a worker thread."""

    feed: FeedSource
    way: HermesWay
    settings: Settings
    home_cwd: Path
    now: Callable[[], datetime]
    given: str | None = None
    notes: Callable[[], Sequence[str]] = tuple
    is_task: bool = False
    session: str | None = None

    @property
    def timeout(self) -> float | None:
        """Seconds after which a turn is ended."""
        return self.settings.timeouts.home or None

    async def context(self) -> QContext:
        """What Q would be told with a home message now.

        A message that is being sent is not in it, since it is pending (rule C5); an answer that
        came while it waited is, though that one's id is the higher.
        """
        caps = self.settings.caps
        turns, older = await self.feed.transcript(None, limit=caps.turns, chars=reading_limit(caps))
        facts, mode = await self.feed.facts(), await self.feed.mode()
        return await asyncio.to_thread(self._render, turns, facts, mode, older)

    def _render(
        self, turns: list[Turn], facts: list[Fact], mode: Mode | None, older: int
    ) -> QContext:
        return render(self.settings, turns, facts, mode, self.notes(), now=self.now(), older=older)

    async def compose(self, text: str) -> Composed:
        """Block and message, or the bare message (rules C2, C6, F1)."""
        context, block, degraded = None, self.given, None
        if block is None:
            try:
                async with asyncio.timeout(CONTEXT_SECONDS):
                    context = await self.context()
                block = context.text
            except Exception as error:  # noqa: BLE001 - whatever it is, the message still goes (C6)
                log.warning("a message goes without context: %s", type(error).__name__)
                degraded, block = Degraded.NO_CONTEXT, ""
        prompt = f"{block}\n\n{text}" if block else text
        if block and not await self.way.carries(prompt):
            degraded, prompt = Degraded.NO_CONTEXT, text
        return Composed(prompt, context, degraded)

    async def refusal(self) -> Failed | None:
        """Nothing stands against a call of its own."""
        return None

    @asynccontextmanager
    async def folder(self, turn: Turn) -> AsyncIterator[Path]:
        """An empty folder; what Q leaves there is kept, and is no instruction for the next turn."""
        cwd = self.home_cwd / str(turn.id)
        await asyncio.to_thread(private_folder, cwd)
        try:
            yield cwd
        finally:
            with suppress(OSError):
                cwd.rmdir()

    async def saw(self, session: str) -> None:
        """A home turn is never continued (rule C1)."""

    async def without_session(self, text: str) -> Composed | None:
        """There is no session to lose."""
        return None

    async def outcome(self, outcome: Outcome) -> None:
        """Nothing is bound."""

    async def settle(self, outcome: Outcome) -> None:
        """Nothing is named."""
