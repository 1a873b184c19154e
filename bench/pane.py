"""The memory screens with 50,000 entries and with 10: key to frame, preview to screen."""

from __future__ import annotations

import asyncio
import time
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path

from textual.events import Key
from textual.pilot import Pilot

from bench.live import pairs
from bench.living import Asked, answer, living, one
from bench.ratio import Ratio
from qterm.memory.stores import StoreName
from qterm.tui.app import Leave
from qterm.tui.memory.pane import MemoryScreen
from qterm.tui.memory.preview import PreviewScreen
from tests.tui.memory_stage import memory_stage, pane
from tests.tui.stage import Stage, screen_text, until

SIZE = (120, 40)
REST_SECONDS = 0.15
"""What the frame before left to do belongs to that."""

COMPARED = (
    ("key to frame in the pane, 50,000 entries : 10", 1.2, "walk", 40),
    ("key to frame in the preview, 50,000 entries : 10", 1.2, "preview-walk", 40),
    ("tag to frame, 50,000 entries : 10", 2.5, "tag", 20),
    ("preview to screen, 50,000 entries : 10", 5.0, "preview", 5),
)
"""What is compared: its name, its aim, what is done, and how often."""


class Screens:
    """The pane of one store."""

    def __init__(self, on: Stage, pilot: Pilot[Leave]) -> None:
        self.on, self.pilot = on, pilot
        self.words, self.drawn = "", asyncio.Event()
        self.step = 1
        on.app.post_display_hook = self._look  # type: ignore[method-assign]

    def _look(self) -> None:
        if self.words and self.words in screen_text(self.on.app):
            self.drawn.set()

    async def press(self, key: str, words: str) -> float:
        """Seconds from a key that arrives to the frame with these words."""
        await asyncio.sleep(REST_SECONDS)
        self.drawn.clear()
        self.words = words
        event = Key(key, key if len(key) == 1 else None)
        event.set_sender(self.on.app)
        start = time.perf_counter()
        self.on.app.post_message(event)
        await asyncio.wait_for(self.drawn.wait(), 60)
        return time.perf_counter() - start

    async def measure(self, what: str) -> float:
        """One of the things that are compared."""
        if what == "preview":
            seconds = await self.press("p", "→")
            await self.pilot.press("escape")
            await until(self.pilot, lambda: isinstance(self.on.app.screen, MemoryScreen))
            return seconds
        if what == "tag":
            pane(self.on).rows.cursor = 2
            await self.pilot.pause()
            seconds = await self.press("1", "Not saved yet")
            await self.pilot.press("u")
            await until(self.pilot, lambda: "Not saved yet" not in screen_text(self.on.app))
            return seconds
        if what == "preview-walk" and not isinstance(self.on.app.screen, PreviewScreen):
            await self.pilot.press("p")
            await until(self.pilot, lambda: "→" in screen_text(self.on.app))
        screen = self.on.app.screen
        assert isinstance(screen, MemoryScreen | PreviewScreen)
        row = screen.rows.cursor
        self.step = -1 if row >= 8 else 1 if row <= 1 else self.step
        words = f"the {row + self.step}th of the store, whole"
        return await self.press("down" if self.step == 1 else "up", words)


async def _run(folder: Path, entries: int, asked: Asked, ready: asyncio.Event) -> None:
    made = [f"[P{n % 3 + 1}] Entry, the {n}th of the store, whole" for n in range(entries)]
    async with memory_stage(folder, {StoreName.MEMORY: made}) as on:
        on.app.animation_level = "none"
        async with on.shown(SIZE) as pilot:
            await pilot.press("f4")
            await until(pilot, lambda: isinstance(on.app.screen, MemoryScreen))
            await until(pilot, lambda: pane(on).rows.count == entries, bound=60)
            await answer(asked, ready, Screens(on, pilot).measure)


async def ratios(folder: Path) -> list[Ratio]:
    """The ratios; `folder` is a scratch folder."""
    found = []
    for number, (name, aim, what, runs) in enumerate(COMPARED):
        async with AsyncExitStack() as screens:
            asked = [
                await screens.enter_async_context(
                    living(partial(_run, folder / f"{number}-{entries}", entries))
                )
                for entries in (50_000, 10)
            ]
            many, few = (partial(one, each, what) for each in asked)
            found.append(await pairs(name, aim, many, few, runs=runs))
    return found
