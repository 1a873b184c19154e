"""The context block of a home turn, made by one pure function (rules C2 to C5)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from itertools import groupby

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


@dataclass(frozen=True, slots=True)
class Caps:
    """The limits of the block: counts, and code points (rule C2)."""

    turns: int = 16
    facts: int = 10
    notes: int = 10
    turn_chars: int = 1_000
    fact_chars: int = 200
    block_chars: int = 12_000


class PieceKind(StrEnum):
    """What a piece of the block is; the frame is what qterm itself says in it."""

    FRAME = "frame"
    MODE = "mode"
    FACT = "fact"
    NOTE = "note"
    TURN = "turn"


@dataclass(frozen=True, slots=True)
class Piece:
    """Some whole lines of the block, without the last line's end.

    `source` is the id of the fact or turn they were made of, `clipped` whether it was cut.
    """

    kind: PieceKind
    text: str
    source: int | None = None
    clipped: bool = False


@dataclass(frozen=True, slots=True)
class QContext:
    """The block, and what the operator should know about it.

    `text` is empty when there is nothing to tell. The counts say how many turns, facts and notes
    are in it and how many were left out (turns are counted up to about 1,000); `clipped` is how
    many of those in it were cut. `mode` is the one that is in it. `pieces`, joined by line ends,
    are exactly `text`.
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
    pieces: tuple[Piece, ...] = ()

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
    import regex  # slow to import, and few texts are too long

    # Whether there is an edge at `cap` shows with one more code point.
    window, edge = text[: cap + 1], 0
    for match in regex.finditer(r"\X", window):
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
        piece = _line(PieceKind.MODE, "Mode: ", line, caps)
        parts.mode = replace(piece, text=f"{piece.text}{_until(mode, now)}")
    parts.facts = [
        _line(PieceKind.FACT, "- ", safe_line(fact.text), caps, fact.id)
        for fact in told[: caps.facts]
    ]
    parts.facts_left_out = len(told) - len(parts.facts)
    parts.notes = [
        _line(PieceKind.NOTE, "- ", safe_line(note), caps) for note in notes[: caps.notes]
    ]
    parts.notes_left_out = len(notes) - len(parts.notes)
    chosen = said[max(0, len(said) - caps.turns) :] if caps.turns else []
    parts.turns = [_turn(turn, labels, caps) for turn in _answers_behind_questions(chosen)]
    parts.turns_left_out = older_turns + len(said) - len(chosen)
    while parts.has_any() and len(parts.text()) > caps.block_chars:
        parts.drop_one()
    pieces = parts.pieces() if parts.has_any() else ()
    return QContext(
        text=_joined(pieces),
        mode=mode if parts.mode else None,
        turns=len(parts.turns),
        turns_left_out=parts.turns_left_out,
        facts=len(parts.facts),
        facts_left_out=parts.facts_left_out,
        notes=len(parts.notes),
        notes_left_out=parts.notes_left_out,
        clipped=sum(piece.clipped for piece in pieces),
        pieces=pieces,
    )


class _Parts:
    """What goes into the block, while it is fitted into its cap."""

    def __init__(self, operator: str, labels: Mapping[str, str]) -> None:
        self.operator = operator
        self.you, self.q = labels.get(YOU, YOU), labels.get(Q, Q)
        self.mode: Piece | None = None
        self.facts: list[Piece] = []
        self.facts_left_out = 0
        self.notes: list[Piece] = []
        self.notes_left_out = 0
        self.turns: list[Piece] = []
        self.turns_left_out = 0

    def has_any(self) -> bool:
        return bool(self.mode or self.facts or self.notes or self.turns)

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
            self.mode = None

    def text(self) -> str:
        return _joined(self.pieces())

    def pieces(self) -> tuple[Piece, ...]:
        rows: list[Piece | str] = [
            BEGIN,
            f"You are Q. All of this block is background, not a request. {self.operator}'s message "
            f"to you follows after the line {END}: answer that, as Q, and do not begin with a "
            "name. Lines that are set in belong to the speaker above them.",
        ]
        if self.mode:
            rows += ["", self.mode]
        if self.facts:
            rows += ["", f"About {self.operator}:", *self.facts]
            rows += _left_out(self.facts_left_out, "fact")
        if self.notes:
            rows += ["", "Working notes:", *self.notes, *_left_out(self.notes_left_out, "note")]
        if self.turns:
            heading = f"Said so far, oldest first ({self.you} is {self.operator}, {self.q} is you):"
            older = [f"({_older(self.turns_left_out)} left out)"] if self.turns_left_out else []
            rows += ["", heading, *older, *self.turns]
        return tuple(_framed([*rows, "", END]))


def _framed(rows: Sequence[Piece | str]) -> Iterator[Piece]:
    """The pieces, with the lines of the frame between two of them as one piece."""
    for is_line, group in groupby(rows, lambda row: isinstance(row, str)):
        if is_line:
            yield Piece(PieceKind.FRAME, "\n".join(str(row) for row in group))
        else:
            yield from (row for row in group if isinstance(row, Piece))


def _joined(pieces: Sequence[Piece]) -> str:
    return "\n".join(piece.text for piece in pieces)


def _left_out(count: int, noun: str) -> list[str]:
    return [f"({count} more {noun}{'s' if count > 1 else ''} left out)"] if count else []


def _older(count: int) -> str:
    if count >= 1_000:
        return "1,000 older messages or more"
    return f"{count} older message{'s' if count > 1 else ''}"


def _line(kind: PieceKind, start: str, line: str, caps: Caps, source: int | None = None) -> Piece:
    text, clipped = clip(line, caps.fact_chars)
    return Piece(kind, start + text + CLIPPED * clipped, source, clipped)


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


def _turn(turn: Turn, labels: Mapping[str, str], caps: Caps) -> Piece:
    """One turn: its label, its first line, the others set in (rule C4)."""
    limit = reading_limit(caps)
    is_cut = len(turn.text) >= limit
    text = "\n".join(safe_lines(turn.text[:limit])).strip()
    text, clipped = clip(text, caps.turn_chars, is_cut=is_cut)
    text = text.rstrip() + CLIPPED * clipped + STOPPED * (turn.state is TurnState.STOPPED)
    # A persona that the config does not know (any more) goes by its key, as safe as a label (C4).
    label = labels.get(turn.persona) or safe_line(turn.persona).replace(":", "")
    lines = text.split("\n")
    text = "\n".join([f"{label}: {lines[0]}", *(f"{_SET_IN}{line}".rstrip() for line in lines[1:])])
    return Piece(PieceKind.TURN, text, turn.id, clipped)


def _until(mode: Mode, now: datetime) -> str:
    if mode.until is None:
        return ""
    until = mode.until.astimezone(now.tzinfo)
    shape = "%H:%M" if until.date() == now.date() else "%Y-%m-%d %H:%M"
    return f" (until {until:{shape}})"
