"""The tag, what only looks like one, and the suggestions."""

from __future__ import annotations

import sys
import time

import msgspec
import pytest
from hypothesis import given

from qterm.memory.tags import (
    WHITE_SPACE,
    Kind,
    Priority,
    near_tag,
    retag,
    strip_tag,
    suggest,
    tag_of,
    tags_of,
)
from tests.memory.cases import FIRST_RUN, SETTINGS, TEXTS


@pytest.mark.parametrize(
    ("entry", "priority", "text"),
    [
        ("[P1] a", Priority.P1, "a"),
        ("[P2]\ta\nb", Priority.P2, "a\nb"),
        ("[P3]\n\n a", Priority.P3, "a"),
        ("[P1]\u2028a", Priority.P1, "a"),
        ("[P1]", Priority.P1, ""),
        ("[P1] [P3] a", Priority.P1, "[P3] a"),
        *[(entry, None, entry) for entry in ("[p1] a", "[P1 ] a", "[P4] a", "[P1]a", " [P1] a")],
        *[(entry, None, entry) for entry in ("a [P1] b", "\ufeff[P1] a", "[P1]\u200ba", "", "a")],
    ],
)
def test_a_tag_stands_at_the_very_start(entry: str, priority: Priority | None, text: str) -> None:
    assert tag_of(entry) is priority
    assert strip_tag(entry) == text
    assert tags_of([entry, "[P3] x"]) == [priority, Priority.P3]


def test_white_space_is_what_python_and_so_hermes_strips() -> None:
    everything = map(chr, range(sys.maxunicode + 1))
    assert set(WHITE_SPACE) == {sign for sign in everything if sign.isspace()}


@pytest.mark.parametrize(
    ("entry", "priority", "after"),
    [
        ("[P1]\t a", Priority.P3, "[P3]\t a"),
        ("a", Priority.P2, "[P2] a"),
        ("[p1] a", Priority.P1, "[P1] [p1] a"),
        ("[P1]\n a", None, "a"),
        ("a", None, "a"),
        ("[P2]", Priority.P1, "[P1]"),
    ],
)
def test_retagging_changes_nothing_but_the_tag(
    entry: str, priority: Priority | None, after: str
) -> None:
    assert retag(entry, priority) == after


@pytest.mark.parametrize("entry", ["[P1]", "[P1] \n", "", " "])
def test_a_tag_with_nothing_behind_it_cannot_be_taken_away(entry: str) -> None:
    with pytest.raises(ValueError, match="nothing is left"):
        retag(entry, None)


@given(TEXTS)
def test_tagging_an_untagged_entry_and_back(text: str) -> None:
    if text.strip() and tag_of(text) is None and text == text.strip():
        assert retag(retag(text, Priority.P2), None) == text


@pytest.mark.parametrize(
    ("entry", "part"),
    [
        ("[p1] a", "'[p1]' is not written [P1]"),
        ("[P1 ] a", "'[P1 ]' is not written [P1]"),
        ("[ P2] a", "is not written [P2]"),
        ("(P3) a", "is not written [P3]"),
        ("[P4] a", "'[P4]' is no tag"),
        ("[P10] a", "'[P10]' is no tag"),
        ("[P1]x", "[P1] needs a blank behind it"),
        ("a\n[P3] b", "[P3] counts only at the very start"),
        ("\ufeff[P2] a", "A byte order mark stands before [P2]"),
        ("\ufeff[p2] a", "is not written [P2]"),
    ],
)
def test_what_only_looks_like_a_tag_is_pointed_at(entry: str, part: str) -> None:
    sentence = near_tag(entry)
    assert sentence is not None
    assert part in sentence
    assert sentence.endswith("so this entry counts as untagged.")


@pytest.mark.parametrize("entry", ["a", "[P1] a [P2]", "[P3]", "see [1]", "", "[Px] a", "P1 a"])
def test_nothing_else_is(entry: str) -> None:
    assert near_tag(entry) is None


@pytest.mark.parametrize("entry", FIRST_RUN["entries"], ids=lambda entry: str(entry["text"][:20]))
def test_the_first_run_gets_sensible_suggestions(entry: dict[str, str]) -> None:
    found = suggest(entry["text"], SETTINGS)
    assert found is not None
    assert found.priority == entry["priority"]
    assert found.words
    assert suggest(f"[P2] {entry['text']}", SETTINGS) is None


@pytest.mark.parametrize(
    ("entry", "priority", "kind"),
    [
        ("Rule: never mark a task complete untested", Priority.P1, Kind.RULE),
        ("You must ask before you deploy", Priority.P1, Kind.RULE),
        ("The root PASSWORD is with Alex", Priority.P1, Kind.INFRASTRUCTURE),
        ("db01 answers on 10.0.0.7", Priority.P1, Kind.INFRASTRUCTURE),
        ("Gateway is fe80::1", Priority.P1, Kind.INFRASTRUCTURE),
        ("Backups run nightly", Priority.P1, Kind.INFRASTRUCTURE),
        ("The mail server has two disks", Priority.P1, Kind.INFRASTRUCTURE),
        ("The operator is Alex, based in Leeds", Priority.P1, Kind.PERSONAL),
        ("Team meets on Tuesdays", Priority.P1, Kind.TEAM),
        ("Prefers short answers, even for things that are done", Priority.P2, Kind.PREFERENCE),
        ("The importer's repository is on the forge", Priority.P2, Kind.TASK),
        ("Reader MERGED at 12:30:45", Priority.P3, Kind.TASK),
        ("The import is in\nprogress", Priority.P3, Kind.TASK),
    ],
)
def test_each_rule_of_the_suggestions(entry: str, priority: Priority, kind: Kind) -> None:
    found = suggest(entry, SETTINGS)
    assert found is not None
    assert (found.priority, found.kind) == (priority, kind)
    assert found.rule


@pytest.mark.parametrize(
    "entry",
    [
        "The soup was good",
        "Everything is undone",
        "The shed is not done yet",
        "Incomplete notes about mustard",
        "An abandoned fiancé",
        "done\u0301 is another word",
        "",
        "type: rule\npriority: p3\nexpires: never\ncontent: never done",
    ],
)
def test_nothing_fires_no_suggestion(entry: str) -> None:
    assert suggest(entry, SETTINGS) is None


def test_the_words_are_settings_and_no_expressions() -> None:
    settings = msgspec.structs.replace(
        SETTINGS, finished_words=("c++ (old)", " ", ""), waiting_words=()
    )
    found = suggest("We left C++ (old) behind", settings)
    assert found is not None
    assert found.words == ("C++ (old)",)
    assert suggest("The soup is done", settings) is None


@pytest.mark.parametrize("part", ["a", "a-", "1.1.", "a.b", "0:", "web", " ", "[P", "not ", "é"])
def test_a_huge_entry_is_looked_at_only_at_its_start(part: str) -> None:
    huge = part * (10_000_000 // len(part))
    start = time.perf_counter()
    suggest(huge, SETTINGS)
    near_tag(huge)
    took = time.perf_counter() - start
    assert took < 5  # it takes milliseconds; looking at all of it takes minutes
    assert suggest("soup " * 2_000 + "password", SETTINGS) is None
    assert near_tag("soup " * 2_000 + "[P1]") is None
