"""What takes its time in the preview: whatever one does meanwhile, nothing stops or is lost."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest
from textual.pilot import Pilot

from qterm.memory.proposal import Ticks
from qterm.memory.stores import StoreName
from qterm.settings.schema import Settings
from qterm.tui.desk import messages
from qterm.tui.memory.ask_long import LongQuestion
from qterm.tui.memory.preview import PreviewScreen
from qterm.tui.memory.result import Result
from tests.tui.memory_stage import hermes_home, pane, write_store
from tests.tui.stage import Stage, until
from tests.tui.test_memory_pane import drawn, entries, opened, shows
from tests.tui.test_memory_review import FULL, preview, previewed, reckoned

MEMORY, WORKING = StoreName.MEMORY, StoreName.WORKING
LEFT = [FULL[0], FULL[1], FULL[3], FULL[4]]
NOT_WRITTEN = "nothing has been written"


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """hermes's lock, held by somebody else."""
    path = hermes_home(folder) / "memories" / "MEMORY.md.lock"
    lock = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


async def applying(pilot: Pilot[Any], on: Stage) -> None:
    """Apply, while the lock is held."""
    await previewed(pilot, on)
    await pilot.press("enter", "y")
    await shows(pilot, on, "Writing…")


async def told_and_undone(pilot: Pilot[Any], on: Stage, folder: Path) -> None:
    """What was written is told wherever one is, and can be undone in the pane."""
    await until(pilot, lambda: entries(folder) == LEFT)
    await shows(pilot, on, "Done: 2 entries archived")
    if on.app.screen is not pane(on):
        await pilot.press("escape")
    await pilot.press("f4")
    await until(pilot, lambda: on.app.screen is pane(on))
    await until(pilot, lambda: "Shark game" not in drawn(on))
    await pilot.press("ctrl+z")
    await until(pilot, lambda: entries(folder) == FULL)


async def test_a_write_is_told_after_its_preview_was_left(tmp_path: Path) -> None:
    async with opened(tmp_path, FULL) as (pilot, on):
        with locked(tmp_path):
            await applying(pilot, on)
            await pilot.press("escape")
            await until(pilot, lambda: on.app.screen is pane(on))
        await told_and_undone(pilot, on, tmp_path)


async def test_a_write_is_told_in_another_mode(tmp_path: Path) -> None:
    async with opened(tmp_path, FULL) as (pilot, on):
        with locked(tmp_path):
            await applying(pilot, on)
            await pilot.press("f2")
            await until(pilot, lambda: on.app.screen is on.app.home)
        await told_and_undone(pilot, on, tmp_path)


@pytest.mark.parametrize("key", ["d", "c", "f1"])
async def test_a_preview_that_was_written_does_not_stay_under_another_screen(
    key: str, tmp_path: Path
) -> None:
    """It would say that nothing has been written."""
    async with opened(tmp_path, FULL) as (pilot, on):
        with locked(tmp_path):
            await applying(pilot, on)
            await pilot.press(key)
            await until(pilot, lambda: not isinstance(on.app.screen, PreviewScreen))
        await until(pilot, lambda: entries(tmp_path) == LEFT)
        await shows(pilot, on, "Done: 2 entries archived")
        await pilot.press("escape")
        await until(pilot, lambda: on.app.screen is pane(on))


async def test_a_write_that_failed_is_told_after_its_preview_was_left(tmp_path: Path) -> None:
    async with opened(tmp_path, FULL) as (pilot, on):
        with locked(tmp_path):
            await applying(pilot, on)
            await pilot.press("escape")
            await shows(pilot, on, "another program")
        assert entries(tmp_path) == FULL


async def test_it_is_applied_once(tmp_path: Path) -> None:
    async with opened(tmp_path, FULL) as (pilot, on):
        with locked(tmp_path):
            await applying(pilot, on)
            await pilot.press("enter")
            await pilot.pause()
            assert not isinstance(on.app.screen, LongQuestion)
        await until(pilot, lambda: isinstance(on.app.screen, Result))


async def test_what_failed_is_not_being_written_any_more(tmp_path: Path) -> None:
    async with opened(tmp_path, FULL) as (pilot, on):
        with locked(tmp_path):
            await applying(pilot, on)
            await shows(pilot, on, "another program")
            on.app.clear_notifications()
            await pilot.pause()
            assert "Writing…" not in drawn(on)
            assert "another program" in " ".join(
                drawn(on).replace("▌", " ").split()
            )  # it stays to be read
        await pilot.press("enter", "y")
        await until(pilot, lambda: isinstance(on.app.screen, Result))


async def test_the_copy_goes_off_the_machine_after_its_preview_was_left(tmp_path: Path) -> None:
    copied = tmp_path / "copied.md"
    command = ("cp", "{path}", str(copied))
    memory = msgspec.structs.replace(Settings().memory, backup_command=command)
    settings = msgspec.structs.replace(Settings(), memory=memory)
    async with opened(tmp_path, FULL, settings=settings) as (pilot, on):
        with locked(tmp_path):
            await applying(pilot, on)
            await pilot.press("escape")
        await until(pilot, copied.exists)


async def test_other_settings_give_a_new_preview(tmp_path: Path) -> None:
    """What was shown was reckoned with the old ones: nothing is written, and it is said."""
    async with opened(tmp_path, FULL) as (pilot, on):
        await previewed(pilot, on)
        loaded = on.services.loaded
        memory = msgspec.structs.replace(loaded.settings.memory, p2_percent=40)
        on.services.loaded = replace(
            loaded, settings=msgspec.structs.replace(loaded.settings, memory=memory)
        )
        await pilot.press("enter", "y")
        await shows(pilot, on, "settings of the policies are not those of this plan any more, so")
        await shows(pilot, on, "nothing was written. This is a new preview")
        assert entries(tmp_path) == FULL
        await reckoned(pilot, on)
        await until(pilot, lambda: len(preview(on).made.offered) == 2)  # type: ignore[union-attr]
        await pilot.press("enter", "y")
        await until(pilot, lambda: isinstance(on.app.screen, Result))


async def test_an_older_answer_takes_back_no_tick(tmp_path: Path) -> None:
    """An answer that was on its way when the tick was set is not the newest."""
    async with opened(tmp_path, FULL) as (pilot, on):
        await previewed(pilot, on)
        screen = preview(on)
        assert screen.made is not None
        older = screen._asked, screen.made.preview
        await pilot.press("down", "down")
        screen.action_tick()
        screen._done(messages.MemoryDone("preview", older))
        chosen = screen.chosen
        assert chosen is not None
        assert not screen.made.is_ticked(chosen)
        assert screen._ticks["tags"] == Ticks(off=frozenset({(MEMORY, 2)}))
        await reckoned(pilot, on)
        await until(pilot, lambda: "→ 5 entries" in drawn(on))


async def test_a_folder_in_the_place_of_the_file_is_told_and_the_plan_stays(
    tmp_path: Path,
) -> None:
    async with opened(tmp_path, FULL) as (pilot, on):
        await previewed(pilot, on)
        path = hermes_home(tmp_path) / "memories" / "MEMORY.md"
        path.unlink()
        path.mkdir()
        await pilot.press("enter", "y")
        await shows(pilot, on, "is a folder")
        path.rmdir()
        write_store(tmp_path, FULL)
        assert preview(on).rows.count == len(FULL)
        await pilot.press("enter", "y")
        await until(pilot, lambda: isinstance(on.app.screen, Result))


LONG = """
import asyncio, time
from qterm.tui.desk.memory_work import in_daemon

async def main():
    try:
        await asyncio.wait_for(in_daemon(lambda: time.sleep(300)), 0.1)
    except TimeoutError:
        print("left")

asyncio.run(main())
"""


def test_quitting_does_not_wait_for_a_policy_that_reckons() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LONG], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout == "left\n"


async def test_every_entry_is_looked_at_beside_the_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Typed entries are read as YAML, a millisecond each: on the loop it would stand still."""
    from qterm.memory.proposal import Decision
    from qterm.tui.words import comparison_rows, plan_rows

    asked, many = [], 3_000
    matters = plan_rows.matters

    def noted(decision: Decision, text: str) -> bool:
        if threading.current_thread() is threading.main_thread():
            asked.append(decision)
        return matters(decision, text)

    monkeypatch.setattr(plan_rows, "matters", noted)
    monkeypatch.setattr(comparison_rows, "matters", noted)
    async with opened(tmp_path, [f"[P2] entry {n} is done" for n in range(many)]) as (pilot, on):
        await previewed(pilot, on)
        await pilot.press("left")
        await shows(pilot, on, "It would lose 3,000 entries that matter")
        await pilot.press("f", "f", "down", "space")
        await reckoned(pilot, on)
        await pilot.press("c")
        await shows(pilot, on, "3,000 that matter would be LOST")
        await pilot.press("down", "f", "f")
    assert len(asked) < many
