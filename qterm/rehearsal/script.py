"""What the scripted model answers: pure, from nothing but the text that Q was sent.

It answers from the context block, so that a rehearsal shows what Q really gets to know.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from qterm.context import BEGIN, END
from qterm.rehearsal.model_server import Answer, content_text, user_text

WORD_SECONDS = 0.03
"""How long a word of an answer takes: quick to read, slow enough to be seen coming."""

_TURN = re.compile(r"(?P<label>[^\s:()][^:]*): (?P<text>.*)")
_SAYING = re.compile(
    r"\b(say|says|said|tell|tells|told|write|wrote|mean|meant|want|wants|ask|asks|asked)\b",
    re.IGNORECASE,
)
_MODE = re.compile(r"\bmode\b|\bwhat am i (doing|at|up to)\b", re.IGNORECASE)
_ABOUT_ME = re.compile(r"\babout me\b|\bknow\b.*\bme\b|\bfacts?\b", re.IGNORECASE)
_MISSED = re.compile(
    r"\bmiss(ed)?\b|\bsumm|\bcatch\b|\bwhat('s| is| has) (new|happened)", re.IGNORECASE
)


@dataclass
class Told:
    """What a prompt holds: the message, and what the block in front of it tells."""

    message: str
    has_block: bool = False
    mode: str = ""
    facts: list[str] = field(default_factory=list)
    turns: list[tuple[str, str]] = field(default_factory=list)
    """Who, and what; oldest first."""

    def last_of(self, label: str) -> str | None:
        """What somebody said last."""
        texts = [text for who, text in self.turns if who == label]
        return texts[-1] if texts else None

    def others(self) -> list[str]:
        """Who else spoke, the last speaker first."""
        found = [who for who, _ in reversed(self.turns) if who not in {"You", "Q"}]
        return list(dict.fromkeys(found))


def read_prompt(prompt: str) -> Told:
    """Take a prompt apart, as qterm's block puts it together."""
    head, end, message = prompt.partition(f"\n{END}")
    if not prompt.startswith(BEGIN) or not end:
        return Told(prompt.strip())
    told = Told(message.strip(), has_block=True)
    section = ""
    for line in head.rstrip().split("\n"):
        if not line and section != "Said":  # there, the last section, it is a turn's own
            section = ""
        elif line.startswith("Mode: ") and not section:
            told.mode = line.removeprefix("Mode: ")
        elif not section:
            section = line.split()[0]
        elif section == "About" and line.startswith("- "):
            told.facts.append(line.removeprefix("- "))
        elif section == "Said" and (not line or line.startswith("    ")) and told.turns:
            who, text = told.turns[-1]
            told.turns[-1] = (who, f"{text}\n{line.strip()}")
        elif section == "Said" and (match := _TURN.fullmatch(line)):
            told.turns.append((match["label"], match["text"]))
    return told


def reply(prompt: str, earlier: Sequence[str] = ()) -> str:
    """The answer to a message, with or without its block.

    `earlier` are the messages that its session holds already, oldest first.
    """
    told = read_prompt(prompt)
    for who in told.others():
        if re.search(rf"\b{re.escape(who)}\b", told.message, re.IGNORECASE):
            return f"{who} said: “{told.last_of(who)}”"
    asks_for_own = re.search(r"\b(I|me)\b", told.message) and _SAYING.search(told.message)
    if asks_for_own and (own := told.last_of("You")):
        return f"You said: “{own}”"
    if told.mode and _MODE.search(told.message):
        return f"Your mode is {told.mode}."
    if told.facts and _ABOUT_ME.search(told.message):
        return "I was told this about you:\n" + "\n".join(f"- {fact}" for fact in told.facts)
    if told.others() and _MISSED.search(told.message):
        lines = [f"- {who}: {told.last_of(who)}" for who in told.others()]
        return "The last from each:\n" + "\n".join(lines)
    return _about_itself(told, earlier)


def _about_itself(told: Told, earlier: Sequence[str]) -> str:
    opening = "This is a rehearsal: a script answers in the place of a model."
    if earlier:
        held = f"{_count(len(earlier), 'earlier message')} of yours"
        return f"{opening} This session remembers {held}; the first was “{earlier[0].strip()}”."
    if not told.has_block:
        return f"{opening} Your message came alone: nothing was said to me before it."
    parts = [_count(len(told.turns), "earlier message"), _count(len(told.facts), "fact")]
    came = f"{parts[0]} and {parts[1]} about you"
    if told.mode:
        came = f"{parts[0]}, {parts[1]} about you and your mode, {told.mode}"
    others = told.others()
    hint = f" Ask me what {others[0]} said." if others else ""
    return f"{opening} With your message came {came}.{hint}"


def _count(number: int, noun: str) -> str:
    return f"{number or 'no'} {noun}{'' if number == 1 else 's'}"


def script(request: dict[str, Any]) -> Answer:
    """The model: a reply in words for a turn, a title for the other requests hermes makes."""
    if not request.get("stream"):
        return Answer(("Rehearsal",))
    said = [
        content_text(message.get("content"))
        for message in request.get("messages", [])
        if message.get("role") == "user"
    ]
    text = reply(user_text(request), said[:-1])
    return Answer(tuple(in_words(text)), delay=WORD_SECONDS)


def in_words(text: str) -> list[str]:
    """The text in pieces that end after a word's space; joined, they are the text."""
    return re.findall(r"\S+\s*|\s+", text)
