"""One turn of the feed, the line of a new day, and the line of Q at work."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.events import Click
from textual.message import Message
from textual.widgets import Static

from qterm.model import Q
from qterm.tui.look import Look, Shown, at_work, turn_content
from qterm.tui.step_words import FOLD

if TYPE_CHECKING:
    from textual.css.styles import RulesMap


class Body(Static):
    """The text of a turn. Taking other words of the same height costs no layout of the feed."""

    def __init__(self, words: Content) -> None:
        super().__init__(words, classes="turn--body", markup=False)

    def take(self, words: Content) -> None:
        """Show other words."""
        width, height = self.size
        same = width > 0 and words.get_height(cast("RulesMap", self.styles), width) == height
        self.update(words, layout=not same)


class Folded(Message):
    """The operator clicked a line of what Q did: `part` of it is to be unfolded or folded."""

    def __init__(self, turn_id: int, part: str) -> None:
        super().__init__()
        self.turn_id, self.part = turn_id, part


def _folded(event: Click) -> Folded | None:
    """What a click on a line with a fold means."""
    meta = event.style.meta.get(FOLD)
    return Folded(*meta) if isinstance(meta, tuple) and len(meta) == 2 else None


class TurnView(Horizontal):
    """One turn: time and label on the left, what was said on the right.

    Never markup, and nothing to focus: the feed moves the highlight. A click selects it.
    """

    class Clicked(Message):
        """The operator clicked a turn."""

        def __init__(self, turn_id: int) -> None:
            super().__init__()
            self.turn_id = turn_id

    def __init__(self, shown: Shown, look: Look) -> None:
        super().__init__()
        self.shown = shown
        self._look = look
        self._head = Static(look.head(shown.turn), classes="turn--head", markup=False)
        self._head.styles.width = look.margin
        self._body = Body(turn_content(shown, look))

    @property
    def turn_id(self) -> int:
        """The id of the turn it shows."""
        return self.shown.turn.id

    def compose(self) -> ComposeResult:
        """Head and body."""
        yield self._head
        yield self._body

    def show(self, shown: Shown) -> None:
        """Show a newer state of the same turn; nothing is drawn where nothing has changed."""
        if shown != self.shown:
            self.shown = shown
            self._body.take(turn_content(shown, self._look))

    def redraw(self) -> None:
        """Draw it again, after the theme has changed."""
        self._head.update(self._look.head(self.shown.turn))
        self._body.take(turn_content(self.shown, self._look))

    def on_click(self, event: Click) -> None:
        """Tell the feed which turn is meant, or which fold of it."""
        self.post_message(_folded(event) or self.Clicked(self.turn_id))


class DayLine(Static):
    """The line above the first turn of a day."""

    def __init__(self, words: str) -> None:
        super().__init__(Content(words), markup=False)


class WorkingLine(Horizontal):
    """Q at work on a message, before the first word of the answer. Last in the feed."""

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look = look
        label = Content.assemble(" " * 6, look.label(Q, look.label_cells))
        self._head = Static(label, classes="turn--head", markup=False)
        self._head.styles.width = look.margin
        self._body = Body(Content(""))
        self.display = False

    def compose(self) -> ComposeResult:
        """Head and body."""
        yield self._head
        yield self._body

    def show(self, shown: Shown | None) -> None:
        """Show for how long Q has been at work on a message, and what it does; None: it is not."""
        self.display = shown is not None
        if shown is not None:
            self._body.take(at_work(shown, self._look))

    def on_click(self, event: Click) -> None:
        """Tell the feed which fold is meant."""
        if (folded := _folded(event)) is not None:
            self.post_message(folded)

    def redraw(self) -> None:
        """Draw it again, after the theme has changed."""
        self._head.update(Content.assemble(" " * 6, self._look.label(Q, self._look.label_cells)))
