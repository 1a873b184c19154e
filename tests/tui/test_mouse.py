"""The mouse over what has just been taken away."""

from __future__ import annotations

from pathlib import Path

from textual import events
from textual.widgets import Static

from tests.tui.stage import stage


async def test_a_click_on_what_is_just_gone_ends_nothing(tmp_path: Path) -> None:
    """A footer that changes under the pointer: the old key is there until the next layout."""
    async with stage(tmp_path) as on, on.shown() as pilot:
        words = Static("soon gone")
        await on.app.screen.mount(words, before=0)
        await pilot.pause()
        x, y = words.region.offset
        await words.remove()
        assert on.app.get_widget_at(x, y)[0] is words
        for kind in (events.MouseMove, events.MouseDown, events.MouseUp):
            await on.app.on_event(kind(None, x, y, 0, 0, 1, False, False, False, x, y))
        await pilot.press("f1")
        assert on.app.screen is not on.app.home
