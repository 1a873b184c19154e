"""Which key a command may get: the keys that are there are right ones, and clashes are named."""

from __future__ import annotations

import pytest

from qterm.settings.keys import THEMES
from qterm.tui.commands.own_keys import meet, why_not, with_another
from qterm.tui.commands.registry import COMMANDS, Place
from qterm.tui.words.themes import counterpart


def test_no_command_stands_in_the_way_of_another_as_they_are() -> None:
    for each in COMMANDS:
        for key in filter(None, (name.strip() for name in each.key.split(","))):
            assert why_not(each.id, key, {}, is_letter=len(key) == 1) == ""


@pytest.mark.parametrize(
    ("command_id", "key", "letter", "words"),
    [
        ("told", "ctrl+q", False, "ctrl+q is the key of “Quit”"),
        ("told", "f8", False, "“Set the mode…” (home)"),
        ("told", "x", True, "“x” is for writing there"),
        ("told", "ctrl+a", False, "The editor needs ctrl+a"),
        ("told", "tab", False, "The editor needs tab"),
        ("hide", "d", True, "“Delete the selected turn…” (in the feed)"),
        ("quit", "ctrl+n", False, "“New task…” (tasks)"),
        ("told", "ctrl+n", False, ""),  # that one is of the other screen
        ("hide", "f", True, ""),  # that one is of the list
        ("hide", "ctrl+a", False, ""),  # nothing is written in the feed
        ("setting-add-key", "f8", False, ""),
        ("close", "r", True, "is for writing there"),
        ("stop", "ctrl+y", False, "The editor needs ctrl+y"),
        ("stop", "f11", False, ""),
    ],
)
def test_what_stands_against_a_key_is_named(
    command_id: str, key: str, letter: bool, words: str
) -> None:
    found = why_not(command_id, key, {}, is_letter=letter)
    assert words in found if words else found == ""


def test_the_operators_own_keys_count() -> None:
    assert why_not("mode", "ctrl+t", {"told": "f11"}, is_letter=False) == ""
    assert "What Q will be told" in why_not("mode", "f11", {"told": "f11"}, is_letter=False)


def test_a_key_comes_to_those_that_are_there() -> None:
    assert with_another("newline", "f11", {}) == "ctrl+j,shift+enter,alt+enter,f11"
    assert with_another("told", "f11", {"told": "f11"}) == "f11"
    assert with_another("notices", "f11", {}) == "f11"


def test_places_meet_both_ways() -> None:
    for one in Place:
        assert meet(one, one)
        for other in Place:
            assert meet(one, other) is meet(other, one)


def test_every_theme_has_one_of_the_other_kind() -> None:
    from textual.theme import BUILTIN_THEMES

    for name in THEMES:
        dark = BUILTIN_THEMES[name].dark
        assert BUILTIN_THEMES[counterpart(name, "", dark=dark)].dark is not dark
