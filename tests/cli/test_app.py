"""What holds for every command: exit codes, one sentence for each fault, completion."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from qterm import __version__
from tests.cli.conftest import Qterm


def test_version(qterm: Qterm) -> None:
    assert qterm("--version").out == f"qterm {__version__}\n"


def test_a_wrong_command_is_a_usage_error(qterm: Qterm) -> None:
    result = qterm("sedn")
    assert result.code == 2
    assert "No such command 'sedn'" in result.err


def test_no_terminal_no_screen(qterm: Qterm) -> None:
    result = qterm()
    assert (result.code, result.out) == (2, "")
    assert "qterm send" in result.err


def test_a_data_folder_that_is_a_file(qterm: Qterm, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    result = qterm("--data-dir", str(tmp_path / "file" / "below"), "feed")
    assert result.code == 1
    assert "Traceback" not in result.err
    assert result.err.count("\n") == 1


def test_a_wrong_config_is_a_sentence_and_qterm_goes_on(qterm: Qterm, tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text('[hermes]\naprovals = "deny"\n')
    result = qterm("feed")
    assert result.code == 0
    assert "approvals" in result.err
    assert result.err.count("\n") == 1


def test_no_hermes_is_a_sentence_and_the_message_is_kept(qterm: Qterm, tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    config.write_text('[hermes]\ncommand = ["/nowhere/hermes"]\n')
    result = qterm("send", "hello")
    assert result.code == 3
    assert result.out == ""
    assert "/nowhere/hermes" in result.err
    (turn,) = qterm("feed", "--json").json_lines
    assert (turn["text"], turn["state"]) == ("hello", "failed")


def test_an_empty_message(qterm: Qterm) -> None:
    result = qterm("send", " ")
    assert (result.code, result.err) == (
        1,
        "qterm: There is nothing to send: the message is empty.\n",
    )


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(qterm: Qterm, shell: str, tmp_path: Path) -> None:
    script = qterm("completion", shell).out
    assert "_QTERM_COMPLETE" in script
    program = shutil.which(shell)
    if program is not None:  # bash is everywhere; the others where they are installed
        path = tmp_path / "completion"
        path.write_text(script)
        subprocess.run([program, "-n", str(path)], check=True)


def test_a_fault_in_qterm_is_one_sentence(qterm: Qterm, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("boom")

    monkeypatch.setattr("qterm.cli.show.turn_lines", broken)
    qterm("post", "--as", "mallory", "x")
    result = qterm("feed")
    assert result.code == 70
    assert "Traceback" not in result.err
    assert "RuntimeError" in result.err


@pytest.mark.parametrize("option", ["--data-dir", "--config"])
def test_an_empty_name_is_not_the_folder_one_is_in(
    qterm: Qterm, option: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = qterm(option, "", "feed")
    assert (done.code, "the name is empty" in done.err) == (2, True)
    assert not (tmp_path / "feed.db").exists()


HUGE = "9" * 40


@pytest.mark.parametrize(
    "command",
    [
        ("feed", "-n", HUGE),
        ("feed", "--before", HUGE),
        ("search", "-n", HUGE, "Hello"),
        ("search", "-n", HUGE, "He"),
    ],
)
def test_a_huge_number_as_a_limit(qterm: Qterm, command: tuple[str, ...]) -> None:
    qterm("post", "--as", "mallory", "Hello.")
    assert "Hello." in qterm(*command).out
    assert qterm("feed", "--before", f"-{HUGE}").code == 0
