"""Files and folders that only the operator can read: 0700 and 0600, whatever the umask.

Everything qterm keeps is private by default. These helpers raise OSError as it comes; the rooms
that call them turn it into their own sentence.
"""

from __future__ import annotations

import contextlib
import errno
import os
import select
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

FOLDER_MODE = 0o700
FILE_MODE = 0o600
READ_LIMIT = 1 << 20
"""Bytes of a file that is made by hand, or by qterm for itself; what is longer is a mistake."""


def private_folder(path: Path) -> Path:
    """Make the folder, with the parents it needs, and give it mode 0700; returns `path`.

    Parents that are made here are 0700 too; those that were there stay as they are. A folder that
    was there is closed for others, but for one that is shared on purpose (the sticky bit, as on
    `/tmp`), the root folder, and one of another user: these keep their mode. Raises OSError.
    """
    missing: list[Path] = []
    folder = path
    while not folder.exists():
        missing.append(folder)
        folder = folder.parent
    for folder in reversed(missing):
        with contextlib.suppress(FileExistsError):  # another qterm was quicker
            folder.mkdir(mode=FOLDER_MODE)
        folder.chmod(FOLDER_MODE)
    if not path.is_dir():
        raise NotADirectoryError(20, "not a folder", str(path))
    found = path.stat()
    shared = bool(found.st_mode & stat.S_ISVTX) or path.resolve().parent == path.resolve()
    if not shared and found.st_uid == os.geteuid():
        _set_mode(path, found.st_mode, FOLDER_MODE)
    return path


def touch_private(path: Path) -> Path:
    """Make an empty file of mode 0600, or give 0600 to the one that is there; returns `path`.

    The file's words stay as they are. A file that exists is never opened: closing it would drop
    the locks that SQLite holds on it elsewhere in this process. Raises OSError.
    """
    with contextlib.suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, FILE_MODE))
    found = path.stat()
    if stat.S_ISREG(found.st_mode):
        _set_mode(path, found.st_mode, FILE_MODE)
    return path


def read_bounded(path: Path, *, limit: int = READ_LIMIT, seconds: float = 2.0) -> bytes:
    """Read a small file whole, and never wait for ever, whatever lies there.

    A pipe (`--config <(…)`) is waited for at most `seconds` at a time. Raises OSError: as it
    comes, ETIMEDOUT for a pipe into which nobody writes, EFBIG beyond `limit` bytes.
    """
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        found = os.fstat(handle).st_mode
        if stat.S_ISDIR(found):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        read = bytearray()
        while True:
            if not stat.S_ISREG(found) and not select.select([handle], [], [], seconds)[0]:
                raise TimeoutError(errno.ETIMEDOUT, os.strerror(errno.ETIMEDOUT), str(path))
            part = os.read(handle, 1 << 16)
            if not part:
                return bytes(read)
            read += part
            if len(read) > limit:
                raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), str(path))
    finally:
        os.close(handle)


def write_private(path: Path, data: bytes) -> None:
    """Write a whole file of mode 0600 in one step: afterwards it is the old or the new one.

    Written beside it, flushed to the disk, then moved into place. A link is followed, so that a
    linked file stays linked. The folder has to be there. What is there and no plain file (a device,
    a pipe) is left alone. Raises OSError; nothing is left behind.
    """
    with private_file(path) as file:
        file.write(data)


@contextlib.contextmanager
def private_file(path: Path, *, fresh: bool = False) -> Iterator[BinaryIO]:
    """As `write_private`, for what is written piece by piece; it is there once this has ended.

    `fresh`: a file that is there already is not replaced, but raises FileExistsError, before
    anything is written and once more at the end.
    """
    target = Path(os.path.realpath(path))
    with contextlib.suppress(FileNotFoundError):
        found = target.stat().st_mode
        if not stat.S_ISREG(found):
            raise OSError(errno.EINVAL, "it is no plain file", str(path))
        if fresh:
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path))
    handle, name = tempfile.mkstemp(
        prefix=f".{target.name[:40]}.", suffix=".tmp", dir=target.parent
    )
    try:
        with os.fdopen(handle, "wb") as file:
            os.fchmod(file.fileno(), FILE_MODE)
            yield file
            file.flush()
            os.fsync(file.fileno())
        if fresh:
            _move_fresh(Path(name), target)
        else:
            Path(name).replace(target)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise
    _sync_folder(target.parent)


def _move_fresh(source: Path, target: Path) -> None:
    """Move a file to a name that must be free; where there are no hard links, after a look."""
    try:
        target.hardlink_to(source)
    except FileExistsError:
        raise
    except OSError:
        if target.exists():
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target)) from None
        source.replace(target)
    else:
        source.unlink()


def _set_mode(path: Path, found: int, wanted: int) -> None:
    if stat.S_IMODE(found) != wanted:
        path.chmod(wanted)


def _sync_folder(folder: Path) -> None:
    """Make the move itself last through a power cut, where the file system can."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
