"""From Q's words to the drawn frame, below a long feed and below a short one."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from textual.pilot import Pilot

from bench.feed import FILL
from bench.live import pairs
from bench.ratio import Ratio
from qterm.events import ReplyText
from qterm.feed.store import open_store
from qterm.hermes.way import Replied, TextDelta
from qterm.private import private_folder
from qterm.tui.app import Leave
from qterm.tui.messages import Happened
from qterm.tui.widgets.turn import TurnView
from tests.tui.stage import Stage, screen_text, stage, until

SIZE = (120, 40)
BEGIN = "So **far** it is"
REST_SECONDS = 0.15
"""What the frame before left to do belongs to that."""

ANSWER = """All **green**:

- no errors since `08:51`
- 14 files

Nothing else."""


class Screen:
    """The app at the end of a feed, with an answer that is coming. It lives in a task of its own,
    as the app that runs in a task is known by it."""

    def __init__(self, on: Stage, pilot: Pilot[Leave]) -> None:
        self.on, self.pilot = on, pilot
        self.number = 0
        self.word, self.drawn = "", asyncio.Event()
        on.app.post_display_hook = self._look  # type: ignore[method-assign]

    def _look(self) -> None:
        if self.word and self.word in screen_text(self.on.app):
            self.drawn.set()

    async def begin(self) -> None:
        """Ask, and wait for the first words."""
        self.on.way.script = lambda _: [TextDelta(BEGIN), Replied(BEGIN)]
        self.on.way.hold()
        await self.pilot.press(*"go", "enter")
        await until(self.pilot, lambda: "So far it is" in screen_text(self.on.app))
        await self.pilot.pause(1.0)

    async def token(self) -> float:
        """Seconds from the event with a word to the frame that holds it."""
        home = self.on.app.home
        assert home is not None
        reply = home.feed.window.turns[-1]
        asked = home.feed.window.find(reply.reply_to or 0)
        assert asked is not None
        await asyncio.sleep(REST_SECONDS)
        self.number += 1
        self.drawn.clear()
        self.word = f"w{self.number}x"
        space = " " if self.number % 10 else "\n\n"  # lines fill, and new ones begin
        start = time.perf_counter()
        home.post_message(Happened(ReplyText(asked, reply, space + self.word)))
        await asyncio.wait_for(self.drawn.wait(), 30)
        return time.perf_counter() - start


Asked = asyncio.Queue["asyncio.Future[float] | None"]


async def _fill(folder: Path, turns: int) -> None:
    data = private_folder(folder / "data")
    store = await open_store(data / "feed.db", locks_dir=data / "locks")
    await store.close()
    with sqlite3.connect(data / "feed.db") as connection:
        connection.execute(FILL, (turns, int((time.time() - turns) * 1000)))
        connection.execute("UPDATE turns SET text = ? WHERE persona = 'q'", (ANSWER,))
        connection.execute("UPDATE revisions SET rev = ? WHERE name = 'feed'", (turns,))
    connection.close()


async def _live(folder: Path, asked: Asked, ready: asyncio.Event) -> None:
    async with stage(folder) as on:
        on.app.animation_level = "none"
        async with on.shown(SIZE) as pilot:
            screen = Screen(on, pilot)
            await screen.begin()
            assert on.app.screen.query(TurnView), "no turn is on the screen"
            ready.set()
            while (future := await asked.get()) is not None:
                future.set_result(await screen.token())


@asynccontextmanager
async def _screen(folder: Path, turns: int) -> AsyncIterator[Asked]:
    await _fill(private_folder(folder), turns)
    asked: Asked = asyncio.Queue()
    ready = asyncio.Event()
    task = asyncio.create_task(_live(folder, asked, ready))
    try:
        await asyncio.wait(
            [task, waits := asyncio.create_task(ready.wait())], return_when=asyncio.FIRST_COMPLETED
        )
        waits.cancel()
        if task.done():
            await task
        yield asked
    finally:
        asked.put_nowait(None)
        await task


async def ratios(folder: Path, *, runs: int = 40) -> list[Ratio]:
    """The ratio of a drawn token; `folder` is a scratch folder."""
    async with AsyncExitStack() as screens:
        many = await screens.enter_async_context(_screen(folder / "many", 5_000))
        few = await screens.enter_async_context(_screen(folder / "few", 50))

        async def token(asked: Asked) -> float:
            future: asyncio.Future[float] = asyncio.get_running_loop().create_future()
            asked.put_nowait(future)
            return await future

        name = "a drawn token, 5,000 turns above : 50 turns above"
        return [await pairs(name, 1.2, lambda: token(many), lambda: token(few), runs=runs)]
