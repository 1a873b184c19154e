"""Reading hermes's memory files: every byte as it is, and never a trace of having looked."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from dataclasses import dataclass
from pathlib import Path

from qterm.memory.entries import decode, parse
from qterm.memory.errors import Unreadable
from qterm.memory.stores import StoreName
from qterm.private import read_bounded

FILE_LIMIT = 64 << 20
"""Bytes of a memory file; what is longer is none (hermes's own limit is 2,200 characters)."""


def sha256(data: bytes) -> str:
    """The hash by which bytes are told apart, in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A store's file as it was when it was read.

    `path` is the file as it is named, links not followed. `sha256` is empty where there is no file.
    `text` is None where the bytes are not UTF-8; then `entries` stand for them with backslashes,
    for showing only.
    """

    store: StoreName
    path: Path
    data: bytes
    sha256: str
    exists: bool
    text: str | None
    entries: tuple[str, ...]

    @property
    def is_text(self) -> bool:
        """Whether it can be edited: its bytes are UTF-8, or there is no file yet."""
        return self.text is not None


@dataclass(frozen=True)
class MemoryFolder:
    """Where a hermes home keeps its memory. A relative home is taken from the current folder."""

    home: Path

    def __post_init__(self) -> None:
        object.__setattr__(self, "home", self.home.absolute())

    @property
    def folder(self) -> Path:
        """The folder with the files and hermes's locks."""
        return self.home / "memories"

    def path(self, store: StoreName) -> Path:
        """A store's file, as it is named."""
        return self.folder / store.file_name

    def state(self, store: StoreName) -> tuple[int, ...]:
        """What the file system says of a store's file; empty where it says nothing of it."""
        try:
            found = self.path(store).stat()
        except (OSError, ValueError):
            return ()
        return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns

    def read(self, store: StoreName) -> Snapshot:
        """What is in a store's file; empty where the file, the folder or the home is missing.

        Writes, makes and locks nothing (rule M6), reads at most `FILE_LIMIT` bytes and never
        waits: hermes replaces its files in one step, so what is read is whole. Raises Unreadable.
        """
        path = self.path(store)
        try:
            found = path.stat()
            if stat.S_ISREG(found.st_mode):
                return _snapshot(store, path, read_bounded(path, limit=FILE_LIMIT))
            if stat.S_ISDIR(found.st_mode):
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        except FileNotFoundError:
            self._check_links(path)
            return Snapshot(store, path, b"", "", exists=False, text="", entries=())
        except OSError as error:
            raise Unreadable(_sentence(path, error)) from error
        except ValueError as error:  # a NUL in the home's name
            raise Unreadable(
                f"{path} can't be the name of a file: check the home's name."
            ) from error
        raise Unreadable(f"{path} is not a plain file: move it away, so that hermes can make one.")

    def _check_links(self, path: Path) -> None:
        """Raises Unreadable where the file is missing because a link leads nowhere."""
        for place in (self.home, self.folder, path):
            if place.is_symlink() and not os.path.exists(place):  # noqa: PTH110 - never raises
                raise Unreadable(
                    f"{place} is a link to {os.readlink(place)}, which is not there: "  # noqa: PTH115
                    "mount or make that, or remove the link."
                )


def _snapshot(store: StoreName, path: Path, data: bytes) -> Snapshot:
    try:
        text = shown = decode(data)
    except UnicodeDecodeError:
        shown = decode(data.decode("utf-8", "backslashreplace").encode())
        return Snapshot(store, path, data, sha256(data), True, None, parse(shown))
    return Snapshot(store, path, data, sha256(data), True, text, parse(shown))


def _sentence(path: Path, error: OSError) -> str:
    said = os.strerror(error.errno) if error.errno else str(error)
    match error.errno:
        case errno.EISDIR:
            return f"{path} is a folder, where hermes keeps a file: move it away."
        case errno.ENOTDIR:
            for place in reversed(path.parents):
                if not os.path.isdir(place):  # noqa: PTH112 - never raises
                    return f"{place} is no folder, so {path.name} can't be in it: move it away."
        case errno.ELOOP:
            return f"{path} is a link that leads back to itself: remove it, or let it name a file."
        case errno.EACCES | errno.EPERM:
            return (
                f"{path} can't be read ({said}): give your user the right to read it and to enter "
                "its folders."
            )
        case errno.EFBIG:
            return f"{path} is larger than {FILE_LIMIT >> 20} MiB, so no memory file: move it away."
    return f"{path} can't be read ({said}): check the file and its disk."
