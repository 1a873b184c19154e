"""A list of rows of one line: the cursor, the keys, the mouse; only what is seen is drawn."""

from __future__ import annotations

from pathlib import Path

from textual.content import Content
from textual.pilot import Pilot

from qterm.memory.stores import StoreName
from qterm.tui.memory.pane import MemoryScreen
from qterm.tui.terminal.ending import Leave
from qterm.tui.widgets.row_list import RowList
from tests.tui.memory_stage import memory_stage, pane
from tests.tui.stage import Stage, screen_text, until

MANY = 50_000


async def opened(pilot: Pilot[Leave], on: Stage, count: int) -> RowList:
    await pilot.press("f4")
    await until(pilot, lambda: isinstance(on.app.screen, MemoryScreen))
    await until(pilot, lambda: pane(on).rows.count == count)
    return pane(on).rows


async def test_fifty_thousand_rows_are_walked(tmp_path: Path) -> None:
    entries = [f"[P{n % 3 + 1}] entry {n}" for n in range(MANY)]
    async with memory_stage(tmp_path, {StoreName.MEMORY: entries}) as on, on.shown() as pilot:
        rows = await opened(pilot, on, MANY)
        assert "[P1] entry 0" in screen_text(on.app)
        await pilot.press("down", "down", "up")
        assert rows.cursor == 1
        await pilot.press("end")
        await until(pilot, lambda: f"entry {MANY - 1}" in screen_text(on.app))
        assert rows.cursor == MANY - 1
        await pilot.press("pageup")
        assert MANY - 60 < rows.cursor < MANY - 10
        await pilot.press("home", "up")
        await until(pilot, lambda: "[P1] entry 0" in screen_text(on.app))
        assert rows.cursor == 0


async def test_only_what_is_seen_is_drawn(tmp_path: Path) -> None:
    entries = [f"entry {n}" for n in range(5_000)]
    async with memory_stage(tmp_path, {StoreName.MEMORY: entries}) as on, on.shown() as pilot:
        rows = await opened(pilot, on, 5_000)
        drawn: list[int] = []
        line = rows._line

        def noted(row: int, width: int) -> Content:
            drawn.append(row)
            return line(row, width)

        rows._line = noted
        await pilot.press("pagedown")
        await pilot.pause()
        assert drawn
        assert len(set(drawn)) < 200


async def test_a_click_brings_the_cursor(tmp_path: Path) -> None:
    async with (
        memory_stage(tmp_path, {StoreName.MEMORY: ["one", "two", "[P1] three"]}) as on,
        on.shown() as pilot,
    ):
        rows = await opened(pilot, on, 3)
        await pilot.click(rows, offset=(4, 2))
        assert rows.cursor == 2
        await pilot.click(rows, offset=(4, 9))  # below the last row
        assert rows.cursor == 2
        rows.show(0)
        await pilot.press("down", "end", "pageup")
        assert rows.chosen is None
