"""Pictures of what Q will be told: the pane beside the feed, and the screen of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion
from textual.pilot import Pilot

from tests.tui.pictures import (
    MARKS,
    NARROW,
    WIDE,
    Scene,
    as_it_is,
    busy,
    nothing,
    picture,
    pressing,
    shows,
)
from tests.tui.stage import READY, Stage, until
from tests.tui.test_home import home

pytestmark = MARKS


async def many_facts(on: Stage) -> None:
    """Thirteen pinned facts, one of them long, and two that are not pinned."""
    await busy(on)
    await on.store.add_fact("Does not take calls before ten. " * 8)
    for number in range(5, 14):
        await on.store.add_fact(f"Fact number {number}, kept short.")
    await on.store.add_fact("Is learning the cello.", pinned=False)
    await on.store.add_fact("Was in Porto in March.", pinned=False)


async def hidden(on: Stage) -> None:
    """One of the turns is hidden from Q."""
    await busy(on)
    party = await on.post("mallory", "The party for Alex is on Saturday. Not a word!")
    await on.store.hide(party.id)
    await on.post("mallory", "The smoke tests are through.")


async def full(on: Stage) -> None:
    """More turns than are told, long ones among them."""
    for number in range(1, 30):
        await on.post(
            "mallory" if number % 3 else "moneypenny",
            f"Report {number}: " + "all of it went as it should have gone. " * (number % 4 * 11),
        )
    await busy(on)
    await on.store.set_mode("Deep work")
    on.hands.pass_(60)


async def mode_over(on: Stage) -> None:
    """The mode's time has passed."""
    await busy(on)
    on.hands.pass_(6 * 3600)


async def walked(pilot: Pilot[Any], on: Stage) -> None:
    """Into the pane, and down to the first fact."""
    await pilot.press("ctrl+t", "down")
    await until(pilot, lambda: home(on).told.row is not None)
    await shows(pilot, on, "a add…")


async def at_hidden(pilot: Pilot[Any], on: Stage) -> None:
    await pilot.press("ctrl+t", "end", "up")
    await until(pilot, lambda: home(on).told.row is not None)
    await shows(pilot, on, "hide/show")


async def at_end(pilot: Pilot[Any], on: Stage) -> None:
    await pilot.press("ctrl+t", "end")
    await until(pilot, lambda: home(on).told.row is not None)
    await shows(pilot, on, "hide/show")


async def too_large(pilot: Pilot[Any], on: Stage) -> None:
    on.way.limit = 1_000
    await pilot.press(*"Here is the whole of it:", "ctrl+j", *"so much")
    home(on).composer.insert("x" * 100)
    await shows(pilot, on, "Too much for one call")


async def removed(pilot: Pilot[Any], on: Stage) -> None:
    await pilot.press("ctrl+t", "down", "x")
    await shows(pilot, on, "brings it back")
    await until(pilot, lambda: "Removed" in str(home(on).telling.removed) or on.app._notifications)
    await shows(pilot, on, "all 2 facts")


async def editing(pilot: Pilot[Any], on: Stage) -> None:
    await pilot.press("ctrl+t", "down", "enter")
    await shows(pilot, on, "enter changes it")


async def narrow_end(pilot: Pilot[Any], on: Stage) -> None:
    await pilot.press("ctrl+t")
    await shows(pilot, on, "What Q will be told")
    await pilot.press("end")
    await shows(pilot, on, "[End of context]")
    await shows(pilot, on, "hide/show")


PICTURES: dict[str, Scene] = {
    "told-empty": (WIDE, READY, nothing, pressing("ctrl+t", "a add…")),
    "told-focused": (WIDE, READY, busy, walked),
    "told-facts": (WIDE, READY, many_facts, walked),
    "told-hidden": (WIDE, READY, hidden, at_hidden),
    "told-full": (WIDE, READY, full, at_end),
    "told-too-large": (WIDE, READY, busy, too_large),
    "told-mode-over": (WIDE, READY, mode_over, as_it_is),
    "told-removed": (WIDE, READY, busy, removed),
    "told-editing": (WIDE, READY, busy, editing),
    "told-facts-80": (NARROW, READY, many_facts, pressing("ctrl+t", "What Q will be told")),
    "told-full-80": (NARROW, READY, full, narrow_end),
    "told-100": ((100, 30), READY, busy, walked),
    "told-small": ((50, 14), READY, hidden, pressing("ctrl+t", "What Q will be told")),
}


@pytest.mark.parametrize("name", PICTURES)
async def test_picture(name: str, tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    await picture(name, PICTURES[name], tmp_path, snapshot)
