"""A real pseudo-terminal with a screen in it (pyte), for what reaches the terminal."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

import pyte

BOUND = 30.0
"""The longest a test waits for a state, in seconds."""


class Terminal:
    """A process on a pty. `raw` is every byte it sent, `text` what stands on the screen."""

    def __init__(
        self,
        *arguments: str,
        size: tuple[int, int] = (120, 40),
        environ: Mapping[str, str] | None = None,
    ) -> None:
        self.raw = b""
        self._screen = pyte.Screen(*size)
        self._stream = pyte.ByteStream(self._screen)
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))
        kept = {name: value for name, value in os.environ.items() if name not in _CLEARED}
        self.process = subprocess.Popen(
            [sys.executable, *arguments],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env={**kept, "TERM": "xterm-256color", "COLORTERM": "truecolor", **(environ or {})},
            cwd=Path(__file__).parents[2],
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # noqa: PLW1509 - no threads
        )
        os.close(slave)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(BOUND)
        if self.master >= 0:
            os.close(self.master)

    @property
    def text(self) -> str:
        columns = range(self._screen.columns)
        lines = (self._screen.buffer[row] for row in range(self._screen.lines))
        return "\n".join(
            "".join(line[column].data for column in columns).rstrip() for line in lines
        )

    @property
    def row(self) -> int:
        """The row the cursor is in, from 0."""
        return int(self._screen.cursor.y)

    def part(self, first: int, last: int) -> str:
        """The lines of the screen from one column to another."""
        columns = range(first, min(last, self._screen.columns))
        lines = (self._screen.buffer[row] for row in range(self._screen.lines))
        return "\n".join("".join(line[column].data for column in columns) for line in lines)

    def read(self, seconds: float = 0.05) -> None:
        """Take in what has come."""
        while select.select([self.master], [], [], seconds)[0]:
            try:
                data = os.read(self.master, 65_536)
            except OSError:
                return
            if not data:
                return
            self.raw += data
            self._stream.feed(data)
            seconds = 0

    def until(self, reached: Callable[[], object], bound: float = BOUND) -> None:
        """Read until a state; fails when it does not come."""
        end = time.monotonic() + bound
        while not reached():
            assert time.monotonic() < end, f"the state did not come:\n{self.text}"
            self.read()

    def shows(self, words: str) -> None:
        """Wait until the words are on the screen."""
        self.until(lambda: words in self.text)

    def type(self, keys: str) -> None:
        """Type, as fast as a terminal can."""
        data = keys.encode()
        while data:
            written = os.write(self.master, data[:1024])
            data = data[written:]
            self.read(0)

    def paste(self, text: str) -> None:
        """Paste, as terminals do it."""
        self.type(f"\x1b[200~{text}\x1b[201~")

    def mouse(self, column: int, row: int, *, click: bool = False) -> None:
        """Move the mouse to a cell (from 1), and click there."""
        self.type(f"\x1b[<35;{column};{row}M")
        if click:
            self.type(f"\x1b[<0;{column};{row}M\x1b[<0;{column};{row}m")

    def signal(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def hang_up(self) -> None:
        """Close the terminal's window."""
        os.close(self.master)
        self.master = -1

    def ended(self, bound: float = BOUND) -> int:
        """Wait until the process is over; its exit code."""
        if self.master >= 0:
            self.until(lambda: self.process.poll() is not None, bound)
        return self.process.wait(bound)


_CLEARED = {"NO_COLOR", "TEXTUAL_THEME", "TEXTUAL_ANIMATIONS", "COLUMNS", "LINES"}
