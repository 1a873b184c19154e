"""What a qterm that was killed has left behind: a hermes in the middle of a turn, with its tools.

Every process that hermes is started as is noted in a folder, a file each, until it has ended. What
stands there when its qterm is gone still runs, unattended: it is ended, as a stop would end it,
before the next turn begins (docs/hermes.md, *Stopping*).
"""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from qterm.model import Owner
from qterm.private import FILE_MODE, private_folder

if TYPE_CHECKING:
    import psutil

log = logging.getLogger(__name__)

INTERRUPT_SECONDS = 2.0
"""How long what is left may take to end by itself."""


@dataclass(frozen=True, slots=True)
class LeftBehind:
    """The notes in `folder`. `owner` gives this process, `started` the token by which a process is
    told from a later one with the same id (None: no such process runs)."""

    folder: Path
    owner: Callable[[], Owner]
    started: Callable[[int], str | None]

    def note(self, pid: int) -> None:
        """Note a process that was just started; a disk that refuses keeps no turn from running."""
        try:
            private_folder(self.folder)
            handle = os.open(self._path(pid), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, FILE_MODE)
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(f"{self.owner()}\n{self.started(pid) or ''}\n")
        except OSError as error:
            log.warning("process %d could not be noted: %s", pid, error.strerror)

    def forget(self, pid: int) -> None:
        """It has ended."""
        with contextlib.suppress(OSError):
            self._path(pid).unlink()

    def _path(self, pid: int) -> Path:
        return self.folder / str(pid)

    def end(self) -> int:
        """End what gone qterms have left running, with all it has started; returns how many.

        Blocks until nothing of it is left: `INTERRUPT_SECONDS` and a second at most.
        """
        try:
            notes = [path for path in self.folder.iterdir() if path.name.isdigit()]
        except OSError:
            return 0
        import psutil

        left: list[psutil.Process] = []
        for path in notes:
            with contextlib.suppress(OSError, ValueError, psutil.Error):
                owner, started = path.read_text("utf-8").splitlines()[:2]
                if self._lives(Owner.parse(owner)):
                    continue
                pid = int(path.name)
                if started and self.started(pid) == started:
                    left.append(psutil.Process(pid))
            with contextlib.suppress(OSError):
                path.unlink()
        if left:
            log.info("ending what a killed qterm has left: %s", [each.pid for each in left])
            _end(left)
        return len(left)

    def _lives(self, owner: Owner | None) -> bool:
        return owner is not None and self.started(owner.pid) == owner.started


def _end(processes: list[psutil.Process]) -> None:
    """SIGINT to each and its group, then SIGKILL to what is left of it and of all it started."""
    import psutil

    noted = {process.pid: process for process in processes}
    note_children(noted)
    for process in processes:
        with contextlib.suppress(OSError):
            os.killpg(process.pid, signal.SIGINT)  # each leads a group of its own
    until = time.monotonic() + INTERRUPT_SECONDS
    while any(map(runs, processes)) and time.monotonic() < until:
        note_children(noted)
        time.sleep(0.05)
    note_children(noted)
    for process in noted.values():
        with contextlib.suppress(psutil.Error):
            process.kill()  # psutil checks that the id is still this process's
    until = time.monotonic() + 1.0
    while any(map(runs, noted.values())) and time.monotonic() < until:
        time.sleep(0.02)


def note_children(noted: dict[int, psutil.Process]) -> None:
    """Note what these have started so far: it can't be found once they are gone."""
    import psutil

    for process in list(noted.values()):
        with contextlib.suppress(psutil.Error):
            for child in process.children(recursive=True):
                noted.setdefault(child.pid, child)


def runs(process: psutil.Process) -> bool:
    """Whether it is more than an entry that its parent has not collected yet."""
    import psutil

    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False
