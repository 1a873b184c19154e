"""The screens over the memory pane: preview, comparison, apply, undo, suggestions, the archive."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from qterm.memory.proposal import Action
from qterm.memory.stores import StoreName
from qterm.tui.memory.ask_long import LongQuestion
from qterm.tui.memory.comparison import ComparisonScreen
from qterm.tui.memory.kept import KeptScreen
from qterm.tui.memory.preview import PreviewScreen
from qterm.tui.memory.result import Result
from qterm.tui.memory.suggested import SuggestedScreen
from qterm.tui.screens.ask import Question
from qterm.tui.screens.sheets import Sheet
from tests.tui.memory_stage import hermes_home, pane, write_store
from tests.tui.stage import Stage, until
from tests.tui.test_memory_pane import draft, drawn, entries, opened, saved, shows

MEMORY, WORKING = StoreName.MEMORY, StoreName.WORKING
FULL = [
    "[P1] Core: netcup KVM, 8C/15G/512GB, Debian 13.",
    "[P2] Old editor settings. " + "x" * 900,
    "[P3] Shark game updates complete.",
    "[P2] Prefers British spelling. " + "y" * 900,
    "Backups run nightly on web-2.",
    "[P3] Waiting for the parcel.",
]


def preview(on: Stage) -> PreviewScreen:
    screen = on.app.screen
    assert isinstance(screen, PreviewScreen)
    return screen


async def previewed(pilot: Pilot[Any], on: Stage, key: str = "p") -> None:
    await pilot.press(key)
    await until(
        pilot,
        lambda: (
            isinstance(on.app.screen, PreviewScreen)
            and preview(on).made is not None
            and not preview(on)._reckoning
        ),
    )


async def reckoned(pilot: Pilot[Any], on: Stage) -> None:
    await until(pilot, lambda: preview(on).made is not None and not preview(on)._reckoning)


def everything(folder: Path) -> dict[str, object]:
    """Every file of the hermes home and of qterm's archive: bytes, times, listing."""
    found: dict[str, object] = {}
    for top in (hermes_home(folder), folder / "data" / "memory"):
        for path in sorted([top, *top.rglob("*")]) if top.exists() else []:
            state = path.stat()
            data = (
                path.read_bytes()
                if path.is_file()
                else sorted(each.name for each in path.iterdir())
            )
            found[str(path)] = (data, state.st_mtime_ns, state.st_ctime_ns, state.st_mode)
    return found


async def test_looking_writes_nothing(tmp_path: Path) -> None:
    """Rule M2: every policy, ticks, the difference, the comparison, what was kept, suggestions."""
    odd = "\ufeff" + "\r\n§\r\n".join([*FULL, FULL[0]]) + "\n"
    async with opened(tmp_path, odd.encode()) as (pilot, on):
        before = everything(tmp_path)
        await previewed(pilot, on)
        for _ in range(4):
            for _ in range(6):
                await pilot.press("space", "down")
            await pilot.press("o", "d")
            await until(pilot, lambda: isinstance(on.app.screen, Sheet))
            await pilot.press("escape", "f", "right")
            await reckoned(pilot, on)
        await pilot.press("enter", "escape", "c")
        await until(pilot, lambda: isinstance(on.app.screen, ComparisonScreen))
        await shows(pilot, on, "legacy")
        await pilot.press("f", "escape", "escape")
        await until(pilot, lambda: on.app.screen is pane(on))
        for key, kind in (("b", KeptScreen), ("t", SuggestedScreen)):
            await pilot.press(key)
            await until(pilot, lambda kind=kind: isinstance(on.app.screen, kind))  # type: ignore[misc]
            await pilot.pause(0.2)
            await pilot.press("tab", "escape")
        assert everything(tmp_path) == before


async def test_what_goes_is_ticked_and_each_tick_recomputes_the_rest(tmp_path: Path) -> None:
    async with opened(tmp_path, FULL) as (pilot, on):
        await previewed(pilot, on)
        text = drawn(on)
        assert "Preview: nothing has been written" in text
        assert "☑ prune P3" in text
        assert "☐ offer P2" in text
        assert "no tag: never pruned" in text
        assert [each.action for each in preview(on)._shown] == [
            Action.KEEP,
            Action.OFFER,
            Action.PRUNE,
            Action.KEEP,
            Action.KEEP,
            Action.PRUNE,
        ]
        await pilot.press("space")
        await shows(pilot, on, "This entry stays: P1")
        await pilot.press("down", "space")  # the offered one
        await reckoned(pilot, on)
        await until(pilot, lambda: "→ 3 entries" in drawn(on))
        await pilot.press("down", "space")  # a P3 stays
        await until(pilot, lambda: "→ 4 entries" in drawn(on))
        await pilot.press("f")
        assert preview(on).rows.count == 3
        assert entries(tmp_path) == FULL


async def test_apply_asks_once_does_what_was_shown_and_is_undone(tmp_path: Path) -> None:
    async with opened(tmp_path, FULL) as (pilot, on):
        path = hermes_home(tmp_path) / "memories" / "MEMORY.md"
        before = path.read_bytes()
        await previewed(pilot, on)
        await pilot.press("end", "space")  # the parcel stays
        await until(pilot, lambda: "→ 5 entries" in drawn(on))
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(on.app.screen, LongQuestion))
        text = drawn(on)
        assert "Prune 1 entry?" in text
        assert "Shark game updates" in text
        assert "backups" in text
        await pilot.press("enter")  # the safe answer
        await until(pilot, lambda: isinstance(on.app.screen, PreviewScreen))
        assert path.read_bytes() == before
        await pilot.press("enter", "y")
        await until(pilot, lambda: isinstance(on.app.screen, Result))
        assert entries(tmp_path) == [*FULL[:2], *FULL[3:]]
        await shows(pilot, on, "Done: 1 entry archived")
        await pilot.press("u")
        await until(pilot, lambda: path.read_bytes() == before)
        await shows(pilot, on, "is as it was before")


async def test_undo_is_refused_where_the_file_has_changed_since(tmp_path: Path) -> None:
    async with opened(tmp_path, FULL) as (pilot, on):
        await previewed(pilot, on)
        await pilot.press("enter", "y")
        await until(pilot, lambda: isinstance(on.app.screen, Result))
        await pilot.press("escape")
        write_store(tmp_path, ["other"])
        await until(pilot, lambda: "other" in drawn(on))
        await pilot.press("ctrl+z")
        await shows(pilot, on, "has changed since then")
        assert entries(tmp_path) == ["other"]


async def test_a_file_that_changed_meanwhile_gives_a_new_preview(tmp_path: Path) -> None:
    async with opened(tmp_path, FULL) as (pilot, on):
        await previewed(pilot, on)
        write_store(tmp_path, [*FULL, "[P3] new and done"])
        await pilot.press("enter", "y")
        await shows(pilot, on, "has changed meanwhile, so nothing was written")
        assert "1 entry new or changed" in " ".join(drawn(on).replace("▌", " ").split())
        assert entries(tmp_path) == [*FULL, "[P3] new and done"]
        await until(pilot, lambda: preview(on).rows.count == 7)


async def test_a_store_is_emptied_only_after_a_second_question(tmp_path: Path) -> None:
    async with opened(tmp_path, ["[P3] done"]) as (pilot, on):
        await previewed(pilot, on)
        await pilot.press("enter", "y")
        await until(
            pilot,
            lambda: (
                isinstance(on.app.screen, Question) and not isinstance(on.app.screen, LongQuestion)
            ),
        )
        assert "empty" in drawn(on)
        await pilot.press("enter")
        assert entries(tmp_path) == ["[P3] done"]
        await pilot.press("enter", "y", "y")
        await until(pilot, lambda: isinstance(on.app.screen, Result))
        assert entries(tmp_path) == []


async def test_dual_writes_two_files_and_undo_puts_both_back(tmp_path: Path) -> None:
    async with opened(tmp_path, FULL) as (pilot, on):
        await previewed(pilot, on)
        await pilot.press("right")
        await until(pilot, lambda: "WORKING.md" in drawn(on) and "☑ move" in drawn(on))
        await reckoned(pilot, on)
        await pilot.press("enter")
        await shows(pilot, on, "Move 2 entries to WORKING.md?")
        await pilot.press("y")
        await until(pilot, lambda: isinstance(on.app.screen, Result))
        assert entries(tmp_path, WORKING)[0].startswith("[P3] 2026-11-30 · Shark game")
        assert len(entries(tmp_path)) == 4
        await pilot.press("u")
        await until(pilot, lambda: entries(tmp_path) == FULL)
        assert entries(tmp_path, WORKING) == []


async def test_legacy_marks_what_it_would_have_lost_and_cannot_be_applied(tmp_path: Path) -> None:
    memory = ["[P1] The panel is done by hand.", "[P3] done", "Backups complete nightly."]
    async with opened(tmp_path, memory) as (pilot, on):
        await previewed(pilot, on)
        await pilot.press("left")
        await shows(pilot, on, "It would lose 2 entries that matter")
        assert drawn(on).count("LOST ") >= 2
        await pilot.press("enter")
        assert isinstance(on.app.screen, PreviewScreen)
        assert entries(tmp_path) == memory
        await pilot.press("c")
        await until(pilot, lambda: isinstance(on.app.screen, ComparisonScreen))
        await shows(pilot, on, "2 that matter would be LOST")


async def test_schema_is_migrated_and_undone(tmp_path: Path) -> None:
    async with opened(tmp_path, FULL[2:3]) as (pilot, on):
        await previewed(pilot, on)
        await pilot.press("right", "right")
        await until(pilot, lambda: preview(on).policy == "schema" and preview(on).made is not None)
        await pilot.press("m")
        await shows(pilot, on, "in the form “schema”")
        await pilot.press("y")
        await until(pilot, lambda: isinstance(on.app.screen, Result))
        assert entries(tmp_path)[0].startswith("type: task\npriority: p3")
        await pilot.press("u")
        await until(pilot, lambda: entries(tmp_path) == FULL[2:3])


async def test_a_lock_held_for_ever_leaves_the_preview_alive(tmp_path: Path) -> None:
    async with opened(tmp_path, FULL) as (pilot, on):
        lock = os.open(
            hermes_home(tmp_path) / "memories" / "MEMORY.md.lock", os.O_RDWR | os.O_CREAT, 0o600
        )
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            await previewed(pilot, on)
            await pilot.press("enter", "y", "down", "down")
            assert preview(on).rows.cursor == 2
            await shows(pilot, on, "another program")
        finally:
            os.close(lock)
        assert entries(tmp_path) == FULL
        await pilot.press("enter", "y")
        await until(pilot, lambda: isinstance(on.app.screen, Result))


async def test_unsaved_edits_are_saved_first_or_the_file_is_looked_at(tmp_path: Path) -> None:
    async with opened(tmp_path, FULL) as (pilot, on):
        await pilot.press("down", "3", "p")
        await until(pilot, lambda: isinstance(on.app.screen, Question))
        await pilot.press("n")
        await until(pilot, lambda: isinstance(on.app.screen, PreviewScreen))
        await reckoned(pilot, on)
        assert sum(each.ticked for each in preview(on)._shown) == 2
        await pilot.press("escape", "p")
        await until(pilot, lambda: isinstance(on.app.screen, Question))
        await pilot.press("y")
        await until(pilot, lambda: isinstance(on.app.screen, PreviewScreen))
        await reckoned(pilot, on)
        assert sum(each.ticked for each in preview(on)._shown) == 3


async def test_fifty_thousand_entries_are_previewed_and_it_answers_meanwhile(
    tmp_path: Path,
) -> None:
    many = [f"[P{n % 3 + 1}] entry {n} of the store" for n in range(50_000)]
    async with opened(tmp_path, many) as (pilot, on):
        await pilot.press("p")
        await until(pilot, lambda: isinstance(on.app.screen, PreviewScreen))
        await pilot.press("f", "f")
        await until(pilot, lambda: preview(on).rows.count == 50_000)
        await pilot.press("end")
        await shows(pilot, on, "entry 49999")
        await pilot.press("up", "up", "space")
        await reckoned(pilot, on)


# -- suggestions -----------------------------------------------------------------------------------


async def test_suggestions_are_accepted_one_by_one_or_all_after_a_look(tmp_path: Path) -> None:
    memory = [
        "The host web-2 runs Debian 13 with 16 GB.",
        "[P2] tagged",
        "Shark game updates are complete.",
        "Zebra.",
    ]
    async with opened(tmp_path, memory) as (pilot, on):
        await pilot.press("t")
        await until(pilot, lambda: isinstance(on.app.screen, SuggestedScreen))
        await shows(pilot, on, "Suggestions for 2 of 3 untagged entries")
        assert "names infrastructure" in drawn(on)
        await pilot.press("space")
        await shows(pilot, on, "Accepted: 1 P1.")
        await pilot.press("escape")
        await shows(pilot, on, "Leave without tagging?")
        await pilot.press("n", "a", "end", "2", "enter")
        await shows(pilot, on, "Tag 3 entries (1 P1, 1 P2, 1 P3)?")
        await pilot.press("y")
        await until(pilot, lambda: on.app.screen is pane(on))
        assert list(draft(on).texts) == [
            f"[P1] {memory[0]}",
            "[P2] tagged",
            f"[P3] {memory[2]}",
            "[P2] Zebra.",
        ]
        await pilot.press("u")  # one step
        assert list(draft(on).texts) == memory
        assert entries(tmp_path) == memory


# -- what was kept ---------------------------------------------------------------------------------


async def kept(pilot: Pilot[Any], on: Stage) -> KeptScreen:
    await pilot.press("b")
    await until(pilot, lambda: isinstance(on.app.screen, KeptScreen))
    screen = on.app.screen
    assert isinstance(screen, KeptScreen)
    await until(pilot, lambda: screen.kept is not None)
    return screen


async def test_an_entry_comes_back_to_where_it_was(tmp_path: Path) -> None:
    async with opened(tmp_path, FULL) as (pilot, on):
        await previewed(pilot, on)
        await pilot.press("enter", "y")
        await until(pilot, lambda: isinstance(on.app.screen, Result))
        await pilot.press("escape")
        screen = await kept(pilot, on)
        assert screen.rows.count == 2
        await pilot.press("slash", *"shark", "enter")
        await until(pilot, lambda: screen.rows.count == 1)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(on.app.screen, Result))
        await shows(pilot, on, "it is entry 3 of MEMORY.md now")
        assert entries(tmp_path) == FULL[:5]
        await pilot.press("escape")
        await kept(pilot, on)
        await pilot.press("slash", *"shark", "enter", "enter")
        await shows(pilot, on, "has that entry already")


async def test_what_took_its_place_is_asked_about(tmp_path: Path) -> None:
    async with opened(tmp_path, FULL) as (pilot, on):
        await pilot.press("down", "down", "2")
        await saved(pilot, on)
        await kept(pilot, on)
        await pilot.press("enter")
        await shows(pilot, on, "took its place")
        await pilot.press("enter")  # the safe answer
        assert entries(tmp_path)[2] == "[P2] Shark game updates complete."
        await pilot.press("enter", "y")
        await until(pilot, lambda: entries(tmp_path) == FULL)


async def test_a_whole_file_comes_back_after_a_look_at_the_difference(tmp_path: Path) -> None:
    async with opened(tmp_path, FULL) as (pilot, on):
        path = hermes_home(tmp_path) / "memories" / "MEMORY.md"
        before = path.read_bytes()
        await pilot.press("d")
        await pilot.press("ctrl+s", "y")
        await until(pilot, lambda: entries(tmp_path) == FULL[1:])
        screen = await kept(pilot, on)
        await pilot.press("tab")
        await until(pilot, lambda: screen.files and screen.rows.count == 1)
        await pilot.press("d")
        await until(pilot, lambda: isinstance(on.app.screen, Sheet))
        await shows(pilot, on, "+ [P1] Core: netcup")
        await pilot.press("escape", "enter")
        await shows(pilot, on, "Bring the whole of MEMORY.md back?")
        await pilot.press("y")
        await until(pilot, lambda: isinstance(on.app.screen, Result))
        assert path.read_bytes() == before


async def test_unsaved_edits_keep_what_was_kept_from_coming_back(tmp_path: Path) -> None:
    async with opened(tmp_path, FULL) as (pilot, on):
        await pilot.press("down", "down", "d")
        await saved(pilot, on)
        await pilot.press("down", "3")
        await kept(pilot, on)
        await pilot.press("enter")
        await shows(pilot, on, "has edits that are not saved")
        assert len(entries(tmp_path)) == 5


async def test_nothing_was_kept_yet(tmp_path: Path) -> None:
    async with opened(tmp_path, FULL) as (pilot, on):
        await kept(pilot, on)
        await shows(pilot, on, "Nothing has been removed yet")
        await pilot.press("enter", "d", "tab", "enter", "d")
        await shows(pilot, on, "No whole file is kept yet")


@pytest.mark.parametrize("key", ["p", "c", "t", "b"])
async def test_each_of_them_is_left_with_esc_and_for_another_mode(key: str, tmp_path: Path) -> None:
    async with opened(tmp_path, FULL, size=(80, 24)) as (pilot, on):
        await pilot.press(key)
        await until(pilot, lambda: on.app.screen is not pane(on))
        await pilot.press("f1", "escape", "escape")
        await until(pilot, lambda: on.app.screen is pane(on))
        await pilot.press(key, "f2")
        await until(pilot, lambda: on.app.screen is on.app.home)
        await pilot.press("f4")
        await until(pilot, lambda: on.app.screen is pane(on))
