"""What the end of a live turn says: an answer, an error that came as text, a break."""

from __future__ import annotations

from typing import Any

from qterm.hermes import failures
from qterm.hermes.live.answer import Answer
from qterm.hermes.way import Failed, FailureKind, HermesEvent, Replied

END = {"stopReason": "end_turn"}
USAGE = {**END, "usage": {"totalTokens": 15}}


def chunk(text: str) -> dict[str, Any]:
    return {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}


def ended(texts: list[str], answer: dict[str, Any]) -> tuple[object, list[HermesEvent]]:
    events: list[HermesEvent] = []
    reading = Answer("session", events.append)
    for text in texts:
        reading.update(chunk(text))
    return reading.outcome(answer, "", is_command=False), events


async def test_an_answer() -> None:
    outcome, _ = ended(["All ", "green."], USAGE)
    assert outcome == Replied("All green.", "session")


async def test_an_error_that_came_as_text() -> None:
    outcome, _ = ended(["HTTP 401: bad key"], END)
    assert isinstance(outcome, Failed)
    assert outcome.partial == ""
    assert "401" in outcome.detail


async def test_words_that_were_shown_are_no_error() -> None:
    """The model died in the middle: what had come is Q's own, and stays."""
    outcome, _ = ended([f"word{number} " for number in range(12)], END)
    assert isinstance(outcome, Failed)
    assert outcome.kind is FailureKind.PROVIDER
    assert outcome.reason == failures.BROKE_OFF
    assert outcome.partial.startswith("word0 word1")
    assert "word0" not in outcome.reason + outcome.detail
