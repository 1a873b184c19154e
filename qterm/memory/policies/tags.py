"""The policy `tags`, the default: prune by priority (pure, rule M1).

P1 stays, always. Untagged stays, always. P3 goes, all of it, unless unticked. P2 stays; where what
is left is still over `p2_percent` of the limit, the oldest are offered, as many as it takes.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Final

from qterm.memory.policies.policy import (
    UNTAGGED,
    indices,
    oldest_until,
    one_document,
    size_without,
    without,
)
from qterm.memory.proposal import Action, Decision, Proposal, Ticks
from qterm.memory.stores import Document
from qterm.memory.tags import Priority, tag_of
from qterm.settings.schema import MemorySettings

NAME: Final = "tags"


def plan(
    documents: Sequence[Document], settings: MemorySettings, today: date, ticks: Ticks
) -> Proposal:
    """Takes MEMORY or USER; raises Refused for anything else. The day doesn't matter."""
    del today
    document = one_document(documents, NAME)
    store, entries, limit = document.store, document.entries, document.limit
    off = indices(ticks.off, store)
    on = indices(ticks.on, store) - off
    p2, p3 = Priority.P2, Priority.P3
    keep, prune, offer = Action.KEEP, Action.PRUNE, Action.OFFER

    found = [tag_of(entry) for entry in entries]
    going = [index for index, tag in enumerate(found) if tag is p3 and index not in off]
    left = size_without(document, going)
    last_offered = -1
    if limit is not None and left * 100 > limit * settings.p2_percent:
        candidates = [index for index, tag in enumerate(found) if tag is p2]
        last_offered = oldest_until(entries, candidates, left, limit * settings.p2_percent // 100)

    kept = {
        Priority.P1: "P1: always kept",
        Priority.P2: _kept_p2(left, limit, settings.p2_percent),
        None: UNTAGGED,
    }
    offered = f"P2: still over {settings.p2_percent} % of the limit, tick to prune"
    passing = "P3: passing state"
    decisions = tuple(
        [
            Decision(store, index, prune, passing, index not in off)
            if tag is p3
            else Decision(store, index, offer, offered, index in on)
            if tag is p2 and index <= last_offered
            else Decision(store, index, keep, kept[tag], False)
            for index, tag in enumerate(found)
        ]
    )
    return Proposal(NAME, (document,), decisions, (without(document, decisions),))


def _kept_p2(left: int, limit: int | None, percent: int) -> str:
    """Why a P2 entry that isn't offered stays."""
    if limit is None:
        return "P2: kept, nothing limits this file"
    if left * 100 > limit * percent:
        return "P2: kept, the older ones are enough"
    share = left * 100 // limit if limit > 0 else 0
    return f"P2: kept, {share} % of the limit without what goes"
