"""Pictures of what a maintenance pass says, and of its settings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion
from textual.pilot import Pilot

from qterm.maintenance.report import Outcome, Report, Step, StepState
from qterm.tui.desk import messages
from tests.tui.pictures import MARKS, NARROW, WIDE, Scene, Then, busy, picture, shows
from tests.tui.stage import READY, Stage
from tests.tui.test_settings import open_settings

pytestmark = MARKS

DONE = (
    Step("hive-mind", StepState.DONE, "hive-mind: 15 frames removed, 4 merged.", {}, 1.24),
    Step(
        "working",
        StepState.DONE,
        "WORKING.md: 3 old entries archived and taken out; `qterm memory archive` shows them.",
        {},
        0.03,
    ),
)
FAILED = (
    Step(
        "hive-mind",
        StepState.FAILED,
        "hive-mind could not compact (“SQLITE_BUSY: [P1] [/] database is locked”).",
        {},
        8.02,
    ),
)


def told(outcome: Outcome, steps: tuple[Step, ...], words: str) -> Then:
    """A pass has run."""

    async def then(pilot: Pilot[Any], on: Stage) -> None:
        on.app.post_message(messages.Maintained(Report(outcome, 0, steps=steps)))
        await shows(pilot, on, words)

    return then


async def settings(pilot: Pilot[Any], on: Stage) -> None:
    await open_settings(pilot, on, "maintenance")
    await shows(pilot, on, "window_minutes")


PICTURES: dict[str, Scene] = {
    "maintained": (WIDE, READY, busy, told(Outcome.DONE, DONE, "15 frames")),
    "maintained-80": (NARROW, READY, busy, told(Outcome.DONE, DONE, "15 frames")),
    "maintained-failed-80": (NARROW, READY, busy, told(Outcome.FAILED, FAILED, "SQLITE_BUSY")),
    "settings-maintenance-80": (NARROW, READY, busy, settings),
}


@pytest.mark.parametrize("name", PICTURES)
async def test_picture(name: str, tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    await picture(name, PICTURES[name], tmp_path, snapshot)
