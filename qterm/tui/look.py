"""How turns look: what the widgets need to know beyond the turn itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta

from textual.content import Content
from textual.style import Style

from qterm.model import QTERM, Degraded, Persona, Q, Turn, TurnState
from qterm.tui.commands.registry import first_key
from qterm.tui.content import body, colour_style, one_line, plain
from qterm.tui.widgets.steps import StepsShown
from qterm.tui.words.durations import seconds_words, ticking_words
from qterm.tui.words.step_words import step_lines

SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
LABEL_CELLS = 12
"""The most cells of a persona's label in the feed."""

TOOL_CELLS = 24
"""The most cells of a tool's name beside the signs of life."""

_FAILED = "bold $text-error"
_NOTE = "$foreground-muted"
_WARNING = "$text-warning"


@dataclass(slots=True)
class Look:
    """Labels, colours, keys and the clock. `now` gives local time with its zone, which knows the
    offset of other moments, too.

    The labels are as wide as those of `speakers` need, of everybody's where none is named.
    """

    personas: Mapping[str, Persona]
    now: Callable[[], datetime]
    keys: Mapping[str, str] = field(default_factory=dict)
    dark: bool = True
    moving: bool = True
    speakers: frozenset[str] = frozenset()

    def key(self, command_id: str) -> str:
        """The first key of a command, as it is written; the operator's own where there is one."""
        return first_key(command_id, self.keys)

    @property
    def label_cells(self) -> int:
        """The width of the column with the labels."""
        keys = self.speakers or self.personas.keys()
        labels = [persona.label for key, persona in self.personas.items() if key in keys]
        widths = [one_line(label).cell_length for label in labels]
        return min(max([*widths, 1]), LABEL_CELLS)

    @property
    def margin(self) -> int:
        """The cells before a turn's text: its time and its label."""
        return 6 + self.label_cells + 1

    def label(self, key: str, width: int | None = None) -> Content:
        """A persona's label with its colour; a persona nobody configured shows its key."""
        persona = self.personas.get(key) or Persona(key, key)
        style = colour_style(persona.colour, dark=self.dark)
        return one_line(persona.label or key, width, style)

    def local(self, moment: datetime) -> datetime:
        """The moment in the operator's zone."""
        return moment.astimezone(self.now().tzinfo)

    def head(self, turn: Turn) -> Content:
        """Time and label, as they stand to the left of a turn."""
        time = f"{self.local(turn.created_at):%H:%M} "
        if turn.persona == QTERM:  # a note in the thread: nobody says it
            return Content.styled(time, _NOTE)
        return Content.assemble(
            Content.styled(time, _NOTE), self.label(turn.persona, self.label_cells)
        )

    def day(self, turn: Turn) -> date:
        """The day a turn was said on."""
        return self.local(turn.created_at).date()

    def day_words(self, day: date) -> str:
        """A day as its day line has it."""
        return day_words(day, self.now().date())

    def when(self, moment: datetime, now: datetime) -> str:
        """The time of a moment today, the day of another one; in as few cells as can be."""
        there = self.local(moment)
        if there.date() == now.date():
            return f"{there:%H:%M}"
        return f"{there.day} {there:%b}" if there.year == now.year else f"{there:%b %Y}"

    def spin(self, seconds: float) -> str:
        """A sign of life, still where animation is off."""
        return SPINNER[int(seconds * 8) % len(SPINNER)] if self.moving else "…"


def day_words(day: date, today: date) -> str:
    """A day in words: `Today`, `Yesterday`, and the date; the year where it is another one."""
    words = f"{day:%A} {day.day} {day:%B}"
    if day.year != today.year:
        words += f" {day.year}"
    if day == today:
        return f"Today, {words}"
    if day == today - timedelta(days=1):
        return f"Yesterday, {words}"
    return words


@dataclass(frozen=True, slots=True)
class Shown:
    """One turn as it is shown: with what is known of it beyond the store.

    `text` is the answer so far where it is ahead of the store. `seconds` is how long it has been
    open, `mine` whether this qterm works on it, `answered` whether an answer of Q's stands below,
    `steps` what Q does or did for it, `is_drawn` whether its text is drawn as Markdown.
    """

    turn: Turn
    text: str | None = None
    seconds: float = 0.0
    mine: bool = True
    answered: bool = False
    unfolded: bool = False
    tool: str = ""
    steps: StepsShown | None = None
    is_drawn: bool = False

    @property
    def said(self) -> str:
        """What was said so far."""
        return self.turn.text if self.text is None else self.text

    @property
    def asks(self) -> bool:
        """Whether hermes waits for the operator's answer."""
        return self.steps is not None and self.steps.asks


def turn_content(shown: Shown, look: Look) -> Content:
    """The text of a turn with its notes: everything right of the label.

    Only what stands below the text, where that is drawn as Markdown.
    """
    turn = shown.turn
    elapsed = Content("")
    if turn.persona == Q and turn.elapsed is not None and not turn.state.is_open:
        elapsed = Content.styled(seconds_words(turn.elapsed), _NOTE)
    if shown.is_drawn:
        below = [elapsed, *_notes(shown, look)]
        return Content("\n").join(line for line in below if line.plain)
    parts = [body(shown.said, _NOTE if turn.hidden or turn.persona == QTERM else Style())]
    if elapsed.plain:
        parts.append(Content.styled(f"  {elapsed.plain}", _NOTE))
    lines = [Content("").join(parts), *_notes(shown, look)]
    return Content("\n").join(line for line in lines if line.plain or line is lines[0])


def said_length(shown: Shown) -> int:
    """How many code points of `turn_content` are what was said; the rest are notes."""
    return 0 if shown.is_drawn else len(body(shown.said).plain)


def _notes(shown: Shown, look: Look) -> list[Content]:
    turn = shown.turn
    lines = step_lines(shown.steps) if shown.steps is not None else []
    lines += _reply_notes(shown, look) if turn.persona == Q else _own_notes(shown, look)
    if turn.hidden:
        lines.append(Content.styled("hidden from Q", _NOTE))
    if turn.degraded is not None:
        lines.append(Content.styled(f"! {_degraded(turn.degraded)}", _WARNING))
    if shown.unfolded and turn.detail:
        lines.append(plain(turn.detail.rstrip(), _NOTE))
    return lines


def _degraded(degraded: Degraded) -> str:
    return degraded.sentence


def _reply_notes(shown: Shown, look: Look) -> list[Content]:
    match shown.turn.state:
        case TurnState.PENDING | TurnState.QUEUED:
            return [working(shown, look)]
        case TurnState.STOPPED:
            return [Content.styled("(stopped)", _NOTE)]
        case TurnState.INTERRUPTED | TurnState.FAILED:
            return [Content.styled("(this is as far as the answer came)", _NOTE)]
        case _:
            return []


def _own_notes(shown: Shown, look: Look) -> list[Content]:
    turn = shown.turn
    after = "" if turn.elapsed is None else f" after {seconds_words(turn.elapsed)}"
    match turn.state:
        case TurnState.QUEUED:
            words = "waiting for the message before it"
            return [Content.styled(f"◷ {words}  {ticking_words(shown.seconds)}", _NOTE)]
        case TurnState.STOPPED if turn.reason:  # over ssh Q may still run there
            return [_trouble(f"■ stopped{after}: ", shown, look)]
        case TurnState.STOPPED if not shown.answered:
            return [Content.styled(f"■ stopped{after}", _NOTE)]
        case TurnState.FAILED:
            return [_trouble(f"✗ failed{after}: ", shown, look)]
        case TurnState.INTERRUPTED:
            return [_trouble("✗ interrupted: ", shown, look)]
        case _:
            return []


def _trouble(start: str, shown: Shown, look: Look) -> Content:
    turn = shown.turn
    reason = turn.reason or "Q gave no reason."
    hints = f"{look.key('send-again')}: send again"
    if turn.detail:
        hints += f" · {look.key('detail')}: {'fold' if shown.unfolded else 'details'}"
    return Content.assemble(
        Content.styled(start, _FAILED),
        plain(reason, "$text-error"),
        Content.styled(f"\ntab, then {hints}", _NOTE),
    )


def at_work(shown: Shown, look: Look) -> Content:
    """Q at work on a message, before the first word of the answer."""
    lines = step_lines(shown.steps) if shown.steps is not None else []
    line = working(shown, look)
    return Content("\n").join([*lines, line])


def working(shown: Shown, look: Look) -> Content:
    """Q at work: a sign of life, for how long, and how to stop it."""
    seconds, doing = shown.seconds, "thinking"
    if shown.asks:
        doing = "waiting for your answer"
    elif shown.tool:  # its step has all of it
        doing = f"using {one_line(shown.tool.partition(':')[0], TOOL_CELLS).plain}"
    end = f"{look.key('stop')} stops" if shown.mine else "in another qterm"
    return Content.styled(f"{look.spin(seconds)} {doing}  {ticking_words(seconds)} · {end}", _NOTE)
