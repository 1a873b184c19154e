"""The operator's own editor, on a real terminal and with a scripted editor."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import sqlite3
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from qterm.tui.terminal.own_editor import EditorError, edit_text, editor_command
from tests.tui.terminal import BOUND, Terminal

F7 = "\x1b[18~"


def script(folder: Path, body: str) -> Path:
    """An editor: a Python program that has `file`, and writes what it saw into `seen`."""
    path = folder / "the editor"
    path.write_text(
        f"#!{sys.executable}\n"
        "import os, sqlite3, sys, time, signal, stat\n"
        "from pathlib import Path\n"
        "file = Path(sys.argv[-1])\n"
        f"folder = Path({str(folder)!r})\n"
        "modes = [oct(stat.S_IMODE(path.stat().st_mode)) for path in (file.parent, file)]\n"
        "was = file.read_bytes()\n"
        "(folder / 'seen').write_bytes(was)\n"
        "(folder / 'where').write_text(f'{file} {modes}')\n"
        f"{body}\n",
        "utf-8",
    )
    path.chmod(0o755)
    return path


@contextlib.contextmanager
def writing(folder: Path, editor: str, scene: str = "plain") -> Iterator[Terminal]:
    tmp = folder / "tmp"
    tmp.mkdir()
    environ = {"VISUAL": editor, "TMPDIR": str(tmp)}
    with Terminal("-m", "tests.tui.pty_app", str(folder), scene, environ=environ) as terminal:
        terminal.shows("Write to Q")
        yield terminal
    assert list(tmp.iterdir()) == []  # nothing of it is left


def says(terminal: Terminal, words: str) -> None:
    """Wait for a toast: a column of its own, whose words wrap."""

    def toast() -> str:
        lines = (line.partition("▌")[2].strip("▐ ") for line in terminal.text.splitlines())
        return " ".join(" ".join(lines).split())

    terminal.until(lambda: words in toast())


def running(terminal: Terminal) -> int:
    """The process of the editor, once it runs."""
    terminal.until(lambda: re.search(rb"in the editor [0-9]+\s", terminal.raw))
    found = re.search(rb"in the editor ([0-9]+)\s", terminal.raw)
    assert found is not None
    return int(found[1])


def leaves(terminal: Terminal) -> None:
    terminal.type("\x11")
    assert terminal.ended() == 0
    assert b"Traceback" not in terminal.raw


def test_a_message_is_written_in_it_pastes_and_all(tmp_path: Path) -> None:
    editor = script(tmp_path, "file.write_bytes(was.replace(b'before', b'after') + b'more\\n')")
    paste = "".join(f"line {number}\n" for number in range(400))
    with writing(tmp_path, f"'{editor}' --wait") as terminal:
        terminal.type("before ")
        terminal.paste(paste)
        terminal.shows("⟦pasted 1: 3,490 characters, 400 lines⟧")
        terminal.type(F7)
        terminal.shows("after ⟦pasted")
        terminal.shows("more")
        assert (tmp_path / "seen").read_text() == "before " + paste
        assert (tmp_path / "where").read_text().endswith("message.md ['0o700', '0o600']")
        terminal.type("\r")
        terminal.shows("Hi.  0.0 s")
        leaves(terminal)
    with sqlite3.connect(tmp_path / "data" / "feed.db") as store:
        (said,) = store.execute("SELECT text FROM turns WHERE persona = 'you'").fetchone()
    assert said == f"after {paste}more\n"


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("pass", "Nothing was changed in your editor."),
        ("file.write_bytes(was + b'\\n')", "Nothing was changed in your editor."),
        ("file.write_text('lost'); sys.exit(3)", "ended with 3, so your message is as it was."),
        ("file.unlink()", "so your message is as it was."),
    ],
    ids=["unchanged", "a newline", "failed", "removed"],
)
def test_what_was_written_stays_where_it_changes_nothing(
    body: str, words: str, tmp_path: Path
) -> None:
    with writing(tmp_path, f"'{script(tmp_path, body)}'") as terminal:
        terminal.type("as it was")
        terminal.shows("› as it was")
        terminal.type(F7)
        says(terminal, words)
        terminal.shows("› as it was")
        leaves(terminal)


def test_an_editor_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    with writing(tmp_path, "/no/such/editor") as terminal:
        terminal.type("kept")
        terminal.type(F7)
        says(terminal, "“editor” could not be started (No such file or directory)")
        terminal.shows("› kept")
        leaves(terminal)


def test_turns_go_on_while_it_is_open(tmp_path: Path) -> None:
    body = """
(folder / "go").touch()
print("in the editor", flush=True)
end = time.monotonic() + 30
store = sqlite3.connect(folder / "data" / "feed.db")
while not store.execute("SELECT 1 FROM turns WHERE persona = 'q' AND state = 'sent'").fetchall():
    assert time.monotonic() < end, "the turn stood still"
    time.sleep(0.02)
file.write_text("written meanwhile")
"""
    with writing(tmp_path, f"'{script(tmp_path, body)}'", "until-told") as terminal:
        terminal.type("go\r")
        terminal.shows("esc stops")
        terminal.type(F7)
        terminal.shows("› written meanwhile")
        terminal.shows("All of it came.")
        shown = terminal.raw.split(b"in the editor")[1].split(b"\x1b[?1049h")[0]
        assert b"line 1" not in shown  # nothing is drawn over the editor
        leaves(terminal)


def test_it_ends_when_qterm_is_told_to_end(tmp_path: Path) -> None:
    body = "print('in the editor', os.getpid(), flush=True); time.sleep(600)"
    with writing(tmp_path, f"'{script(tmp_path, body)}'") as terminal:
        terminal.type("draft")
        terminal.shows("› draft")
        terminal.type(F7)
        number = running(terminal)
        terminal.signal(signal.SIGTERM)
        assert terminal.ended() == 143
        assert b"Traceback" not in terminal.raw
        wait_for_end(number)
    with sqlite3.connect(tmp_path / "data" / "feed.db") as store:
        assert store.execute("SELECT text FROM drafts").fetchall() == [("draft",)]


def test_a_window_that_is_closed_ends_it_too(tmp_path: Path) -> None:
    body = "print('in the editor', os.getpid(), flush=True); time.sleep(600)"
    with writing(tmp_path, f"'{script(tmp_path, body)}'") as terminal:
        terminal.type("draft")
        terminal.shows("› draft")
        terminal.type(F7)
        number = running(terminal)
        terminal.hang_up()
        assert terminal.ended() in {129, -signal.SIGHUP}
        wait_for_end(number)


def wait_for_end(process: int) -> None:
    end = time.monotonic() + BOUND
    while True:
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return
        assert time.monotonic() < end, "the editor still runs"
        time.sleep(0.02)


def test_which_editor_it_is(tmp_path: Path) -> None:
    assert editor_command({"VISUAL": "code --wait", "EDITOR": "vi"}) == ["code", "--wait"]
    assert editor_command({"VISUAL": " ", "EDITOR": "'my editor' -n"}) == ["my editor", "-n"]
    for name in ("vi", "nano"):
        (tmp_path / name).touch(0o755)
        assert editor_command({"PATH": str(tmp_path)}) == [str(tmp_path / name)]
    with pytest.raises(EditorError, match="No editor is set"):
        editor_command({"PATH": str(tmp_path / "none")})
    with pytest.raises(EditorError, match="a quote in it is not closed"):
        editor_command({"EDITOR": "vi '"})


async def test_controls_go_into_the_file_and_come_back(tmp_path: Path) -> None:
    editor = script(tmp_path, "file.write_bytes(b'x' + was)")
    text = "a\x1b[2Jb ␛ ⟦pasted 1⟧ \u202e\u2028"
    environ = {**os.environ, "EDITOR": f"'{editor}'", "VISUAL": ""}
    assert await edit_text(text, environ, contextlib.nullcontext) == "x" + text
