"""Folded pastes: what is sent is what was pasted and typed, whatever that is."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qterm.tui.words import pastes
from qterm.tui.words.pastes import FOLD_CHARS, FOLD_LINES, HUGE_CHARS, Pastes

FORGED = "⟦pasted 1: 3 characters, 1 line⟧"
ODD = ["⟦", "⟧", "⟦\ufe0e", "pasted 1: ", FORGED, "\x1b", "␛", "\n", "\u202e", "字"]
TEXT = st.lists(st.one_of(st.sampled_from(ODD), st.text("ab \n", max_size=5))).map("".join)
LARGE = st.one_of(
    st.builds(lambda text, count: (text or "x") * count, TEXT, st.just(FOLD_CHARS + 1)),
    st.builds(lambda text: f"{text}\n" * (FOLD_LINES + 1), TEXT),
)


@given(st.lists(st.one_of(TEXT.map(lambda text: (text, False)), LARGE.map(lambda t: (t, True)))))
def test_pastes_and_words_together_are_meant_whole(parts: list[tuple[str, bool]]) -> None:
    folded = Pastes()
    text = "".join(folded.put(part) if large else pastes.shown(part) for part, large in parts)
    assert folded.expand(text) == "".join(part for part, _ in parts)
    assert len(pastes.folds(text.replace("\n", " "))) == sum(large for _, large in parts)
    assert not set(text) & set("\x1b\u202e")


@given(TEXT)
def test_what_is_written_is_no_fold_whatever_it_looks_like(text: str) -> None:
    folded = Pastes()
    folded.put("abc")  # a first paste there is
    assert pastes.meant(pastes.shown(text)) == text
    assert pastes.folds(pastes.shown(text)) == []
    assert folded.expand(pastes.shown(text)) == text


@given(TEXT, LARGE, TEXT, LARGE, TEXT)
def test_a_message_that_comes_back_is_folded_as_it_was(
    before: str, first: str, between: str, second: str, after: str
) -> None:
    message = before + first + between + second + after
    folded = Pastes()
    for body in (first, second):
        folded.put(body)
    folded.forget_all_but("")
    text = folded.fold(message)
    assert folded.expand(text) == message
    assert pastes.folds(text.replace("\n", " "))


@given(TEXT, TEXT, st.integers(0, 300))
def test_a_huge_text_is_folded_and_its_edges_stay_in_sight(
    first: str, last: str, count: int
) -> None:
    message = f"{first}\n" + f"{count}\n" * HUGE_CHARS + last
    folded = Pastes()
    text = folded.fold(message)
    assert folded.expand(text) == message
    assert "⟦folded 1: " in text
    assert len(text) < 2_000


@given(TEXT, LARGE, TEXT, st.data())
def test_what_was_sent_leaves_and_the_rest_stays(
    before: str, body: str, after: str, data: st.DataObject
) -> None:
    folded = Pastes()
    text = pastes.shown(before) + folded.put(body) + pastes.shown(after)
    message = folded.expand(text)
    at = data.draw(st.integers(0, len(message)))
    rest = folded.cut(text, message[:at])
    assert rest is not None
    assert folded.expand(rest) == message[at:]
    assert folded.cut(text, message + "x") is None
    assert folded.cut(text, "\0" + message) is None


def test_what_is_folded_and_how_it_is_called() -> None:
    assert not pastes.is_large("x" * FOLD_CHARS)
    assert pastes.is_large("x" * (FOLD_CHARS + 1))
    assert not pastes.is_large("x\n" * FOLD_LINES)
    assert pastes.is_large("x\n" * FOLD_LINES + "x")
    folded = Pastes()
    assert folded.put("x" * 2_001) == "⟦pasted 1: 2,001 characters, 1 line⟧"
    assert folded.put("ab\n" * 1_000 + "c") == "⟦pasted 2: 3,001 characters, 1,001 lines⟧"
    folded.forget_all_but("nothing of it")
    assert folded.put("abc").startswith("⟦pasted 1")


def test_what_was_unfolded_is_not_folded_again() -> None:
    folded = Pastes()
    folded.put("line\n" * 30)
    assert folded.fold("look: " + "line\n" * 30).startswith("look: ⟦pasted 2")
    folded.unfolded("line\n" * 30)
    assert folded.fold("line\n" * 30) == "line\n" * 30


@pytest.mark.parametrize("unit", ["word and word\n", "wört ✓ 字\n"])
def test_the_cost_of_a_paste_is_that_of_a_few_looks_at_it(unit: str) -> None:
    text = unit * (10_000_000 // len(unit))
    start = time.perf_counter()
    for _ in range(5):
        text.count("\n")
        text.replace("\r\n", "\n").replace("\r", "\n").encode()
    few_looks = time.perf_counter() - start
    folded = Pastes()
    start = time.perf_counter()
    shown = folded.put(text) + "typed"
    message = folded.expand(shown)
    assert folded.fold(message) != message
    assert folded.cut(shown, text) == "typed"
    assert time.perf_counter() - start < 20 * few_looks
