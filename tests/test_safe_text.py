"""Safe text: rule T1 and every case of text.json; stand-ins: rule T2."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qterm.safe_text import hide_controls, safe_line, safe_lines, safe_text, show_controls
from tests.cases import cases, ids

CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
WILD = st.text(
    st.characters() | st.sampled_from("\x1b\x9b\x9d\x07\x9c[]\\;0mP\u202e\u2028\r\n\ud800"),
    max_size=60,
)


@pytest.mark.parametrize("case", cases("text.json"), ids=ids)
def test_cases(case: dict[str, Any]) -> None:
    shown = safe_text(case["text"])
    if "visible" in case:
        assert shown == case["visible"]
    assert not any(never in shown for never in case.get("never", []))
    assert not CONTROLS.search(shown)


@given(WILD)
def test_nothing_dangerous_is_left(text: str) -> None:
    shown = safe_text(text)
    assert not CONTROLS.search(shown)
    assert safe_text(shown) == shown
    shown.encode()


def test_newlines_and_tabs_stay() -> None:
    assert safe_text("a\tb\r\nc\rd\u2028e") == "a\tb\nc\nd\ne"


def test_an_unclosed_sequence_loses_no_words() -> None:
    assert safe_text("a\x1b]52;c;words") == "a]52;c;words"
    assert safe_text("a\x1b]0;never closed\nnext line") == "a]0;never closed\nnext line"


def test_it_is_linear() -> None:
    """Two million characters of unclosed sequences: quadratic would not come back."""
    safe_text("\x1b]" * 500_000)
    safe_text("\x1b[" + "0" * 2_000_000)
    safe_text("\x1b]" + "x" * 2_000_000)
    for opener in "\x90\x98\x9d\x9e\x9f":
        safe_text(f"{opener}a" * 500_000)


def test_a_sequence_inside_an_unclosed_one_goes_alone() -> None:
    assert safe_text("a\x9d0;b\x9d52;c;words\x07d") == "a0;bd"


def test_one_line() -> None:
    assert safe_line(" a\n\x0bb\u2029 c\x85d ") == "a b c d"


def test_lines_split_wherever_a_program_would() -> None:
    text = "a\nb\r\nc\rd\x0be\x0cf\x1cg\x1dh\x1ei\x85j\u2028k\u2029l"
    assert safe_lines(text) == text.splitlines()


@given(
    st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from("␛\ufe0e\x1b\x85⢅\u202e"))
)
def test_stand_ins_turn_back(text: str) -> None:
    shown = show_controls(text)
    assert hide_controls(shown) == text
    assert not CONTROLS.search(shown)


def test_a_stand_in_can_be_seen() -> None:
    assert show_controls("a\x1b[2J\x00") == "a␛[2J␀"
