"""hermes's own lock on a memory file: an exclusive flock on `<file name>.lock` beside it.

Both lines of hermes (0.19, 0.22) hold it while they read, change and replace a file, wait for it
without an end, and never remove it. 0.22 refuses to follow a link in its place, and so does qterm.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import stat
import time
from collections.abc import Collection, Iterator
from pathlib import Path

from qterm.memory.disk import hand_over, sync_folder, trouble
from qterm.memory.errors import Busy, Unwritable
from qterm.memory.files import MemoryFolder
from qterm.memory.stores import StoreName
from qterm.private import FILE_MODE, private_folder

LOCK_SECONDS = 5.0
"""How long a writer waits for all the locks it needs."""
_FIRST_POLL, _LAST_POLL = 0.001, 0.025
"""Seconds between two looks at a lock that is taken: soon at first, then at leisure."""


def lock_path(path: Path) -> Path:
    """The lock of a file, named as hermes names it: beside the link, where the file is one."""
    return path.with_name(f"{path.name}.lock")


@contextlib.contextmanager
def locked(
    folder: MemoryFolder, stores: Collection[StoreName], *, seconds: float = LOCK_SECONDS
) -> Iterator[None]:
    """Hold hermes's locks of these stores, taken in the order MEMORY, USER, WORKING.

    Waits at most `seconds` for all of them together, and lets go of them on every way out. Makes
    the home's `memories` folder (0700), and the home, where they are missing: so this is for
    writing only. Raises Busy, and Unwritable where a lock can't be had at all.
    """
    give_up = time.monotonic() + seconds
    _make_folder(folder.folder)
    with contextlib.ExitStack() as stack:
        for store in StoreName:
            if store in stores:
                path = lock_path(folder.path(store))
                stack.enter_context(held(path, give_up, what=store.file_name))
        yield


@contextlib.contextmanager
def held(path: Path, give_up: float, *, what: str) -> Iterator[None]:
    """Hold one lock file; `give_up` is a time of `time.monotonic`, and one try is always made.

    `what` names the thing that is locked. Raises Busy and Unwritable.
    """
    handle = _take(path, give_up, what)
    try:
        yield
    finally:
        with contextlib.suppress(OSError):  # let go even where a child still has the file open
            fcntl.flock(handle, fcntl.LOCK_UN)
        os.close(handle)


def _take(path: Path, give_up: float, what: str) -> int:
    poll = _FIRST_POLL
    while True:
        handle = _open(path)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_still(handle, path):
                return handle
            os.close(handle)  # somebody removed the file: the next one to come locks a new one
            continue
        except BlockingIOError:
            left = give_up - time.monotonic()
            holder = _holder(handle) if left <= 0 else ""
            os.close(handle)
        except OSError as error:
            os.close(handle)
            raise Unwritable(f"{path} can't be locked {trouble(error)}.") from error
        except BaseException:
            os.close(handle)
            raise
        if left <= 0:
            raise Busy(
                f"{what} is locked by another program{holder}: wait a moment and try again, and if "
                f"it stays so, end the program that holds {path}."
            )
        time.sleep(min(poll, left))
        poll = min(poll * 1.5, _LAST_POLL)


def _open(path: Path) -> int:
    """The lock file, made where it is missing; raises Unwritable."""
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        handle = os.open(path, flags, FILE_MODE)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise Unwritable(f"The lock {path} is a link: remove it, and try again.") from error
        raise Unwritable(f"The lock {path} can't be opened {trouble(error)}.") from error
    if stat.S_ISREG(os.fstat(handle).st_mode):
        hand_over(handle, path.parent)
        return handle
    os.close(handle)
    raise Unwritable(f"The lock {path} is not a plain file: remove it, and try again.")


def _is_still(handle: int, path: Path) -> bool:
    """Whether the open file is the one that has the name."""
    try:
        return os.path.samestat(os.fstat(handle), path.lstat())
    except OSError:
        return False


def _holder(handle: int) -> str:
    """Who holds the lock, ` (process 4711)`, where Linux tells; empty where not."""
    try:
        found = os.fstat(handle)
        device = f"{os.major(found.st_dev):02x}:{os.minor(found.st_dev):02x}:{found.st_ino}"
        for line in Path("/proc/locks").read_text("ascii").splitlines():
            words = line.split()
            if words[1] == "FLOCK" and words[5] == device and int(words[4]) > 0:
                return f" (process {words[4]})"
    except (OSError, ValueError, IndexError):
        pass
    return ""


def _make_folder(folder: Path) -> None:
    """Make the folder, 0700 as hermes's homes are; one that is there keeps its mode."""
    try:
        if not folder.is_dir():
            private_folder(folder)
            _hand_folder_over(folder)
            with contextlib.suppress(OSError):
                sync_folder(folder.parent)
    except OSError as error:
        raise Unwritable(f"{folder} can't be made {trouble(error)}.") from error


def _hand_folder_over(folder: Path) -> None:
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            hand_over(handle, folder.parent)
        finally:
            os.close(handle)
