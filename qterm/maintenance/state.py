"""When the last pass was: a file that qterm shares with hive-mind's own hook, and its lock.

It lies in the user's home, whatever `HERMES_HOME` says.
"""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from qterm.maintenance.gate import parse_last
from qterm.memory.errors import Busy, MemoryFault
from qterm.memory.locking import held
from qterm.private import FOLDER_MODE, read_bounded, write_private

log = logging.getLogger(__name__)

NAME = ".hive-mind-last-compact"


def user_home(environ: Mapping[str, str]) -> Path:
    """The user's home folder; one that is not there where the machine knows of none."""
    if environ.get("HOME"):
        return Path(environ["HOME"])
    try:
        return Path.home()
    except RuntimeError:
        return Path("/nonexistent")


def state_path(home: Path) -> Path:
    """The state file in a user's home."""
    return home / ".hermes" / NAME


def read_last(path: Path) -> int | None:
    """The last pass, in milliseconds since the epoch; None for “never”, whatever the reason."""
    try:
        data = read_bounded(path)
    except (OSError, ValueError):  # ValueError: a NUL in the path
        return None
    return parse_last(data[:4096].decode("utf-8", "replace"))


def write_last(path: Path, moment: int) -> str:
    """Note the last pass, in one step; the folder is made if it is missing.

    Returns nothing, or one sentence why that could not be done.
    """
    try:
        path.parent.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
        write_private(path, str(moment).encode())
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        return (
            f"When the pass was can't be noted in {path} ({reason}): mend that, or it runs again "
            "with the next qterm."
        )
    return ""


@contextlib.contextmanager
def lone(path: Path) -> Iterator[bool]:
    """Hold the lock beside the state file while a pass runs; gives False where another process has
    it. Where there can be no lock, the pass goes on without."""
    lock = path.with_name(f"{NAME}.lock")
    with contextlib.ExitStack() as stack:
        try:
            path.parent.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
            stack.enter_context(held(lock, time.monotonic(), what="The pass"))
        except Busy:
            yield False
            return
        except (MemoryFault, OSError, ValueError) as error:
            log.info("a pass goes on without a lock: %s", error)
        yield True
