"""The policy `tags`, the registry and the comparison (rule M1)."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qterm.memory.entries import serialise
from qterm.memory.errors import Refused
from qterm.memory.policies.registry import POLICIES, compare, propose, stray_ticks
from qterm.memory.proposal import Action, Ticks
from qterm.memory.stores import Document
from qterm.memory.tags import Priority, tag_of
from tests.memory.cases import (
    ENTRIES,
    FIRST_RUN,
    MEMORY,
    SETTINGS,
    TAGGED,
    TODAY,
    UNTAGGED,
    USER,
    WORKING,
    document,
    indices,
    is_subsequence,
    planned,
    reasons,
    ticks,
)


def test_tags_prunes_the_p3_of_the_first_run_and_nothing_else() -> None:
    proposal = planned("tags", TAGGED)
    assert indices(proposal, Action.PRUNE) == FIRST_RUN["tags_prunes"]
    assert [decision.index for decision in proposal.going] == FIRST_RUN["tags_prunes"]
    assert not indices(proposal, Action.OFFER)
    untagged = planned("tags", UNTAGGED)
    assert indices(untagged, Action.PRUNE) == FIRST_RUN["untagged_prunes"]
    assert not untagged.has_work
    assert set(reasons(untagged)) == {"no tag: never pruned"}


def test_p2_is_offered_oldest_first_as_many_as_it_takes() -> None:
    entries = ["[P1] " + "a" * 45, *[f"[P2] {n}" + "b" * 44 for n in range(4)], "[P3] c"]
    # without the P3: 5 * 50 + 4 * 3 = 262 of 300; 240 are allowed, and one P2 takes 53
    proposal = planned("tags", entries, limit=300)
    assert indices(proposal, Action.OFFER) == [1]
    assert reasons(proposal)[1:3] == [
        "P2: still over 80 % of the limit, tick to prune",
        "P2: kept, the older ones are enough",
    ]
    assert proposal.left(MEMORY).size == 262
    assert indices(planned("tags", entries, limit=262), Action.OFFER) == [1]  # 209 are allowed
    assert indices(planned("tags", entries, limit=261), Action.OFFER) == [1, 2]
    ticked = planned("tags", entries, limit=300, on=[1])
    assert indices(ticked, Action.OFFER) == [1]
    assert ticked.left(MEMORY).size == 209
    torn = planned("tags", entries, limit=300, on=[1], off=[1])
    assert [decision.index for decision in torn.going] == [5]


def test_p2_is_offered_only_over_the_threshold() -> None:
    entries = ["[P2] " + "a" * 75, "[P3] x"]
    assert not indices(planned("tags", entries, limit=100), Action.OFFER)  # 80 of 100
    assert indices(planned("tags", entries, limit=99), Action.OFFER) == [0]
    assert indices(planned("tags", entries, limit=0), Action.OFFER) == [0]
    assert not indices(planned("tags", entries, limit=None), Action.OFFER)
    assert "80 % of the limit" in reasons(planned("tags", entries, limit=100))[0]


def test_unticking_a_prune_computes_the_offers_anew() -> None:
    entries = ["[P2] " + "a" * 45, "[P3] " + "b" * 45]
    assert not indices(planned("tags", entries, limit=100), Action.OFFER)
    kept = planned("tags", entries, limit=100, off=[1])
    assert indices(kept, Action.PRUNE) == [1]
    assert not kept.going
    assert indices(kept, Action.OFFER) == [0]


def test_a_p1_or_untagged_entry_cannot_be_ticked_away() -> None:
    proposal = planned("tags", ["[P1] a", "b", "[P2] c"], on=[0, 1, 2])
    assert not proposal.going
    assert stray_ticks(proposal, ticks([0, 1, 2])) == [(MEMORY, 0), (MEMORY, 1), (MEMORY, 2)]


def test_stray_ticks_are_those_that_change_nothing_there_is() -> None:
    proposal = planned("tags", ["[P1] a", "[P3] b"])
    assert stray_ticks(proposal, ticks(off=[1])) == []
    assert stray_ticks(proposal, ticks(on=[7], off=[-1])) == [(MEMORY, -1), (MEMORY, 7)]
    assert stray_ticks(proposal, ticks(off=[1], store=WORKING)) == [(WORKING, 1)]


TICKS = st.builds(
    ticks,
    st.sets(st.integers(-2, 14), max_size=6),
    st.sets(st.integers(-2, 14), max_size=6),
)


@settings(max_examples=300)
@given(ENTRIES, TICKS, st.one_of(st.none(), st.integers(0, 400)))
def test_what_holds_for_tags_whatever_the_ticks(
    entries: list[str], chosen: Ticks, limit: int | None
) -> None:
    before = document(entries, limit=limit)
    proposal = propose("tags", [before], SETTINGS, TODAY, chosen)
    assert proposal == propose("tags", [before], SETTINGS, TODAY, chosen)
    assert [decision.index for decision in proposal.decisions] == list(range(len(entries)))
    left = proposal.left(MEMORY)
    going = {decision.index for decision in proposal.going}
    assert list(left.entries) == [e for index, e in enumerate(entries) if index not in going]
    assert left.size == len(serialise(left.entries))
    for decision in proposal.decisions:
        tag = tag_of(entries[decision.index])
        if tag in {Priority.P1, None}:
            assert (decision.action, decision.ticked) == (Action.KEEP, False)
        if tag is Priority.P3:
            assert decision.action is Action.PRUNE
            assert decision.ticked is ((MEMORY, decision.index) not in chosen.off)
        if tag is Priority.P2:
            assert decision.ticked is chosen.of(MEMORY, decision.index, decision.action)
        assert decision.reason
    without_offers = Ticks(frozenset(), chosen.off)
    plain = propose("tags", [before], SETTINGS, TODAY, without_offers)
    assert indices(plain, Action.OFFER) == indices(proposal, Action.OFFER)
    _offers_are_the_oldest_and_enough(entries, plain.left(MEMORY), indices(plain, Action.OFFER))
    again = propose(
        "tags", [propose("tags", [before], SETTINGS, TODAY).left(MEMORY)], SETTINGS, TODAY
    )
    assert not again.going


def _offers_are_the_oldest_and_enough(
    entries: list[str], left: Document, offered: list[int]
) -> None:
    p2 = [index for index, entry in enumerate(entries) if tag_of(entry) is Priority.P2]
    assert offered == p2[: len(offered)]
    if left.limit is None:
        assert not offered
        return
    texts = list(left.entries)
    sizes = [len(serialise(texts))]
    for index in offered:
        texts.remove(entries[index])
        sizes.append(len(serialise(texts)))
    assert all(size * 100 > left.limit * 80 for size in sizes[:-1])
    assert sizes[-1] * 100 <= left.limit * 80 or offered == p2


@given(ENTRIES, TICKS, st.sampled_from(sorted(POLICIES)), st.integers(0, 400))
def test_every_policy_keeps_the_order_and_makes_nothing_up(
    entries: list[str], chosen: Ticks, name: str, limit: int
) -> None:
    documents = [document(entries, limit=limit)]
    if name == "dual":
        documents.append(Document(WORKING, ("[P3] 2026-11-01 · old", "b")))
    proposal = propose(name, documents, SETTINGS, TODAY, chosen)
    assert len(proposal.decisions) == sum(len(each.entries) for each in documents)
    assert is_subsequence(proposal.left(MEMORY).entries, entries)
    for decision in proposal.decisions:
        assert decision.ticked is chosen.of(decision.store, decision.index, decision.action)


@pytest.mark.parametrize("name", ["tags", "schema", "legacy"])
def test_a_policy_of_one_store_refuses_others(name: str) -> None:
    assert propose(name, [document(["a"], store=USER)], SETTINGS, TODAY).policy == name
    with pytest.raises(Refused, match="one file at a time"):
        propose(name, [document([]), document([], store=WORKING)], SETTINGS, TODAY)
    with pytest.raises(Refused, match="one file at a time"):
        propose(name, [], SETTINGS, TODAY)
    with pytest.raises(Refused, match="belongs to the policy “dual”"):
        propose(name, [document([], store=WORKING)], SETTINGS, TODAY)


def test_a_policy_there_is_not_is_refused() -> None:
    with pytest.raises(Refused, match="choose one of tags, dual, schema, legacy"):
        propose("neat", [document([])], SETTINGS, TODAY)


def test_the_comparison_has_a_row_an_entry_and_a_column_a_policy() -> None:
    found = compare([document(TAGGED), Document(WORKING, ("[P3] x",))], SETTINGS, TODAY)
    assert found.policies == ("tags", "dual", "schema", "legacy")
    assert [row.entry for row in found.rows] == list(TAGGED)
    gone = {
        name: [row.index for row in found.rows if row.decisions[column].ticked]
        for column, name in enumerate(found.policies)
    }
    assert gone == {
        "tags": FIRST_RUN["tags_prunes"],
        "dual": FIRST_RUN["dual_moves"],
        "schema": [],
        "legacy": FIRST_RUN["legacy_drops"],
    }
    assert compare([document(TAGGED)], SETTINGS, TODAY).policies == found.policies


def test_user_is_compared_without_dual() -> None:
    found = compare([document(["a"], store=USER)], SETTINGS, TODAY)
    assert found.policies == ("tags", "schema", "legacy")
    assert compare([document([])], SETTINGS, TODAY).rows == ()
    with pytest.raises(Refused):
        compare([], SETTINGS, TODAY)
    with pytest.raises(Refused):
        compare([document([], store=WORKING)], SETTINGS, TODAY)


def _steps(name: str, count: int) -> int:
    """Lines and calls of Python that a plan of so many entries takes."""
    entries = [f"[P{number % 3 + 1}] entry {number} is done" for number in range(count)]
    documents = [document(entries)]
    if name == "dual":
        documents.append(Document(WORKING, tuple(entries)))
    steps = 0

    def trace(_frame: object, _event: str, _argument: object) -> Any:
        nonlocal steps
        steps += 1
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        propose(name, documents, SETTINGS, TODAY)
    finally:
        sys.settrace(before)
    return steps


@pytest.mark.parametrize("name", sorted(POLICIES))
def test_a_plan_takes_work_in_proportion_to_the_entries(name: str) -> None:
    _steps(name, 10)  # imports and caches
    assert _steps(name, 4_000) < 2.5 * _steps(name, 2_000)
