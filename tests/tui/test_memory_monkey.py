"""Keys, words, clicks, sizes and other writers at random, over the screens of the memory."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from textual.events import Paste
from textual.pilot import OutOfBounds, Pilot

from qterm.memory.stores import StoreName
from qterm.tui.commands.registry import COMMANDS, Place
from qterm.tui.memory.conflict import ConflictScreen
from tests.cases import cases
from tests.tui.memory_stage import memory_stage, pane, write_store
from tests.tui.stage import Stage, until
from tests.tui.test_monkey import ODD, SIZES

STEPS = 60
MEMORY_PLACES = {
    Place.ENTRIES, Place.ENTRY, Place.ENTRY_FILTER, Place.MEMORY, Place.PREVIEW, Place.COMPARISON,
    Place.KEPT, Place.KEPT_FILTER, Place.SUGGESTED, Place.CONFLICT, Place.ROOM,
}  # fmt: skip
NOT_HERE = {"ctrl+q", "f7", "f2", "f3", "f5", "f6", "f12"}
"""What leaves the memory, starts another program, or reads the settings of the stage anew."""
TEXTS = [str(case["text"]) for case in cases("text.json")]
ENTRIES = [
    "[P1] The panel is done by hand; never rebuild it.",
    "[P2] Prefers British spelling. " + "y" * 900,
    "[P3] Shark game updates complete.",
    "Backups run nightly on web-2.",
    "[p1] Credentials are in the vault.",
    "type: task\npriority: p3\nexpires: never\ncontent: The parcel is here",
    "one\n\ntwo [/] [P1]",
]
WORKING = ["[P3] 2026-11-02 · The review is merged.", "[P3] 2026-11-29 · Waiting for the disk."]


def keys() -> list[str]:
    """The keys of the memory's screens, and those that every list has."""
    known = {
        key.strip()
        for command in COMMANDS
        if command.key and command.place in MEMORY_PLACES
        for key in command.key.split(",")
    }
    lists = {"up", "down", "home", "end", "pagedown", "tab", "enter", "y", "n", "f1"}
    return sorted((known | lists) - NOT_HERE)


def somebody_writes(chance: random.Random, folder: Path) -> None:
    """Another program writes a file, odd ones among them."""
    store = chance.choice([StoreName.MEMORY, StoreName.USER, StoreName.WORKING])
    some = chance.sample([*ENTRIES, *TEXTS], chance.randrange(12))
    odd = [b"caf\xe9\n\xc2\xa7\nx", b"\xef\xbb\xbfa\n\xc2\xa7\n\n\xc2\xa7\na", b""]
    if chance.randrange(3):
        written = [clean for text in some if (clean := fit(text))]
        write_store(folder, list(dict.fromkeys(written)), store)
    else:
        write_store(folder, chance.choice(odd), store)


def fit(text: str) -> str:
    """A text as a file can hold it."""
    return text.encode("utf-8", "replace").decode("utf-8").strip()


@pytest.mark.parametrize("seed", [1, 2, 3])
async def test_nothing_breaks(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    stores = {StoreName.MEMORY: ENTRIES, StoreName.WORKING: WORKING}
    own = {"HOME": str(tmp_path), "HERMES_HOME": str(tmp_path / "hermes")}
    async with memory_stage(tmp_path, stores, environ=own) as on, on.shown() as pilot:
        await pilot.press("f4")
        await until(pilot, lambda: pane(on).seen is not None)
        for _ in range(STEPS):
            await step(chance, pilot, on, tmp_path)
        await it_still_answers(pilot, on, tmp_path)


async def step(chance: random.Random, pilot: Pilot[Any], on: Stage, folder: Path) -> None:
    """One thing at random."""
    match chance.randrange(14):
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
                return
        case 3:
            await pilot.press(*chance.choice(["odd", "P1 [/]", "shark"]))
        case 4:
            somebody_writes(chance, folder)
        case _:
            await pilot.press(chance.choice(keys()))


async def it_still_answers(pilot: Pilot[Any], on: Stage, folder: Path) -> None:
    """Out of whatever is open; then it shows what somebody else writes."""
    await pilot.resize_terminal(120, 40)
    path = write_store(folder, ["the first", "the second"])

    async def is_seen() -> bool:
        screen, draft = on.app.screen, pane(on).drafts.get(StoreName.MEMORY)
        if isinstance(screen, ConflictScreen):
            await pilot.press("t")
        elif screen is not pane(on):
            await pilot.press("escape", "f4")
        elif draft is not None and draft.look.snapshot.data == path.read_bytes():
            if draft.texts == ("the first", "the second"):
                return True
            if draft.can_undo and pane(on).rows.has_focus:  # what was in the editor is an edit
                await pilot.press("u")
        await pilot.pause(0.05)
        return False

    for _ in range(400):
        if await is_seen():
            return
    draft = pane(on).drafts.get(StoreName.MEMORY)
    pytest.fail(f"{on.app.screen}: {draft and (draft.look.snapshot.data[:99], draft.texts)}")
