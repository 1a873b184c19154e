"""The screens and the pass after a turn: a toast in passing, and nothing waits for it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import OptionList

from qterm.maintenance.after_turn import InThread
from qterm.maintenance.gate import FLAG
from qterm.services import maintain_after_turns
from tests.maintenance.stand_in import COMPACTED, HiveMind
from tests.tui.stage import Stage, screen_text, stage, until
from tests.tui.test_home import home
from tests.tui.test_settings import open_settings


@pytest.fixture
def hive(tmp_path: Path) -> HiveMind:
    return HiveMind(tmp_path / "hive")


def environ(hive: HiveMind, **more: str) -> dict[str, str]:
    return {"HOME": str(hive.folder), "PATH": f"{hive.folder}:/usr/bin", **more}


async def send(pilot: Pilot[Any], on: Stage, text: str) -> None:
    before = len(on.way.requests)
    home(on).composer.text = text
    await pilot.press("enter")
    await until(pilot, lambda: len(on.way.requests) > before)
    await until(pilot, lambda: not on.services.conversation.busy())


def ran(hive: HiveMind) -> bool:
    return (hive.folder / ".hermes" / ".hive-mind-last-compact").exists()


async def test_what_a_pass_did_is_told_in_passing(tmp_path: Path, hive: HiveMind) -> None:
    async with stage(tmp_path, environ=environ(hive, **{FLAG: "1"})) as on:
        maintain_after_turns(on.services, has_screen=True)
        async with on.shown() as pilot:
            await send(pilot, on, "hello")
            await until(pilot, lambda: "15 frames removed, 4 merged" in screen_text(on.app))
            assert "Maintenance" in screen_text(on.app)
            assert on.app.common.notices.all == [], "it is no notice that has to be put away"
            assert ran(hive)
            await send(pilot, on, "again")
            assert isinstance(on.services.after_turn, InThread)
            after = on.services.after_turn
            await until(pilot, lambda: not after.is_running)
    assert len(hive.calls) == 1


async def test_foreign_words_of_a_failure_are_no_markup(tmp_path: Path, hive: HiveMind) -> None:
    hive.does("answers", json.dumps({"ok": False, "error": "[P1] [/] [bold]locked"}))
    async with stage(tmp_path, environ=environ(hive, **{FLAG: "1"})) as on:
        maintain_after_turns(on.services, has_screen=True)
        async with on.shown() as pilot:
            await send(pilot, on, "hello")
            await until(pilot, lambda: "[P1] [/] [bold]locked" in screen_text(on.app))
            assert not ran(hive)


async def test_the_next_turn_does_not_wait_and_leaving_ends_the_pass(
    tmp_path: Path, hive: HiveMind
) -> None:
    hive.does("answers", COMPACTED, seconds=600)
    async with stage(tmp_path, environ=environ(hive, **{FLAG: "1"})) as on:
        maintain_after_turns(on.services, has_screen=True)
        async with on.shown() as pilot:
            await send(pilot, on, "hello")
            await until(pilot, lambda: hive.calls)
            await send(pilot, on, "and more")
            assert hive.left() != []
    assert hive.left() == []
    assert not ran(hive)


async def test_switching_it_counts_from_the_next_turn_on(tmp_path: Path, hive: HiveMind) -> None:
    async with stage(tmp_path, environ=environ(hive)) as on:
        maintain_after_turns(on.services, has_screen=True)
        async with on.shown() as pilot:
            await send(pilot, on, "hello")
            after = on.services.after_turn
            assert isinstance(after, InThread)
            await until(pilot, lambda: not after.is_running)
            assert not (hive.folder / ".hermes").exists()
            screen = await open_settings(pilot, on, "maintenance.enabled")
            await pilot.press("enter")
            await until(pilot, lambda: screen.editor.display)
            assert isinstance(on.app.focused, OptionList)
            await pilot.press("up", "enter")
            await until(pilot, lambda: on.services.settings.maintenance.enabled)
            await pilot.press("f2")
            await until(pilot, lambda: on.app.screen is on.app.home)
            await send(pilot, on, "again")
            await until(pilot, lambda: ran(hive))
