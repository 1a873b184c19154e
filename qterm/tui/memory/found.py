"""What the screen of what was kept is told by the threads that look."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from qterm.memory.keeping import ArchiveSize, Backup
from qterm.memory.records import Removed
from qterm.tui.words.kept_rows import haystack

if TYPE_CHECKING:
    from qterm.memory.book import MemoryBook
    from qterm.memory.look import Look


@dataclass(frozen=True)
class Kept:
    """All that is kept, newest first."""

    removed: list[Removed]
    backups: list[Backup]
    size: ArchiveSize
    folder: str

    @cached_property
    def _haystacks(self) -> list[str]:
        return [haystack(each) for each in self.removed]

    def filtered(self, words: Sequence[str]) -> list[Removed]:
        """The archived entries that have all these words, lower case; for a thread."""
        found = zip(self.removed, self._haystacks, strict=True)
        return [each for each, text in found if all(word in text for word in words)]


@dataclass(frozen=True)
class Filtered:
    """What some words leave of the archived entries."""

    words: list[str]
    left: list[Removed]


@dataclass(frozen=True)
class ToBring:
    """An archived entry that is to be brought back, the file now, and what would leave for it."""

    removed: Removed
    look: Look
    leaves: list[int]


@dataclass(frozen=True)
class Whole:
    """A whole file that is to be brought back, the file now, and what would change."""

    look: Look
    data: bytes
    lines: list[tuple[str, str]]
    entries: int
    asks: bool


def keep_all(book: MemoryBook) -> Kept:
    """Read the archive; nothing is written."""
    archive = book.archive
    removed = archive.removed()
    removed.reverse()
    return Kept(removed, archive.backups(), archive.size(), str(archive.folder))
