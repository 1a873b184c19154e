"""The policy `tags`, the default: prune by priority (pure, rule M1).

P1 stays, always. Untagged stays, always. P3 goes, all of it, unless unticked. P2 stays; where what
is left is still over `p2_percent` of the limit, the oldest are offered, as many as it takes.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from itertools import chain, compress, islice, repeat
from operator import is_, not_
from typing import Final

from qterm.memory.policies.policy import (
    UNTAGGED,
    indices,
    oldest_until,
    one_document,
    size_of,
    weights,
)
from qterm.memory.proposal import Action, Decision, Proposal, Ticks
from qterm.memory.stores import Document
from qterm.memory.tags import Priority, tags_of
from qterm.settings.schema import MemorySettings

NAME: Final = "tags"

_KEPT: Final = {
    Priority.P1: Action.KEEP,
    Priority.P2: Action.KEEP,
    Priority.P3: Action.PRUNE,
    None: Action.KEEP,
}
_OVER: Final = {**_KEPT, Priority.P2: Action.OFFER}


def plan(
    documents: Sequence[Document], settings: MemorySettings, today: date, ticks: Ticks
) -> Proposal:
    """Takes MEMORY or USER; raises Refused for anything else. The day doesn't matter."""
    del today
    document = one_document(documents, NAME)
    store, entries, limit = document.store, document.entries, document.limit
    percent = settings.p2_percent
    off = indices(ticks.off, store)
    on = indices(ticks.on, store) - off
    found = tags_of(entries)

    # by columns, not by entry: a file can have 50,000 entries
    ticked = list(map(is_, found, repeat(Priority.P3)))
    for index in off.intersection(range(len(entries))):
        ticked[index] = False
    weight = weights(document)
    left = size_of(sum(weight) - sum(compress(weight, ticked)))
    offered = 0
    if limit is not None and left * 100 > limit * percent:
        offered = _offered_before(found, weight, left, limit * percent // 100)

    for index in on.intersection(range(offered)):
        ticked[index] = ticked[index] or found[index] is Priority.P2
    kept = {
        Priority.P1: "P1: always kept",
        Priority.P2: _kept_p2(left, limit, percent),
        Priority.P3: "P3: passing state",
        None: UNTAGGED,
    }
    over = {**kept, Priority.P2: f"P2: still over {percent} % of the limit, tick to prune"}
    first, others = found[:offered], found[offered:]
    actions = chain(map(_OVER.__getitem__, first), map(_KEPT.__getitem__, others))
    reasons = chain(map(over.__getitem__, first), map(kept.__getitem__, others))
    numbers = range(len(entries))
    decisions = tuple(map(Decision, repeat(store), numbers, actions, reasons, ticked))
    after = Document(store, tuple(compress(entries, map(not_, ticked))), limit)
    return Proposal(NAME, (document,), decisions, (after,))


def _offered_before(
    found: Sequence[Priority | None], weight: Sequence[int], left: int, most: int
) -> int:
    """The index before which every P2 is offered; 0 where there is none."""
    count = oldest_until(compress(weight, map(is_, found, repeat(Priority.P2))), left, most)
    if not count:
        return 0
    p2 = compress(range(len(found)), map(is_, found, repeat(Priority.P2)))
    return next(islice(p2, count - 1, None)) + 1


def _kept_p2(left: int, limit: int | None, percent: int) -> str:
    """Why a P2 entry that isn't offered stays."""
    if limit is None:
        return "P2: kept, nothing limits this file"
    if left * 100 > limit * percent:
        return "P2: kept, the older ones are enough"
    share = left * 100 // limit if limit > 0 else 0
    return f"P2: kept, {share} % of the limit without what goes"
