"""Runs a program for so long and no longer: whatever it started is gone when this returns."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import psutil

_LOOK = 0.05
"""Seconds between two looks at whether it has ended."""
_NOTE = 0.5
"""Seconds between two looks at what it has started."""
_GRACE = 1.0
"""Seconds between SIGTERM and SIGKILL."""
_DRAIN = 2.0


@dataclass(frozen=True, slots=True)
class Ended:
    """How it ended: what it printed (bounded), and whether it had to be ended, since its time was
    over (`is_late`) or since somebody wanted so (`is_stopped`)."""

    out: bytes
    err: bytes
    code: int | None
    is_late: bool = False
    is_stopped: bool = False


def run_bounded(
    argv: Sequence[str],
    *,
    env: Mapping[str, str],
    cwd: Path | None,
    seconds: float,
    stopping: threading.Event,
    limit: int = 1 << 20,
) -> Ended:
    """Run a program in a session of its own, its standard input closed; blocks.

    It is ended after so many `seconds`, or once `stopping` is set, and so is all of its group and
    what it is known to have started, also where the program itself ended by itself. What is printed
    beyond `limit` bytes a stream is dropped. Raises OSError where it can't be started.
    """
    popen = subprocess.Popen(
        list(argv),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=dict(env),
        cwd=cwd,
        start_new_session=True,
    )
    assert popen.stdout is not None
    assert popen.stderr is not None
    streams = [_Drain(popen.stdout, limit), _Drain(popen.stderr, limit)]
    family = _Family(popen.pid)
    give_up = time.monotonic() + seconds
    next_note = time.monotonic()
    # It is not collected before the end: until then nobody else can have its id, nor its group's.
    try:
        while not (has_ended := family.has_ended()) and not stopping.is_set():
            now = time.monotonic()
            if now >= give_up:
                break
            if now >= next_note:
                family.note()
                next_note = now + _NOTE
            stopping.wait(min(_LOOK, give_up - now))
    finally:
        family.end()
        code = None
        with contextlib.suppress(subprocess.TimeoutExpired):  # one that not even SIGKILL ends
            code = popen.wait(_GRACE)
    out, err = (stream.finish() for stream in streams)
    is_stopped = not has_ended and stopping.is_set()
    return Ended(out, err, code, not has_ended and not is_stopped, is_stopped)


class _Drain:
    """Reads a pipe to its end in a thread, and keeps its beginning."""

    def __init__(self, pipe: IO[bytes], limit: int) -> None:
        self._pipe, self._limit = pipe, limit
        self._kept = bytearray()
        self._thread = threading.Thread(target=self._read, name="drain", daemon=True)
        self._thread.start()

    def _read(self) -> None:
        with contextlib.suppress(OSError, ValueError), self._pipe as pipe:
            while part := os.read(pipe.fileno(), 1 << 16):
                self._kept += part[: max(0, self._limit - len(self._kept))]

    def finish(self) -> bytes:
        self._thread.join(_DRAIN)
        return bytes(self._kept)


class _Family:
    """A process that leads a group, with all that it has started."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._noted: dict[int, psutil.Process] = {}
        self._root: psutil.Process | None = None
        with contextlib.suppress(psutil.Error):
            self._root = psutil.Process(pid)

    def has_ended(self) -> bool:
        """Whether the process itself has ended; it is not collected."""
        return self._root is None or not _runs(self._root)

    def note(self) -> None:
        """Remember what it has started so far: once its parent is gone it can't be found."""
        known = [*self._noted.values()]
        if self._root is not None:
            known.append(self._root)
        for process in known:
            with contextlib.suppress(psutil.Error):
                for child in process.children(recursive=True):
                    self._noted.setdefault(child.pid, child)

    def end(self) -> None:
        """End all of it: asked first, then killed. Returns when nothing of it runs."""
        self.note()
        for number, patience in ((signal.SIGTERM, _GRACE), (signal.SIGKILL, 2 * _GRACE)):
            until = time.monotonic() + patience
            if not (left := self._left()):
                return
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, number)
            for process in left:
                with contextlib.suppress(psutil.Error):
                    process.send_signal(number)  # psutil sees that the id is still its own
            while self._left() and time.monotonic() < until:
                time.sleep(0.02)
            self.note()

    def _left(self) -> list[psutil.Process]:
        for pid in psutil.pids():
            with contextlib.suppress(OSError, psutil.Error):
                if pid not in self._noted and os.getpgid(pid) == self.pid:
                    self._noted[pid] = psutil.Process(pid)
        return [process for process in self._noted.values() if _runs(process)]


def _runs(process: psutil.Process) -> bool:
    """Whether it is more than an entry that nobody has collected yet."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False
