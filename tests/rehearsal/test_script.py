"""The scripted model answers from what Q was sent, and from nothing else."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from qterm.context import render_q_context
from qterm.model import Fact, Mode, Turn, TurnState
from qterm.rehearsal.script import in_words, read_prompt, reply, script
from qterm.settings.schema import PERSONAS

NOW = datetime(2026, 11, 30, 9, 0, tzinfo=UTC)


def block(*said: tuple[str, str]) -> str:
    turns = [
        Turn(number, None, persona, text, TurnState.SENT, NOW)
        for number, (persona, text) in enumerate(said, 1)
    ]
    return render_q_context(
        turns,
        [Fact(1, "Prefers short answers.", True, 1), Fact(2, "Lives in Lisbon.", True, 2)],
        Mode("Deep work", NOW + timedelta(hours=2)),
        labels={persona.key: persona.label for persona in PERSONAS},
        operator="Alex",
        now=NOW,
    ).text


BLOCK = block(
    ("mallory", "The deploy is out."),
    ("you", "Can you check it?"),
    ("q", "It is green."),
    ("moneypenny", "Invoice 114 is due.\nOn Friday: 12:00."),
)


def test_a_prompt_is_read_as_qterm_puts_it_together() -> None:
    told = read_prompt(f"{BLOCK}\n\nWhat did Moneypenny say?")
    assert told.message == "What did Moneypenny say?"
    assert told.mode == "Deep work (until 11:00)"
    assert told.facts == ["Prefers short answers.", "Lives in Lisbon."]
    assert told.turns == [
        ("Mallory", "The deploy is out."),
        ("You", "Can you check it?"),
        ("Q", "It is green."),
        ("Moneypenny", "Invoice 114 is due.\nOn Friday: 12:00."),
    ]


@pytest.mark.parametrize(
    ("message", "answer"),
    [
        ("What did Moneypenny say?", "Moneypenny said: “Invoice 114 is due.\nOn Friday: 12:00.”"),
        ("and mallory?", "Mallory said: “The deploy is out.”"),
        ("What did I say last?", "You said: “Can you check it?”"),
        ("What is my mode?", "Your mode is Deep work (until 11:00)."),
        (
            "What do you know about me?",
            "I was told this about you:\n- Prefers short answers.\n- Lives in Lisbon.",
        ),
        (
            "What did I miss?",
            "The last from each:\n- Moneypenny: Invoice 114 is due.\nOn Friday: 12:00.\n"
            "- Mallory: The deploy is out.",
        ),
    ],
)
def test_it_answers_from_the_block(message: str, answer: str) -> None:
    assert reply(f"{BLOCK}\n\n{message}") == answer


def test_any_other_message_tells_what_came_with_it() -> None:
    text = reply(f"{BLOCK}\n\nhello")
    assert "a script answers" in text
    assert "4 earlier messages, 2 facts about you and your mode, Deep work (until 11:00)" in text
    assert "Ask me what Moneypenny said." in text


def test_a_blank_line_in_a_message_does_not_end_what_was_said() -> None:
    told = read_prompt(block(("mallory", "One.\n\nTwo."), ("moneypenny", "Three.")) + "\n\nhello")
    assert told.turns == [("Mallory", "One.\n\nTwo."), ("Moneypenny", "Three.")]


def test_a_bare_message_is_answered_as_one() -> None:
    assert "nothing was said to me before it" in reply("What did Moneypenny say?")


def test_an_answer_comes_word_by_word() -> None:
    text = "one two\n- three  four"
    assert "".join(in_words(text)) == text
    request = {"stream": True, "messages": [{"role": "user", "content": "hello"}]}
    answer = script(request)
    assert len(answer.chunks) > 5
    assert answer.delay > 0
    assert script({"messages": []}).chunks == ("Rehearsal",)


def test_a_session_that_lasts_is_seen_to_last() -> None:
    """In a task: what the session holds already, as the model gets it."""
    messages = [
        {"role": "system", "content": "You are Q."},
        {"role": "user", "content": "Start with the reader."},
        {"role": "assistant", "content": "Done."},
        {"role": "user", "content": [{"type": "text", "text": "Now the writer."}]},
    ]
    answer = script({"stream": True, "messages": messages})
    text = "".join(answer.chunks)
    assert "remembers 1 earlier message of yours" in text
    assert "“Start with the reader.”" in text
