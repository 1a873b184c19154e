"""Putting new bytes in place of a file, so that afterwards it is the old or the new one.

Links are followed and stay. A file with several hard links parts from its other names, which keep
the old bytes: hermes parts them too at its next write, and only so is the change one step. Access
lists and extended attributes beyond mode, owner and group are not carried over.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Callable
from pathlib import Path

from qterm.memory.disk import read_all, remove_stale, staged, sync_folder, trouble

_NO_REPLACING = (errno.EXDEV, errno.EBUSY, errno.EACCES, errno.EPERM)
"""A bind mount, or another's file in a shared folder: nothing can be moved onto it."""
_NO_STAGING = (errno.EACCES, errno.EPERM, errno.EROFS)
"""A folder that can't be written, though perhaps the file in it can."""


def check(path: Path) -> None:
    """Raises OSError where `put` is bound to fail: what can be known without writing.

    A file without the right to write is left alone, though its folder would let us replace it:
    somebody has made it read-only on purpose.
    """
    target = _real(path)
    handle = _open(target)
    if handle is not None:
        os.close(handle)
        if _is_read_only(target):  # root could
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(target))
    elif not os.access(target.parent, os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(target.parent))


def put(path: Path, data: bytes, *, last_look: Callable[[], None] = lambda: None) -> None:
    """Put these bytes in place of a file, or make it (0600); the file's lock is held by the caller.

    A temporary file beside the real target, with its mode and, as far as allowed, its owner and
    group, is flushed and moved onto it, and the folder is flushed. Where that can't work (a bind
    mount, a folder that can't be written) the bytes are copied into the file, flushed and compared;
    if the copying fails the old bytes are put back as far as the disk lets us. `last_look` is
    called at the very last moment: what it raises ends the write, with nothing changed.

    Raises OSError: then nothing of ours is left behind, and the file is as it was, but for a copy
    that could not be undone; the caller compares.
    """
    target = _real(path)
    remove_stale(target.parent, target.name)
    handle = _open(target)
    try:
        _replace(target, data, handle, last_look)
    finally:
        if handle is not None:
            os.close(handle)
    with contextlib.suppress(OSError):  # the old file after a power cut would still be whole
        sync_folder(target.parent)


def sentence(path: Path, error: OSError) -> str:
    """Why a file can't be written and what to do, without the full stop."""
    if error.errno in {errno.EACCES, errno.EPERM} and _is_read_only(path):
        return f"{path} is read-only: make it writable (chmod u+w)"
    target = _real(path)
    where = f"{path} (a link to {target})" if path.is_symlink() else str(path)
    return f"{where} can't be written {trouble(error)}"


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))


def _is_read_only(path: Path) -> bool:
    try:
        return not path.stat().st_mode & 0o222
    except OSError:
        return False


def _open(target: Path) -> int | None:
    """The file, open for reading and writing and not touched; None where there is none.

    Raises OSError, also where its folder is missing (a link that leads nowhere).
    """
    try:
        handle = os.open(target, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        if target.parent.is_dir():
            return None
        raise
    if stat.S_ISREG(os.fstat(handle).st_mode):
        return handle
    os.close(handle)
    raise OSError(errno.EINVAL, os.strerror(errno.EINVAL), str(target))


def _replace(target: Path, data: bytes, handle: int | None, last_look: Callable[[], None]) -> None:
    moving = False
    try:
        with staged(target, data, like=None if handle is None else os.fstat(handle)) as temporary:
            moving = True
            last_look()
            try:
                os.replace(temporary, target)  # noqa: PTH105 - plain os calls, see disk.py
            except OSError as error:
                if error.errno not in _NO_REPLACING or handle is None:
                    raise
                _copy(handle, data)
                with contextlib.suppress(OSError):
                    os.unlink(temporary)  # noqa: PTH108
    except OSError as error:
        if moving or handle is None or error.errno not in _NO_STAGING:
            raise
        last_look()
        _copy(handle, data)


def _copy(handle: int, data: bytes) -> None:
    """Write into the file itself, as hermes does on a bind mount; the old bytes back on failure."""
    old = read_all(handle)
    try:
        _overwrite(handle, data)
        _compare(handle, data)
    except BaseException:
        with contextlib.suppress(OSError):
            _overwrite(handle, old)
        raise


def _compare(handle: int, data: bytes) -> None:
    if read_all(handle) != data:
        raise OSError(errno.EIO, os.strerror(errno.EIO))


def _overwrite(handle: int, data: bytes) -> None:
    """Not cut short before it is written over: a full disk then leaves room for the old bytes."""
    offset = 0
    while offset < len(data):
        offset += os.pwrite(handle, memoryview(data)[offset:], offset)
    os.ftruncate(handle, len(data))
    os.fsync(handle)
