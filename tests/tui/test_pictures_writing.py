"""Pictures of the composer at work."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion
from textual import events
from textual.pilot import Pilot

from tests.tui.pictures import MARKS, NARROW, WIDE, Scene, Then, busy, picture, shows
from tests.tui.stage import READY, Stage, until
from tests.tui.test_home import home

pytestmark = MARKS

LOG = "".join(f"2026-11-30 08:5{n % 10} importer: row {n} is read\n" for n in range(3_000))


async def settled(pilot: Pilot[Any], on: Stage) -> None:
    """What Q will be told has followed."""
    if on.app.size.width >= WIDE[0]:
        await shows(pilot, on, f"Your message  {len(home(on).composer.message):,} characters")


async def pasted(pilot: Pilot[Any], on: Stage) -> None:
    await pilot.press(*"Why did it stop here? ")
    on.app.post_message(events.Paste(LOG))
    await shows(pilot, on, "⟦pasted 1")
    await pilot.press("ctrl+j", *"And is this the same? ")
    on.app.post_message(events.Paste(LOG[:4_000]))
    await shows(pilot, on, "⟦pasted 2")
    await settled(pilot, on)


async def tall(pilot: Pilot[Any], on: Stage) -> None:
    lines = [f"{n}. Check the importer's part {n}, and say what you found." for n in range(1, 21)]
    home(on).composer.set_message("\n".join(lines))
    most = on.app.size.height // 3
    await until(pilot, lambda: home(on).composer.size.height == most)
    await shows(pilot, on, "20. Check")
    await settled(pilot, on)


async def earlier(pilot: Pilot[Any], on: Stage) -> None:
    await pilot.press(*"half a thought", "up")
    await shows(pilot, on, "› What did Moneypenny say?")
    await settled(pilot, on)


def then(what: Then) -> Scene:
    return (WIDE, READY, busy, what)


PICTURES: dict[str, Scene] = {
    "writing-pastes": then(pasted),
    "writing-pastes-80x24": (NARROW, READY, busy, pasted),
    "writing-tall": then(tall),
    "writing-tall-80x24": (NARROW, READY, busy, tall),
    "writing-earlier": then(earlier),
}


@pytest.mark.parametrize("name", PICTURES)
async def test_picture(name: str, tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    await picture(name, PICTURES[name], tmp_path, snapshot)
