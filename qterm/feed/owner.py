"""Who works on an open turn: a process, told from a later one that got the same id.

The token of a process's start does not depend on the clock: on Linux it is the machine's boot id
with the start in ticks since that boot, elsewhere the start as psutil knows it.
"""

from __future__ import annotations

import os
from pathlib import Path

from qterm.model import Owner

_PROC = Path("/proc")
_ENDED = {"Z", "X", "x"}
"""States of a process that has ended and only waits for its parent to look."""


def current_owner() -> Owner:
    """The owner that stands for this process."""
    pid = os.getpid()
    token = started(pid)
    assert token is not None, "a running process has started"
    return Owner(pid, token)


def is_alive(owner: Owner) -> bool:
    """Whether this very process still runs; False for another one with the same id."""
    return started(owner.pid) == owner.started


def started(pid: int) -> str | None:
    """The token of a process's start; None when no such process runs."""
    try:
        boot = (_PROC / "sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        (_PROC / "self/stat").stat()
    except OSError:
        return _started_elsewhere(pid)
    try:
        stat = (_PROC / str(pid) / "stat").read_bytes()
    except OSError:
        return None
    state, ticks = read_stat(stat)
    return None if state in _ENDED else f"{boot}/{ticks}"


def read_stat(stat: bytes) -> tuple[str, int]:
    """State and start in ticks since boot, from the bytes of `/proc/PID/stat`.

    The second field is the program's name in parentheses, which may hold spaces, parentheses and
    line ends itself: the last closing one ends it.
    """
    fields = stat[stat.rindex(b")") + 1 :].split()
    return fields[0].decode("ascii"), int(fields[19])  # fields 3 and 22 of proc(5)


def _started_elsewhere(pid: int) -> str | None:
    import psutil

    try:
        process = psutil.Process(pid)
        if process.status() == psutil.STATUS_ZOMBIE:
            return None
        return f"{process.create_time():.2f}"
    except psutil.Error:
        return None
