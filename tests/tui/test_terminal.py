"""What really reaches a terminal, and how the screen ends."""

from __future__ import annotations

import signal
import sqlite3
import termios
from functools import partial
from pathlib import Path

import psutil
import pytest

from tests.cases import cases
from tests.tui.pty_app import TEXTS
from tests.tui.terminal import Terminal

HARMFUL = [number for number, case in enumerate(cases("text.json")) if case.get("never")]
NEVER = sorted({bad for case in cases("text.json") for bad in case.get("never", [])})


def scene(folder: Path, name: str, **options: object) -> Terminal:
    return Terminal("-m", "tests.tui.pty_app", str(folder), name, **options)  # type: ignore[arg-type]


def clean(terminal: Terminal) -> None:
    """Nothing of what may never reach a terminal has."""
    sent = terminal.raw.decode("utf-8", "replace")
    for bad in NEVER:
        if bad == "\x1b[2J":
            continue  # a full redraw may clear the screen; the text that follows it is checked
        assert bad not in sent, f"{bad!r} reached the terminal"
    assert "\x1b[2Jb" not in sent
    assert "Traceback" not in sent


def test_no_text_reaches_the_terminal_raw_wherever_it_is_shown(tmp_path: Path) -> None:
    with scene(tmp_path, "odd") as terminal:
        terminal.shows("ctrl+p")
        terminal.until(lambda: "okend" in terminal.text)
        # toasts come and go; meanwhile hover and click all over the screen
        for row in range(1, 40, 2):
            terminal.mouse(30, row, click=True)
            terminal.mouse(100, row)
            terminal.read(0.02)
        # back through the history, and forth
        for _ in range(8):
            terminal.type("\x1b[5~")
            terminal.read(0.05)
        terminal.type("\x1b[6~" * 8)
        # every notice
        terminal.type("\x07" * (len(TEXTS) + 2))
        terminal.read(0.2)
        # every text in the editor
        for text in TEXTS:
            terminal.paste(text)
            terminal.read(0.02)
        terminal.type("\x0b" * 200 + "\x15" * 200)  # ctrl+k and ctrl+u delete all of it
        terminal.shows("Write to Q")
        # markup and every text with controls as an answer that streams in, and as a reason
        for count, number in enumerate((0, *HARMFUL)):
            terminal.type(f"{number} answer\r{number} fail\r")
            terminal.until(partial(_over, tmp_path, 2 * count + 2), 60)
        terminal.type("\t\r")  # the details of the last failure
        terminal.read(0.2)
        terminal.type("\x1b[20~")  # f9: the dialog for a fact
        terminal.shows("What should Q know")
        terminal.paste("".join(TEXTS[7:14]))
        terminal.read(0.2)
        terminal.type("\x1b")
        terminal.until(lambda: "What should Q know" not in terminal.text)
        terminal.type("\x10")  # the palette
        terminal.shows("Search for commands")
        terminal.paste("".join(TEXTS[7:14]))
        terminal.read(0.3)
        terminal.type("\x1b")
        terminal.until(lambda: "Search for commands" not in terminal.text)
        terminal.type("\x11")
        assert terminal.ended() == 0
        clean(terminal)


@pytest.mark.parametrize("size", [(120, 40), (80, 24)], ids=["wide", "narrow"])
def test_no_text_of_a_task_reaches_the_terminal_raw(size: tuple[int, int], tmp_path: Path) -> None:
    with scene(tmp_path, "odd-tasks", size=size) as terminal:
        terminal.shows(f"Tasks {len(TEXTS) + 1}")
        terminal.type("\x1bOR")  # f3
        terminal.shows("the last one  /")
        terminal.type("\t")  # into the list
        for number in range(len(TEXTS)):
            terminal.type("\x1b[B")
            terminal.until(partial(_head_shows, terminal, f"t{len(TEXTS) - 1 - number} "))
        for row in range(2, size[1], 2):
            terminal.mouse(10, row)
            terminal.mouse(10, row, click=True)
            terminal.read(0.02)
        for key, words in (("r", "be called?"), ("f", "Finish “"), ("x", "Cancel “")):
            terminal.type("\x1b[H")
            terminal.type("\x1b[B" * 3)
            terminal.read(0.2)
            terminal.type(key)
            terminal.shows(words)
            terminal.type("\x1b")
            terminal.until(partial(_is_gone, terminal, words))
        terminal.type("\x0e")  # ctrl+n: a new task
        terminal.shows("What is the task?")
        terminal.paste("".join(TEXTS[7:14]))
        terminal.until(lambda: "Ship the importer" not in terminal.text)  # the hint makes way
        row = terminal.row
        terminal.type("\t")
        terminal.until(lambda: terminal.row != row)  # the cursor is in the other line
        terminal.paste("".join(TEXTS[7:14]))
        terminal.read(0.3)
        terminal.type("\r")
        terminal.shows("here:")  # the sentence wraps by the length of the folder's name
        terminal.type("\x1b")
        terminal.until(lambda: "What is the task?" not in terminal.text)
        terminal.type("\x11")
        assert terminal.ended() == 0
        clean(terminal)


def _is_gone(terminal: Terminal, words: str) -> bool:
    return words not in terminal.text


def _head_shows(terminal: Terminal, title: str) -> bool:
    """Whether this task's title stands above the thread."""
    return terminal.text.splitlines()[1].rpartition("● ")[2].startswith(title)


def test_fast_typing_keeps_the_order_of_the_keys(tmp_path: Path) -> None:
    with scene(tmp_path, "plain") as terminal:
        terminal.shows("Write to Q")
        terminal.type("What did Moneypenny say?\rand then\njust this")
        terminal.shows("Hi.")
        terminal.until(lambda: "You        What did Moneypenny say?" in terminal.text)
        terminal.shows("Hi.  0.0 s")  # the turn is over: quitting need not ask
        terminal.shows("› and then")
        terminal.shows("just this")
        terminal.type("\x11")
        assert terminal.ended() == 0


def test_a_draft_survives_a_kill(tmp_path: Path) -> None:
    with scene(tmp_path, "plain") as terminal:
        terminal.shows("Write to Q")
        terminal.type("half a thought")
        terminal.until(lambda: _draft(tmp_path) == "half a thought")
        terminal.signal(signal.SIGKILL)
        terminal.ended()
    with scene(tmp_path, "plain") as terminal:
        terminal.shows("› half a thought")


def test_a_killed_turn_comes_back_interrupted_and_is_not_sent_again(tmp_path: Path) -> None:
    with scene(tmp_path, "held") as terminal:
        terminal.shows("Write to Q")
        terminal.type("slow one\r")
        terminal.shows("esc stops")
        terminal.signal(signal.SIGKILL)
        terminal.ended()
    with scene(tmp_path, "plain") as terminal:
        terminal.shows("interrupted")
        terminal.shows("send again")
        assert "esc stops" not in terminal.text


def _over(folder: Path, count: int) -> bool:
    """Whether so many messages of the operator's were sent, and nothing is under way."""
    with sqlite3.connect(folder / "data" / "feed.db") as store:
        rows = store.execute("SELECT persona, state FROM turns").fetchall()
    sent = [state for persona, state in rows if persona == "you"]
    return len(sent) >= count and not {"queued", "pending"} & {state for _, state in rows}


def _draft(folder: Path) -> str:
    try:
        with sqlite3.connect(folder / "data" / "feed.db") as store:
            names = [row[0] for row in store.execute("SELECT name FROM sqlite_master")]
            if "drafts" not in names:
                return ""
            rows = store.execute("SELECT text FROM drafts").fetchall()
    except sqlite3.Error:
        return ""
    return str(rows[0][0]) if rows else ""


@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGINT, 130)],
    ids=["term", "hup", "int"],
)
def test_a_signal_ends_it_cleanly(tmp_path: Path, number: signal.Signals, code: int) -> None:
    with scene(tmp_path, "held") as terminal:
        before = termios.tcgetattr(terminal.master)
        terminal.shows("Write to Q")
        terminal.type("slow one\r")
        terminal.shows("esc stops")
        terminal.type("draft")
        terminal.shows("› draft")
        terminal.signal(number)
        assert terminal.ended() == code
        terminal.read()
        assert b"\x1b[?1049l" in terminal.raw  # back from the other screen
        assert "stopping Q…".encode() in terminal.raw
        assert termios.tcgetattr(terminal.master)[3] == before[3]
        assert "Traceback" not in terminal.text
    assert _draft(tmp_path) == "draft"


def test_a_closed_window_ends_it_and_leaves_no_process(tmp_path: Path) -> None:
    with scene(tmp_path, "held") as terminal:
        terminal.shows("Write to Q")
        terminal.type("slow one\r")
        terminal.shows("esc stops")
        process = psutil.Process(terminal.process.pid)
        terminal.hang_up()
        assert terminal.ended() in {129, -signal.SIGHUP}
        assert not process.is_running()
    with sqlite3.connect(tmp_path / "data" / "feed.db") as store:
        states = [row[0] for row in store.execute("SELECT state FROM turns ORDER BY id")]
    assert "pending" not in states
    assert "interrupted" in states


@pytest.mark.parametrize(
    "environ", [{"NO_COLOR": "1"}, {"TERM": "dumb"}], ids=["no-colour", "dumb"]
)
def test_a_plain_terminal_works(tmp_path: Path, environ: dict[str, str]) -> None:
    with scene(tmp_path, "plain", environ=environ) as terminal:
        terminal.shows("Mallory")
        terminal.type("hi\r")
        terminal.shows("Hi.")
        terminal.shows("ready")
        terminal.type("\x11")
        assert terminal.ended() == 0


def test_ctrl_c_in_hermes_setup_ends_that_and_not_qterm(tmp_path: Path) -> None:
    with scene(tmp_path, "setup") as terminal:
        terminal.shows("Set up")
        terminal.type("s")
        terminal.shows("A question:")
        terminal.type("\x03")
        terminal.shows("Look around")
        terminal.type("l")
        terminal.shows("Write to Q")
        terminal.shows("Mallory")
        terminal.type("\x11")
        assert terminal.ended() == 0


def test_a_fault_in_qterm_is_no_traceback_and_loses_nothing(tmp_path: Path) -> None:
    with scene(tmp_path, "broken") as terminal:
        terminal.shows("Write to Q")
        terminal.type("draft")
        terminal.shows("› draft")
        terminal.type("\x14")
        assert terminal.ended() == 70
        terminal.read()
        assert b"\x1b[?1049l" in terminal.raw
        assert b"Traceback" not in terminal.raw
        assert b"It failed: a fault in qterm." in terminal.raw
    assert _draft(tmp_path) == "draft"
