"""The policy `legacy`: the earlier pruner, for comparison only (pure, rule M4).

It protected entries in which one regular expression of words was found, dropped the others that
held a stale word, and then, over a size, the oldest unprotected ones. It can't be applied.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from typing import Final

from qterm.memory import words
from qterm.memory.errors import Refused
from qterm.memory.policies.policy import (
    indices,
    oldest_until,
    one_document,
    size_of,
    weights,
    without,
)
from qterm.memory.proposal import Action, Decision, Proposal, Ticks
from qterm.memory.stores import Document
from qterm.memory.tags import Priority, tag_of
from qterm.settings.schema import MemorySettings

NAME: Final = "legacy"


def plan(
    documents: Sequence[Document], settings: MemorySettings, today: date, ticks: Ticks
) -> Proposal:
    """Takes MEMORY or USER; raises Refused for anything else, and for a broken expression.

    The reasons mark what matters and would have been lost: every P1, P2 and untagged entry.
    """
    del today
    document = one_document(documents, NAME)
    store, entries = document.store, document.entries
    off = indices(ticks.off, store)
    protect = _protecting(settings.legacy_protect)
    stale = words.whole_words(settings.legacy_stale)

    protected = [protect.search(entry) if protect is not None else None for entry in entries]
    dropped = {
        index: found[0]
        for index, entry in enumerate(entries)
        if protected[index] is None and stale is not None and (found := stale.search(entry))
    }
    weight = weights(document)
    left = size_of(sum(weight) - sum([weight[index] for index in dropped if index not in off]))
    # what is unticked stays, and takes no part in the valve
    candidates = [
        index for index, found in enumerate(protected) if found is None and index not in dropped
    ]
    wanted = [index for index in candidates if index not in off]
    enough = oldest_until([weight[index] for index in wanted], left, settings.legacy_limit)
    last = wanted[enough - 1] if enough else -1

    decisions = []
    for index, entry in enumerate(entries):
        if (found := protected[index]) is not None:
            reason = f"protected by “{found[0]}”" if found[0] else "protected"
            decisions.append(Decision(store, index, Action.KEEP, reason, False))
            continue
        if index in dropped:
            why = f"stale word “{dropped[index]}”"
        elif index <= last:
            why = f"among the oldest, over {settings.legacy_limit:,} characters"
        else:
            decisions.append(
                Decision(store, index, Action.KEEP, "no stale word, and it fits", False)
            )
            continue
        reason = f"{_loss(tag_of(entry))}: {why}"
        decisions.append(Decision(store, index, Action.PRUNE, reason, index not in off))
    after = without(document, decisions)
    return Proposal(NAME, (document,), tuple(decisions), (after,), can_apply=False)


def _protecting(expression: str) -> re.Pattern[str] | None:
    """The expression that protects; None for an empty one, which would protect everything."""
    if not expression:
        return None
    try:
        return re.compile(expression, re.IGNORECASE)
    except (re.error, RecursionError, OverflowError) as error:
        raise Refused(
            f"memory.legacy_protect is no regular expression ({error}); correct it in the config."
        ) from None


def _loss(tag: Priority | None) -> str:
    """What it means that an entry is dropped."""
    if tag is Priority.P3:
        return "P3 dropped"
    return f"lost: {tag or 'untagged'}"
