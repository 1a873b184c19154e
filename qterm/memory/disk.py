"""Small steps on the disk that the memory room shares, and the words for their failures.

Each step is a plain `os` call, so that a test can end the process before and after every one.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path

from qterm.private import FILE_MODE

TEMPORARY = ".tmp"
_MARK = ".qterm-"
_NO_FOLDER_SYNC = (errno.EINVAL, errno.ENOTSUP, errno.EBADF)

_ADVICE = {
    errno.ENOSPC: "free some space on that disk",
    errno.EDQUOT: "your quota there is used up, so free some space",
    errno.EROFS: "that file system is mounted read-only, so mount it for writing",
    errno.EACCES: "check who owns it and its folder, and their modes",
    errno.EPERM: "check who owns it and its folder, and whether it is marked as unchangeable",
    errno.EIO: "the disk reports a fault, so copy the folder elsewhere and check the disk",
    errno.EISDIR: "a folder is in its place, so move that away",
    errno.ENOTDIR: "something on the way to it is no folder, so move that away",
    errno.ELOOP: "a link is in the way that leads nowhere or must not be followed, so remove it",
    errno.ENOENT: "its folder is missing, so make it, or let the link to it point elsewhere",
    errno.EFBIG: "it would be too big for a memory file",
    errno.ENOLCK: "locks don't work there, so keep it on a local file system",
    errno.EOPNOTSUPP: "locks don't work there, so keep it on a local file system",
}


def trouble(error: OSError) -> str:
    """What went wrong and what to do, for the middle of a sentence: `(No space …): free some …`."""
    said = os.strerror(error.errno) if error.errno else str(error)
    advice = _ADVICE.get(error.errno or 0, "check its folder and try again")
    return f"({said}): {advice}"


def write_all(handle: int, data: bytes) -> None:
    """Write all of it where the file stands; raises OSError, and a part may be written then."""
    left = memoryview(data)
    while left:
        left = left[os.write(handle, left) :]


def read_all(handle: int) -> bytes:
    """An open plain file's bytes from its beginning; raises OSError."""
    parts = []
    offset = 0
    while part := os.pread(handle, 1 << 20, offset):
        parts.append(part)
        offset += len(part)
    return b"".join(parts)


def sync_folder(folder: Path) -> None:
    """Make what was made, moved or removed in a folder last through a power cut.

    Some file systems can't, and say so: that is let pass. Raises OSError for what else fails.
    """
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in _NO_FOLDER_SYNC:
            raise
    finally:
        os.close(handle)


def hand_over(handle: int, folder: Path) -> None:
    """What root makes in somebody's folder belongs to that somebody: else hermes, which runs as
    them, could use it no more. Does nothing for everybody else; never raises OSError."""
    if os.geteuid() != 0:
        return
    with contextlib.suppress(OSError):
        owner = os.stat(folder)  # noqa: PTH116 - see above: plain os calls
        mine = os.fstat(handle)
        if mine.st_uid == 0 and owner.st_uid != 0:
            os.fchown(handle, owner.st_uid, owner.st_gid)


@contextlib.contextmanager
def staged(target: Path, data: bytes, *, like: os.stat_result | None = None) -> Iterator[Path]:
    """A temporary file with these bytes beside `target`, flushed to the disk.

    Its mode, owner and group are those of `like` as far as they may be given; 0600 where there is
    none. An exclusive flock on it marks it as alive. Whoever fails inside leaves no file behind.
    Raises OSError.
    """
    temporary = target.with_name(f".{target.name}{_MARK}{secrets.token_hex(4)}{TEMPORARY}")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    handle = os.open(temporary, flags, FILE_MODE)
    try:
        with contextlib.suppress(OSError):  # a mark only: the target's lock is what counts
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        write_all(handle, data)
        if like is None:
            hand_over(handle, target.parent)
        _dress(handle, like)
        os.fsync(handle)
        yield temporary
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)  # noqa: PTH108 - see above: plain os calls
        raise
    finally:
        os.close(handle)


def _dress(handle: int, like: os.stat_result | None) -> None:
    """Give the open file the other's owner, group and mode; the owner first, as it clears bits."""
    mode = FILE_MODE
    if like is not None:
        mode = stat.S_IMODE(like.st_mode)
        mine = os.fstat(handle)
        if (mine.st_uid, mine.st_gid) != (like.st_uid, like.st_gid):
            try:
                os.fchown(handle, like.st_uid, like.st_gid)
            except OSError:
                try:
                    os.fchown(handle, -1, like.st_gid)
                except OSError:  # another group may do no more than anybody
                    mode = (mode & ~0o070) | ((mode & 0o007) << 3)
    with contextlib.suppress(OSError):  # no modes there: it keeps 0600, or what that disk gives
        os.fchmod(handle, mode)


def remove_stale(folder: Path, name: str = "") -> None:
    """Remove what a killed qterm left behind in a folder: temporary files for `name`, or for any.

    One that is locked belongs to a qterm that runs, and stays, as does what can't be removed: an
    old temporary file harms nobody. Never raises OSError.
    """
    with contextlib.suppress(OSError):
        for found in os.listdir(folder):  # noqa: PTH208
            middle = found.startswith(f".{name}{_MARK}") if name else _MARK in found
            if middle and found.startswith(".") and found.endswith(TEMPORARY):
                with contextlib.suppress(OSError):
                    _remove_unlocked(folder / found)


def _remove_unlocked(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if stat.S_ISREG(os.fstat(handle).st_mode):
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.unlink(path)  # noqa: PTH108
    finally:
        os.close(handle)
