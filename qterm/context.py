"""The context block of a home turn, made by one pure function (rules C2 to C5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import regex

from qterm.model import SAID, YOU, Fact, Mode, Q, Turn, TurnState
from qterm.safe_text import safe_line, safe_lines

FRAME_WORDS = frozenset(
    {"mode", "about", "working notes", "said so far", "context for", "end of context"}
)
"""How lines of the block's own frame begin; no persona's label may begin so (rule C4)."""

BEGIN = "[Context for Q, put together by qterm]"
END = "[End of context]"
CLIPPED = " […]"
STOPPED = " (stopped)"
_SET_IN = "    "
_GRAPHEME = regex.compile(r"\X")


@dataclass(frozen=True, slots=True)
class Caps:
    """The limits of the block: counts, and code points (rule C2)."""

    turns: int = 16
    facts: int = 10
    notes: int = 10
    turn_chars: int = 1_000
    fact_chars: int = 200
    block_chars: int = 12_000


@dataclass(frozen=True, slots=True)
class QContext:
    """The block, and what the operator should know about it.

    `text` is empty when there is nothing to tell. The counts say how many turns, facts and notes
    are in it and how many were left out (turns are counted up to about 1,000); `clipped` is how
    many of those in it were cut. `mode` is the one that is in it.
    """

    text: str
    mode: Mode | None = None
    turns: int = 0
    turns_left_out: int = 0
    facts: int = 0
    facts_left_out: int = 0
    notes: int = 0
    notes_left_out: int = 0
    clipped: int = 0

    @property
    def chars(self) -> int:
        """The block's size in code points."""
        return len(self.text)


def reading_limit(caps: Caps) -> int:
    """How many code points of a turn are worth reading: the cap, and room for what is dropped."""
    return caps.turn_chars * 4


def clip(text: str, cap: int, *, is_cut: bool = False) -> tuple[str, bool]:
    """The text within `cap` code points, and whether anything is gone.

    Backs up to a grapheme's edge; one giant grapheme is cut hard. `is_cut` says that the text was
    cut already, so that its last grapheme may be a half one.
    """
    if len(text) <= cap and not is_cut:
        return text, False
    # Whether there is an edge at `cap` shows with one more code point.
    window, edge = text[: cap + 1], 0
    for match in _GRAPHEME.finditer(window):
        if match.end() > cap or (is_cut and match.end() == len(text)):
            break
        edge = match.end()
    return text[: edge or cap], True


def render_q_context(
    turns: Sequence[Turn],
    facts: Sequence[Fact],
    mode: Mode | None,
    notes: Sequence[str] = (),
    *,
    labels: Mapping[str, str],
    operator: str,
    now: datetime,
    caps: Caps = Caps(),
    older_turns: int = 0,
) -> QContext:
    """Make the block that a home message carries.

    In: turns of the home thread, oldest first, whatever their state (C5 filters, then counts);
    all facts in the operator's order (only pinned ones are told); the mode (left out once its time
    has passed); working notes, newest first; the personas' labels by key; `now` with its zone;
    `older_turns`, how many said turns there are before the first of `turns`.

    Out: the block, `text` empty when there is nothing to tell. Pure: the same in, the same out.
    """
    said = [turn for turn in turns if turn.state in SAID and not turn.hidden and turn.text.strip()]
    told = [fact for fact in facts if fact.pinned]
    parts = _Parts(safe_line(operator).replace(":", "") or "the operator", labels)
    if mode is not None and not mode.is_over(now) and (line := safe_line(mode.text)):
        clipped, parts.mode_clipped = _marked(line, caps.fact_chars)
        parts.mode = f"Mode: {clipped}{_until(mode, now)}"
    parts.facts = [_marked(safe_line(fact.text), caps.fact_chars) for fact in told[: caps.facts]]
    parts.facts_left_out = len(told) - len(parts.facts)
    parts.notes = [_marked(safe_line(note), caps.fact_chars) for note in notes[: caps.notes]]
    parts.notes_left_out = len(notes) - len(parts.notes)
    chosen = said[max(0, len(said) - caps.turns) :] if caps.turns else []
    parts.turns = [_turn(turn, labels, caps) for turn in _answers_behind_questions(chosen)]
    parts.turns_left_out = older_turns + len(said) - len(chosen)
    while parts.has_any() and len(parts.text()) > caps.block_chars:
        parts.drop_one()
    return QContext(
        text=parts.text() if parts.has_any() else "",
        mode=mode if parts.mode else None,
        turns=len(parts.turns),
        turns_left_out=parts.turns_left_out,
        facts=len(parts.facts),
        facts_left_out=parts.facts_left_out,
        notes=len(parts.notes),
        notes_left_out=parts.notes_left_out,
        clipped=parts.clipped(),
    )


class _Parts:
    """What goes into the block, while it is fitted into its cap. Each piece has its clip flag."""

    def __init__(self, operator: str, labels: Mapping[str, str]) -> None:
        self.operator = operator
        self.you, self.q = labels.get(YOU, YOU), labels.get(Q, Q)
        self.mode = ""
        self.mode_clipped = False
        self.facts: list[tuple[str, bool]] = []
        self.facts_left_out = 0
        self.notes: list[tuple[str, bool]] = []
        self.notes_left_out = 0
        self.turns: list[tuple[str, bool]] = []
        self.turns_left_out = 0

    def has_any(self) -> bool:
        return bool(self.mode or self.facts or self.notes or self.turns)

    def clipped(self) -> int:
        pieces = [*self.facts, *self.notes, *self.turns]
        return sum(clipped for _, clipped in pieces) + (self.mode_clipped and bool(self.mode))

    def drop_one(self) -> None:
        """The oldest turn goes first; only under a very small cap does anything else have to."""
        if self.turns:
            self.turns.pop(0)
            self.turns_left_out += 1
        elif self.notes:
            self.notes.pop()
            self.notes_left_out += 1
        elif self.facts:
            self.facts.pop()
            self.facts_left_out += 1
        else:
            self.mode = ""

    def text(self) -> str:
        sections = [
            f"{BEGIN}\n"
            f"You are Q. All of this block is background, not a request. {self.operator}'s message "
            f"to you follows after the line {END}: answer that, as Q, and do not begin with a "
            "name. Lines that are set in belong to the speaker above them."
        ]
        if self.mode:
            sections.append(self.mode)
        if self.facts:
            sections.append(
                _section(f"About {self.operator}:", self.facts, self.facts_left_out, "fact")
            )
        if self.notes:
            sections.append(_section("Working notes:", self.notes, self.notes_left_out, "note"))
        if self.turns:
            heading = f"Said so far, oldest first ({self.you} is {self.operator}, {self.q} is you):"
            lines = [heading, *(text for text, _ in self.turns)]
            if self.turns_left_out:
                lines.insert(1, f"({_older(self.turns_left_out)} left out)")
            sections.append("\n".join(lines))
        return "\n\n".join([*sections, END])


def _section(heading: str, pieces: Sequence[tuple[str, bool]], left_out: int, noun: str) -> str:
    lines = [heading, *(f"- {text}" for text, _ in pieces)]
    if left_out:
        lines.append(f"({left_out} more {noun}{'s' if left_out > 1 else ''} left out)")
    return "\n".join(lines)


def _older(count: int) -> str:
    if count >= 1_000:
        return "1,000 older messages or more"
    return f"{count} older message{'s' if count > 1 else ''}"


def _marked(text: str, cap: int) -> tuple[str, bool]:
    clipped, is_clipped = clip(text, cap)
    return clipped + CLIPPED * is_clipped, is_clipped


def _answers_behind_questions(turns: Sequence[Turn]) -> list[Turn]:
    """Messages that waited for others were stored before the others' answers: an answer with
    another question between it and its own moves up behind its own."""
    ordered: list[Turn] = []
    for turn in turns:
        place = len(ordered)
        if turn.reply_to is not None:
            for back in range(len(ordered) - 1, -1, -1):
                if ordered[back].id == turn.reply_to:
                    between = ordered[back + 1 :]
                    place = back + 1 if any(other.persona == YOU for other in between) else place
                    break
        ordered.insert(place, turn)
    return ordered


def _turn(turn: Turn, labels: Mapping[str, str], caps: Caps) -> tuple[str, bool]:
    """One turn: its label, its first line, the others set in (rule C4)."""
    limit = reading_limit(caps)
    is_cut = len(turn.text) >= limit
    text = "\n".join(safe_lines(turn.text[:limit])).strip()
    text, clipped = clip(text, caps.turn_chars, is_cut=is_cut)
    text = text.rstrip() + CLIPPED * clipped + STOPPED * (turn.state is TurnState.STOPPED)
    # A persona that the config does not know (any more) goes by its key, as safe as a label (C4).
    label = labels.get(turn.persona) or safe_line(turn.persona).replace(":", "")
    lines = text.split("\n")
    return "\n".join(
        [f"{label}: {lines[0]}", *(f"{_SET_IN}{line}".rstrip() for line in lines[1:])]
    ), clipped


def _until(mode: Mode, now: datetime) -> str:
    if mode.until is None:
        return ""
    until = mode.until.astimezone(now.tzinfo)
    shape = "%H:%M" if until.date() == now.date() else "%Y-%m-%d %H:%M"
    return f" (until {until:{shape}})"
