"""From Q's words, and from a key, to the drawn frame: below a long feed and below a short one."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path

from textual.events import Key
from textual.pilot import Pilot

from bench.feed import fill
from bench.live import pairs
from bench.living import Asked, answer, living, one
from bench.ratio import Ratio
from qterm.events import ReplyText
from qterm.hermes.way import Replied, TextDelta
from qterm.private import private_folder
from qterm.tui.app import Leave
from qterm.tui.desk.messages import Happened
from qterm.tui.widgets.turn import TurnView
from tests.tui.stage import Stage, screen_text, stage, until

SIZE = (120, 40)
BEGIN = "So **far** it is"
REST_SECONDS = 0.15
"""What the frame before left to do belongs to that."""

COMPARED = (
    ("a drawn token, 5,000 turns above : 50 turns above", 1.2, "token", 5_000, 50),
    ("a drawn token, 5,000 turns above : none", 1.1, "token", 5_000, 0),
    ("key to drawn letter, 100,000 turns in the feed : 100", 1.1, "key", 100_000, 100),
)
"""What is compared: its name, its aim, what is drawn, and the turns in either feed."""

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

    async def key(self) -> float:
        """Seconds from a key that arrives to the frame that shows its letter."""
        home = self.on.app.home
        assert home is not None
        await asyncio.sleep(REST_SECONDS)
        if len(home.composer.text) > 60:
            home.composer.text = ""
            await self.pilot.pause(REST_SECONDS)
        self.number += 1
        letter = "abcdefghij"[self.number % 10]
        self.drawn.clear()
        self.word = f"› {home.composer.text}{letter}"
        event = Key(letter, letter)
        event.set_sender(self.on.app)
        start = time.perf_counter()
        self.on.app.post_message(event)
        await asyncio.wait_for(self.drawn.wait(), 30)
        return time.perf_counter() - start


async def _live(folder: Path, asked: Asked, ready: asyncio.Event) -> None:
    async with stage(folder) as on:
        on.app.animation_level = "none"
        async with on.shown(SIZE) as pilot:
            screen = Screen(on, pilot)
            await screen.begin()
            assert on.app.screen.query(TurnView), "no turn is on the screen"
            await answer(
                asked, ready, lambda what: screen.key() if what == "key" else screen.token()
            )


@asynccontextmanager
async def _screen(folder: Path, turns: int) -> AsyncIterator[Asked]:
    await fill(private_folder(private_folder(folder) / "data"), turns, ANSWER)
    async with living(partial(_live, folder)) as asked:
        yield asked


async def ratios(folder: Path, *, runs: int = 40) -> list[Ratio]:
    """The ratios of a drawn token and a drawn key; `folder` is a scratch folder."""
    found = []
    private_folder(folder)
    for number, (name, aim, what, large, small) in enumerate(COMPARED):
        data = private_folder(folder / str(number))
        async with AsyncExitStack() as screens:
            many = await screens.enter_async_context(_screen(data / "many", large))
            few = await screens.enter_async_context(_screen(data / "few", small))
            found.append(
                await pairs(name, aim, partial(one, many, what), partial(one, few, what), runs=runs)
            )
    return found
