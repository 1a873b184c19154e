"""The hive-mind step against a stand-in that behaves as the real command was measured to."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path

import pytest

from qterm.maintenance import hive_mind
from qterm.maintenance.report import Step, StepState
from tests.maintenance.stand_in import COMPACTED, HiveMind, answer


@pytest.fixture
def hive(tmp_path: Path) -> HiveMind:
    return HiveMind(tmp_path / "hive")


def compact(hive: HiveMind, seconds: float = 20.0, **more: str) -> Step:
    environ = {"PATH": f"{hive.folder}:/usr/bin:/bin", **more}
    return hive_mind.compact("", hive.folder, environ, stopping=threading.Event(), seconds=seconds)


def test_success_with_its_counts(hive: HiveMind) -> None:
    step = compact(hive)
    assert (step.name, step.state) == ("hive-mind", StepState.DONE)
    assert step.counts == {"temporary_pruned": 12, "deprecated_pruned": 3, "pframes_merged": 4}
    assert step.sentence == "hive-mind: 15 frames removed, 4 merged."
    assert step.changed
    assert step.seconds > 0


def test_the_call_is_exactly_the_one_that_was_agreed(hive: HiveMind) -> None:
    compact(hive, EXTRA="kept", HIVE_MIND_EMBEDDING_PROVIDER="openai")
    (call,) = hive.calls
    assert call["argv"] == [
        "mcp", "call", "cleanup_frames", "--args", '{"mode":"compact"}', "--json",
        "--timeout-ms", "8000",
    ]  # fmt: skip
    assert call["env"]["HIVE_MIND_EMBEDDING_PROVIDER"] == "mock"
    assert call["env"]["EXTRA"] == "kept"
    assert call["stdin"] == ""
    assert call["sid"], "it leads a session of its own"


def test_no_setting_gets_into_the_arguments(hive: HiveMind) -> None:
    sly = f'{hive.path} mcp call cleanup_frames --args {{"mode":"wipe_imports"}}'
    step = hive_mind.compact(sly, hive.folder, {"PATH": ""}, stopping=threading.Event())
    assert step.state is StepState.FAILED
    assert hive.calls == []
    hive_mind.compact(str(hive.path), hive.folder, {"PATH": ""}, stopping=threading.Event())
    assert [call["argv"] for call in hive.calls] == [list(hive_mind.ARGUMENTS)]


@pytest.mark.parametrize(
    ("out", "words"),
    [
        (json.dumps({"ok": False, "error": "Request timed out"}), "Request timed out"),
        (json.dumps({"ok": False, "error": {"message": "database is locked"}}), "locked"),
        (json.dumps({"ok": False}), "could not compact"),
        (answer("SQLITE_BUSY: [P1] [/]", isError=True), "SQLITE_BUSY: [P1] [/]"),
        (
            json.dumps({"ok": True, "result": {"isError": True, "content": [
                {"type": "text", "text": "Workspace not found"}]}}),
            "Workspace not found",
        ),
        (answer({"action": "wipe_imports", "deleted": 9}), "something else"),
        (answer("No imported frames found."), "something else"),
        (answer({}), "something else"),
        (answer([1, 2]), "something else"),
        (json.dumps({"ok": True}), "something else"),
        (json.dumps({"ok": True, "result": None}), "something else"),
        (json.dumps({"ok": True, "result": {"content": "text"}}), "something else"),
        (json.dumps({"ok": True, "result": {"content": [7, {"type": "image"}]}}), "something else"),
        (json.dumps({"ok": "true", **json.loads(COMPACTED)["result"]}), "could not compact"),
        ("", "no JSON"),
        ("Segmentation fault\x1b]52;c;eA==\x07", "no JSON"),
        ("[" * 100_000, "no JSON"),
        ("[]", "no JSON"),
        ("\udcff".encode("utf-8", "surrogatepass").decode("latin-1"), "no JSON"),
    ],
)  # fmt: skip
def test_exit_code_0_is_no_success(hive: HiveMind, out: str, words: str) -> None:
    hive.does("answers", out)
    step = compact(hive)
    assert step.state is StepState.FAILED
    assert words in step.sentence
    assert "\x1b" not in step.sentence
    assert step.sentence.endswith(".")
    assert len(step.sentence) < 320


def test_an_exit_code_is_no_failure_either(hive: HiveMind) -> None:
    hive.does("answers", COMPACTED, code=3)
    assert compact(hive).state is StepState.DONE


def test_lines_of_a_log_before_the_answer(hive: HiveMind) -> None:
    noise = "(node:1) ExperimentalWarning: SQLite\n{not json\n"
    hive.does("answers", noise + COMPACTED + "\n", err="x" * 300_000)
    assert compact(hive).state is StepState.DONE


def test_odd_counts_count_as_none(hive: HiveMind) -> None:
    odd = {"action": "compact", "temporary_pruned": "12", "deprecated_pruned": -1}
    hive.does("answers", answer({**odd, "pframes_merged": True}))
    step = compact(hive)
    assert step.state is StepState.DONE
    assert set(step.counts.values()) == {0}
    assert not step.changed


def test_a_flood_is_bounded(hive: HiveMind) -> None:
    hive.does("answers", "x" * 5_000_000)
    step = compact(hive)
    assert step.state is StepState.FAILED
    assert len(step.sentence) < 320


def test_one_that_is_too_slow_is_ended(hive: HiveMind) -> None:
    hive.does("answers", COMPACTED, seconds=600)
    step = compact(hive, seconds=0.5)
    assert step.state is StepState.FAILED
    assert "within 0.5 seconds" in step.sentence
    assert hive.left() == []


def test_a_wedged_one_leaves_nothing_behind(hive: HiveMind) -> None:
    """It ignores SIGTERM, and so do its children, one of them in a session of its own."""
    hive.does("wedged")
    since = time.monotonic()
    step = compact(hive, seconds=3.0)
    assert step.state is StepState.FAILED
    assert hive.calls, "it had begun"
    assert hive.left() == []
    assert time.monotonic() - since < 15


def test_a_server_that_outlives_its_command_is_ended(hive: HiveMind) -> None:
    hive.does("leaves its server", COMPACTED)
    assert compact(hive).state is StepState.DONE
    assert hive.left() == []


def test_leaving_qterm_ends_it(hive: HiveMind) -> None:
    hive.does("answers", COMPACTED, seconds=600)
    stopping = threading.Event()
    found: list[Step] = []

    def run() -> None:
        environ = {"PATH": f"{hive.folder}:/usr/bin"}
        found.append(hive_mind.compact("", hive.folder, environ, stopping=stopping))

    thread = threading.Thread(target=run)
    thread.start()
    end = time.monotonic() + 20
    while not hive.calls and time.monotonic() < end:
        time.sleep(0.02)
    stopping.set()
    thread.join(20)
    assert found
    assert found[0].state is StepState.FAILED
    assert "qterm was left" in found[0].sentence
    assert hive.left() == []


# -- which command -----------------------------------------------------------------------------


def noted(home: Path, text: str) -> None:
    (home / ".hermes").mkdir(exist_ok=True)
    (home / ".hermes" / "hive-mind-install.json").write_text(text)


def test_where_the_command_comes_from(tmp_path: Path) -> None:
    by_setting, by_note, by_path = (HiveMind(tmp_path / name) for name in ("a", "b", "c"))
    environ = {"PATH": str(by_path.folder)}
    found = hive_mind.find("", tmp_path, environ)
    assert found == hive_mind.Command((str(by_path.path),), "PATH")
    noted(tmp_path, json.dumps({"cli_path": str(by_note.path)}))
    found = hive_mind.find("", tmp_path, environ)
    assert isinstance(found, hive_mind.Command)
    assert found.argv == (str(by_note.path),)
    found = hive_mind.find(str(by_setting.path), tmp_path, environ)
    assert found == hive_mind.Command((str(by_setting.path),), "maintenance.hive_mind_cli")
    found = hive_mind.find("~/a/hive-mind-cli", tmp_path, environ)
    assert isinstance(found, hive_mind.Command)
    assert found.argv == (str(by_setting.path),)
    found = hive_mind.find("hive-mind-cli", tmp_path, environ)
    assert isinstance(found, hive_mind.Command)
    assert found.argv == (str(by_path.path),)


@pytest.mark.parametrize(
    "text",
    ["", "rubbish", "[]", "{}", '{"cli_path": 7}', '{"cli_path": ""}', '{"cli_path": "/no/such"}',
     '{"cli_path": "/a\\u0000b"}', "[" * 100_000],
)  # fmt: skip
def test_a_note_that_says_nothing_useful_is_passed_over(tmp_path: Path, text: str) -> None:
    hive = HiveMind(tmp_path / "hive")
    noted(tmp_path, text)
    found = hive_mind.find("", tmp_path, {"PATH": str(hive.folder)})
    assert isinstance(found, hive_mind.Command)
    assert found.found_by == "PATH"


def test_a_js_path_is_run_by_node(tmp_path: Path) -> None:
    script = tmp_path / "cli.js"
    script.write_text("")
    node = tmp_path / "bin" / "node"
    node.parent.mkdir()
    node.write_text("#!/bin/sh\n")
    node.chmod(0o755)
    noted(tmp_path, json.dumps({"cli_path": str(script)}))
    found = hive_mind.find("", tmp_path, {"PATH": str(node.parent)})
    assert isinstance(found, hive_mind.Command)
    assert found.argv == (str(node), str(script))
    missing = hive_mind.find(str(script), tmp_path, {"PATH": str(tmp_path)})
    assert isinstance(missing, hive_mind.Missing)
    assert "no node on PATH" in missing.sentence


@pytest.mark.parametrize("name", ["/no/such/cli", "no-such-cli", "."])
def test_a_setting_that_names_nothing_is_a_fault(tmp_path: Path, name: str) -> None:
    step = hive_mind.compact(name, tmp_path, {"PATH": ""}, stopping=threading.Event())
    assert step.state is StepState.FAILED
    assert "maintenance.hive_mind_cli" in step.sentence


def test_not_installed_is_no_fault(tmp_path: Path) -> None:
    step = hive_mind.compact("", tmp_path, {"PATH": ""}, stopping=threading.Event())
    assert step.state is StepState.SKIPPED
    assert "not installed" in step.sentence


def test_one_that_can_not_be_started(tmp_path: Path) -> None:
    broken = tmp_path / "hive-mind-cli"
    broken.write_bytes(b"\x7fELF rubbish")
    broken.chmod(0o755)
    step = hive_mind.compact("", tmp_path, {"PATH": str(tmp_path)}, stopping=threading.Event())
    assert step.state is StepState.FAILED
    assert "can't be started" in step.sentence
