"""Standard streams that are closed, full or left; pipes for files; ctrl-c while it is loaded."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.cli.stage import Stage

QTERM = f"{sys.executable} -m qterm"


def shell(stage: Stage, line: str) -> subprocess.CompletedProcess[str]:
    """Run a line of the shell in which QTERM stands for the program."""
    line = line.replace("QTERM", QTERM)
    return subprocess.run(
        ["sh", "-c", line],
        check=False,
        env=stage.environ,
        capture_output=True,
        text=True,
        timeout=60,
    )


@pytest.mark.parametrize(
    ("line", "code", "sentence"),
    [
        ("QTERM post --as mallory - <&-", 1, "There is nothing to post: the message is empty."),
        ("QTERM send - <&-", 1, "There is nothing to send: the message is empty."),
        ("QTERM <&-", 2, "The screen needs a terminal; `qterm send TEXT` works without one."),
    ],
)
def test_closed_standard_input_is_an_empty_one(
    stage: Stage, line: str, code: int, sentence: str
) -> None:
    done = shell(stage, line)
    assert (done.returncode, done.stdout, done.stderr) == (code, "", f"qterm: {sentence}\n")


@pytest.mark.parametrize("way", [">&-", ">/dev/full"])
@pytest.mark.parametrize(
    "command", ["context --json", "feed", "export", "--help", "facts list", "--version"]
)
def test_output_that_cannot_be_written_is_a_sentence(stage: Stage, command: str, way: str) -> None:
    stage.run("post", "--as", "mallory", "Hello.")
    stage.run("facts", "add", "Drinks tea.")
    done = shell(stage, f"QTERM {command} {way}")
    assert done.returncode == 1
    assert done.stderr.startswith("qterm: The output can't be written (")
    assert done.stderr.count("\n") == 1


def test_an_answer_that_cannot_be_printed_is_kept(stage: Stage) -> None:
    done = shell(stage, "QTERM send hello >/dev/full")
    assert done.returncode == 1
    assert stage.states() == [("hello", "sent"), ("Hi.", "sent")]


@pytest.mark.parametrize("way", ["2>&-", "2>/dev/full"])
@pytest.mark.parametrize(("command", "code"), [("nothing", 2), ("hide 7", 1), ("feed", 0)])
def test_the_exit_code_tells_where_standard_error_cannot(
    stage: Stage, command: str, code: int, way: str
) -> None:
    done = shell(stage, f"QTERM {command} {way}")
    assert (done.returncode, done.stdout) == (code, "")


def test_a_reader_that_leaves_at_once(stage: Stage) -> None:
    for command in ("--version", "--help", "feed"):
        done = shell(stage, f"QTERM {command} | true")
        assert done.stderr == ""


def test_ctrl_c_while_qterm_is_being_loaded() -> None:
    code = (
        "import sys, qterm.__main__ as way\n"
        "class Cut:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'qterm.cli': raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Cut())\n"
        "sys.argv = ['qterm', 'feed']\n"
        "way.main()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


def test_an_argument_is_utf_8_whatever_the_locale(stage: Stage) -> None:
    plain = "LC_ALL=C PYTHONUTF8=0 PYTHONCOERCECLOCALE=0"
    assert shell(stage, f"{plain} QTERM post --as mallory 'Grüße, 日本'").returncode == 0
    assert shell(stage, f"{plain} QTERM send 'Tschüß'").returncode == 0
    assert [text for text, _ in stage.states()] == ["Grüße, 日本", "Tschüß", "Hi."]
    assert stage.hermes.calls[0]["stdin"].endswith("Tschüß")
    assert shell(stage, f"{plain} QTERM search 日本").returncode == 0


def test_a_path_that_is_no_utf_8(stage: Stage) -> None:
    folder = stage.folder / "a\udcffb"
    done = stage.run("--data-dir", str(folder), "doctor", "--json")
    assert (done.stderr, b"a?b" in done.stdout) == (b"", True)


def test_pipes_where_files_are_looked_for_do_not_hold_qterm_up(stage: Stage) -> None:
    for name in ("data/settings.toml", "data/cache/hermes.json", "pipe"):
        (stage.folder / name).parent.mkdir(parents=True, exist_ok=True)
        os.mkfifo(stage.folder / name)
    assert stage.run("send", "hello").stdout == b"Hi.\n"
    assert stage.run("--config", str(stage.folder / "pipe"), "feed").returncode == 0
