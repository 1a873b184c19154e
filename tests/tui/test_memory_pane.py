"""The memory pane: entries, edits with undo, saving, other writers, and what survives a kill."""

from __future__ import annotations

import fcntl
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest
from textual.pilot import Pilot

from qterm.memory.draft import Draft
from qterm.memory.entries import decode, parse
from qterm.memory.stores import StoreName
from qterm.model import Owner
from qterm.settings.schema import Settings
from qterm.tui.memory.conflict import ConflictScreen
from qterm.tui.memory.pane import MemoryScreen
from qterm.tui.screens.ask import Question
from tests.tui.memory_stage import hermes_home, memory_stage, pane, write_store
from tests.tui.stage import Stage, screen_text, until

MEMORY, USER, WORKING = StoreName.MEMORY, StoreName.USER, StoreName.WORKING
ENTRIES = [
    "[P1] Core: netcup KVM, 8C/15G/512GB, Debian 13.",
    "[P2] Prefers British spelling.",
    "[P3] Shark game updates complete.",
    "Backups run nightly on web-2.",
]


def entries(folder: Path, store: StoreName = MEMORY) -> list[str]:
    """What is in the file."""
    path = hermes_home(folder) / "memories" / store.file_name
    return list(parse(decode(path.read_bytes())))


@asynccontextmanager
async def opened(
    folder: Path,
    memory: Sequence[str] | bytes = tuple(ENTRIES),
    *,
    size: tuple[int, int] = (120, 40),
    settings: Settings | None = None,
    more: dict[StoreName, Sequence[str] | bytes] | None = None,
) -> AsyncIterator[tuple[Pilot[Any], Stage]]:
    """The pane, once it has read the files."""
    stores = {MEMORY: memory, **(more or {})}
    async with memory_stage(folder, stores, settings=settings) as on, on.shown(size) as pilot:
        await pilot.press("f4")
        await until(pilot, lambda: isinstance(on.app.screen, MemoryScreen))
        await until(pilot, lambda: pane(on).seen is not None)
        yield pilot, on


def drawn(on: Stage) -> str:
    return screen_text(on.app)


async def shows(pilot: Pilot[Any], on: Stage, words: str) -> None:
    await until(pilot, lambda: words in " ".join(drawn(on).replace("▌", " ").split()))


async def saved(pilot: Pilot[Any], on: Stage) -> None:
    """Save, and wait until the pane has the file anew."""
    await pilot.press("ctrl+s")
    await until(pilot, lambda: pane(on).draft is not None and not draft(on).has_changes)


def draft(on: Stage) -> Draft:
    found = pane(on).draft
    assert found is not None
    return found


async def test_it_shows_each_entry_with_tag_size_and_first_words(tmp_path: Path) -> None:
    async with opened(tmp_path) as (pilot, on):
        await shows(pilot, on, "Core: netcup KVM")
        text = drawn(on)
        assert "P1      47" in text
        assert "—       29" in text
        assert "P1? infrastructure" in text  # a suggestion for the one without a tag
        assert "[P1] Core: netcup KVM, 8C/15G/512GB" in text  # the whole of it, beside the list
        assert " of 2,200 (default) characters" in text
        assert "7 %" in text
        assert "4 entries" in text
        assert "Memory 7%" in text.splitlines()[0]
        assert "Sessions that run keep" in text
        assert "MEMORY.md" in text
        assert "WORKING.md" not in text


async def test_the_title_knows_how_full_the_memory_is_without_opening_it(tmp_path: Path) -> None:
    async with memory_stage(tmp_path, {MEMORY: ["x" * 2_000]}) as on, on.shown() as pilot:
        await until(pilot, lambda: "f4 Memory 91%" in drawn(on))


async def test_keys_tag_and_undo_and_nothing_is_written_before_saving(tmp_path: Path) -> None:
    async with opened(tmp_path) as (pilot, on):
        before = (hermes_home(tmp_path) / "memories" / "MEMORY.md").read_bytes()
        await pilot.press("down", "down", "2")  # the cursor goes on to the next
        await pilot.press("1")
        assert draft(on).texts[2:] == ("[P2] Shark game updates complete.", f"[P1] {ENTRIES[3]}")
        await shows(pilot, on, "Not saved yet")
        assert "unsaved" in drawn(on).splitlines()[0]
        await pilot.press("u", "u")
        assert list(draft(on).texts) == ENTRIES
        await pilot.press("r")
        assert draft(on).texts[2] == "[P2] Shark game updates complete."
        assert (hermes_home(tmp_path) / "memories" / "MEMORY.md").read_bytes() == before
        await saved(pilot, on)
        assert entries(tmp_path)[2] == "[P2] Shark game updates complete."
        await shows(pilot, on, "MEMORY.md is written. 1 archived")


async def test_a_p1_that_is_changed_is_asked_about_once_with_the_focus_on_the_safe_answer(
    tmp_path: Path,
) -> None:
    async with opened(tmp_path) as (pilot, on):
        await pilot.press("0", "ctrl+s")
        await until(pilot, lambda: isinstance(on.app.screen, Question))
        assert "[P1] Core: netcup KVM" in drawn(on)
        await pilot.press("enter")
        await until(pilot, lambda: on.app.screen is pane(on))
        assert entries(tmp_path) == ENTRIES
        await pilot.press("ctrl+s")
        await until(pilot, lambda: isinstance(on.app.screen, Question))
        await pilot.press("y")
        await until(pilot, lambda: not draft(on).has_changes)
        assert entries(tmp_path)[0] == "Core: netcup KVM, 8C/15G/512GB, Debian 13."


async def test_adding_and_editing_in_place(tmp_path: Path) -> None:
    async with opened(tmp_path) as (pilot, on):
        await pilot.press("a", *"[P2] two", "enter", *"lines", "escape")
        assert draft(on).texts[-1] == "[P2] two\nlines"
        assert pane(on).rows.cursor == 4
        await pilot.press("enter", *" more")
        await until(pilot, lambda: pane(on).is_editing)
        await pilot.press("escape")
        assert draft(on).texts[-1] == "[P2] two\nlines more"
        await pilot.press("e")
        pane(on).editor.text = ENTRIES[0]
        await pilot.press("escape")
        await shows(pilot, on, "already: it is number 1")
        assert pane(on).is_editing  # what was written is still there
        await pilot.press("escape")
        assert not pane(on).is_editing
        assert draft(on).texts[-1] == "[P2] two\nlines more"


async def test_many_are_marked_and_moved_joined_split_and_deleted(tmp_path: Path) -> None:
    async with opened(tmp_path) as (pilot, on):
        await pilot.press("space", "space", "3")
        assert [text[:4] for text in draft(on).texts] == ["[P3]", "[P3]", "[P3]", "Back"]
        await pilot.press("alt+down")
        assert draft(on).texts[0] == ENTRIES[2]
        await pilot.press("m")
        await shows(pilot, on, "Core")
        assert draft(on).texts[1].startswith("[P3] Core: netcup KVM, 8C/15G/512GB, Debian 13.\n")
        await pilot.press("home", "down", "e")
        pane(on).editor.text = "[P3] one\n\ntwo"
        await pilot.press("escape", "v")
        assert draft(on).texts[1:3] == ("[P3] one", "[P3] two")
        await pilot.press("asterisk", "d")
        assert draft(on).texts == ()
        await pilot.press("ctrl+s")
        await until(pilot, lambda: isinstance(on.app.screen, Question))  # a P1 goes
        await pilot.press("y")
        await until(pilot, lambda: "empty: Q would remember nothing" in drawn(on))
        await pilot.press("y")
        await until(pilot, lambda: not draft(on).has_changes)
        assert entries(tmp_path) == []


async def test_split_at_the_cursor(tmp_path: Path) -> None:
    async with opened(tmp_path, ["[P2] one two"]) as (pilot, on):
        await pilot.press("e")
        pane(on).editor.move_cursor((0, 8))
        await pilot.press("f8")
        assert draft(on).texts == ("[P2] one", "[P2] two")


async def test_filter_and_sort_are_a_view_only(tmp_path: Path) -> None:
    async with opened(tmp_path) as (pilot, on):
        await pilot.press("slash", *"none")
        await until(pilot, lambda: pane(on).rows.count == 1)
        await pilot.press("enter", "1")
        assert draft(on).texts[3] == f"[P1] {ENTRIES[3]}"
        await pilot.press("escape")
        await until(pilot, lambda: pane(on).rows.count == 4)
        await pilot.press("s")
        await shows(pilot, on, "Sorted by tag")
        assert [draft(on).texts[index][:4] for index in pane(on).view.shown] == [
            "[P1]",
            "[P1]",
            "[P2]",
            "[P3]",
        ]
        assert draft(on).texts[1] == ENTRIES[1]
        await pilot.press("slash", *"zeppelin", "enter")
        await shows(pilot, on, "Nothing matches the filter.")
        await pilot.press("d", "1", "e")  # there is none to do it with
        assert len(draft(on).texts) == 4


async def test_the_other_stores(tmp_path: Path) -> None:
    more: dict[StoreName, Sequence[str] | bytes] = {
        USER: ["Alex likes short answers."],
        WORKING: ["[P3] 2026-11-29 · Waiting for the parcel."],
    }
    async with opened(tmp_path, more=more) as (pilot, on):
        await pilot.press("right")
        await shows(pilot, on, "of 1,375 (default)")
        await pilot.press("right")
        await shows(pilot, on, "hermes does not read this file")
        await pilot.press("w")
        await until(pilot, lambda: len(entries(tmp_path)) == 5)
        assert entries(tmp_path)[-1] == "[P3] Waiting for the parcel."
        assert entries(tmp_path, WORKING) == []
        await shows(pilot, on, "back in MEMORY.md")
        await until(pilot, lambda: pane(on).last_write != ())
        await pilot.press("ctrl+z")
        await until(pilot, lambda: entries(tmp_path) == ENTRIES)
        assert entries(tmp_path, WORKING) == list(more[WORKING])


ODD = {
    "no file": (None, "is not there yet"),
    "empty": (b"", "MEMORY.md is empty"),
    "not utf-8": (b"caf\xe9 \xff", "is not UTF-8"),
    "blank entry": (b"a\n\xc2\xa7\n\n\xc2\xa7\nb", "can't change this file: blank entry at 2"),
    "byte order mark": ("\ufeff[P1] a".encode(), "byte order mark"),
    "doubles": (b"a\n\xc2\xa7\na", "the same as entry 1"),
    "over the limit": (b"x" * 2_300, "100 characters over hermes's limit"),
    "hidden": ("a\u200db".encode(), "holds the hidden"),
    "near tag": (b"[p1] a", "is not written [P1]"),
}


@pytest.mark.parametrize("name", ODD)
@pytest.mark.parametrize("size", [(120, 40), (80, 24)], ids=["wide", "narrow"])
async def test_odd_files_say_what_hermes_makes_of_them(
    name: str, size: tuple[int, int], tmp_path: Path
) -> None:
    data, words = ODD[name]
    async with opened(tmp_path, data or b"", size=size) as (pilot, on):
        if data is None:
            (hermes_home(tmp_path) / "memories" / "MEMORY.md").unlink()
        await until(pilot, lambda: words in " ".join(drawn(on).replace("▌", " ").split()))


async def test_an_unreadable_file_is_one_sentence_and_the_others_are_there(tmp_path: Path) -> None:
    (hermes_home(tmp_path) / "memories" / "MEMORY.md").mkdir(parents=True)
    async with memory_stage(tmp_path, {USER: ["Alex."]}) as on, on.shown() as pilot:
        await pilot.press("f4")
        await shows(pilot, on, "is a folder, where hermes keeps a file")
        await pilot.press("d", "1", "a", "p", "c", "t", "e", "u")
        await pilot.press("right")
        await shows(pilot, on, "1 entry")


async def test_cleaning_is_previewed_and_undone(tmp_path: Path) -> None:
    data = b"[P1] a\n\xc2\xa7\n\n\xc2\xa7\n[P1] a"
    async with opened(tmp_path, data) as (pilot, on):
        await pilot.press("x")
        await shows(pilot, on, "Write MEMORY.md clean?")
        assert "the same as entry 1" in drawn(on)
        await pilot.press("y")
        await until(pilot, lambda: entries(tmp_path) == ["[P1] a"])
        await until(pilot, lambda: pane(on).last_write != ())
        await pilot.press("ctrl+z")
        path = hermes_home(tmp_path) / "memories" / "MEMORY.md"
        await until(pilot, lambda: path.read_bytes() == data)


# -- other writers ---------------------------------------------------------------------------------


async def test_what_another_program_writes_shows_by_itself(tmp_path: Path) -> None:
    async with opened(tmp_path) as (pilot, on):
        await pilot.press("down", "down")
        write_store(tmp_path, ["new at the top", *ENTRIES])
        await until(pilot, lambda: "new at the top" in drawn(on))
        assert "5 entries" in drawn(on)


async def test_with_unsaved_edits_the_operator_chooses(tmp_path: Path) -> None:
    async with opened(tmp_path) as (pilot, on):
        await pilot.press("down", "down", "down", "1")  # mine
        write_store(tmp_path, [*ENTRIES[:3], "Backups run hourly on web-2.", "[P2] theirs"])
        await until(pilot, lambda: isinstance(on.app.screen, ConflictScreen))
        text = drawn(on)
        assert "BOTH" in text
        assert "Backups run hourly" in text
        await pilot.press("f2", "f4")  # it waits
        assert isinstance(on.app.screen, ConflictScreen)
        await pilot.press("j")
        await until(pilot, lambda: on.app.screen is pane(on))
        joined = draft(on).texts
        assert "Backups run hourly on web-2." in joined
        assert f"[P1] {ENTRIES[3]}" in joined
        assert "[P2] theirs" in joined
        await saved(pilot, on)
        assert entries(tmp_path) == list(joined)


async def test_choosing_later_writes_nothing_and_asks_again(tmp_path: Path) -> None:
    async with opened(tmp_path) as (pilot, on):
        await pilot.press("down", "3")
        write_store(tmp_path, [*ENTRIES, "theirs"])
        await until(pilot, lambda: isinstance(on.app.screen, ConflictScreen))
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(on.app.screen, ConflictScreen))
        await pilot.press("t")
        await until(pilot, lambda: on.app.screen is pane(on))
        assert draft(on).texts[-1] == "theirs"
        await pilot.press("r")  # mine are one redo away
        assert draft(on).texts[1] == "[P3] Prefers British spelling."
        assert entries(tmp_path)[-1] == "theirs"


async def test_edits_that_were_not_saved_are_taken_up_again(tmp_path: Path) -> None:
    async with opened(tmp_path) as (pilot, on):
        await pilot.press("down", "3")
        await until(pilot, lambda: list((tmp_path / "data").rglob("unsaved/memory-*.json")))
        (kept,) = (tmp_path / "data").rglob("unsaved/memory-*.json")
        data = msgspec.json.decode(kept.read_bytes())
        data["owner"] = str(Owner(999_999, "gone"))  # as if it had been killed
        kept.rename(kept.with_name("memory-999999-gone.json"))
        kept.with_name("memory-999999-gone.json").write_bytes(msgspec.json.encode(data))
    assert entries(tmp_path) == ENTRIES
    async with opened(tmp_path) as (pilot, on):
        await shows(pilot, on, "has edits that were not saved")
        assert draft(on).texts[1] == "[P3] Prefers British spelling."
        await until(pilot, lambda: not kept.with_name("memory-999999-gone.json").exists())
        await pilot.press("u")
        assert list(draft(on).texts) == ENTRIES
        await until(pilot, lambda: not list((tmp_path / "data").rglob("unsaved/memory-*.json")))


async def test_what_is_being_written_is_kept_too(tmp_path: Path) -> None:
    async with opened(tmp_path) as (pilot, on):
        await pilot.press("a", *"half a thought")

        def kept() -> bool:
            files = (tmp_path / "data").rglob("unsaved/memory-*.json")
            return any(b"half a thought" in path.read_bytes() for path in files)

        await until(pilot, kept)
        await pilot.press("f2")
        await until(pilot, lambda: on.app.screen is on.app.home)
        await pilot.press("f4")
        assert pane(on).editor.words == "half a thought"


async def test_a_lock_held_for_ever_leaves_the_screen_alive(tmp_path: Path) -> None:
    async with opened(tmp_path) as (pilot, on):
        lock = os.open(
            hermes_home(tmp_path) / "memories" / "MEMORY.md.lock", os.O_RDWR | os.O_CREAT, 0o600
        )
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            await pilot.press("down", "3", "ctrl+s", "down")
            assert pane(on).rows.cursor == 3  # it answers meanwhile
            await until(
                pilot, lambda: "another program" in " ".join(drawn(on).replace("▌", " ").split())
            )
        finally:
            os.close(lock)
        assert draft(on).has_changes
        assert entries(tmp_path) == ENTRIES
        await saved(pilot, on)
        assert entries(tmp_path)[1] == "[P3] Prefers British spelling."


async def test_fifty_thousand_entries_are_filtered_and_tagged(tmp_path: Path) -> None:
    many = [f"[P{n % 3 + 1}] entry {n} of the store" for n in range(50_000)]
    async with opened(tmp_path, many) as (pilot, on):
        await until(pilot, lambda: pane(on).rows.count == 50_000)
        await pilot.press("slash", *"4999")
        await until(pilot, lambda: pane(on).rows.count == 15)
        await pilot.press("enter", "1")
        assert draft(on).changed(4_999)
        await pilot.press("escape", "u")
        await until(pilot, lambda: pane(on).rows.count == 50_000)


async def test_it_all_works_in_eighty_columns(tmp_path: Path) -> None:
    async with opened(tmp_path, size=(80, 24)) as (pilot, on):
        await shows(pilot, on, "Core: netcup KVM")
        await pilot.press("down", "enter", *" And more.")
        await shows(pilot, on, "And more.")
        await pilot.press("escape", "p")
        await shows(pilot, on, "Save them first")
        await pilot.press("n")
        await shows(pilot, on, "Preview: nothing has been written")


@pytest.mark.parametrize("key", ["", "p", "c", "t", "b"])
async def test_a_terminal_that_is_too_small_says_what_it_needs(key: str, tmp_path: Path) -> None:
    async with opened(tmp_path) as (pilot, on):
        if key:
            await pilot.press(key)
            await until(pilot, lambda: on.app.screen is not pane(on))
        await pilot.resize_terminal(40, 12)
        await shows(pilot, on, "qterm needs 50 columns")
        assert "Core" not in drawn(on)
        await pilot.resize_terminal(120, 40)
        await until(pilot, lambda: "qterm needs" not in drawn(on))
