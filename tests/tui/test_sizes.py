"""Sizes: a terminal that is too small, one that changes in the middle of a turn."""

from __future__ import annotations

from pathlib import Path

import pytest

from qterm.hermes.way import HermesEvent, HermesRequest, Replied, TextDelta
from tests.tui.stage import screen_text, stage, until
from tests.tui.test_home import home


@pytest.mark.parametrize("where", ["composer", "feed", "palette"])
async def test_what_had_the_focus_has_it_again(tmp_path: Path, where: str) -> None:
    async with stage(tmp_path) as on:
        await on.post("mallory", "hello")
        async with on.shown() as pilot:
            await pilot.press(*"half")
            if where == "feed":
                home(on).feed.focus()
            if where == "palette":
                await pilot.press("ctrl+p")
            await pilot.pause()
            focused = on.app.focused
            await pilot.resize_terminal(40, 12)
            await until(
                pilot, lambda: "needs 50 columns" in screen_text(on.app) or where == "palette"
            )
            await pilot.resize_terminal(80, 24)
            await until(pilot, lambda: "Mallory" in screen_text(on.app) or where == "palette")
            await until(pilot, lambda: on.app.focused is focused)
            if where == "palette":
                await pilot.press("escape")
            else:
                home(on).composer.focus()
            await pilot.press(*" done")
            await until(pilot, lambda: home(on).composer.message == "half done")


def long_answer(_: HermesRequest) -> list[HermesEvent]:
    words = [f"word{number} " for number in range(300)]
    return [*(TextDelta(word) for word in words), Replied("".join(words))]


SIZES = [(120, 40), (50, 14), (80, 24), (40, 12), (200, 60), (99, 15), (100, 24), (49, 40)]


async def test_a_size_that_changes_in_mid_turn(tmp_path: Path) -> None:
    """Many times, fast: the end stays in view, nothing of the layout is lost."""
    async with stage(tmp_path, script=long_answer) as on:
        for number in range(40):
            await on.post("mallory", f"line {number}")
        async with on.shown() as pilot:
            on.way.hold()
            await pilot.press(*"go", "enter")
            await until(pilot, lambda: on.services.conversation.running(None))
            for count in range(4):
                if count == 2:
                    on.way.gate.set()
                for size in SIZES:
                    await pilot.resize_terminal(*size)
            await pilot.resize_terminal(80, 24)
            await until(pilot, lambda: on.services.conversation.running(None) is None)
            await until(pilot, lambda: "word299" in screen_text(on.app))
            feed = home(on).feed
            assert feed.following
            await until(pilot, lambda: feed.scroll_y == feed.max_scroll_y)
            lines = screen_text(on.app).splitlines()
            assert len(lines) == 24
            assert lines[0].startswith(" qterm")
            assert "enter send" in lines[-1]


async def test_a_reader_above_keeps_the_place_over_a_resize(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        for number in range(60):
            await on.post("mallory", f"line {number} " + "and more " * (number % 7) * 3)
        async with on.shown() as pilot:
            await pilot.press("pageup", "pageup")
            feed = home(on).feed
            await until(pilot, lambda: not feed.following and feed.is_settled)
            top = feed.top_turn(feed.scroll_y)
            assert top is not None
            for size in ((80, 24), (150, 50), (60, 20), (120, 40)):
                await pilot.resize_terminal(*size)
                await pilot.pause()
            await until(pilot, lambda: (feed.top_turn(feed.scroll_y) or (None,))[0] is top[0])
