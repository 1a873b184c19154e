"""What a test with a picture needs: how it is taken and compared, and scenes to take it of."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path
from typing import Any, ClassVar

import pytest
from pytest_textual_snapshot import SVGImageExtension
from syrupy.assertion import SnapshotAssertion
from textual.pilot import Pilot

from qterm.model import Session, TaskState
from qterm.services import StartState
from tests.tui.stage import READY, Stage, screen_text, stage, until
from tests.tui.test_home import home

MARKS = [
    pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="the snapshots are Python 3.11's"),
    pytest.mark.filterwarnings(r"ignore:\s*Can not relate snapshot:UserWarning"),
    pytest.mark.usefixtures("calm"),
]
"""The `pytestmark` of a module with pictures."""

WIDE = (120, 40)
NARROW = (80, 24)

Before = Callable[[Stage], Awaitable[None]]
Then = Callable[[Pilot[Any], Stage], Awaitable[None]]
Scene = tuple[tuple[int, int], StartState, Before, Then]


class InSnapshots(SVGImageExtension):  # type: ignore[misc]
    """One SVG a test, in the project's own folder."""

    folder: ClassVar[Path] = Path(__file__).parents[2] / "snapshots"

    @classmethod
    def dirname(cls, *, test_location: Any) -> str:
        return str(cls.folder)

    @classmethod
    def get_snapshot_name(cls, *, test_location: Any, index: Any = 0) -> str:
        return str(test_location.snapshot_name).removeprefix("test_picture").strip("[]")


async def picture(name: str, scene: Scene, folder: Path, snapshot: SnapshotAssertion) -> None:
    """Set the scene, take its picture, compare it with the accepted one."""
    size, state, before, then = scene
    async with stage(folder, state=state) as on:
        on.app.animation_level = "none"
        await before(on)
        async with on.shown(size) as pilot:
            home(on).composer.cursor_blink = False
            await until(pilot, lambda: on.app.common.tasks_are_known)
            if state is READY:
                await until(pilot, lambda: on.app.common.version and on.app.common.standing)
            await then(pilot, on)
            await pilot.pause()
            taken = on.app.export_screenshot(title="qterm")
            on.way.gate.set()
        if taken != snapshot(extension_class=InSnapshots):
            seen = folder / f"{name}.svg"
            seen.write_text(taken, "utf-8")
            pytest.fail(f"{name} looks different now: {seen}; `make snapshots` accepts it")


def pressing(key: str, words: str) -> Then:
    """Press a key, and wait for words."""

    async def press(pilot: Pilot[Any], on: Stage) -> None:
        await pilot.press(key)
        await shows(pilot, on, words)

    return press


async def busy(on: Stage) -> None:
    on.hands.moment -= timedelta(hours=16)
    await on.post("moneypenny", "The invoices of the week are filed. Nothing is overdue.")
    on.hands.moment += timedelta(hours=15, minutes=47)
    await on.post(
        "mallory",
        "Two meetings today. The deploy of the importer is out since 08:51; I am watching it "
        "until the smoke tests are through.",
    )
    on.hands.moment += timedelta(minutes=2)
    asked = await on.post("you", "Can you check the deploy?", elapsed=2.9)
    await on.post("q", "It is green: no errors since it went out.", reply_to=asked.id, elapsed=2.9)
    on.hands.moment += timedelta(minutes=6)
    await on.post("moneypenny", "Invoice 114 is due on Friday: 1,240.00 to Ferrier & Sons.")
    asked = await on.post("you", "What did Moneypenny say?\nAnd who is it for?", elapsed=3.4)
    await on.post(
        "q",
        "Invoice 114 is due on Friday:\n\n  1,240.00 to Ferrier & Sons\n\nShall I remind you "
        "on Thursday?",
        reply_to=asked.id,
        elapsed=3.4,
    )
    on.hands.moment += timedelta(minutes=5)
    for fact in ("Prefers short answers, the figure first.", "Lives in Lisbon.", "Writes British"):
        await on.store.add_fact(fact)
    await on.store.set_mode("Deep work", on.hands.now() + timedelta(hours=5, minutes=45))


async def nothing(on: Stage) -> None:
    """A feed in which nothing has been said."""


async def some_tasks(on: Stage) -> None:
    """Four tasks: one with a thread and a session, one new, one done, one cancelled."""
    await busy(on)
    on.hands.moment -= timedelta(hours=20)
    moved = await on.store.add_task("Move the backups to the new host", "/srv/backups")
    await on.post("you", "Where do they lie now?", task_id=moved.id)
    seen = await on.post("q", "On the old host, in /srv/backups, 41 GB.", task_id=moved.id)
    await on.store.mark_seen(moved.id, seen.id)
    await on.store.end_task(moved.id, TaskState.DONE)
    idea = await on.store.add_task("Try another queue", "/srv/importer")
    await on.store.end_task(idea.id, TaskState.CANCELLED)
    on.hands.moment += timedelta(hours=19)
    renew = await on.store.add_task("Renew the certificates", "/srv/web")
    await on.post("q", "Both are renewed until March.", task_id=renew.id)
    ship = await on.store.add_task("Ship the importer", "/srv/importer")
    asked = await on.post("you", "Start with the CSV reader.", task_id=ship.id, elapsed=84.0)
    await on.post(
        "q",
        "The reader is done, with 14 tests. It takes quoted fields, empty lines and a byte order "
        "mark; what it can't read it names with its line.",
        task_id=ship.id, reply_to=asked.id, elapsed=84.0,
    )  # fmt: skip
    asked = await on.post("you", "Good. Now the writer.", task_id=ship.id, elapsed=31.0)
    await on.post("q", "Written.", task_id=ship.id, reply_to=asked.id, elapsed=31.0)
    bound = Session("20261130_081500_cae3a2", "here:/home/alex/.hermes", "q-task-7f3kq2ma")
    await on.store.bind(ship.id, 1, bound)
    on.hands.moment += timedelta(hours=1)


async def shows(pilot: Pilot[Any], on: Stage, words: str) -> None:
    await until(pilot, lambda: words in screen_text(on.app))


async def at_tasks(pilot: Pilot[Any], on: Stage) -> None:
    await pilot.press("f3")
    await until(pilot, lambda: on.app.tasks is not None and on.app.common.tasks_are_known)
    assert on.app.tasks is not None
    on.app.tasks.composer.cursor_blink = False
    if on.app.common.tasks:
        await until(pilot, lambda: on.app.tasks and on.app.tasks.page_is_read)
        await shows(pilot, on, "1 new")


async def light(pilot: Pilot[Any], on: Stage) -> None:
    await pilot.press("f12")
    await until(pilot, lambda: not on.app.current_theme.dark)


async def as_it_is(pilot: Pilot[Any], on: Stage) -> None:
    await pilot.pause()
