"""A rehearsal in a real terminal: it answers, and however it ends, nothing is left."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

pytestmark = pytest.mark.system

BOUND = 60.0


def wait_for(what: Callable[[], bool], seconds: float = BOUND) -> bool:
    """Look until it is so; False when that takes too long."""
    until = time.monotonic() + seconds
    while not what():
        if time.monotonic() > until:
            return False
        time.sleep(0.05)
    return True


class Terminal:
    """`qterm demo` in tmux, with folders of its own."""

    def __init__(self, folder: Path) -> None:
        self.temp = folder / "tmp"
        self.temp.mkdir()
        (folder / "home").mkdir()
        self._tmux = ["tmux", "-u", "-f", "/dev/null", "-S", str(folder / "tmux")]
        kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        self._environ = {
            **kept, "HOME": str(folder / "home"), "TMPDIR": str(self.temp),
            "TERM": "xterm-256color",
        }  # fmt: skip
        self.pid = 0

    def tmux(self, *words: str) -> str:
        result = subprocess.run(
            [*self._tmux, *words], env=self._environ, capture_output=True, text=True, check=False
        )
        return result.stdout

    def start(self) -> None:
        size = ("-x", "100", "-y", "30")
        self.tmux("new-session", "-d", *size, sys.executable, "-m", "qterm", "demo")
        self.pid = int(self.tmux("list-panes", "-F", "#{pane_pid}"))

    def shows(self, text: str) -> bool:
        return wait_for(lambda: text in self.tmux("capture-pane", "-p"))

    def has_ended(self) -> bool:
        return wait_for(lambda: not psutil.pid_exists(self.pid))

    def left(self) -> list[str]:
        return [path.name for path in self.temp.iterdir()]

    def close(self) -> None:
        self.tmux("kill-server")
        if self.pid and psutil.pid_exists(self.pid):
            os.kill(self.pid, signal.SIGKILL)


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    assert shutil.which("tmux"), "tmux is missing: these tests need it"
    terminal = Terminal(tmp_path)
    terminal.start()
    for sign in ("Moneypenny", "ready"):  # the feed, and a hermes that was asked what it can do
        assert terminal.shows(sign), terminal.tmux("capture-pane", "-p")
    yield terminal
    terminal.close()


def test_it_answers_and_leaves_nothing(terminal: Terminal) -> None:
    terminal.tmux("send-keys", "-l", "What did Moneypenny say?")
    assert terminal.shows("› What did Moneypenny say?")
    terminal.tmux("send-keys", "Enter")
    assert terminal.shows("Moneypenny said: “Tom asks"), terminal.tmux("capture-pane", "-p")
    assert terminal.shows("● ready")  # the words come before the turn is over
    terminal.tmux("send-keys", "C-q")
    assert terminal.has_ended()
    assert terminal.left() == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_ends_it_and_leaves_nothing(terminal: Terminal, number: signal.Signals) -> None:
    os.kill(terminal.pid, number)
    assert terminal.has_ended()
    assert terminal.left() == []


def test_a_terminal_that_is_closed_ends_it_and_leaves_nothing(terminal: Terminal) -> None:
    terminal.tmux("kill-server")
    assert terminal.has_ended()
    assert terminal.left() == []
