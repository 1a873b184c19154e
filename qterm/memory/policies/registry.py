"""All policies by name, one proposal, and all of them side by side (pure)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from types import MappingProxyType
from typing import Final

import msgspec

from qterm.memory.errors import Refused
from qterm.memory.policies import dual, legacy, schema, tags
from qterm.memory.policies.policy import Policy
from qterm.memory.proposal import NO_TICKS, Action, Decision, Proposal, Ticks
from qterm.memory.stores import Document, StoreName
from qterm.settings.schema import MemorySettings

POLICIES: Final[Mapping[str, Policy]] = MappingProxyType(
    {
        tags.NAME: tags.plan,
        dual.NAME: dual.plan,
        schema.NAME: schema.plan,
        legacy.NAME: legacy.plan,
    }
)
"""The policies, the default first."""


def propose(
    policy_name: str,
    documents: Sequence[Document],
    settings: MemorySettings,
    today: date,
    ticks: Ticks = NO_TICKS,
) -> Proposal:
    """What a policy proposes; `documents[0]` is the main store, `dual` takes WORKING as well.

    Raises Refused for a policy that there isn't, and for stores that it doesn't take.
    """
    policy = POLICIES.get(policy_name)
    if policy is None:
        raise Refused(
            f"There is no policy “{policy_name[:40]}”; choose one of {', '.join(POLICIES)}."
        )
    return policy(documents, settings, today, ticks)


def stray_ticks(proposal: Proposal, ticks: Ticks) -> list[tuple[StoreName, int]]:
    """The ticked or unticked entries that the proposal neither prunes, moves nor offers, or that
    there are not; in order of store and index."""
    open_to_ticks = {
        (decision.store, decision.index)
        for decision in proposal.decisions
        if decision.action is not Action.KEEP
    }
    order = list(StoreName)
    stray = (ticks.on | ticks.off) - open_to_ticks
    return sorted(stray, key=lambda tick: (order.index(tick[0]), tick[1]))


class Row(msgspec.Struct, frozen=True, gc=False):
    """An entry, and what each policy would do with it, in the columns' order."""

    index: int
    entry: str
    decisions: tuple[Decision, ...]


class Comparison(msgspec.Struct, frozen=True):
    """The policies on the same file: a row an entry of the main store, a column a policy."""

    policies: tuple[str, ...]
    rows: tuple[Row, ...]
    proposals: tuple[Proposal, ...]


def compare(documents: Sequence[Document], settings: MemorySettings, today: date) -> Comparison:
    """Every policy on `documents[0]`, without ticks; `dual` only where that is MEMORY.

    WORKING may follow in `documents`; it counts as empty where it doesn't. Raises Refused.
    """
    if not documents:
        raise Refused("There is no memory file to compare the policies on.")
    main = documents[0]
    working = next(
        (document for document in documents[1:] if document.store is StoreName.WORKING),
        Document(StoreName.WORKING, ()),
    )
    proposals = []
    for name in POLICIES:
        if name != dual.NAME:
            proposals.append(propose(name, (main,), settings, today))
        elif main.store is StoreName.MEMORY:
            proposals.append(propose(name, (main, working), settings, today))
    columns = [proposal.decisions[: len(main.entries)] for proposal in proposals]
    rows = [
        Row(index, entry, tuple([column[index] for column in columns]))
        for index, entry in enumerate(main.entries)
    ]
    names = tuple([proposal.policy for proposal in proposals])
    return Comparison(names, tuple(rows), tuple(proposals))
