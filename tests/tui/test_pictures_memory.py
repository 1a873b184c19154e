"""Pictures of the memory: the pane, every policy's preview, what was kept, odd files."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion
from textual.pilot import Pilot

from qterm.memory.stores import StoreName
from qterm.rehearsal.memories import MEMORY as FULL
from tests.tui.memory_stage import memory_stage, pane, write_store
from tests.tui.pictures import MARKS, NARROW, WIDE, InSnapshots
from tests.tui.stage import Stage, screen_text, until
from tests.tui.test_home import home

pytestmark = MARKS

MEMORY, USER, WORKING = StoreName.MEMORY, StoreName.USER, StoreName.WORKING
Stores = dict[StoreName, Sequence[str] | bytes]
Then = Callable[[Pilot[Any], Stage], Awaitable[None]]

UNTAGGED = [
    "Core: netcup KVM, 8C/15G/512GB, Debian 13. Done by hand, never rebuilt from the image.",
    "Prefers answers in British spelling, the figure first.",
    "Shark game updates complete: the new levels are in.",
    "Team: Ines leads the importer, Tom the certificates.",
    "Zebra crossing.",
    "[p1] Credentials for the backup bucket are in the team vault.",
]
OLD = ["[P3] 2026-11-20 · The review notes are merged.", "[P3] 2026-11-29 · Waiting for the disk."]
TYPED = [
    "type: infrastructure\npriority: p1\nexpires: never\ncontent: Core runs Debian 13 by hand",
    "type: task\npriority: p3\nexpires: never\ncontent: Shark game updates complete",
    "type: preference\npriority: p2\nexpires: 2026-10-01\ncontent: The office door code of October",
    "An entry without a form.",
]
LEGACY = [*FULL[:8], "[P1] The panel was migrated, the old one is done by hand.", *FULL[8:]]


def words_of(on: Stage) -> str:
    return " ".join(screen_text(on.app).split())


def keys(*pressed: str, words: str) -> Then:
    """Press keys, and wait for words."""

    async def then(pilot: Pilot[Any], on: Stage) -> None:
        await pilot.press(*pressed)
        await until(pilot, lambda: words in words_of(on))

    return then


def steps(*all_: Then) -> Then:
    async def then(pilot: Pilot[Any], on: Stage) -> None:
        for each in all_:
            await each(pilot, on)

    return then


async def nothing(_pilot: Pilot[Any], _on: Stage) -> None:
    """As it opens."""


async def quiet(pilot: Pilot[Any], on: Stage) -> None:
    """Without toasts."""
    on.app.clear_notifications()
    await pilot.pause()


async def unreadable(pilot: Pilot[Any], on: Stage) -> None:
    path = Path(on.services.environ["HOME"]) / "hermes" / "memories" / "MEMORY.md"
    path.unlink()
    path.mkdir()
    await until(pilot, lambda: "is a folder, where hermes keeps a file" in words_of(on))
    await quiet(pilot, on)


async def editing(pilot: Pilot[Any], on: Stage) -> None:
    await pilot.press("down", "down", "down", "e")
    pane(on).editor.cursor_blink = False
    await pilot.press(*" And on Fridays")


async def conflict(pilot: Pilot[Any], on: Stage) -> None:
    await pilot.press("down", "down", "down", "3", "a", *"[P2] Mine is new", "escape")
    folder = Path(on.services.environ["HOME"])
    changed = FULL[3].replace("Tuesdays", "Mondays")
    write_store(folder, [*FULL[:3], changed, *FULL[4:-1], "[P2] Theirs is new"])
    await until(pilot, lambda: "BOTH" in words_of(on))
    await quiet(pilot, on)


async def refused(pilot: Pilot[Any], on: Stage) -> None:
    await keys("p", words="→ 12 entries")(pilot, on)
    write_store(Path(on.services.environ["HOME"]), [*FULL[1:], "[P3] New and done."])
    await keys("enter", "y", words="This is a new preview")(pilot, on)


applied = steps(
    keys("p", words="→ 12 entries"), keys("enter", "y", words="Done: 3 entries archived")
)
then_kept = steps(applied, keys("escape", "b", words="apply tags"), quiet)

PICTURES: dict[str, tuple[tuple[int, int], Stores, Then]] = {
    "memory": (WIDE, {MEMORY: FULL, USER: ["Alex."]}, nothing),
    "memory-80": (NARROW, {MEMORY: FULL}, nothing),
    "memory-tagging": (WIDE, {MEMORY: UNTAGGED}, keys("1", "2", "3", "down", words="Not saved")),
    "memory-editing": (WIDE, {MEMORY: FULL}, editing),
    "memory-editing-80": (NARROW, {MEMORY: FULL}, editing),
    "memory-marked": (
        WIDE,
        {MEMORY: FULL},
        steps(keys("space", "space", "3", words="Not saved"), quiet),
    ),
    "memory-filter": (WIDE, {MEMORY: FULL}, keys("slash", "p", "3", words="3 of 15 shown")),
    "memory-empty": (WIDE, {MEMORY: []}, nothing),
    "memory-not-utf8": (WIDE, {MEMORY: b"caf\xe9\n\xc2\xa7\nna\xefve"}, nothing),
    "memory-unreadable": (WIDE, {MEMORY: FULL, USER: ["Alex."]}, unreadable),
    "memory-over": (WIDE, {MEMORY: [*FULL, "[P2] " + "The list goes on. " * 30]}, nothing),
    "memory-odd": (
        WIDE,
        {MEMORY: "\ufeff[P1] a mark\n§\n\n§\n[p2] nearly\n§\nx\u200dy".encode()},
        keys("end", words="hidden character"),
    ),
    "memory-working": (WIDE, {MEMORY: FULL, WORKING: OLD}, keys("left", words="does not read")),
    "memory-conflict": (WIDE, {MEMORY: FULL}, conflict),
    "memory-conflict-80": (NARROW, {MEMORY: FULL}, conflict),
    "preview-tags": (WIDE, {MEMORY: FULL}, keys("p", words="→ 12 entries")),
    "preview-tags-80": (NARROW, {MEMORY: FULL}, keys("p", words="→ 12 entries")),
    "preview-dual": (
        WIDE,
        {MEMORY: FULL, WORKING: OLD},
        keys("p", "right", words="W = WORKING.md"),
    ),
    "preview-schema": (
        WIDE,
        {MEMORY: TYPED},
        keys("p", "right", "right", words="Typed entries: P3"),
    ),
    "preview-legacy": (WIDE, {MEMORY: LEGACY}, keys("p", "left", words="It would lose")),
    "preview-nothing": (
        WIDE,
        {MEMORY: FULL[:2]},
        keys("p", words="There is nothing to prune"),
    ),
    "preview-diff": (
        WIDE,
        {MEMORY: FULL},
        steps(keys("p", words="→ 12 entries"), keys("d", words="What would change")),
    ),
    "preview-apply": (
        WIDE,
        {MEMORY: FULL},
        steps(keys("p", words="→ 12 entries"), keys("enter", words="Prune 3 entries?")),
    ),
    "preview-apply-80": (
        NARROW,
        {MEMORY: FULL},
        steps(keys("p", words="→ 12 entries"), keys("enter", words="Prune 3 entries?")),
    ),
    "preview-refused": (WIDE, {MEMORY: FULL}, refused),
    "preview-applied": (WIDE, {MEMORY: FULL}, steps(applied, quiet)),
    "comparison": (WIDE, {MEMORY: LEGACY}, keys("c", words="would be LOST")),
    "comparison-80": (NARROW, {MEMORY: LEGACY}, keys("c", words="would be LOST")),
    "kept": (WIDE, {MEMORY: FULL}, then_kept),
    "kept-80": (NARROW, {MEMORY: FULL}, then_kept),
    "kept-files": (WIDE, {MEMORY: FULL}, steps(then_kept, keys("tab", words="bytes"))),
    "kept-restore-file": (
        WIDE,
        {MEMORY: FULL},
        steps(then_kept, keys("tab", "enter", words="Bring the whole")),
    ),
    "kept-empty": (WIDE, {MEMORY: FULL}, keys("b", words="Nothing has been removed")),
    "suggested": (WIDE, {MEMORY: UNTAGGED}, keys("t", "space", words="Accepted")),
    "suggested-80": (NARROW, {MEMORY: UNTAGGED}, keys("t", "space", words="Accepted")),
}


@pytest.fixture
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing in a picture hangs on where or when it is taken."""
    monkeypatch.setattr(
        "qterm.memory.opening.archive_folder",
        lambda data_dir, _home: data_dir / "memory" / "alex-hermes-1f2e3d4c5b",
    )
    monkeypatch.setattr("qterm.memory.archive._size_of", lambda _path: 1_600)
    made = iter(f"7fk3q2m{letter}bc" for letter in "abcdefghijklmnopqrstuvwxyz")
    monkeypatch.setattr("qterm.memory.archive.new_ids", lambda: made)


@pytest.mark.usefixtures("settled")
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
