"""The earlier pruner: what it would have lost (rule M4)."""

from __future__ import annotations

import msgspec
import pytest

from qterm.memory.errors import Refused
from qterm.memory.proposal import Action
from tests.memory.cases import (
    FIRST_RUN,
    MEMORY,
    SETTINGS,
    TAGGED,
    UNTAGGED,
    indices,
    planned,
    reasons,
)


@pytest.mark.parametrize("entries", [TAGGED, UNTAGGED], ids=["tagged", "untagged"])
def test_the_failure_that_started_it(entries: tuple[str, ...]) -> None:
    proposal = planned("legacy", entries)
    assert indices(proposal, Action.PRUNE) == FIRST_RUN["legacy_drops"]
    assert not proposal.can_apply


def test_the_settings_are_those_of_the_first_run() -> None:
    assert SETTINGS.legacy_protect == FIRST_RUN["protect"]
    assert list(SETTINGS.legacy_stale) == FIRST_RUN["stale"]
    assert SETTINGS.legacy_limit == FIRST_RUN["limit"]


def test_what_would_have_been_lost_is_marked() -> None:
    proposal = planned(
        "legacy", ["[P1] done", "[P2] Done", "done", "[P3] done", "RULE: done", "undone"]
    )
    assert reasons(proposal) == [
        "lost: P1: stale word “done”",
        "lost: P2: stale word “Done”",
        "lost: untagged: stale word “done”",
        "P3 dropped: stale word “done”",
        "protected by “RULE”",
        "no stale word, and it fits",
    ]


def test_over_its_size_the_oldest_unprotected_go_until_it_fits() -> None:
    settings = msgspec.structs.replace(SETTINGS, legacy_limit=40)
    entries = ["rule " + "a" * 15, "[P1] " + "b" * 15, "c" * 20, "done", "d" * 5]
    # after the stale word: 20 + 20 + 20 + 5 + 9 = 74; without 1 and 2: 28
    proposal = planned("legacy", entries, settings=settings)
    assert indices(proposal, Action.PRUNE) == [1, 2, 3]
    assert reasons(proposal)[1] == "lost: P1: among the oldest, over 40 characters"
    assert proposal.left(MEMORY).size == 28
    kept = planned("legacy", entries, settings=settings, off=[3])  # 28 and 7 fit
    assert indices(kept, Action.PRUNE) == [1, 2, 3]
    assert kept.left(MEMORY).size == 35
    others = planned("legacy", entries, settings=settings, off=[1])
    assert [decision.index for decision in others.going] == [2, 3, 4]
    exact = msgspec.structs.replace(SETTINGS, legacy_limit=51)
    assert indices(planned("legacy", entries, settings=exact), Action.PRUNE) == [1, 3]
    assert indices(planned("legacy", entries, settings=exact, off=[3]), Action.PRUNE) == [1, 2, 3]
    fits = msgspec.structs.replace(SETTINGS, legacy_limit=74)
    assert indices(planned("legacy", entries, settings=fits), Action.PRUNE) == [3]


def test_a_broken_expression_is_one_sentence() -> None:
    for expression in ("(", "a{99999999999999}", "(" * 5_000):
        settings = msgspec.structs.replace(SETTINGS, legacy_protect=expression)
        with pytest.raises(Refused, match=r"memory\.legacy_protect is no regular expression"):
            planned("legacy", ["a"], settings=settings)


def test_no_words_protect_and_drop_nothing() -> None:
    settings = msgspec.structs.replace(SETTINGS, legacy_protect="", legacy_stale=())
    assert not planned("legacy", TAGGED, settings=settings).has_work
    settings = msgspec.structs.replace(SETTINGS, legacy_protect="")
    assert 7 not in indices(planned("legacy", TAGGED, settings=settings), Action.PRUNE)
    assert indices(planned("legacy", ["rule done"], settings=settings), Action.PRUNE) == [0]
