"""The words of a text that were not there before are marked, and it stays as it is."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.content import Content

from qterm.tui.content import with_controls
from qterm.tui.words.diff_rows import COMPARED, changed_in


def marked(content: Content) -> list[str]:
    return [
        content.plain[span.start : span.end]
        for span in content.spans
        if "underline" in str(span.style)
    ]


@pytest.mark.parametrize(
    ("before", "text", "words"),
    [
        ("[P2] on Tuesdays, too", "[P2] on Mondays, too", ["Mondays,"]),
        ("[P2] a", "[P3] a [/] b", ["[P3]", " [/] b"]),
        ("a", "a", []),
        (None, "new", []),
        ("a b", "a", []),
    ],
)
def test_changed_words_are_marked(before: str | None, text: str, words: list[str]) -> None:
    found = changed_in(text, before, "$text-success")
    assert found.plain == text
    assert marked(found) == words


@given(st.text(alphabet="ab \n\t\x1b[/P1]\u200b\u202eé", max_size=40), st.text(alphabet="ab []"))
def test_no_character_is_lost_and_each_control_is_visible(text: str, before: str) -> None:
    assert changed_in(text, before, "red").plain == with_controls(text).plain


def test_long_texts_cost_little() -> None:
    text = "a b c d " * COMPARED
    began = time.process_time()
    assert changed_in(text, text[2:], "red").plain == text
    assert time.process_time() - began < 2
