"""What Q will be told, in rows: the block word for word, and beside it what is not sent and why.

No widget here. A row is one piece of the block, or something that could be one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from textual.content import Content

from qterm.context import Caps, Piece, PieceKind, QContext
from qterm.model import Fact, Mode, Turn
from qterm.safe_text import safe_line
from qterm.tui.content import one_line, plain

MUTED = "$foreground-muted"
ASIDE = "italic $foreground-muted"
NOT_SENT = "italic $text-warning"
HIDDEN_CHARS = 300
"""The most code points that a hidden turn shows: it is there to be found again, not read."""

MODE_CELLS = 60
"""The most cells of the mode among the numbers; its row has all that is sent of it."""

Parts = tuple[tuple[str, str], ...]
"""Words, each with its style."""


class RowKind(StrEnum):
    """What a row stands for; nothing can be done with TEXT."""

    TEXT = "text"
    MODE = "mode"
    FACT = "fact"
    TURN = "turn"


@dataclass(frozen=True, slots=True)
class Row:
    """One row. `parts` are foreign or own words with their styles; `id` is empty for TEXT.

    `turn_id` and `fact` say which turn or fact it is. `hidden`: the turn is hidden from Q. `sent`:
    the first part is in the block, word for word.
    """

    parts: Parts
    kind: RowKind = RowKind.TEXT
    fact: Fact | None = None
    turn_id: int | None = None
    hidden: bool = False
    sent: bool = True

    @property
    def id(self) -> str:
        """Stays the same while the row's words change."""
        source = self.fact.id if self.fact is not None else self.turn_id
        return "" if self.kind is RowKind.TEXT else f"{self.kind}-{source or 0}"

    @property
    def content(self) -> Content:
        """Safe to show."""
        return Content("").join(plain(words, style) for words, style in self.parts)


class Fit(StrEnum):
    """What of block and message one call can carry (rule C6)."""

    BOTH = "both"
    MESSAGE = "message"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class Known:
    """The context as it would go out now, with what it was made of, also what was left out.

    `mode` is the one that is set, over or not; `hidden` are turns that would be told if they were
    shown to Q again.
    """

    context: QContext
    facts: Sequence[Fact] = ()
    mode: Mode | None = None
    hidden: Sequence[Turn] = ()


@dataclass(slots=True)
class Telling:
    """What is known of what Q would be told; home and the screen for narrow terminals share it.

    `draft` is the message in the editor in code points, `fit` whether one call carries it with
    the block. `removed` are facts that can be brought back, the latest last.
    """

    known: Known | None = None
    trouble: str = ""
    draft: int = 0
    fit: Fit = Fit.BOTH
    removed: list[Fact] = field(default_factory=list)

    @property
    def mode(self) -> Mode | None:
        """The mode that is set, over or not."""
        return self.known.mode if self.known is not None else None


@dataclass(frozen=True, slots=True)
class RowWords:
    """What the rows' words need: the operator, the cap of facts, personas' labels, the clock, and
    the key of a command."""

    operator: str
    facts_cap: int
    label: Callable[[str], str]
    now: Callable[[], datetime]
    key: Callable[[str], str]


def rows(known: Known, words: RowWords) -> list[Row]:
    """The block's pieces in their order; what is not sent stands where it would be."""
    return list(_Rows(known, words).made())


_BLANK = Row((("", ""),), sent=False)


class _Rows:
    """The making of the rows of one block."""

    def __init__(self, known: Known, words: RowWords) -> None:
        self.known, self.words = known, words
        self.pieces = known.context.pieces
        self.kinds = [piece.kind for piece in self.pieces]
        self.facts = {fact.id: fact for fact in known.facts}
        # What is told was read first: a turn may have been hidden between the two.
        told = {piece.source for piece in self.pieces if piece.kind is PieceKind.TURN}
        self.hidden = [turn for turn in known.hidden if turn.id not in told]

    def made(self) -> Iterator[Row]:
        if not self.pieces:
            yield _aside("Nothing to tell yet: your message goes as it is.")
            yield from self.without_mode()
            if self.hidden:
                yield _BLANK
                yield from self.hidden_before(None)
        for place, piece in enumerate(self.pieces):
            if piece.kind is PieceKind.FRAME:
                yield from self.frame(piece, place)
            else:
                yield from self.piece(piece)
                if piece.kind is not self.next_kind(place):
                    yield from self.after(piece.kind)

    def next_kind(self, place: int) -> PieceKind | None:
        return self.kinds[place + 1] if place + 1 < len(self.kinds) else None

    def frame(self, piece: Piece, place: int) -> Iterator[Row]:
        """The frame; its beginning is opened up for a mode that is not there."""
        if place == 0 and PieceKind.MODE not in self.kinds:
            beginning, _, heading = piece.text.partition("\n\n")
            yield Row(((beginning, MUTED),))
            yield from self.without_mode()
            yield Row(((f"\n{heading}", MUTED),))
            return
        if place == len(self.pieces) - 1 and PieceKind.TURN not in self.kinds and self.hidden:
            yield _BLANK
            yield from self.hidden_before(None)
        yield Row(((piece.text, MUTED),))

    def piece(self, piece: Piece) -> Iterator[Row]:
        words: Parts = ((piece.text, ""),)
        if piece.clipped:
            words = (*words, ("  (cut short)", NOT_SENT))
        match piece.kind:
            case PieceKind.MODE:
                yield Row(words, RowKind.MODE)
            case PieceKind.FACT if (fact := self.facts.get(piece.source or 0)) is not None:
                yield Row(words, RowKind.FACT, fact=fact)
            case PieceKind.TURN:
                yield from self.hidden_before(piece.source)
                yield Row(words, RowKind.TURN, turn_id=piece.source)
            case _:  # a note; or a fact that was removed while the rest was read
                yield Row(words)

    def after(self, kind: PieceKind) -> Iterator[Row]:
        """What is not sent stands behind what is sent of its kind."""
        if kind is PieceKind.FACT or (kind is PieceKind.MODE and PieceKind.FACT not in self.kinds):
            yield from self.facts_not_sent()
        elif kind is PieceKind.TURN:
            yield from self.hidden_before(None)

    def without_mode(self) -> Iterator[Row]:
        yield _BLANK
        mode, now = self.known.mode, self.words.now()
        if mode is not None and mode.until is not None and mode.is_over(now):
            over = mode.until.astimezone(now.tzinfo)
            why = f"  (not sent: over since {over:%H:%M})"
            words: Parts = ((f"Mode: {safe_line(mode.text)}", MUTED), (why, NOT_SENT))
        else:
            key = self.words.key("told-edit")
            words = ((f"No mode: {key} says what you are at, and until when.", ASIDE),)
        yield Row(words, RowKind.MODE, sent=False)
        if PieceKind.FACT not in self.kinds:
            yield from self.facts_not_sent()

    def facts_not_sent(self) -> Iterator[Row]:
        told = {piece.source for piece in self.pieces if piece.kind is PieceKind.FACT}
        if not told:
            yield _BLANK
            yield _aside(self.facts_hint())
        for fact in self.known.facts:
            if fact.id not in told:
                words = ((f"- {safe_line(fact.text)}", MUTED), (self.why_not(fact), NOT_SENT))
                yield Row(words, RowKind.FACT, fact=fact, sent=False)

    def facts_hint(self) -> str:
        if self.known.facts:
            return f"About {self.words.operator} nothing is sent:"
        return f"Nothing about {self.words.operator} yet: {self.words.key('told-add')} adds a fact."

    def why_not(self, fact: Fact) -> str:
        why = "not pinned"
        if fact.pinned and fact.position > self.words.facts_cap:
            why = f"only the first {self.words.facts_cap} are"
        elif fact.pinned:
            why = "the block is full"
        return f"  (not sent: {why})"

    def hidden_before(self, turn_id: int | None) -> Iterator[Row]:
        """Hidden turns that are older than this one; all that are left, for None."""
        while self.hidden and (turn_id is None or self.hidden[0].id < turn_id):
            turn = self.hidden.pop(0)
            text = safe_line(turn.text[: HIDDEN_CHARS * 4])
            if len(text) > HIDDEN_CHARS:
                text = f"{text[:HIDDEN_CHARS]}…"
            words = (
                (f"{self.words.label(turn.persona)}: {text}", MUTED),
                ("  (hidden from Q)", NOT_SENT),
            )
            yield Row(words, RowKind.TURN, turn_id=turn.id, hidden=True, sent=False)


def _aside(words: str) -> Row:
    return Row(((words, ASIDE),), sent=False)


# -- the numbers -------------------------------------------------------------------------------


def numbers(telling: Telling, caps: Caps, now: datetime) -> dict[str, Content]:
    """How much is sent of how much, by the name of the line; one that says nothing is not there."""
    if telling.known is None:
        return {}
    context, facts = telling.known.context, telling.known.facts
    unpinned = sum(not fact.pinned for fact in facts)
    lines = {
        "mode": _mode_words(context.mode, now),
        "about": _facts_words(context, unpinned, caps),
        "transcript": _turns_words(context, len(telling.known.hidden), caps),
    }
    if context.notes or context.notes_left_out:
        lines["notes"] = Content(_of(context.notes, context.notes_left_out, "note", "the newest "))
    size = f"{context.chars:,} of {caps.block_chars:,} characters"
    if context.clipped:
        size += f", {context.clipped} cut short"
    lines["size"] = Content(size)
    if telling.draft:
        both = context.chars + telling.draft + (2 if context.chars else 0)
        lines["draft"] = Content(f"{telling.draft:,} characters, {both:,} in all")
    return lines


def _mode_words(mode: Mode | None, now: datetime) -> Content:
    if mode is None:
        return Content.styled("none", MUTED)
    text = one_line(mode.text, MODE_CELLS)
    if mode.until is None:
        return text
    until = mode.until.astimezone(now.tzinfo)
    day = "" if until.date() == now.date() else f"{until.day} {until:%B} "
    return Content.assemble(text, f" until {day}{until:%H:%M}")


def _facts_words(context: QContext, unpinned: int, caps: Caps) -> Content:
    beside = f", {unpinned} not pinned" if unpinned else ""
    if not context.facts and not context.facts_left_out:
        return Content.styled(f"no facts{beside}", MUTED)
    said = _of(context.facts, context.facts_left_out, "fact", "the first ")
    return Content(said + _most(context.facts, context.facts_left_out, caps.facts) + beside)


def _turns_words(context: QContext, hidden: int, caps: Caps) -> Content:
    beside = f", {hidden} hidden" if hidden else ""
    if not context.turns and not context.turns_left_out:
        return Content.styled(f"no turns{beside}", MUTED)
    said = _of(context.turns, context.turns_left_out, "turn", "the last ")
    return Content(said + _most(context.turns, context.turns_left_out, caps.turns) + beside)


def _most(shown: int, left_out: int, cap: int) -> str:
    """Why there are not more."""
    if not left_out:
        return ""
    return f" ({cap} at most)" if shown >= cap else " (no room for more)"


def _of(shown: int, left_out: int, noun: str, which: str = "") -> str:
    total = shown + left_out
    many = "1,000 or more" if left_out >= 1_000 else f"{total:,}"
    if not left_out:
        return f"{shown} {noun}" if shown == 1 else f"all {shown} {noun}s"
    return f"{which}{shown} of {many} {noun}s"


def fit_words(telling: Telling) -> str:
    """What is wrong with the size, and what to do; empty where it fits."""
    match telling.fit:
        case Fit.MESSAGE:
            return (
                "Too much for one call: your message would go without this block. Shorten the "
                "message, or hide turns and unpin facts here."
            )
        case Fit.NOTHING:
            return "Your message alone is more than one call can carry: shorten it."
        case Fit.BOTH:
            return ""
