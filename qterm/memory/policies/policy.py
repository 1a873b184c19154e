"""What a policy is, and what several of them share (pure)."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from datetime import date
from itertools import accumulate
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


def weights(document: Document) -> list[int]:
    """What each entry takes along when it goes: its length and one delimiter, in code points."""
    return [length + GAP for length in map(len, document.entries)]


def size_of(weight: int) -> int:
    """Code points of a joined text whose entries have this weight together: the last one has no
    delimiter behind it."""
    return max(weight - GAP, 0)


def oldest_until(weights: Iterable[int], size: int, most: int) -> int:
    """How many entries of these weights, the oldest first, it takes to bring `size` to `most`.

    All of them where they are not enough.
    """
    if size <= most:
        return 0
    # the last of all entries has no delimiter to take along, which can only make it less
    taken = list(accumulate(weights))
    return min(bisect_left(taken, size - most) + 1, len(taken))


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
