"""A store as it was when it was looked at, a policy's preview of it, and what to ask about it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import cached_property
from pathlib import Path

from qterm.memory.entries import MARK, Fault, FaultKind
from qterm.memory.errors import Refused, Unreadable
from qterm.memory.files import Snapshot
from qterm.memory.keeping import Gone
from qterm.memory.kept_out import why_kept_out
from qterm.memory.limits import Limit
from qterm.memory.plan import BoundFile, Plan, make_plan
from qterm.memory.proposal import Proposal, Ticks
from qterm.memory.records import Removed
from qterm.memory.schema import priority_of
from qterm.memory.stores import Document, StoreName
from qterm.memory.tags import Priority
from qterm.settings.schema import MemorySettings


@dataclass(frozen=True, slots=True)
class Look:
    """A store as it was when it was looked at. `limit` is None for WORKING.md."""

    snapshot: Snapshot
    limit: Limit | None
    faults: tuple[Fault, ...]

    @property
    def store(self) -> StoreName:
        """Which store it is."""
        return self.snapshot.store

    @property
    def entries(self) -> tuple[str, ...]:
        """The entries, in the file's order."""
        return self.snapshot.entries

    @property
    def document(self) -> Document:
        """The entries as the policies take them."""
        return Document(self.store, self.entries, self.limit.chars if self.limit else None)

    def kept_out(self, index: int, line: str) -> str:
        """Why this hermes line would not tell the model an entry, in one sentence; else empty.

        hermes does not read WORKING.md at all. Looked at when it is asked for: some 10 µs.
        """
        if self.store is StoreName.WORKING or not self.snapshot.is_text:
            return ""
        return why_kept_out(self.entries[index], line, is_first=index == 0)

    def refusals(self, line: str) -> list[Fault]:
        """Why this hermes line (`0.19`, `0.22`; empty: not known) can't change the file."""
        return [fault for fault in self.faults if (line or "0.19") in fault.refused_by]


@dataclass(frozen=True)
class Preview:
    """What a policy proposes for some looks: nothing is written by it (rule M2)."""

    home: Path
    settings: MemorySettings
    proposal: Proposal
    looks: tuple[Look, ...]
    ticks: Ticks
    today: date
    made_at: datetime

    @property
    def hashes(self) -> tuple[str | None, ...]:
        """Of the bytes of its files, in their order."""
        return tuple(look.snapshot.sha256 for look in self.looks)

    @cached_property
    def plan(self) -> Plan:
        """The form in which it is shown on the command line, saved and applied."""
        return make_plan(
            self.proposal,
            [BoundFile(str(look.snapshot.path), look.snapshot.sha256) for look in self.looks],
            home=str(self.home),
            settings=self.settings,
            today=self.today,
            ticks=self.ticks,
            made_at=self.made_at,
        )


def p1_among(look: Look, indexes: Sequence[int]) -> list[int]:
    """Those of the entries that are P1, in whichever form: changing one by hand asks once."""
    return [
        index
        for index in dict.fromkeys(indexes)
        if priority_of(look.entries[index].removeprefix(MARK)) is Priority.P1
    ]


def takes_the_place_of(look: Look, removed: Removed) -> list[int]:
    """The place of the entry that restoring another one would take out of the file, if any."""
    new = removed.replaced_by
    return [look.entries.index(new)] if new is not None and new in look.entries else []


def see_that_they_are_apart(looks: Sequence[Look]) -> None:
    """Raises Refused for stores that are one file: each would lose what the other takes in."""
    real: dict[str, Look] = {}
    for look in looks:
        other = real.setdefault(os.path.realpath(look.snapshot.path), look)
        if other is not look:
            raise Refused(
                f"{other.snapshot.path} and {look.snapshot.path} are the same file: let each be "
                "one of its own."
            )


def can_be_cleaned(look: Look) -> list[Fault]:
    """What cleaning a file would mend."""
    return [fault for fault in look.faults if fault.kind is not FaultKind.TOO_LONG]


def see_that_it_is_text(look: Look) -> None:
    """Raises Unreadable for a file that is no text: it can only be shown."""
    if not look.snapshot.is_text:
        raise Unreadable(
            f"{look.snapshot.path} is not UTF-8, so it can only be shown: save it as UTF-8 with an "
            "editor first."
        )


def would_empty(store: StoreName) -> str:
    """The sentence that refuses to leave a store without an entry."""
    return (
        f"This would leave {store.file_name} empty: nothing was written. If that is what you want, "
        "say so with --allow-empty."
    )


def cleaned(entries: Sequence[str]) -> tuple[tuple[str, ...], tuple[Gone, ...]]:
    """What cleaning would leave, and what would go: later doubles, a byte order mark."""
    left: list[str] = []
    gone: list[Gone] = []
    seen: dict[str, int] = {}
    for index, text in enumerate(entries):
        clean = text.lstrip(MARK).strip() if index == 0 else text
        if not clean or clean in seen:
            first = seen.get(clean, 0) + 1
            gone.append(Gone(index, text, f"the same as entry {first}" if clean else "blank"))
            continue
        if clean != text:
            gone.append(Gone(index, text, "a byte order mark in front", replaced_by=clean))
        seen[clean] = index
        left.append(clean)
    return tuple(left), tuple(gone)
