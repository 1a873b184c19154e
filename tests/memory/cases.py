"""The measured cases, and short ways to a document and a proposal."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from qterm.memory.entries import decode, parse
from qterm.memory.policies.registry import propose
from qterm.memory.proposal import Action, Proposal, Ticks
from qterm.memory.stores import Document, StoreName
from qterm.settings.schema import MemorySettings

DATA = Path(__file__).parents[1] / "data" / "memory"
FIRST_RUN: dict[str, Any] = json.loads((DATA / "first-run.json").read_text(encoding="utf-8"))
EXPECTED: dict[str, Any] = json.loads((DATA / "expected.json").read_text(encoding="utf-8"))
TODAY = date(2026, 11, 30)
SETTINGS = MemorySettings()
MEMORY, USER, WORKING = StoreName.MEMORY, StoreName.USER, StoreName.WORKING


def entries_of(name: str) -> tuple[str, ...]:
    """The entries of a measured file."""
    return parse(decode((DATA / name).read_bytes()))


TAGGED = entries_of("first-run-tagged.md")
UNTAGGED = entries_of("first-run-untagged.md")


def document(
    entries: Iterable[str], *, store: StoreName = MEMORY, limit: int | None = 2_200
) -> Document:
    return Document(store, tuple(entries), limit)


def planned(
    policy: str,
    entries: Iterable[str],
    *,
    limit: int | None = 2_200,
    on: Iterable[int] = (),
    off: Iterable[int] = (),
    settings: MemorySettings = SETTINGS,
) -> Proposal:
    """A policy's proposal for MEMORY; WORKING is empty."""
    documents = [document(entries, limit=limit)]
    if policy == "dual":
        documents.append(Document(WORKING, ()))
    return propose(policy, documents, settings, TODAY, ticks(on, off))


def ticks(on: Iterable[int] = (), off: Iterable[int] = (), store: StoreName = MEMORY) -> Ticks:
    return Ticks(
        frozenset((store, index) for index in on), frozenset((store, index) for index in off)
    )


def indices(proposal: Proposal, action: Action, store: StoreName = MEMORY) -> list[int]:
    return [
        decision.index
        for decision in proposal.decisions
        if decision.action is action and decision.store is store
    ]


def reasons(proposal: Proposal, store: StoreName = MEMORY) -> list[str]:
    return [decision.reason for decision in proposal.decisions if decision.store is store]


def is_subsequence(few: Sequence[str], many: Sequence[str]) -> bool:
    """Whether `few` is `many` with some left out: nothing doubled, made up or moved."""
    rest = iter(many)
    return all(entry in rest for entry in few)


TEXTS = st.text(
    st.one_of(
        st.sampled_from("ab §\n\t:#\"'-[]{}&*!|>%@`,\\\u2028\u0085\x00\x1b\ufeff\xa0😀é·"),
        st.characters(exclude_categories=["Cs"]),
    ),
    max_size=40,
)
"""Nasty texts."""


def _clean(text: str) -> str:
    return " ".join(parse(decode(text.encode()))) or "x"


ENTRIES = st.lists(
    st.builds(
        lambda tag, behind, text: _clean(tag + behind + text),
        st.sampled_from(["[P1]", "[P2]", "[P3]", "", "[p1]", "[P4]"]),
        st.sampled_from([" ", "\n", "\t", "  ", ""]),
        TEXTS,
    ),
    max_size=12,
)
"""Entries as a file can hold them, most of them tagged."""
