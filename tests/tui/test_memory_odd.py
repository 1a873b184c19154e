"""The memory screens where a file or what was kept of it is not as it should be."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from textual.pilot import Pilot

from qterm.memory.archive import archive_folder
from qterm.memory.files import sha256
from qterm.memory.stores import StoreName
from qterm.model import Owner
from qterm.tui.memory.conflict import ConflictScreen
from qterm.tui.memory.kept import KeptScreen
from qterm.tui.memory.suggested import SuggestedScreen
from qterm.tui.screens.ask import Question
from tests.tui.memory_stage import hermes_home, pane, write_store
from tests.tui.stage import Stage, until
from tests.tui.test_memory_pane import ENTRIES, draft, drawn, entries, opened, saved, shows
from tests.tui.test_memory_review import kept

MEMORY = StoreName.MEMORY
NOT_UTF8 = b"caf\xe9\n\xc2\xa7\nna\xefve"


def archive_of(folder: Path) -> Path:
    return archive_folder(folder / "data", hermes_home(folder))


def left_behind(folder: Path) -> Path:
    """The unsaved edits, as if the qterm that keeps them had been killed."""
    (mine,) = (folder / "data").rglob("unsaved/memory-*.json")
    data = msgspec.json.decode(mine.read_bytes())
    data["owner"] = str(Owner(999_999, "gone"))
    mine.unlink()
    gone = mine.with_name("memory-999999-gone.json")
    gone.write_bytes(msgspec.json.encode(data))
    return gone


# -- unsaved edits, and a file that can't be read --------------------------------------------------


async def test_edits_wait_while_the_file_is_not_utf8(tmp_path: Path) -> None:
    """Neither side can be chosen then: it is said, and asked once the file is text again."""
    async with opened(tmp_path) as (pilot, on):
        await pilot.press("down", "3")
        write_store(tmp_path, NOT_UTF8)
        await shows(pilot, on, "is not UTF-8 any more")
        assert on.app.screen is pane(on)
        assert draft(on).texts[1] == "[P3] Prefers British spelling."
        await pilot.press("ctrl+s")
        await shows(pilot, on, "has changed")
        path = hermes_home(tmp_path) / "memories" / "MEMORY.md"
        assert path.read_bytes() == NOT_UTF8
        write_store(tmp_path, [*ENTRIES, "theirs"])
        await until(pilot, lambda: isinstance(on.app.screen, ConflictScreen))
        await pilot.press("j")
        await until(pilot, lambda: on.app.screen is pane(on))
        assert draft(on).texts == (
            ENTRIES[0], "[P3] Prefers British spelling.", *ENTRIES[2:], "theirs",
        )  # fmt: skip


async def test_edits_wait_while_the_file_cannot_be_read(tmp_path: Path) -> None:
    async with opened(tmp_path) as (pilot, on):
        await pilot.press("down", "3")
        path = hermes_home(tmp_path) / "memories" / "MEMORY.md"
        path.unlink()
        path.mkdir()
        await shows(pilot, on, "is a folder")
        assert draft(on).texts[1] == "[P3] Prefers British spelling."
        assert "Not saved yet" in drawn(on)
        path.rmdir()
        write_store(tmp_path, ENTRIES)
        await until(pilot, lambda: "is a folder" not in drawn(on))
        await saved(pilot, on)
        assert entries(tmp_path)[1] == "[P3] Prefers British spelling."


async def test_edits_left_behind_wait_until_the_file_is_text(tmp_path: Path) -> None:
    async with opened(tmp_path) as (pilot, on):
        await pilot.press("down", "3")
        await until(pilot, lambda: list((tmp_path / "data").rglob("unsaved/memory-*.json")))
    gone = left_behind(tmp_path)
    async with opened(tmp_path, NOT_UTF8) as (pilot, on):
        await shows(pilot, on, "is not UTF-8")
        assert gone.exists()
        write_store(tmp_path, ENTRIES)
        await shows(pilot, on, "has edits that were not saved")
        assert draft(on).texts[1] == "[P3] Prefers British spelling."


# -- another program writes while one is at it -----------------------------------------------------


async def somebody_wrote(pilot: Pilot[Any], on: Stage, folder: Path, texts: list[str]) -> None:
    write_store(folder, texts)
    await until(pilot, lambda: draft(on).look.entries == tuple(texts))


async def test_the_entry_that_is_edited_stays_the_same_one(tmp_path: Path) -> None:
    async with opened(tmp_path) as (pilot, on):
        await pilot.press("down", "e", *" Always.")
        await somebody_wrote(pilot, on, tmp_path, ["new at the top", *ENTRIES])
        await pilot.press("escape")
        assert draft(on).texts == (
            "new at the top", ENTRIES[0], f"{ENTRIES[1]} Always.", *ENTRIES[2:],
        )  # fmt: skip


@pytest.mark.parametrize("left", [ENTRIES[:1], [ENTRIES[0], "[P2] other words", *ENTRIES[2:]]])
async def test_what_one_wrote_of_an_entry_that_has_gone_is_a_new_one(
    left: list[str], tmp_path: Path
) -> None:
    async with opened(tmp_path) as (pilot, on):
        await pilot.press("down", "e", *" Always.")
        await somebody_wrote(pilot, on, tmp_path, left)
        await pilot.press("escape")
        await shows(pilot, on, "what you wrote is a new entry")
        assert draft(on).texts == (*left, f"{ENTRIES[1]} Always.")


async def test_an_entry_that_went_while_it_was_only_looked_at_does_not_come_back(
    tmp_path: Path,
) -> None:
    async with opened(tmp_path) as (pilot, on):
        await pilot.press("down", "e")
        await somebody_wrote(pilot, on, tmp_path, ENTRIES[:1])
        await pilot.press("escape")
        assert list(draft(on).texts) == ENTRIES[:1]


async def test_a_save_that_was_not_wanted_leads_nowhere_later(tmp_path: Path) -> None:
    """What was to follow it is forgotten: the next save is only a save."""
    async with opened(tmp_path) as (pilot, on):
        await pilot.press("3", "p")
        await shows(pilot, on, "Save them first")
        await pilot.press("y")
        await shows(pilot, on, "is P1 and is changed or deleted")
        await pilot.press("n")
        await until(pilot, lambda: on.app.screen is pane(on))
        await pilot.press("ctrl+s", "y")
        await until(pilot, lambda: not draft(on).has_changes)
        await shows(pilot, on, "is written")
        assert on.app.screen is pane(on)


async def test_cursor_and_marks_stay_on_their_entries(tmp_path: Path) -> None:
    async with opened(tmp_path) as (pilot, on):
        await pilot.press("down", "down", "space")  # the cursor goes on
        await somebody_wrote(pilot, on, tmp_path, ["new at the top", *ENTRIES])
        assert pane(on).chosen == 4
        assert pane(on).meant == [3]
        await pilot.press("d")
        assert draft(on).texts == ("new at the top", *ENTRIES[:2], ENTRIES[3])


# -- what was kept ---------------------------------------------------------------------------------


async def whole_files(pilot: Pilot[Any], on: Stage) -> KeptScreen:
    screen = await kept(pilot, on)
    await pilot.press("tab")
    await until(pilot, lambda: screen.files and screen.rows.count > 0)
    return screen


def put_backup(folder: Path, data: bytes, name: str = "") -> Path:
    """A whole file among those that are kept, of which no record tells."""
    backups = archive_of(folder) / "backups"
    backups.mkdir(parents=True, exist_ok=True)
    path = backups / f"{name or sha256(data)}.md"
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("key", ["d", "enter"])
async def test_a_whole_file_that_is_not_utf8_says_so(key: str, tmp_path: Path) -> None:
    put_backup(tmp_path, NOT_UTF8)
    async with opened(tmp_path) as (pilot, on):
        await whole_files(pilot, on)
        await pilot.press(key)
        await shows(pilot, on, "not UTF-8")
        assert "inside qterm" not in drawn(on)
        assert entries(tmp_path) == ENTRIES


@pytest.mark.parametrize("key", ["d", "enter"])
async def test_a_damaged_whole_file_says_so(key: str, tmp_path: Path) -> None:
    put_backup(tmp_path, b"other", name="a" * 64)
    async with opened(tmp_path) as (pilot, on):
        await whole_files(pilot, on)
        await pilot.press(key)
        await shows(pilot, on, "is not what was kept (its hash differs)")
        assert entries(tmp_path) == ENTRIES


async def test_a_whole_file_takes_the_place_of_one_that_is_not_utf8(tmp_path: Path) -> None:
    put_backup(tmp_path, "first\n§\nsecond".encode())
    async with opened(tmp_path, NOT_UTF8) as (pilot, on):
        await whole_files(pilot, on)
        await pilot.press("enter")
        await shows(pilot, on, "Bring the whole of MEMORY.md back?")
        await pilot.press("y")
        await until(pilot, lambda: entries_or_none(tmp_path) == ["first", "second"])
        assert (archive_of(tmp_path) / "backups" / f"{sha256(NOT_UTF8)}.md").exists()


def entries_or_none(folder: Path) -> list[str] | None:
    try:
        return entries(folder)
    except UnicodeDecodeError:
        return None


async def test_an_empty_whole_file_is_asked_about_twice(tmp_path: Path) -> None:
    put_backup(tmp_path, b"")
    async with opened(tmp_path) as (pilot, on):
        await whole_files(pilot, on)
        await pilot.press("enter")
        await shows(pilot, on, "Bring the whole of MEMORY.md back?")
        await pilot.press("y")
        await shows(pilot, on, "leave MEMORY.md empty")
        await pilot.press("enter")  # the safe answer
        assert entries(tmp_path) == ENTRIES
        await pilot.press("enter", "y", "y")
        await until(pilot, lambda: entries(tmp_path) == [])


async def test_lines_of_the_archive_that_cannot_be_read_are_counted_in_words(
    tmp_path: Path,
) -> None:
    async with opened(tmp_path) as (pilot, on):
        await pilot.press("down", "down", "d")
        await saved(pilot, on)
        log = archive_of(tmp_path) / "archive.jsonl"
        with log.open("ab") as file:
            file.write(b'{"kind":"later"}\n{"torn')
        await kept(pilot, on)
        await shows(pilot, on, "2 lines of the archive can’t be read")
        assert "Shark game" in drawn(on)
        assert "--older-than" in " ".join(drawn(on).replace("▌", " ").split())


async def test_an_archive_that_cannot_be_read_says_so(tmp_path: Path) -> None:
    (archive_of(tmp_path) / "archive.jsonl").mkdir(parents=True)
    async with opened(tmp_path) as (pilot, on):
        await pilot.press("b")
        await shows(pilot, on, "a folder is in its place")
        await pilot.press("enter", "d", "tab", "slash", *"x", "escape", "escape")
        await until(pilot, lambda: on.app.screen is pane(on))


async def test_what_took_the_place_is_shown_and_named_where_it_is_p1(tmp_path: Path) -> None:
    async with opened(tmp_path) as (pilot, on):
        await pilot.press("end", "1")
        await saved(pilot, on)
        await kept(pilot, on)
        await pilot.press("enter")
        await shows(pilot, on, "took its place")
        assert isinstance(on.app.screen, Question)
        assert "P1" in drawn(on)
        assert "[P1] Backups run nightly" in " ".join(drawn(on).replace("▌", " ").split())
        await pilot.press("enter")
        assert entries(tmp_path)[3] == f"[P1] {ENTRIES[3]}"


async def test_unsaved_edits_can_be_saved_first(tmp_path: Path) -> None:
    async with opened(tmp_path) as (pilot, on):
        await pilot.press("down", "down", "d")
        await saved(pilot, on)
        await pilot.press("home", "down", "3")
        await kept(pilot, on)
        await pilot.press("enter")
        await shows(pilot, on, "has edits that are not saved")
        assert isinstance(on.app.screen, Question)
        await pilot.press("y")  # save them first; then it shows again what was kept
        await until(pilot, lambda: isinstance(on.app.screen, KeptScreen))
        assert entries(tmp_path)[1] == "[P3] Prefers British spelling."
        assert not draft(on).has_changes


# -- suggestions -----------------------------------------------------------------------------------


async def test_a_file_that_changed_under_the_suggestions_loses_no_choice(tmp_path: Path) -> None:
    """The pane has the file anew meanwhile: the tags go into what it has now, or into nothing."""
    memory = ["The host web-2 runs Debian 13 with 16 GB.", "Zebra."]
    async with opened(tmp_path, memory) as (pilot, on):
        await pilot.press("t")
        await shows(pilot, on, "Suggestions for 1 of 2")
        screen = on.app.screen
        assert isinstance(screen, SuggestedScreen)
        await pilot.press("space")
        write_store(tmp_path, ["new at the top", *memory])
        pane(on).read()  # what was asked before the screen opened
        await until(pilot, lambda: len(draft(on).texts) == 3)
        await pilot.press("enter", "y")
        await shows(pilot, on, "has changed meanwhile")
        await until(pilot, lambda: screen.rows.count == 3)
        await shows(pilot, on, "Accepted: 1 P1.")
        await pilot.press("enter", "y")
        await until(pilot, lambda: on.app.screen is pane(on))
        assert draft(on).texts == ("new at the top", f"[P1] {memory[0]}", "Zebra.")
