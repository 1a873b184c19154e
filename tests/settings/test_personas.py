"""Rule C4: labels that can't be taken for one another, nor for a part of the block."""

from __future__ import annotations

from typing import Any

import pytest
from textual.color import Color

import qterm.context
from qterm.model import Persona
from qterm.settings.personas import COLOURS, is_label, read_personas
from qterm.settings.schema import PERSONAS


def read(*entries: Any) -> tuple[dict[str, Persona], list[str]]:
    personas, problems = read_personas(list(entries), "config.toml")
    return {persona.key: persona for persona in personas}, [p.sentence for p in problems]


def test_what_is_listed_differs_and_the_rest_stays() -> None:
    personas, problems = read({"key": "mallory", "label": "Mal"}, {"key": "eve", "colour": "red"})
    assert problems == []
    assert list(personas) == ["you", "q", "mallory", "moneypenny", "eve"]
    assert personas["mallory"] == Persona("mallory", "Mal", "magenta")
    assert personas["eve"] == Persona("eve", "Eve", "red")
    assert personas["q"] == Persona("q", "Q", "green")


@pytest.mark.parametrize(
    "label",
    ["", " ", "a:b", "Ann:", "Ann：", "a\nb", "a\u2028b", "a\x1b[2Jb", "\u200b", "An\u200bn",
     "\u202eA", "x" * 41, "\ud800", 3, None, ["a"]],
)  # fmt: skip
def test_a_wrong_label_leaves_the_default(label: object) -> None:
    personas, problems = read({"key": "mallory", "label": label, "colour": "red"})
    assert len(problems) == 1
    assert '"personas[1].label" has to be' in problems[0]
    assert personas["mallory"] == Persona("mallory", "Mallory", "red")


@pytest.mark.parametrize(
    "label", ["Q", "q", " q ", "Ｑ", "YOU", "Moneypenny", "MONEYPENNY", "moneypenny "]
)
def test_no_two_labels_are_alike(label: str) -> None:
    personas, problems = read({"key": "mallory", "label": label})
    assert len(problems) == 1
    assert "whatever the case" in problems[0]
    assert personas["mallory"].label == "Mallory"


def test_another_persona_with_a_taken_label_is_left_out() -> None:
    personas, problems = read({"key": "eve", "label": "Straße"}, {"key": "bob", "label": "STRASSE"})
    assert len(problems) == 1
    assert "left out" in problems[0]
    assert "eve" in personas
    assert "bob" not in personas


def test_you_and_q_belong_to_the_operator_and_q_also_under_other_labels() -> None:
    personas, problems = read(
        {"key": "q", "label": "Quentin"},
        {"key": "mallory", "label": "Q"},
        {"key": "x", "label": "you"},
    )
    assert len(problems) == 2
    assert personas["q"].label == "Quentin"
    assert personas["mallory"].label == "Mallory"
    assert "x" not in personas


def test_a_label_that_was_given_up_can_be_taken() -> None:
    personas, problems = read(
        {"key": "mallory", "label": "Mal"}, {"key": "eve", "label": "Mallory"}
    )
    assert problems == []
    assert personas["eve"].label == "Mallory"


def test_labels_may_be_exchanged() -> None:
    personas, problems = read(
        {"key": "mallory", "label": "Moneypenny"}, {"key": "moneypenny", "label": "Mallory"}
    )
    assert problems == []
    assert personas["mallory"].label == "Moneypenny"


def test_taking_back_one_label_takes_back_what_stood_on_it() -> None:
    personas, problems = read(
        {"key": "mallory", "label": "Q"}, {"key": "moneypenny", "label": "mallory"}
    )
    assert len(problems) == 2
    assert personas["mallory"].label == "Mallory"
    assert personas["moneypenny"].label == "Moneypenny"


@pytest.mark.parametrize("word", sorted(qterm.context.FRAME_WORDS))
def test_a_label_does_not_begin_as_the_frame_does(word: str) -> None:
    for label in (word, word.upper(), f"[{word.title()}]", f"- {word} Alex", f"＊{word}"):
        personas, problems = read({"key": "mallory", "label": label})
        assert len(problems) == 1, label
        assert "frame what Q is told" in problems[0]
        assert personas["mallory"].label == "Mallory"


def test_a_name_that_only_looks_a_little_like_a_frame_word_is_fine() -> None:
    assert is_label("Modesty")
    assert is_label("Abouth")


@pytest.mark.parametrize(
    "entry",
    [3, {}, {"key": 3}, {"key": "You"}, {"key": "a b"}, {"key": ""}, {"key": "é"}, {"label": "X"}],
)
def test_an_entry_without_a_right_key_is_left_out(entry: object) -> None:
    personas, problems = read(entry, {"key": "eve"})
    assert len(problems) == 1
    assert '"personas[1]"' in problems[0]
    assert list(personas) == ["you", "q", "mallory", "moneypenny", "eve"]


def test_a_wrong_key_names_the_nearest() -> None:
    assert 'did you mean "mallory"' in read({"key": "Mallory", "label": "M"})[1][0]


def test_a_key_twice_counts_once() -> None:
    personas, problems = read({"key": "eve", "label": "A"}, {"key": "eve", "label": "B"})
    assert len(problems) == 1
    assert "a second time" in problems[0]
    assert personas["eve"].label == "A"


def test_an_unknown_field_names_the_nearest_and_the_rest_counts() -> None:
    personas, problems = read({"key": "mallory", "color": "red", "label": "Mal"})
    assert len(problems) == 1
    assert '"personas[1].color" (did you mean "personas[1].colour"?)' in problems[0]
    assert personas["mallory"] == Persona("mallory", "Mal", "magenta")


@pytest.mark.parametrize("colour", ["megenta", "#12345", "#1234567", 3, "[red]"])
def test_a_wrong_colour_leaves_the_default(colour: object) -> None:
    personas, problems = read({"key": "mallory", "colour": colour})
    assert len(problems) == 1
    assert personas["mallory"].colour == "magenta"


def test_a_wrong_colour_names_the_nearest() -> None:
    assert 'did you mean "magenta"' in read({"key": "mallory", "colour": "megenta"})[1][0]


def test_every_colour_with_a_name_is_one_the_screens_know() -> None:
    for colour in (*COLOURS, "#00afd7"):
        Color.parse(colour)
        assert read({"key": "mallory", "colour": colour})[1] == []


def test_the_built_in_labels_are_labels() -> None:
    assert all(is_label(persona.label) for persona in PERSONAS)
