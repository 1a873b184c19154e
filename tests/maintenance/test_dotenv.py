"""The gate's two variables in hermes's `.env`, which goes before the environment."""

from __future__ import annotations

from pathlib import Path

import pytest

from qterm.maintenance.gate import FLAG, WINDOW_VARIABLE
from qterm.maintenance.report import Outcome
from qterm.settings.schema import HermesSettings
from tests.maintenance.homes import Stage


@pytest.mark.parametrize(
    ("text", "runs"),
    [
        (f"{FLAG}=1\n", True),
        (f"export {FLAG}='yes'\n", True),
        (f'{FLAG} = "1" # a word\n', True),
        (f"{FLAG}=0 # off\n", False),
        (f"{FLAG}=1\n{FLAG}=false\n", False),
        (f"# {FLAG}=1\n", False),
        (f"{FLAG}\n", False),
        (f"\ufeff{FLAG}=1\r\n", True),
        ("\xff\xfe rubbish \0\n", False),
    ],
)
def test_hermes_s_env_is_read(tmp_path: Path, text: str, runs: bool) -> None:
    stage = Stage(tmp_path, on=False)
    (stage.hermes_home / ".env").write_text(text, newline="")
    stage.gate().run_if_due()
    assert bool(stage.passes) is runs


def test_hermes_s_env_goes_before_the_environment(tmp_path: Path) -> None:
    stage = Stage(tmp_path, environ={FLAG: "1", WINDOW_VARIABLE: "5"})
    dotenv = stage.hermes_home / ".env"
    dotenv.write_text(f"{FLAG}=0\n")
    found = stage.gate().standing()
    assert (found.is_on, found.is_on_by) == (False, str(dotenv))
    dotenv.write_text(f"{FLAG}=\n{WINDOW_VARIABLE}=30\n")
    found = stage.gate().standing()
    assert (found.is_on, found.is_on_by) == (False, "default")
    assert (found.window, found.window_by) == (30 * 60_000, str(dotenv))


def test_the_env_of_the_home_hermes_uses_counts_and_the_state_stays_in_the_users(
    tmp_path: Path,
) -> None:
    elsewhere = tmp_path / "hermes home"
    elsewhere.mkdir()
    (elsewhere / ".env").write_text(f"{FLAG}=1\n")
    stage = Stage(tmp_path, on=False, environ={"HERMES_HOME": str(elsewhere)})
    assert stage.gate().run_if_due().outcome is Outcome.DONE
    assert stage.state.exists()
    assert not (elsewhere / ".hive-mind-last-compact").exists()


def test_an_env_that_can_not_be_read_counts_for_nothing_and_is_said(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    dotenv = stage.hermes_home / ".env"
    dotenv.mkdir()
    found = stage.gate().standing()
    assert (found.is_on, found.is_on_by) == (True, FLAG)
    assert str(dotenv) in found.trouble
    assert stage.gate().run_if_due().outcome is Outcome.DONE


def test_a_hermes_on_another_machine_has_no_env_here(tmp_path: Path) -> None:
    stage = Stage(tmp_path, on=False)
    (stage.hermes_home / ".env").write_text(f"{FLAG}=1\n")
    stage.hermes = HermesSettings(command=("ssh", "tower", "hermes"))
    assert stage.gate().run_if_due().outcome is Outcome.OFF


def test_a_profile_that_is_not_there_breaks_nothing(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    stage.hermes = HermesSettings(profile="nobody")
    assert stage.gate().run_if_due().outcome is Outcome.DONE
