"""The memory pane with very many entries, with the mouse, and on the way between the files."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from qterm.memory.stores import StoreName
from qterm.tui.memory import pane_shown
from qterm.tui.memory.pane_list import find
from tests.tui.memory_stage import memory_stage, pane
from tests.tui.stage import screen_text, until
from tests.tui.test_memory_pane import ENTRIES, draft, drawn, opened, shows

MEMORY, USER, WORKING = StoreName.MEMORY, StoreName.USER, StoreName.WORKING
MANY = [f"[P{n % 3 + 1}] entry {n} of the store" for n in range(5_000)]
ALEX: dict[StoreName, Sequence[str] | bytes] = {USER: ["Alex.", "Likes tea.", "Takes the tram."]}


class Slow:
    """Finds what `find` finds, once it may; which threads it was asked in."""

    def __init__(self) -> None:
        self.may = threading.Event()
        self.asked_in: set[threading.Thread] = set()

    def __call__(self, *what: Any) -> Sequence[int]:
        self.asked_in.add(threading.current_thread())
        assert self.may.wait(60)
        return find(*what)


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Slow:
    made = Slow()
    monkeypatch.setattr(pane_shown, "find", made)
    return made


async def test_the_screen_answers_while_many_entries_are_looked_through(
    slow: Slow, tmp_path: Path
) -> None:
    async with opened(tmp_path, MANY) as (pilot, on):
        await pilot.press("slash", *"odd", "enter")
        await shows(pilot, on, "Looking…")
        await pilot.press("down", "down", "asterisk")
        assert pane(on).rows.cursor == 2  # it answers meanwhile
        assert not pane(on).view.marked  # all that are shown are not known yet
        slow.may.set()
        await shows(pilot, on, "Nothing matches the filter.")
        await pilot.press("escape")
        await until(pilot, lambda: pane(on).rows.count == len(MANY))
        await pilot.press("s")
        await until(pilot, lambda: not pane(on).is_finding)
        assert [draft(on).texts[index][:4] for index in pane(on).view.shown[:3]] == ["[P1]"] * 3
        assert slow.asked_in
        assert threading.main_thread() not in slow.asked_in


async def test_what_was_looked_for_before_does_not_come_over_what_is_shown_now(
    slow: Slow, tmp_path: Path
) -> None:
    async with opened(tmp_path, MANY, more=ALEX) as (pilot, on):
        await pilot.press("slash", *"p3", "enter")
        await until(pilot, lambda: bool(slow.asked_in))
        await pilot.press("right")
        await shows(pilot, on, "Likes tea.")
        slow.may.set()
        await pane(on).work.ended("find")
        await pilot.pause()
        assert list(pane(on).view.shown) == [0, 1, 2]
        assert "Likes tea." in drawn(on)


async def test_an_edit_under_a_filter_keeps_the_cursor_on_its_entry(
    slow: Slow, tmp_path: Path
) -> None:
    slow.may.set()
    async with opened(tmp_path, MANY) as (pilot, on):
        await pilot.press("slash", *"p2", "enter")
        await until(pilot, lambda: not pane(on).is_finding and pane(on).rows.count == 1_667)
        await pilot.press("down", "down")
        assert pane(on).chosen == 7
        slow.may.clear()
        await pilot.press("d")  # the list has the numbers of before for a moment
        await pilot.press("end")
        assert len(draft(on).texts) == 4_999
        assert "entry" in drawn(on)
        await pilot.press("home", "down", "down")
        slow.may.set()
        await until(pilot, lambda: not pane(on).is_finding)
        shown = pane(on).view.shown
        assert all(draft(on).texts[index].startswith("[P2]") for index in shown)
        assert len(shown) == 1_666


async def test_a_click_on_a_file_shows_it_and_the_cursor_is_where_it_was(tmp_path: Path) -> None:
    async with opened(tmp_path, more=ALEX) as (pilot, on):
        await pilot.press("down", "down", "3")
        line = next(line for line in drawn(on).splitlines() if "USER.md" in line)
        row = drawn(on).splitlines().index(line)
        await pilot.click(offset=(line.index("USER.md") + 2, row))
        await until(pilot, lambda: pane(on).store is USER)
        await shows(pilot, on, "of 1,375 (default)")
        await pilot.press("end")
        line = drawn(on).splitlines()[row]
        await pilot.click(offset=(line.index("MEMORY.md") + 2, row))
        await until(pilot, lambda: pane(on).store is MEMORY)
        assert pane(on).rows.cursor == 3  # where tagging took it
        await pilot.press("right")
        assert pane(on).rows.cursor == 2  # USER.md's


async def test_the_file_with_unsaved_edits_has_a_star(tmp_path: Path) -> None:
    async with opened(tmp_path, more=ALEX) as (pilot, on):
        await shows(pilot, on, "MEMORY.md 7% USER.md")
        await pilot.press("down", "3", "right")
        await shows(pilot, on, "MEMORY.md 7%* USER.md")


@pytest.mark.parametrize("size", [(120, 40), (80, 24)], ids=["wide", "narrow"])
async def test_the_path_is_whole(size: tuple[int, int], tmp_path: Path) -> None:
    deep = tmp_path / "a-folder-with-a-long-name-that-must-be-whole"
    deep.mkdir()
    stage = memory_stage(deep, {MEMORY: ENTRIES}, environ={"HOME": str(tmp_path)})
    async with stage as on, on.shown(size) as pilot:
        await pilot.press("f4")
        path = f"~/{deep.name}/hermes/memories/MEMORY.md"
        await until(pilot, lambda: path in screen_text(on.app))


async def test_f4_once_there_goes_to_the_list_and_keeps_what_was_written(tmp_path: Path) -> None:
    async with opened(tmp_path) as (pilot, on):
        await pilot.press("slash", *"tram", "f4")
        assert pane(on).rows.has_focus
        await pilot.press("escape", "home", "down", "e", *" Always.", "f4")
        await until(pilot, lambda: pane(on).rows.has_focus)
        assert draft(on).texts[1] == f"{ENTRIES[1]} Always."
        await pilot.press("ctrl+s", "f4")  # from home it is the way here, whatever has the focus
        assert pane(on).rows.has_focus


async def test_the_keys_that_matter_are_in_view(tmp_path: Path) -> None:
    async with opened(tmp_path, more=ALEX) as (pilot, on):
        await pilot.press("down", "3")
        await shows(pilot, on, "ctrl+s save ctrl+p commands")
    async with opened(tmp_path, more=ALEX, size=(80, 24)) as (pilot, on):
        await shows(pilot, on, "b kept / filter → file")


async def test_the_settings_open_while_an_entry_is_edited(tmp_path: Path) -> None:
    async with opened(tmp_path) as (pilot, on):
        await pilot.press("e", *" More", "f6")
        await until(pilot, lambda: "Settings" in drawn(on).splitlines()[0])
        await pilot.press("escape")
        await until(pilot, lambda: on.app.screen is pane(on))
        assert pane(on).editor.words.endswith(" More")


async def test_the_first_entry_of_an_empty_file_can_be_written_in_the_own_editor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(tmp_path, b"") as (pilot, on):
        assert "edit-elsewhere" not in pane(on).situation().can
        await pilot.press("a", *"half")
        assert "edit-elsewhere" in pane(on).situation().can
        asked: list[str] = []
        monkeypatch.setattr(
            "qterm.tui.desk.writing.edit",
            lambda _environ, _post, name, text, _lend: _noted(asked, f"{name}:{text}"),
        )
        await pilot.press("f7")
        await until(pilot, lambda: asked == [":half"])


async def _noted(asked: list[str], words: str) -> None:
    asked.append(words)


async def test_words_are_right_for_one_entry_and_for_a_file_that_hermes_does_not_read(
    tmp_path: Path,
) -> None:
    unclean = b"[P1] a\n\xc2\xa7\n\n\xc2\xa7\n[P1] a"
    async with opened(tmp_path, unclean, more={WORKING: ["[P3] 2026-11-29 · Parcel."]}) as (
        pilot,
        on,
    ):
        await shows(pilot, on, "Sessions that run keep")
        await pilot.press("x")
        await shows(pilot, on, "1 entry is in it afterwards.")
        await pilot.press("n", "0", "ctrl+s")
        await until(pilot, lambda: "Go back" in drawn(on) or "same as" in drawn(on))
        await pilot.press("n", "left")
        await shows(pilot, on, "hermes does not read this file")
        assert "Sessions that run keep" not in drawn(on)
    async with opened(tmp_path) as (pilot, on):
        await pilot.press("0", "ctrl+s")
        await shows(pilot, on, "It is archived first, and can be brought back.")
