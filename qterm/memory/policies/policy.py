"""What a policy is, and what several of them share (pure)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import date
from typing import Final

from qterm.memory.entries import DELIMITER
from qterm.memory.errors import Refused
from qterm.memory.proposal import Decision, Proposal, Ticks
from qterm.memory.stores import Document, StoreName
from qterm.settings.schema import MemorySettings

Policy = Callable[[Sequence[Document], MemorySettings, date, Ticks], Proposal]
"""From documents, settings, today and the operator's ticks to a proposal; nothing else goes in.

Ticking or unticking computes the rest anew. What is offered depends on what is pruned and on what
was unticked, never on the ticks of offers: else a ticked one would vanish. Raises Refused for
stores that the policy doesn't take.
"""

GAP: Final = len(DELIMITER)
UNTAGGED: Final = "no tag: never pruned"


def one_document(documents: Sequence[Document], policy: str) -> Document:
    """The only document, for the policies that take one; raises Refused."""
    if len(documents) != 1:
        raise Refused(
            f"The policy “{policy}” looks at one file at a time, but was given {len(documents)}; "
            "choose one with --store memory or --store user."
        )
    if documents[0].store is StoreName.WORKING:
        raise Refused(
            f"The policy “{policy}” is for MEMORY.md and USER.md; WORKING.md belongs to the policy "
            "“dual”."
        )
    return documents[0]


def indices(ticks: Iterable[tuple[StoreName, int]], store: StoreName) -> frozenset[int]:
    """The indices of a store's entries among these ticks."""
    return frozenset([index for of, index in ticks if of is store])


def size_without(document: Document, going: Iterable[int]) -> int:
    """Code points of the joined text once these entries are gone: each takes its length and one
    delimiter along, the last one left has none."""
    entries = document.entries
    left = sum(map(len, entries)) + GAP * len(entries)
    left -= sum([len(entries[index]) + GAP for index in going])
    return max(left - GAP, 0)


def oldest_until(entries: Sequence[str], candidates: Iterable[int], size: int, most: int) -> int:
    """How far to go through `candidates` (indices, oldest first) until `size` is at most `most`.

    Returns the last index that is needed, or the last there is; -1 where none is.
    """
    last = -1
    for index in candidates:
        if size <= most:
            break
        size = max(size - len(entries[index]) - GAP, 0)
        last = index
    return last


def without(document: Document, decisions: Sequence[Decision]) -> Document:
    """The document without what goes; `decisions` are its own, in its order."""
    left = tuple(
        [
            entry
            for entry, decision in zip(document.entries, decisions, strict=True)
            if not decision.ticked
        ]
    )
    return Document(document.store, left, document.limit)
