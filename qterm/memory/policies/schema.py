"""The policy `schema`: typed entries with a day on which they expire (pure, rule M5).

p1 stays; past its day it is offered. p3 goes, and p2 past its day. The others are offered, the
oldest first, while the file is over its limit. What is not in this form stays and is pointed at.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Final

from qterm.memory.policies.policy import (
    indices,
    oldest_until,
    one_document,
    size_of,
    weights,
    without,
)
from qterm.memory.proposal import Action, Decision, Proposal, Ticks
from qterm.memory.schema import SchemaEntry, inspect
from qterm.memory.stores import Document
from qterm.memory.tags import Priority, tag_of
from qterm.settings.schema import MemorySettings

NAME: Final = "schema"


def plan(
    documents: Sequence[Document], settings: MemorySettings, today: date, ticks: Ticks
) -> Proposal:
    """Takes MEMORY or USER; raises Refused for anything else."""
    del settings
    document = one_document(documents, NAME)
    store, entries, limit = document.store, document.entries, document.limit
    off = indices(ticks.off, store)

    found = [inspect(entry) for entry in entries]
    typed = {index: entry for index, entry in enumerate(found) if isinstance(entry, SchemaEntry)}
    pruned = {index: reason for index, entry in typed.items() if (reason := _prune(entry, today))}
    offered: frozenset[int] = frozenset()
    weight = weights(document)
    left = size_of(sum(weight) - sum([weight[index] for index in pruned if index not in off]))
    if limit is not None:
        candidates = [
            index
            for index, entry in typed.items()
            if entry.priority is Priority.P2 and index not in pruned
        ]
        offered = frozenset(
            candidates[: oldest_until([weight[index] for index in candidates], left, limit)]
        )

    decisions = []
    for index, read in enumerate(found):
        if not isinstance(read, SchemaEntry):
            action, reason = Action.KEEP, _other(entries[index], read)
        elif index in pruned:
            action, reason = Action.PRUNE, pruned[index]
        elif read.priority is Priority.P1:
            action, reason = _p1(read, today)
        elif index in offered:
            action, reason = Action.OFFER, f"p2: still over the limit ({left:,} of {limit:,})"
        else:
            action, reason = Action.KEEP, f"p2: kept, expires {read.expires or 'never'}"
        ticked = ticks.of(store, index, action)
        decisions.append(Decision(store, index, action, reason, ticked))
    after = without(document, decisions)
    return Proposal(NAME, (document,), tuple(decisions), (after,))


def _prune(entry: SchemaEntry, today: date) -> str:
    """Why an entry goes; empty where it doesn't."""
    if entry.priority is Priority.P3:
        return "p3: passing state"
    if entry.priority is Priority.P2 and entry.past(today):
        return f"p2: expired on {entry.expires}"
    return ""


def _p1(entry: SchemaEntry, today: date) -> tuple[Action, str]:
    if entry.past(today):
        return Action.OFFER, f"p1: expired on {entry.expires}, tick to prune"
    return Action.KEEP, "p1: always kept"


def _other(entry: str, why: str | None) -> str:
    """Why an entry that isn't typed stays."""
    if why is not None:
        return f"not typed, {why}: never pruned"
    if tag := tag_of(entry):
        how = "`qterm memory migrate --to schema` types it"
        return f"tagged {tag}, not typed: never pruned here ({how})"
    return "not typed: never pruned"
