"""What another process appends appears, and takes nothing from the operator's hands."""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from textual.command import CommandPalette
from textual.pilot import Pilot

from qterm.tui.screens.ask import AskFact
from qterm.tui.screens.help import HelpScreen
from tests.tui.stage import Stage, screen_text, stage, until
from tests.tui.terminal import Terminal
from tests.tui.test_home import home

ROOT = Path(__file__).parents[2]


async def qterm(folder: Path, *arguments: str) -> None:
    """`qterm` in a process of its own, on the same feed."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "qterm", "--data-dir", str(folder / "data"), *arguments,
        cwd=ROOT, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    out, err = await process.communicate()
    assert process.returncode == 0, (out + err).decode()


def the_feed(folder: Path) -> Path:
    return folder / "data" / "feed.db"


async def a_feed(on: Stage, count: int = 60) -> None:
    for number in range(count):
        await on.post("mallory", f"line {number}")


Hands = Callable[[Pilot[Any], Stage], Any]


async def palette(pilot: Pilot[Any], on: Stage) -> None:
    await pilot.press("ctrl+p", *"add a")
    await until(pilot, lambda: isinstance(on.app.screen, CommandPalette))


async def help_sheet(pilot: Pilot[Any], on: Stage) -> None:
    await pilot.press("f1")
    await until(pilot, lambda: isinstance(on.app.screen, HelpScreen))


async def dialog(pilot: Pilot[Any], on: Stage) -> None:
    await pilot.press("f9", *"half a fact")
    await until(pilot, lambda: isinstance(on.app.screen, AskFact))


@pytest.mark.parametrize("hands", [palette, help_sheet, dialog])
async def test_what_is_open_stays_open(tmp_path: Path, hands: Hands) -> None:
    async with stage(tmp_path) as on:
        await a_feed(on, 5)
        async with on.shown() as pilot:
            await pilot.press(*"my draft")
            await hands(pilot, on)
            screen, focused = on.app.screen, on.app.focused
            await qterm(tmp_path, "post", "--as", "moneypenny", "from [/] afar")
            await until(pilot, lambda: home(on).feed.window.turns[-1].text == "from [/] afar")
            assert (on.app.screen, on.app.focused) == (screen, focused)
            assert home(on).composer.message == "my draft"


async def test_a_reader_and_writer_is_left_alone(tmp_path: Path) -> None:
    """Scroll, selection, draft with its cursor, focus; and it comes within a second or so."""
    async with stage(tmp_path) as on:
        await a_feed(on)
        async with on.shown() as pilot:
            await pilot.press(*"draft", "left", "left")
            feed = home(on).feed
            feed.focus()
            await pilot.press(*["up"] * 50)
            await until(pilot, lambda: feed.selected is not None and not feed.following)
            before = (feed.selected, on.app.focused, home(on).composer.cursor_location)
            top = feed.top_turn(feed.scroll_y)
            assert top is not None
            await qterm(tmp_path, "post", "--as", "mallory", "from afar")
            loop = asyncio.get_running_loop()
            posted = loop.time()
            await until(pilot, lambda: "1 new below" in screen_text(on.app))
            assert loop.time() - posted < 5  # a second or so, on a machine that is busy
            assert "from afar" not in screen_text(on.app)
            assert (feed.selected, on.app.focused, home(on).composer.cursor_location) == before
            assert feed.top_turn(feed.scroll_y) == top
            assert home(on).composer.message == "draft"
            await pilot.press("end")
            await until(pilot, lambda: "from afar" in screen_text(on.app))


def screen_of(folder: Path) -> Terminal:
    return Terminal("-m", "tests.tui.pty_app", str(folder), "bare")


def drafts(folder: Path) -> list[str]:
    with sqlite3.connect(the_feed(folder)) as store:
        return sorted(row[0] for row in store.execute("SELECT text FROM drafts"))


def test_two_screens_on_one_feed_keep_both_drafts(tmp_path: Path) -> None:
    with screen_of(tmp_path) as one, screen_of(tmp_path) as two:
        one.shows("Write to Q")
        two.shows("Write to Q")
        one.type("what one wrote")
        one.until(lambda: drafts(tmp_path) == ["what one wrote"])
        two.type("what two wrote")
        two.until(lambda: drafts(tmp_path) == ["what one wrote", "what two wrote"])
        one.type("\r")
        one.shows("Hi.")
        two.shows("Hi.")
        two.shows("› what two wrote")
        two.signal(signal.SIGKILL)
        two.ended()
        one.type("more of one")
        one.shows("› more of one")
        one.type("\x11")
        assert one.ended() == 0
    with screen_of(tmp_path) as three:
        three.shows("more of one")
        three.shows("what two wrote")
        three.type("\x11")
        assert three.ended() == 0
    assert drafts(tmp_path) == ["more of one\nwhat two wrote"]


def test_two_screens_see_each_other(tmp_path: Path) -> None:
    with screen_of(tmp_path) as one, screen_of(tmp_path) as two:
        one.shows("Write to Q")
        two.shows("Write to Q")
        two.type("a draft of two\x1b[D\x1b[D")
        two.shows("› a draft of two")
        one.type("hello from one\r")
        two.shows("hello from one")
        two.type("X")
        two.shows("› a draft of tXwo")
        os.kill(one.process.pid, signal.SIGKILL)
        one.ended()
        two.type("\x11")
        assert two.ended() == 0
