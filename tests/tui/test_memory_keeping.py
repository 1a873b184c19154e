"""Edits that are not saved are kept on the disk, whatever comes between."""

from __future__ import annotations

import asyncio
import threading
from datetime import datetime
from pathlib import Path

import pytest

from qterm.memory.book import MemoryBook
from qterm.memory.draft import Draft
from qterm.memory.errors import Unwritable
from qterm.memory.unsaved import Unsaved
from qterm.memory.writer import Written
from qterm.tui.memory.conflict import ConflictScreen
from qterm.tui.terminal.ending import Leave
from tests.tui.memory_stage import pane, write_store
from tests.tui.stage import BOUND, until
from tests.tui.test_memory_odd import left_behind
from tests.tui.test_memory_pane import ENTRIES, draft, entries, opened, shows


class Gate:
    """Holds the first time that edits are kept, in its thread, until it is opened."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.reached, self.opened = threading.Event(), threading.Event()
        keep = Unsaved.keep

        def held(unsaved: Unsaved, draft: Draft, now: datetime) -> None:
            if not self.reached.is_set():
                self.reached.set()
                assert self.opened.wait(BOUND)
            keep(unsaved, draft, now)

        monkeypatch.setattr(Unsaved, "keep", held)


def on_disk(folder: Path) -> bytes:
    """All that is kept of unsaved edits."""
    return b"".join(path.read_bytes() for path in (folder / "data").rglob("unsaved/*.json"))


async def test_what_no_file_can_hold_in_the_editor_takes_no_edit_before_it_along(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(tmp_path) as (pilot, on):
        gate = Gate(monkeypatch)
        await pilot.press("down", "3")
        await until(pilot, gate.reached.is_set)
        await pilot.press("1", "e")  # kept next, but for what is being written now
        on.app.memory.editor.load_text(ENTRIES[0])  # type: ignore[union-attr]  # there already
        await pilot.pause()
        gate.opened.set()
        await until(pilot, lambda: b"[P1] Shark game" in on_disk(tmp_path))


async def test_quitting_waits_for_what_is_not_on_the_disk_yet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(tmp_path) as (pilot, on):
        gate = Gate(monkeypatch)
        await pilot.press("down", "3")
        await until(pilot, gate.reached.is_set)
        await pilot.press("1")  # due as soon as the first is done
        on.app.leave(Leave.DONE)
        # without waiting for it, the app has ended long before
        asyncio.get_running_loop().call_later(0.5, gate.opened.set)
        await until(pilot, lambda: not on.app.is_running)
    assert b"[P3] Prefers British" in on_disk(tmp_path)
    assert b"[P1] Shark game" in on_disk(tmp_path)


async def test_edits_taken_up_never_take_the_place_of_later_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(tmp_path) as (pilot, on):
        await pilot.press("down", "3")
        await until(pilot, lambda: b"[P3] Prefers" in on_disk(tmp_path))
    gone = left_behind(tmp_path)
    gate = Gate(monkeypatch)
    async with opened(tmp_path) as (pilot, on):
        await until(pilot, gate.reached.is_set)
        assert gone.exists()  # until its words lie elsewhere
        await pilot.press("1")
        await until(pilot, lambda: draft(on).texts[0].startswith("[P1]"))
        await pilot.press("a", *"later")
        await pilot.press("escape")
        gate.opened.set()
        await until(pilot, lambda: not gone.exists() and b"later" in on_disk(tmp_path))


async def test_what_is_edited_while_it_is_saved_is_not_saved_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is asked about and what is written are the same."""
    reached, go = threading.Event(), threading.Event()
    save = MemoryBook.save

    def held(book: MemoryBook, draft: Draft, *, allow_empty: bool = False) -> tuple[Written, ...]:
        reached.set()
        assert go.wait(BOUND)
        return save(book, draft, allow_empty=allow_empty)

    monkeypatch.setattr(MemoryBook, "save", held)
    async with opened(tmp_path) as (pilot, on):
        await pilot.press("down", "3", "ctrl+s")
        await until(pilot, reached.is_set)
        await pilot.press("home", "d")  # a P1, of which nobody was asked
        await until(pilot, lambda: len(draft(on).entries) == 3)
        go.set()
        await until(pilot, lambda: entries(tmp_path) != ENTRIES)
        assert entries(tmp_path) == [ENTRIES[0], "[P3] Prefers British spelling.", *ENTRIES[2:]]


async def test_edits_that_cannot_be_kept_are_told_until_it_was_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise Unwritable("Your unsaved edits can't be kept: the disk is full.")

    monkeypatch.setattr(Unsaved, "keep", full)
    async with opened(tmp_path) as (pilot, on):
        await pilot.press("down", "3")
        await shows(pilot, on, "can't be kept: the disk is full.")
        assert any("the disk is full" in words for words in on.app.common.notices.waiting)


async def test_after_theirs_was_taken_mine_is_a_redo_away_whatever_they_write_next(
    tmp_path: Path,
) -> None:
    async with opened(tmp_path) as (pilot, on):
        await pilot.press("down", "3")
        write_store(tmp_path, [*ENTRIES, "theirs"])
        await until(pilot, lambda: isinstance(on.app.screen, ConflictScreen))
        await pilot.press("t")
        await until(pilot, lambda: on.app.screen is pane(on))
        write_store(tmp_path, [*ENTRIES, "theirs", "more"])
        await until(pilot, lambda: draft(on).texts[-1] == "more")
        assert not draft(on).has_changes
        await pilot.press("r")
        await until(pilot, lambda: draft(on).texts[1] == "[P3] Prefers British spelling.")
        assert draft(on).texts[-1] == "more"
