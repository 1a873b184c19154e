"""Keys, words, clicks and sizes at random, over every screen: nothing breaks, and it answers."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from textual.events import Paste
from textual.pilot import OutOfBounds, Pilot

from qterm.tui.commands.registry import COMMANDS
from qterm.tui.terminal.ending import Leave
from tests.tui.pictures import some_tasks
from tests.tui.stage import Stage, stage, until
from tests.tui.test_home import home

STEPS = 160
LEAVES = {"ctrl+q"}
ODD = ["[/]", "[P1] x", "日本語", "\u202etxt", "a\nb\n" * 30, "x" * 5_000, "\x1b]52;c;aGk=\x07"]
SIZES = [(120, 40), (80, 24), (100, 30), (40, 12), (50, 14), (160, 50)]


def keys() -> list[str]:
    """Every key that means something, and some that are only typed."""
    known = {key for command in COMMANDS if command.key for key in command.key.split(",")}
    return sorted((known | {"tab", "shift+tab", "backspace", "left", "right", "y", "n"}) - LEAVES)


@pytest.mark.parametrize("seed", [8, 11, 14])
async def test_nothing_breaks(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    own = {"HOME": str(tmp_path), "HERMES_HOME": str(tmp_path / "hermes")}
    async with stage(tmp_path, environ=own) as on:
        await some_tasks(on)
        async with on.shown() as pilot:
            for _ in range(STEPS):
                match chance.randrange(12):
                    case 0:
                        await pilot.resize_terminal(*chance.choice(SIZES))
                    case 1:
                        on.app.post_message(Paste(chance.choice(ODD)))
                        await pilot.pause()
                    case 2:
                        width, height = on.app.size
                        at = chance.randrange(width), chance.randrange(height)
                        try:
                            await pilot.click(offset=at, times=chance.choice([1, 1, 2]))
                        except OutOfBounds:  # it has just become smaller
                            continue
                    case 3:
                        await pilot.press(*chance.choice(["Hello", "what?", "Zz 9"]))
                    case _:
                        await pilot.press(chance.choice(keys()))
            await it_still_answers(on, pilot)


async def it_still_answers(on: Stage, pilot: Pilot[Leave]) -> None:
    """Out of whatever is open, and back to writing at home."""

    await pilot.resize_terminal(120, 40)
    for _ in range(12):
        if on.app.screen is home(on):
            break
        await pilot.press("escape")
        await pilot.press("f2")
    await until(pilot, lambda: on.app.screen is home(on))
    home(on).composer.set_message("")
    home(on).composer.focus()
    await pilot.press(*"still here")
    await until(pilot, lambda: home(on).composer.message == "still here")
