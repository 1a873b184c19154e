"""The policy `dual`: what passes moves to WORKING.md and goes from there (rule M5)."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, timedelta

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qterm.memory.errors import Refused
from qterm.memory.policies import dual
from qterm.memory.policies.dual import stamp, stamped_on, unstamp, working_notes
from qterm.memory.policies.registry import propose
from qterm.memory.proposal import NO_TICKS, Action, Proposal, Ticks
from qterm.memory.stores import Document
from qterm.memory.tags import Priority, retag, tag_of
from tests.memory.cases import (
    ENTRIES,
    FIRST_RUN,
    MEMORY,
    SETTINGS,
    TAGGED,
    TODAY,
    UNTAGGED,
    WORKING,
    document,
    indices,
    is_subsequence,
    planned,
    reasons,
    ticks,
)


def both(
    memory: Iterable[str],
    working: Iterable[str] = (),
    chosen: Ticks = NO_TICKS,
    *,
    by_words: bool = True,
) -> Proposal:
    documents = [document(memory), Document(WORKING, tuple(working))]
    return dual.plan(documents, SETTINGS, TODAY, chosen, by_words=by_words)


def days_ago(days: int, text: str = "tea") -> str:
    return stamp(f"[P3] {text}", TODAY - timedelta(days=days))


def test_the_first_run_moves_its_p3_entries_stamped() -> None:
    proposal = planned("dual", TAGGED)
    assert indices(proposal, Action.MOVE) == FIRST_RUN["dual_moves"]
    assert proposal.left(WORKING).entries == (
        "[P3] 2026-11-30 · Shark game updates complete",
        "[P3] 2026-11-30 · Ticket about the broken printer resolved on Monday",
        "[P3] 2026-11-30 · Waiting for the parcel with the new disk",
    )
    kept = [entry for entry in TAGGED if tag_of(entry) is not Priority.P3]
    assert proposal.left(MEMORY).entries == tuple(kept)
    assert not planned("dual", UNTAGGED).has_work


def test_a_move_can_be_unticked_and_nothing_else_of_memory_goes() -> None:
    proposal = both(["[P1] a", "[P2] b", "c", "[P3] d", "[P3] e"], (), ticks([0, 1, 2], off=[3]))
    assert [decision.index for decision in proposal.going] == [4]
    assert proposal.left(MEMORY).entries == ("[P1] a", "[P2] b", "c", "[P3] d")
    assert proposal.left(WORKING).entries == ("[P3] 2026-11-30 · e",)


@pytest.mark.parametrize(
    ("entry", "action", "reason"),
    [
        (days_ago(8), Action.PRUNE, "P3: 8 days old, more than 7"),
        (days_ago(7), Action.KEEP, "P3: kept until it is more than 7 days old"),
        (days_ago(-1, "done"), Action.KEEP, "P3: kept, its day (2026-12-01) is still to come"),
        (days_ago(0, "Tea DONE"), Action.PRUNE, "P3: says that it is finished (“DONE”)"),
        (days_ago(0, "not done"), Action.KEEP, "P3: kept until it is more than 7 days old"),
        ("[P3] tea", Action.KEEP, "P3: kept, it has no day to tell its age by"),
        ("[P3] tea done", Action.PRUNE, "P3: says that it is finished (“done”)"),
        ("[P3] 2020-02-31 · tea", Action.KEEP, "P3: kept, it has no day to tell its age by"),
        ("[P1] 2020-01-01 · done", Action.KEEP, "P1: always kept"),
        ("[P2] 2020-01-01 · done", Action.KEEP, "P2: kept, only P3 passes"),
        ("2020-01-01 · done", Action.KEEP, "no tag: never pruned"),
    ],
)
def test_only_p3_goes_from_working_by_age_or_word(entry: str, action: Action, reason: str) -> None:
    proposal = both([], [entry])
    assert [(d.action, d.reason) for d in proposal.decisions] == [(action, reason)]
    assert proposal.left(WORKING).entries == (() if action is Action.PRUNE else (entry,))


def test_the_automatic_pass_goes_by_age_alone() -> None:
    working = ["[P3] tea done", days_ago(1, "shipped"), days_ago(8)]
    assert indices(both([], working), Action.PRUNE, WORKING) == [0, 1, 2]
    assert indices(both([], working, by_words=False), Action.PRUNE, WORKING) == [2]


def test_an_entry_that_is_there_already_is_not_added_twice() -> None:
    there = days_ago(3)
    proposal = both(["[P3] tea", "[P3] milk"], [there])
    assert proposal.left(WORKING).entries == (there, "[P3] 2026-11-30 · milk")
    assert proposal.left(MEMORY).entries == ()
    assert reasons(proposal)[0] == "P3: in WORKING.md already, leaves MEMORY.md"
    twice = both(["[P3] tea", "[P3] tea"])
    assert twice.left(WORKING).entries == ("[P3] 2026-11-30 · tea",)


def test_one_that_is_about_to_go_does_not_count_as_there() -> None:
    old = days_ago(30)
    assert both(["[P3] tea"], [old]).left(WORKING).entries == ("[P3] 2026-11-30 · tea",)
    kept = both(["[P3] tea"], [old], ticks(off=[0], store=WORKING))
    assert kept.left(WORKING).entries == (old,)


@given(ENTRIES, ENTRIES)
def test_nothing_is_lost_by_moving(memory: list[str], working: list[str]) -> None:
    proposal = both(memory, working)
    assert proposal == both(memory, working)
    assert is_subsequence(proposal.left(MEMORY).entries, memory)
    left = proposal.left(WORKING).entries
    pruned = {working[d.index] for d in proposal.going if d.store is WORKING}
    assert all(tag_of(entry) is Priority.P3 for entry in pruned)
    stayed = [e for i, e in enumerate(working) if i not in indices(proposal, Action.PRUNE, WORKING)]
    assert list(left[: len(stayed)]) == stayed
    for decision in proposal.going:
        if decision.store is MEMORY:
            assert memory[decision.index] in map(unstamp, left)
    again = both(proposal.left(MEMORY).entries, left, by_words=False)
    assert not again.going


@given(ENTRIES, st.dates())
def test_a_stamp_comes_off_as_it_went_on(entries: list[str], day: date) -> None:
    for entry in [*entries, "[P3]", "[P3] 2026-01-01 · twice"]:
        passing = retag(entry, Priority.P3)
        assert stamped_on(stamp(passing, day)) == day
        assert unstamp(stamp(passing, day)) == passing
        assert tag_of(stamp(passing, day)) is Priority.P3


def test_only_p3_is_stamped_and_only_a_stamp_comes_off() -> None:
    with pytest.raises(ValueError, match="Only P3"):
        stamp("[P2] a", TODAY)
    for entry in ("[P3] a", "[P2] 2026-11-30 · a", "[P3] 2026-11-30 ·a", "[P3] ٢026-11-30 · a"):
        assert unstamp(entry) == entry
        assert stamped_on(entry) is None


def test_the_notes_are_the_newest_first() -> None:
    entries = ["[P3] undated", days_ago(2, "b"), days_ago(1, "c"), days_ago(2, "d"), "plain"]
    notes = working_notes(entries, 10)
    assert notes == [days_ago(1, "c"), days_ago(2, "d"), days_ago(2, "b"), "plain", "[P3] undated"]
    assert working_notes(entries, 2) == notes[:2]
    assert working_notes(entries, 0) == []
    assert working_notes([], 3) == []


def test_dual_takes_memory_with_working_and_nothing_else() -> None:
    for documents in (
        [document([])],
        [],
        [document([], store=WORKING), document([])],
        [document([]), document([])],
    ):
        with pytest.raises(Refused, match=r"takes MEMORY\.md together with WORKING\.md"):
            propose("dual", documents, SETTINGS, TODAY)


def test_the_days_and_words_are_settings() -> None:
    settings = msgspec.structs.replace(SETTINGS, working_days=1, finished_words=())
    documents = [document([]), Document(WORKING, (days_ago(2), "[P3] tea done"))]
    proposal = propose("dual", documents, settings, TODAY)
    assert indices(proposal, Action.PRUNE, WORKING) == [0]
