"""Asking the gate: the cases of the time gate, odd homes and states, locks, back-off."""

from __future__ import annotations

import fcntl
import os
import stat
import subprocess
import sys
import threading
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from qterm.maintenance.gate import FLAG, WINDOW_VARIABLE
from qterm.maintenance.report import Outcome, Step, StepState
from qterm.maintenance.result import read_result
from qterm.settings.schema import MaintenanceSettings
from tests.maintenance.homes import NOW_MS, Stage, tree

FAILED = (Step("hive-mind", StepState.FAILED, "It is locked."),)
DONE = (Step("hive-mind", StepState.DONE, "Done."),)


def test_case_1_off_runs_nothing_and_touches_nothing(tmp_path: Path) -> None:
    stage = Stage(tmp_path, on=False)
    before = tree(tmp_path)
    report = stage.gate().run_if_due()
    assert report.outcome is Outcome.OFF
    assert report.lines == ()
    assert stage.passes == []
    assert tree(tmp_path) == before


def test_off_does_not_even_look_at_the_state(tmp_path: Path) -> None:
    stage = Stage(tmp_path, on=False)
    stage.ago(60)
    os.utime(stage.state, ns=(0, 0))
    assert stage.gate().run_if_due().last is None
    assert not stage.gate().is_due()
    assert stage.state.stat().st_atime_ns == 0


def test_case_2_on_without_a_state_runs_once_and_notes_now(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    report = stage.gate().run_if_due()
    assert report.outcome is Outcome.DONE
    assert len(stage.passes) == 1
    assert stage.state.read_text() == str(NOW_MS)
    assert stat.S_IMODE(stage.state.parent.stat().st_mode) == 0o700
    assert stage.gate().run_if_due().outcome is Outcome.NOT_DUE
    assert len(stage.passes) == 1


def test_case_3_a_minute_ago_is_not_due(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    stage.ago(1)
    before = tree(tmp_path)
    assert stage.gate().run_if_due().outcome is Outcome.NOT_DUE
    assert stage.passes == []
    assert tree(tmp_path) == before, "not even a lock is made"


def test_case_4_eleven_minutes_ago_is_due(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    stage.ago(11)
    assert stage.gate().is_due()
    assert stage.gate().run_if_due().outcome is Outcome.DONE
    assert stage.state.read_text() == str(NOW_MS)


def test_the_time_noted_is_the_one_before_the_pass(tmp_path: Path) -> None:
    stage = Stage(tmp_path)

    def slow(stopping: threading.Event) -> tuple[Step, ...]:
        del stopping
        stage.later(3)
        return DONE

    from qterm.maintenance.run import Maintenance

    gate = Maintenance(stage.loaded, stage.environ, now=lambda: stage.moment, steps=slow)
    assert gate.run_if_due().outcome is Outcome.DONE
    assert stage.state.read_text() == str(NOW_MS)


def test_case_5_a_pass_that_fails_is_tried_again_later(tmp_path: Path) -> None:
    stage = Stage(tmp_path, steps=FAILED)
    stage.ago(11)
    before = stage.state.read_bytes()
    gate = stage.gate()
    assert gate.run_if_due().outcome is Outcome.FAILED
    assert stage.state.read_bytes() == before
    assert gate.run_if_due().outcome is Outcome.WAITING
    assert len(stage.passes) == 1
    stage.later(1)
    stage.steps = DONE
    assert gate.run_if_due().outcome is Outcome.DONE
    assert int(stage.state.read_text()) == NOW_MS + 60_000


def test_case_5_a_pass_that_breaks_off_is_a_failure(tmp_path: Path) -> None:
    stage = Stage(tmp_path)

    def broken(stopping: threading.Event) -> tuple[Step, ...]:
        raise RuntimeError("[/] boom")

    from qterm.maintenance.run import Maintenance

    gate = Maintenance(stage.loaded, stage.environ, now=lambda: stage.moment, steps=broken)
    report = gate.run_if_due()
    assert report.outcome is Outcome.FAILED
    assert report.trouble.endswith(".")
    assert not stage.state.exists()


def test_it_waits_longer_after_each_failure_and_never_longer_than_the_window(
    tmp_path: Path,
) -> None:
    stage = Stage(tmp_path, steps=FAILED)
    gate = stage.gate()
    for _ in range(40):
        gate.run_if_due()
        stage.later(1)
    minutes = [round((moment - stage.passes[0]).total_seconds() / 60) for moment in stage.passes]
    assert minutes == [0, 1, 3, 7, 15, 25, 35]
    stage.steps = DONE
    stage.later(10)
    assert gate.run_if_due().outcome is Outcome.DONE
    stage.steps = FAILED
    stage.later(10)
    assert gate.run_if_due().outcome is Outcome.FAILED
    stage.later(1)
    assert gate.run_if_due().outcome is Outcome.FAILED, "it begins with a minute again"


def test_case_6_a_home_that_is_a_file(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    home = tmp_path / "a file"
    home.write_text("mine")
    stage.environ["HOME"] = str(home)
    gate = stage.gate()
    report = gate.run_if_due()
    assert report.outcome is Outcome.DONE
    assert len(stage.passes) == 1
    assert str(home) in report.trouble
    assert report.trouble.endswith(".")
    assert home.read_text() == "mine"
    assert gate.run_if_due().outcome is Outcome.NOT_DUE, "it is remembered in this process"
    stage.later(10)
    assert gate.run_if_due().trouble == "", "said once"
    assert len(stage.passes) == 2


def test_a_state_that_is_a_folder_is_never_and_stays(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    stage.state.mkdir(parents=True)
    gate = stage.gate()
    report = gate.run_if_due()
    assert report.outcome is Outcome.DONE
    assert report.trouble
    assert stage.state.is_dir()
    stage.later(2)
    assert gate.run_if_due().outcome is Outcome.NOT_DUE


@pytest.mark.parametrize(
    "data",
    [b"", b"rubbish", b"\xff\xfe", b"\0" * 100, b"-1", b"null", b"[1]", b"9" * 5000, b" "],
)
def test_odd_states_never_lock_the_gate(tmp_path: Path, data: bytes) -> None:
    stage = Stage(tmp_path)
    stage.last(data)
    assert stage.gate().run_if_due().outcome is Outcome.DONE
    assert stage.state.read_text() == str(NOW_MS)


def test_a_huge_state_is_never(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    stage.last(b"1" * (3 << 20))
    assert stage.gate().run_if_due().outcome is Outcome.DONE


def test_a_state_that_can_not_be_read_is_never(tmp_path: Path) -> None:
    """As another user, in a process of its own, where the tests are run by root."""
    stage = Stage(tmp_path)
    stage.ago(1)
    stage.state.chmod(0)
    code = (
        "import os, sys; from pathlib import Path; from qterm.maintenance.state import read_last\n"
        "if os.geteuid() == 0: os.setgid(65534); os.setuid(65534)\n"
        "path = Path(sys.argv[1])\n"
        "try: path.read_bytes()\n"
        "except PermissionError: print(read_last(path))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(stage.state)], capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("None\n", "")


def test_a_pipe_in_its_place_is_never_and_does_not_hang(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    os.mkfifo(stage.hermes_home / ".hive-mind-last-compact")
    report = stage.gate().run_if_due()
    assert report.outcome is Outcome.DONE
    assert report.trouble
    assert stat.S_ISFIFO(stage.state.stat().st_mode)


def test_a_clock_set_back_does_not_lock_the_gate(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    gate = stage.gate()
    assert gate.run_if_due().outcome is Outcome.DONE
    stage.later(-60)
    assert gate.run_if_due().outcome is Outcome.DONE
    assert int(stage.state.read_text()) == NOW_MS - 3_600_000
    stage.steps = FAILED
    stage.later(20)
    assert gate.run_if_due().outcome is Outcome.FAILED
    stage.later(-120)
    assert gate.run_if_due().outcome is Outcome.FAILED, "nor does the wait after a failure"


def test_a_state_from_the_future(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    stage.ago(-100_000)
    assert stage.gate().run_if_due().outcome is Outcome.DONE
    assert stage.state.read_text() == str(NOW_MS)


def test_case_7_the_window_and_the_override(tmp_path: Path) -> None:
    stage = Stage(tmp_path, environ={WINDOW_VARIABLE: "5"})
    stage.ago(6)
    assert stage.gate().run_if_due(override=7.0).outcome is Outcome.NOT_DUE
    assert stage.gate().run_if_due().outcome is Outcome.DONE
    stage.ago(6)
    stage.environ[WINDOW_VARIABLE] = "0"
    assert stage.gate().run_if_due().outcome is Outcome.NOT_DUE


@pytest.mark.parametrize(
    ("flag", "configured", "runs"),
    [("", False, False), ("", True, True), ("0", True, False), ("1", False, True),
     (" false ", False, True), ("FALSE", True, False), ("no", False, True)],
)  # fmt: skip
def test_case_8_the_flag(tmp_path: Path, flag: str, configured: bool, runs: bool) -> None:
    stage = Stage(tmp_path, on=False, environ={FLAG: flag})
    stage.chosen = MaintenanceSettings(enabled=configured)
    stage.gate().run_if_due()
    assert bool(stage.passes) is runs


# -- two at once, and what is kept ---------------------------------------------------------------


def test_another_process_at_it_means_no_second_pass(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    lock = stage.hermes_home / ".hive-mind-last-compact.lock"
    with lock.open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        assert stage.gate().run_if_due().outcome is Outcome.BUSY
    assert stage.passes == []
    assert stage.gate().run_if_due().outcome is Outcome.DONE


def test_where_no_lock_can_be_made_the_pass_runs_without(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    (stage.hermes_home / ".hive-mind-last-compact.lock").symlink_to("/no/such/place")
    assert stage.gate().run_if_due().outcome is Outcome.DONE


def test_it_looks_again_once_it_has_the_lock(tmp_path: Path) -> None:
    """Another process finishes its pass between the look and the lock."""
    stage = Stage(tmp_path)
    from qterm.maintenance import state
    from qterm.maintenance.run import Maintenance

    real = state.lone

    def beaten(path: Path) -> AbstractContextManager[bool]:
        stage.ago(0)
        return real(path)

    gate = Maintenance(stage.loaded, stage.environ, now=lambda: stage.moment, steps=stage.run_pass)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(state, "lone", beaten)
        assert gate.run_if_due().outcome is Outcome.NOT_DUE
    assert stage.passes == []


def test_many_threads_make_one_pass(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    gates = [stage.gate() for _ in range(8)]
    threads = [threading.Thread(target=gate.run_if_due) for gate in gates]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert len(stage.passes) == 1


def test_the_state_is_replaced_in_one_step_and_a_link_stays_one(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    real = tmp_path / "elsewhere"
    real.write_text("1")
    stage.hermes_home.joinpath(".hive-mind-last-compact").symlink_to(real)
    assert stage.gate().run_if_due().outcome is Outcome.DONE
    assert real.read_text() == str(NOW_MS)
    names = {path.name for path in stage.state.parent.iterdir()}
    assert names == {".hive-mind-last-compact", ".hive-mind-last-compact.lock"}


def test_what_it_did_is_kept_for_the_doctor(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    assert read_result(tmp_path / "data") is None
    report = stage.gate().run_if_due()
    assert read_result(tmp_path / "data") == report
    (tmp_path / "data" / "maintenance.json").write_text("[/] rubbish")
    assert read_result(tmp_path / "data") is None


def test_a_pass_that_was_cut_short_is_no_result(tmp_path: Path) -> None:
    stage = Stage(tmp_path, steps=FAILED)
    stopping = threading.Event()
    stopping.set()
    assert stage.gate().run_if_due(stopping=stopping).outcome is Outcome.FAILED
    assert read_result(tmp_path / "data") is None


# -- what is said --------------------------------------------------------------------------------


def test_what_is_missing_is_said_once(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    gate = stage.gate(real=True)
    report = gate.run_if_due()
    assert report.outcome is Outcome.NOTHING
    assert [line for line in report.lines if "not installed" in line]
    assert not stage.state.exists(), "what did not run is not noted"
    said: list[str] = []
    for _ in range(5):
        stage.later(11)
        said += gate.run_if_due().lines
    assert said == []


def test_a_failure_that_goes_on_is_said_once_and_again_after_a_success(tmp_path: Path) -> None:
    stage = Stage(tmp_path, steps=FAILED)
    gate = stage.gate()
    lines: list[str] = []
    for _ in range(3):
        lines += gate.run_if_due().lines
        stage.later(11)
    assert lines == ["It is locked (0.0 s)."]
    stage.steps = DONE
    assert gate.run_if_due().lines == ("Done (0.0 s).",)
    stage.later(11)
    stage.steps = FAILED
    assert gate.run_if_due().lines == ("It is locked (0.0 s).",)


def test_by_hand_it_runs_though_it_is_off(tmp_path: Path) -> None:
    stage = Stage(tmp_path, on=False)
    assert stage.gate().run_now().outcome is Outcome.DONE
    assert stage.gate().run_now().outcome is Outcome.NOT_DUE
    assert stage.gate().run_now(is_forced=True).outcome is Outcome.DONE
    assert len(stage.passes) == 2
