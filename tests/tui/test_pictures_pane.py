"""Pictures of the memory pane beside the usual: the other files, odd ones, its questions."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from qterm.memory.stores import StoreName
from qterm.rehearsal.memories import MEMORY as FULL
from qterm.rehearsal.memories import USER as ALEX
from tests.tui.memory_stage import memory_stage, pane
from tests.tui.pictures import MARKS, NARROW, WIDE, InSnapshots
from tests.tui.stage import until
from tests.tui.test_home import home
from tests.tui.test_pictures_memory import OLD, Then, keys, quiet, steps

pytestmark = MARKS

MEMORY, USER, WORKING = StoreName.MEMORY, StoreName.USER, StoreName.WORKING
Stores = dict[StoreName, Sequence[str] | bytes]
ODD = "\ufeff[P1] a mark\n§\n\n§\n[p2] nearly\n§\nx\u200dy".encode()
UNCLEAN = b"[P1] Core runs Debian 13.\n\xc2\xa7\n\n\xc2\xa7\n[P1] Core runs Debian 13."

PICTURES: dict[str, tuple[tuple[int, int], Stores, Then]] = {
    "memory-user": (WIDE, {MEMORY: FULL, USER: ALEX}, keys("right", words="of 1,375")),
    "memory-user-80": (NARROW, {MEMORY: FULL, USER: ALEX}, keys("right", words="of 1,375")),
    "memory-user-star": (
        WIDE,
        {MEMORY: FULL, USER: ALEX},
        steps(keys("2", "right", words="of 1,375"), quiet),
    ),
    "memory-tagging-80": (NARROW, {MEMORY: FULL}, keys("3", words="Not saved yet")),
    "memory-filter-80": (NARROW, {MEMORY: FULL}, keys("slash", *"p3", words="3 of 15 shown")),
    "memory-odd-80": (NARROW, {MEMORY: ODD}, keys("end", words="hidden character")),
    "memory-empty-80": (NARROW, {MEMORY: []}, keys(words="adds an entry")),
    "memory-working-80": (
        NARROW,
        {MEMORY: FULL, WORKING: OLD},
        keys("left", words="does not read"),
    ),
    "memory-clean": (WIDE, {MEMORY: UNCLEAN}, steps(keys("x", words="Leave it (n)"), quiet)),
    "memory-save-p1": (WIDE, {MEMORY: FULL}, steps(keys("3", "ctrl+s", words="is P1"), quiet)),
}


@pytest.mark.parametrize("name", PICTURES)
async def test_picture(name: str, tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    size, stores, then = PICTURES[name]
    async with memory_stage(tmp_path, stores, environ={"HOME": str(tmp_path)}) as on:
        on.app.animation_level = "none"
        on.hands.moment = datetime(2026, 11, 30, 9, 15, tzinfo=UTC)
        async with on.shown(size) as pilot:
            home(on).composer.cursor_blink = False
            await until(pilot, lambda: on.app.common.tasks_are_known)
            await until(pilot, lambda: on.app.common.version and on.app.common.standing)
            await pilot.press("f4")
            await until(pilot, lambda: on.app.memory is not None and pane(on).seen is not None)
            pane(on).filter_line.cursor_blink = False
            await then(pilot, on)
            await pilot.pause()
            taken = on.app.export_screenshot(title="qterm")
            on.way.gate.set()
        if taken != snapshot(extension_class=InSnapshots):
            seen = tmp_path / f"{name}.svg"
            seen.write_text(taken, "utf-8")
            pytest.fail(f"{name} looks different now: {seen}; `make snapshots` accepts it")
