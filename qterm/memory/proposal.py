"""What a policy proposes: a decision for every entry, and what would be left (pure)."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

import msgspec

from qterm.memory.stores import Document, StoreName


class Action(StrEnum):
    """What a policy has in mind for an entry."""

    KEEP = "keep"
    """It stays; that can't be ticked away."""
    PRUNE = "prune"
    """It goes, unless the operator unticks it."""
    MOVE = "move"
    """It goes into WORKING.md, unless the operator unticks it."""
    OFFER = "offer"
    """It stays, unless the operator ticks it."""


class Decision(msgspec.Struct, frozen=True, gc=False):
    """What happens to an entry, and why, in words. `index` counts from 0 within its store.

    `ticked` says whether it goes.
    """

    store: StoreName
    index: int
    action: Action
    reason: str
    ticked: bool


class Ticks(msgspec.Struct, frozen=True):
    """What the operator changed of a proposal: entries ticked and unticked, by store and index."""

    on: frozenset[tuple[StoreName, int]] = frozenset()
    off: frozenset[tuple[StoreName, int]] = frozenset()

    def of(self, store: StoreName, index: int, action: Action) -> bool:
        """Whether an entry goes; an entry that is kept never does."""
        if action is Action.KEEP:
            return False
        if action is Action.OFFER:
            return (store, index) in self.on and (store, index) not in self.off
        return (store, index) not in self.off


NO_TICKS = Ticks()


class Proposal(msgspec.Struct, frozen=True):
    """A policy's answer for some documents: nothing is written by it (rule M2).

    `documents` are what it looked at; `decisions` has one for every entry of them, in their order;
    `after` what each would hold. `can_apply` is false for the comparison only (rule M4).
    """

    policy: str
    documents: tuple[Document, ...]
    decisions: tuple[Decision, ...]
    after: tuple[Document, ...]
    can_apply: bool = True

    @property
    def going(self) -> list[Decision]:
        """The decisions by which an entry leaves its store."""
        return [decision for decision in self.decisions if decision.ticked]

    @property
    def has_work(self) -> bool:
        """Whether anything goes, or is offered."""
        return any(decision.action is not Action.KEEP for decision in self.decisions)

    def text(self, decision: Decision) -> str:
        """The entry a decision is about."""
        return self.document(decision.store).entries[decision.index]

    def document(self, store: StoreName) -> Document:
        """What was looked at of a store; raises KeyError."""
        return _of(self.documents, store)

    def left(self, store: StoreName) -> Document:
        """What a store would hold; raises KeyError."""
        return _of(self.after, store)


def _of(documents: Sequence[Document], store: StoreName) -> Document:
    for document in documents:
        if document.store is store:
            return document
    raise KeyError(store)
