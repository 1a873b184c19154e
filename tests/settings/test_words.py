"""What the settings screen says of a key is what config.example.toml says of it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from qterm.settings.keys import sections, value_keys
from qterm.settings.words import EXPLAINED, SECTIONS

EXAMPLE = Path(__file__).parents[2] / "config.example.toml"


def comments() -> dict[str, str]:
    """The comment above each key, on one line."""
    found: dict[str, str] = {}
    section, words = "", list[str]()
    for line in EXAMPLE.read_text().splitlines():
        if heading := re.fullmatch(r"\[(\w+)\]", line):
            section, words = f"{heading[1]}.", []
        elif line.startswith("# "):
            words.append(line[2:])
        elif key := re.match(r"#(\w+) = ", line):
            found.setdefault(section + key[1], " ".join(words))
            words = []
        else:
            words = []
    return found


@pytest.mark.parametrize("name", value_keys())
def test_both_say_the_same(name: str) -> None:
    assert EXPLAINED[name] == comments()[name]


def test_nothing_is_explained_that_is_no_key() -> None:
    assert set(EXPLAINED) == set(value_keys())
    assert set(SECTIONS) == {"", *sections()}
