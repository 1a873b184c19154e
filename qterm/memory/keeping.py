"""What the archive takes and what it tells (pure data)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import msgspec

from qterm.memory.stores import StoreName


@dataclass(frozen=True, slots=True)
class Gone:
    """An entry that leaves its file or is replaced: its index from 0, its old text, and why."""

    index: int
    text: str
    reason: str
    replaced_by: str | None = None


@dataclass(frozen=True, slots=True)
class Planned:
    """A file that is about to be written; `before` is None where there is none yet."""

    store: StoreName
    path: Path
    before: bytes | None
    entries_before: int
    after: bytes
    gone: Sequence[Gone]


@dataclass(frozen=True, slots=True)
class Kept:
    """What was kept of a file: the write's id, the whole file before, the ids of what goes."""

    write: str
    backup: Path | None
    removed: tuple[str, ...]


class Backup(msgspec.Struct, frozen=True, kw_only=True):
    """A whole file as it was before a write, the newest one that found it so.

    `store` is None (and `time` that of the file) where the archive has lost the record of it.
    `size` in bytes; `entries` None where it isn't known.
    """

    sha256: str
    time: datetime
    store: StoreName | None
    size: int
    entries: int | None
    path: str


class ArchiveSize(msgspec.Struct, frozen=True, kw_only=True):
    """How much is kept: bytes on disk, archived entries, backups; lines that can't be read."""

    bytes: int
    entries: int
    backups: int
    unreadable: int
