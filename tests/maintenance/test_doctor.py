"""What the doctor says of the maintenance; looking touches nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from qterm.doctor.check import Check
from qterm.doctor.maintenance_checks import maintenance_checks
from qterm.maintenance.gate import FLAG, WINDOW_VARIABLE
from qterm.maintenance.report import Step, StepState
from qterm.settings.schema import HermesSettings, MaintenanceSettings
from tests.maintenance.homes import Stage, tree
from tests.maintenance.stand_in import HiveMind


def look(stage: Stage) -> dict[str, Check]:
    found = maintenance_checks(stage.loaded(), stage.environ, now=lambda: stage.moment)
    for check in found:
        assert check.sentence.rstrip(")”").endswith("."), check
        assert bool(check.mend) == (check.state.value in {"warn", "fail"})
    return {check.id: check for check in found}


def test_off_by_default(tmp_path: Path) -> None:
    stage = Stage(tmp_path, on=False)
    before = tree(tmp_path)
    found = look(stage)
    assert found["maintenance"].sentence == (
        "Off (default); on, a pass would run after a turn, at most once in 10 minutes (default)."
    )
    assert found["maintenance.last"].sentence == f"None has succeeded yet ({stage.state})."
    assert "not installed" in found["maintenance.hive_mind"].sentence
    assert found["maintenance.working"].sentence.startswith("Off")
    assert {check.state.value for check in found.values()} == {"info"}
    assert tree(tmp_path) == before


def test_on_and_from_where(tmp_path: Path) -> None:
    stage = Stage(tmp_path, environ={WINDOW_VARIABLE: "2.5"})
    found = look(stage)["maintenance"]
    assert found.sentence == (
        f"On ({FLAG}): a pass runs after a turn, at most once in 2.5 minutes ({WINDOW_VARIABLE})."
    )
    assert found.as_json()["details"] == {
        "on": True, "onBy": FLAG, "windowMinutes": 2.5, "windowBy": WINDOW_VARIABLE
    }  # fmt: skip
    dotenv = stage.hermes_home / ".env"
    dotenv.write_text(f"{FLAG}=0\n")
    assert look(stage)["maintenance"].sentence.startswith(f"Off ({dotenv});")


def test_an_env_that_can_not_be_read(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    (stage.hermes_home / ".env").mkdir()
    found = look(stage)["maintenance"]
    assert found.state.value == "warn"
    assert str(stage.hermes_home / ".env") in found.mend


def test_the_last_pass_and_the_next(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    gate = stage.gate()
    gate.run_if_due()
    found = look(stage)["maintenance.last"]
    assert " Done (0.0 s)." in found.sentence
    assert "The next is due at " in found.sentence
    stage.later(10)
    assert "The next is due with the next turn." in look(stage)["maintenance.last"].sentence
    stage.steps = (Step("hive-mind", StepState.FAILED, "It is locked."),)
    gate.run_if_due()
    found = look(stage)["maintenance.last"]
    assert found.state.value == "warn"
    assert "It is locked" in found.sentence
    assert "The last one that qterm tried" in found.sentence


@pytest.mark.parametrize("data", ["9" * 500, "rubbish", "0"])
def test_odd_states_are_told(tmp_path: Path, data: str) -> None:
    stage = Stage(tmp_path)
    stage.last(data)
    assert look(stage)["maintenance.last"].state.value == "info"


def test_a_state_from_the_future(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    stage.ago(-60)
    found = look(stage)["maintenance.last"].sentence
    assert "the clock was set back" in found
    assert "with the next turn" in found


def test_what_is_installed(tmp_path: Path) -> None:
    hive = HiveMind(tmp_path / "hive")
    stage = Stage(tmp_path, environ={"PATH": str(hive.folder)})
    found = look(stage)["maintenance.hive_mind"]
    assert (found.state.value, found.sentence) == ("ok", f"{hive.path} (by PATH).")
    stage.chosen = MaintenanceSettings(hive_mind_cli="/no/such", prune_working=True)
    found = look(stage)["maintenance.hive_mind"]
    assert found.state.value == "warn"
    assert hive.calls == [], "the doctor starts nothing"
    assert look(stage)["maintenance.working"].sentence.startswith("On: ")


def test_with_hermes_on_another_machine(tmp_path: Path) -> None:
    stage = Stage(tmp_path, chosen=MaintenanceSettings(prune_working=True))
    stage.hermes = HermesSettings(command=("ssh", "tower", "hermes"))
    found = look(stage)["maintenance.working"]
    assert found.state.value == "warn"
    assert "another machine" in found.sentence
