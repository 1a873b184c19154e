"""A real hermes's turns with the gate on: one pass a window, and the session's memory untouched."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from qterm.events import Finished
from qterm.frame import ChatFrame
from qterm.maintenance.after_turn import InThread
from qterm.maintenance.gate import FLAG
from qterm.maintenance.report import Outcome, Report
from qterm.services import Services, open_services
from qterm.settings.load import load
from tests.cli.stage import wait_for
from tests.e2e.conftest import HermesLine
from tests.maintenance.stand_in import HiveMind

ROOT = Path(__file__).parents[2]


@pytest.fixture
def hive(tmp_path: Path) -> HiveMind:
    return HiveMind(tmp_path / "hive")


@pytest.fixture
def environ(hermes_line: HermesLine, tmp_path: Path, hive: HiveMind) -> dict[str, str]:
    config = tmp_path / "config.toml"
    config.write_text(
        f'[hermes]\ncommand = ["{hermes_line.program}"]\n'
        f"[maintenance]\nhive_mind_cli = {json.dumps(str(hive.path))}\n"
    )
    (tmp_path / "user").mkdir()
    return hermes_line.environ() | {
        "HOME": str(tmp_path / "user"),
        "QTERM_DATA_DIR": str(tmp_path / "data"),
        "QTERM_CONFIG": str(config),
        "XDG_CACHE_HOME": str(hermes_line.cache),
        FLAG: "1",
    }


async def until(reached: Callable[[], object], seconds: float = 30) -> None:
    async with asyncio.timeout(seconds):
        while not reached():
            await asyncio.sleep(0.02)


def is_at_it(services: Services) -> bool:
    assert isinstance(services.after_turn, InThread)
    return services.after_turn.is_running


async def test_turns_on_the_screen_make_one_pass_a_window(
    hermes_line: HermesLine, environ: dict[str, str], hive: HiveMind, tmp_path: Path
) -> None:
    services = await open_services(load(environ=environ), environ=environ, has_screen=True)
    reports: list[Report] = []
    services.told_of_maintenance = reports.append
    state = tmp_path / "user" / ".hermes" / ".hive-mind-last-compact"
    try:
        for number in range(3):
            events = [
                event
                async for event in services.conversation.send(ChatFrame(text=f"hello {number}"))
            ]
            assert isinstance(events[-1], Finished)
            await until(lambda: not is_at_it(services))
    finally:
        await services.close()
    assert [report.outcome for report in reports] == [Outcome.DONE]
    assert len(hive.calls) == 1
    assert state.read_text() == str(reports[0].now)
    assert not (hermes_line.home / state.name).exists(), "the user's home, not hermes's"


def test_a_turn_of_the_command_line_makes_one_too(
    hermes_line: HermesLine, environ: dict[str, str], hive: HiveMind, tmp_path: Path
) -> None:
    del hermes_line
    for number in range(2):
        done = subprocess.run(
            [sys.executable, "-m", "qterm", "send", f"hello {number}"],
            env={**environ, "PATH": os.environ["PATH"]},
            cwd=ROOT,
            capture_output=True,
            check=False,
            timeout=120,
        )
        assert (done.returncode, done.stdout) == (0, b"Hi.\n")
        wait_for((tmp_path / "user" / ".hermes" / ".hive-mind-last-compact").exists)
    assert len(hive.calls) == 1
