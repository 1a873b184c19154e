"""`qterm compact`, and the gate after a turn of the command line: real processes."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import psutil
import pytest

from qterm.maintenance.gate import FLAG
from tests.cli.conftest import Qterm
from tests.cli.stage import Stage, wait_for
from tests.maintenance.homes import tree
from tests.maintenance.stand_in import COMPACTED, HiveMind

NO_WORK = b"There is nothing to do in a pass"


@pytest.fixture
def hive(tmp_path: Path) -> HiveMind:
    return HiveMind(tmp_path / "hive")


def switch_on(stage: Stage, hive: HiveMind, **more: Any) -> None:
    chosen = {"enabled": "true", "hive_mind_cli": json.dumps(str(hive.path)), **more}
    with (stage.folder / "config.toml").open("a") as config:
        config.write("[maintenance]\n")
        config.writelines(f"{name} = {value}\n" for name, value in chosen.items())


def state(stage: Stage) -> Path:
    return stage.folder / ".hermes" / ".hive-mind-last-compact"


def passes(stage: Stage) -> list[psutil.Process]:
    """The passes of this stage that run."""
    found = []
    for process in psutil.process_iter(["cmdline"]):
        line = process.info["cmdline"] or ()
        if "compact" in line and str(stage.folder / "data") in line:
            found.append(process)
    return found


# -- after a turn --------------------------------------------------------------------------------


def test_send_returns_at_once_and_the_pass_goes_on_without_it(stage: Stage, hive: HiveMind) -> None:
    switch_on(stage, hive)
    stage.run("send", "before it is slow")
    wait_for(state(stage).exists)
    state(stage).unlink()
    hive.does("answers", COMPACTED, seconds=3)
    since = time.monotonic()
    done = stage.run("send", "hello")  # its pipes are closed: nobody else holds them
    took = time.monotonic() - since
    assert (done.returncode, done.stdout, done.stderr) == (0, b"Hi.\n", b"")
    assert not state(stage).exists(), f"send took {took:.1f} s"
    wait_for(state(stage).exists)
    wait_for(lambda: not passes(stage))
    assert len(hive.calls) == 2
    began = json.loads((stage.folder / "data" / "maintenance.json").read_text())["now"]
    assert int(state(stage).read_text()) == began


def test_case_9_off_a_turn_leaves_nothing_of_the_gate(stage: Stage, hive: HiveMind) -> None:
    """Off is the default: the home is as it was, byte for byte, and no other process is started."""
    (stage.folder / "config.toml").open("a").write(
        f"[maintenance]\nhive_mind_cli = {json.dumps(str(hive.path))}\nprune_working = true\n"
    )
    stage.run("send", "the first one makes what qterm keeps")
    names = set(tree(stage.folder / "data"))
    done = stage.run("send", "hello")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"Hi.\n", b"")
    assert not (stage.folder / ".hermes").exists()
    assert {name for name in tree(stage.folder / "data") if "maint" in name} == set()
    assert set(tree(stage.folder / "data")) == names
    assert passes(stage) == []
    assert hive.calls == []


def test_a_second_turn_within_the_window_starts_nothing(stage: Stage, hive: HiveMind) -> None:
    switch_on(stage, hive)
    stage.run("send", "one")
    wait_for(state(stage).exists)
    first = state(stage).read_bytes()
    stage.run("send", "two")
    stage.run("again", "1")
    assert passes(stage) == []
    assert state(stage).read_bytes() == first
    assert len(hive.calls) == 1


def test_case_14_two_terminals_that_finish_at_once_make_one_pass(
    stage: Stage, hive: HiveMind
) -> None:
    switch_on(stage, hive)
    hive.does("answers", COMPACTED, seconds=1)
    both = [stage.start("compact", "--if-due", "--json") for _ in range(4)]
    outcomes = [json.loads(process.communicate(timeout=60)[0])["outcome"] for process in both]
    assert outcomes.count("done") == 1
    assert set(outcomes) <= {"done", "busy", "not-due"}
    assert len(hive.calls) == 1


def test_case_14_with_two_turns(stage: Stage, hive: HiveMind) -> None:
    switch_on(stage, hive)
    hive.does("answers", COMPACTED, seconds=1)
    both = [stage.start("send", f"message {number}") for number in range(2)]
    assert [process.wait(60) for process in both] == [0, 0]
    wait_for(state(stage).exists)
    wait_for(lambda: not passes(stage))
    assert len(hive.calls) == 1


def test_a_failed_pass_is_no_failed_turn(stage: Stage, hive: HiveMind) -> None:
    switch_on(stage, hive)
    hive.does("answers", json.dumps({"ok": False, "error": "database is locked"}))
    done = stage.run("send", "hello")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"Hi.\n", b"")
    wait_for(lambda: hive.calls and not passes(stage))
    assert not state(stage).exists()
    kept = json.loads((stage.folder / "data" / "maintenance.json").read_text())
    assert kept["outcome"] == "failed"
    assert [state for _, state in stage.states()] == ["sent", "sent"]


def test_a_folder_full_of_traps_is_no_place_to_load_from(
    stage: Stage, hive: HiveMind, tmp_path: Path
) -> None:
    """The pass that `send` starts loads nothing from the folder one happens to be in."""
    switch_on(stage, hive)
    trap = tmp_path / "trap"
    trap.mkdir()
    for name in ("click", "msgspec", "logging", "psutil"):
        (trap / f"{name}.py").write_text(f"open({str(trap / 'caught')!r}, 'w').close()")
    from qterm.maintenance.after_turn import start_detached

    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(trap)
        assert start_detached(["--data-dir", str(stage.folder / "data")], stage.environ)
    wait_for(state(stage).exists)
    assert not (trap / "caught").exists()


# -- by hand -------------------------------------------------------------------------------------


def test_by_hand(stage: Stage, hive: HiveMind) -> None:
    switch_on(stage, hive, enabled="false")
    done = stage.run("compact")
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.startswith(b"hive-mind: 15 frames removed, 4 merged (")
    again = stage.run("compact")
    assert again.returncode == 0
    assert again.stdout.startswith(b"Not due: the last pass was at ")
    assert stage.run("compact", "--force").returncode == 0
    assert len(hive.calls) == 2


def test_the_json_is_as_documented(stage: Stage, hive: HiveMind) -> None:
    switch_on(stage, hive)
    found = json.loads(stage.run("compact", "--json").stdout)
    assert found == {
        "outcome": "done",
        "steps": [
            {
                "step": "hive-mind",
                "state": "done",
                "sentence": "hive-mind: 15 frames removed, 4 merged.",
                "counts": {"temporary_pruned": 12, "deprecated_pruned": 3, "pframes_merged": 4},
                "seconds": found["steps"][0]["seconds"],
            },
            {
                "step": "working",
                "state": "skipped",
                "sentence": None,
                "counts": {},
                "seconds": 0.0,
            },
        ],
        "windowMinutes": 10.0,
        "last": found["last"],
        "nextDue": found["nextDue"],
        "trouble": None,
    }
    assert found["last"].endswith("Z")
    later = json.loads(stage.run("compact", "--if-due", "--window", "90", "--json").stdout)
    assert (later["outcome"], later["windowMinutes"]) == ("not-due", 90.0)
    assert later["last"] == found["last"]


def test_a_failure_is_one_sentence_and_exit_code_1(stage: Stage, hive: HiveMind) -> None:
    switch_on(stage, hive)
    hive.does("answers", "rubbish \x1b]0;x\x07")
    done = stage.run("compact")
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr.startswith(b"qterm: hive-mind answered what is no JSON (")
    assert b"\x1b" not in done.stderr


def test_with_nothing_set_up(qterm: Qterm, environ: dict[str, str]) -> None:
    done = qterm("compact")
    assert (done.code, done.out) == (1, "")
    assert "hive-mind is not installed" in done.err
    assert "There is nothing to do in a pass" in done.err
    environ[FLAG] = "1"
    done = qterm("compact", "--if-due", "--json")
    assert (done.code, done.json["outcome"]) == (0, "nothing")


def test_off_it_says_so(qterm: Qterm, tmp_path: Path) -> None:
    done = qterm("compact", "--if-due")
    assert (done.code, done.out) == (0, "The gate is off: maintenance.enabled switches it on.\n")
    assert not (tmp_path / "user").exists()


@pytest.mark.parametrize(
    "arguments",
    [["--window", "0"], ["--window", "-1"], ["--window", "nan"], ["--window", "inf"],
     ["--window", "1e308"], ["--window", "ten"], ["--if-due", "--force"], ["extra"]],
)  # fmt: skip
def test_a_command_line_that_is_none(qterm: Qterm, arguments: list[str]) -> None:
    done = qterm("compact", *arguments)
    assert (done.code, done.out) == (2, "")


def test_working_is_pruned_by_hand_too(qterm: Qterm, environ: dict[str, str], home: Path) -> None:
    working = home / "memories" / "WORKING.md"
    working.write_text("[P3] 2020-01-01 · old\n§\n[P1] kept")
    environ["QTERM_MAINTENANCE_PRUNE_WORKING"] = "true"
    done = qterm("compact")
    assert done.code == 0
    assert "1 old entry archived" in done.out
    assert working.read_text() == "[P1] kept"


def test_the_rehearsal_runs_none(stage: Stage, hive: HiveMind) -> None:
    """The demo takes no settings of the operator's, and touches nothing in the real home."""
    switch_on(stage, hive)
    process = stage.run("demo", "compact", "--force")
    assert process.returncode == 1
    assert b"rehearsal" in process.stderr
    assert not (stage.folder / ".hermes").exists()
    assert hive.calls == []
