"""The stores of hermes's memory, and a store's entries as the policies see them (pure)."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from qterm.memory.entries import size


class StoreName(StrEnum):
    """A store. Its order here is the one in which locks are taken."""

    MEMORY = "memory"
    USER = "user"
    WORKING = "working"

    @property
    def file_name(self) -> str:
        """The file's name in the home's `memories` folder."""
        return f"{self.value.upper()}.md"


DEFAULT_LIMITS = {StoreName.MEMORY: 2_200, StoreName.USER: 1_375}
"""Code points that hermes lets a store hold where its config says nothing (both lines)."""


class Document(msgspec.Struct, frozen=True):
    """A store's entries, in the file's order; `limit` in code points, None for WORKING.md, which
    hermes doesn't read."""

    store: StoreName
    entries: tuple[str, ...]
    limit: int | None = None

    @property
    def size(self) -> int:
        """Code points of the joined text, as hermes counts."""
        return size(self.entries)
