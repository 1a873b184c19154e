"""qterm as a process: killed, ended, interrupted, beside another one, on a terminal."""

from __future__ import annotations

import json
import os
import pty
import signal
from pathlib import Path
from typing import Any

import pytest

from qterm.safe_text import safe_text
from tests.cases import cases, ids
from tests.cli.stage import Stage, wait_for
from tests.hermes.fakes import Steps, streamed

SLOW: Steps = [
    ["event", "system", {"session_id": "20261130_155841_cae3a2"}],
    ["event", "text", {"text": "half an answer\n"}],
    ["tool", 600],
    ["sleep", 600],
]


def script(stage: Stage, *turns: Steps) -> None:
    stage.hermes.turns = list(turns)
    stage.hermes.write()


def test_send(stage: Stage) -> None:
    done = stage.run("send", "hello")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"Hi.\n", b"")


def test_standard_input(stage: Stage) -> None:
    done = stage.run("send", "-", input="héllo\n".encode())
    assert done.returncode == 0
    assert stage.hermes.calls[0]["stdin"] == "héllo\n"


def test_a_text_that_begins_with_a_dash(stage: Stage) -> None:
    assert stage.run("send", "--", "-x --yolo").returncode == 0
    assert stage.hermes.calls[0]["stdin"] == "-x --yolo"


def test_a_message_that_is_too_large_is_kept_and_said_so_in_one_sentence(stage: Stage) -> None:
    stage.hermes.newer = False
    stage.hermes.write()
    done = stage.run("send", "-", input=b"large " * 100_000)
    assert (done.returncode, done.stdout) == (3, b"")
    assert done.stderr.startswith(b"qterm: This message is too large")
    assert done.stderr.count(b"\n") == 1
    assert [state for _, state in stage.states()] == ["failed"]


def test_dry_run_starts_no_turn(stage: Stage) -> None:
    done = stage.run("send", "--dry-run", "--json", "hello")
    call = json.loads(done.stdout)
    assert call["argv"][-4:] == ["--query-file", "-", "--format", "stream-json"]
    assert (call["stdin"], call["approvals"]) == ("hello", "deny")
    assert not Path(f"{stage.hermes.script}.log").exists()
    assert stage.feed() == []


def test_killed_in_mid_turn(stage: Stage) -> None:
    """Nothing typed or said is lost; the turn is interrupted and is not sent again by itself."""
    script(stage, SLOW, streamed("Again."))
    process = stage.start("send", "hello")
    wait_for(lambda: any(text == "half an answer" for text, _ in stage.states()))
    process.kill()
    process.wait()
    assert stage.feed()[0]["reason"] == "qterm ended before Q had answered."
    assert stage.states() == [("hello", "interrupted"), ("half an answer", "interrupted")]
    assert len(stage.hermes.calls) == 1


def test_what_a_killed_qterm_left_running_is_ended(stage: Stage) -> None:
    """Also a tool in a session of its own, before the next turn begins."""
    script(stage, SLOW, streamed("Again."))
    process = stage.start("send", "hello")
    wait_for(lambda: any(text == "half an answer" for text, _ in stage.states()))
    wait_for(lambda: len(stage.children()) >= 2)
    left = stage.children()
    process.kill()
    process.wait()
    assert stage.children() == left
    assert stage.run("send", "and now?").stdout == b"Again.\n"
    assert stage.children() == []
    assert not list((stage.folder / "data" / "running").iterdir())


def test_another_qterms_turn_is_left_alone(stage: Stage) -> None:
    script(stage, SLOW)
    process = stage.start("send", "hello")
    wait_for(lambda: any(text == "half an answer" for text, _ in stage.states()))
    assert stage.feed()[0]["state"] == "pending"
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)


@pytest.mark.parametrize(
    ("number", "code", "state"),
    [
        (signal.SIGINT, 130, "stopped"),
        (signal.SIGTERM, 3, "interrupted"),
        (signal.SIGHUP, 3, "interrupted"),
    ],
)
def test_ended_in_mid_turn(stage: Stage, number: int, code: int, state: str) -> None:
    """Everything ends with qterm, the tool in a session of its own too."""
    script(stage, SLOW)
    process = stage.start("send", "hello")
    wait_for(lambda: any(text == "half an answer" for text, _ in stage.states()))
    wait_for(lambda: len(stage.children()) >= 2)
    process.send_signal(number)
    process.communicate(timeout=30)
    assert process.returncode == code
    assert stage.children() == []
    assert stage.states() == [("hello", state), ("half an answer", state)]


def test_two_qterms_take_turns(stage: Stage) -> None:
    """S7: the second waits, says so, and then carries the first's answer."""
    first_turn = [["sleep", 1.5], *streamed("First answer.")]
    script(stage, first_turn, streamed("Second answer."))
    first = stage.start("send", "one")
    wait_for(lambda: [state for _, state in stage.states()] == ["pending"])
    second = stage.start("send", "two")
    wait_for(lambda: [state for _, state in stage.states()] == ["pending", "queued"])
    assert (first.communicate(timeout=30)[0], second.communicate(timeout=30)[0]) == (
        b"First answer.\n",
        b"Second answer.\n",
    )
    assert "You: one\nQ: First answer.\n" in stage.hermes.calls[1]["stdin"]


def test_a_waiting_message_is_taken_back_with_ctrl_c(stage: Stage) -> None:
    script(stage, SLOW)
    first = stage.start("send", "one")
    wait_for(lambda: ("one", "pending") in stage.states())
    second = stage.start("send", "two")
    wait_for(lambda: ("two", "queued") in stage.states())
    second.send_signal(signal.SIGINT)
    assert second.wait(30) == 130
    assert "two" not in [text for text, _ in stage.states()]
    first.send_signal(signal.SIGINT)
    first.communicate(timeout=30)


def test_a_reader_that_goes(stage: Stage) -> None:
    for _ in range(3):
        stage.run("post", "--as", "mallory", "-", input=b"x" * 100_000)
    process = stage.start("feed", "-n", "30")
    assert process.stdout is not None
    process.stdout.read(10)
    process.stdout.close()
    assert process.wait(30) == 1
    assert process.stderr is not None
    assert process.stderr.read() == b""


def on_a_terminal(stage: Stage, *arguments: str) -> bytes:
    """What a command writes to a terminal, byte by byte."""
    leader, follower = pty.openpty()
    process = stage.start(*arguments, stdin=follower, stdout=follower, stderr=follower)
    os.close(follower)
    written = b""
    while True:
        try:
            data = os.read(leader, 65536)
        except OSError:  # Linux: the last one has closed it
            break
        if not data:
            break
        written += data
    os.close(leader)
    process.wait(30)
    return written


@pytest.mark.parametrize("case", cases("text.json"), ids=ids)
def test_a_terminal_gets_safe_text(stage: Stage, case: dict[str, Any]) -> None:
    """T1 on the command line: as a reply, as history and as an export."""
    script(stage, streamed(case["text"][:1], case["text"][1:]))
    written = on_a_terminal(stage, "send", "x" + case["text"].replace("\0", ""))
    history = on_a_terminal(stage, "feed")
    exported = on_a_terminal(stage, "export")
    for never in case.get("never", []):
        assert never.encode() not in written + history + exported
    if "visible" in case:
        visible = safe_text(case["text"].replace("\0", "\ufffd"))  # NUL ends where text enters
        assert visible.encode() in written
        assert visible.encode() in history
        assert visible.encode() in exported


def test_ask_and_bypass_are_said(stage: Stage) -> None:
    """A1 on the command line, also into a pipe."""
    config = stage.folder / "config.toml"
    before = config.read_text()
    config.write_text(before + 'approvals = "ask"\n')
    assert stage.run("send", "hello").stderr == b""
    said = stage.run("send", "--approve", "once", "hello")
    assert said.returncode == 0
    assert b"nothing to approve" in said.stderr
    config.write_text(before + 'approvals = "bypass"\n')
    stage.hermes.turns = [[["usage", {"completed": True, "failed": False}], ["out", "Hi.\n"]]]
    stage.hermes.write()
    done = stage.run("send", "hello")
    assert (done.returncode, done.stdout) == (0, b"Hi.\n")
    assert done.stderr.count(b"runs tools unasked") == 1


def test_an_answer_without_any_json(stage: Stage) -> None:
    script(stage, [["exit", 0]])
    done = stage.run("send", "hello")
    assert done.returncode == 3
    assert b"exit code 0 and no answer" in done.stderr


def test_dry_run_has_the_text_as_it_would_be_stored(stage: Stage) -> None:
    done = stage.run("send", "--dry-run", "--json", "-", input=b"a\0b")
    assert json.loads(done.stdout)["stdin"] == "a\ufffdb"


def test_the_screen_needs_a_store(stage: Stage) -> None:
    written = on_a_terminal(stage, "--data-dir", "/dev/null/x")
    assert b"inside qterm" not in written
    assert written.count(b"\n") == 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_naming_that_hangs_can_be_left(stage: Stage, number: int) -> None:
    """S3: the answer stands, and qterm ends at once; the name comes with the next message."""
    stage.hermes.more = {"export_steps": [["sleep", 60]]}
    stage.hermes.write()
    made = json.loads(stage.run("task", "new", "Ship it", "--json").stdout)["id"]
    process = stage.start("send", "--task", made, "hello")
    assert process.stdout is not None
    assert process.stdout.readline() == b"Hi.\n"
    wait_for(lambda: any("export" in child.info["cmdline"] for child in stage.children()))
    process.send_signal(number)
    assert process.wait(8) == 0  # `close` gives what runs 10 seconds
    assert stage.children() == []
    assert stage.states() == [("hello", "sent"), ("Hi.", "sent")]
