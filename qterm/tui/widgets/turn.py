"""One turn of the feed, the line of a new day, and the line of Q at work."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, cast

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.events import Click
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static

from qterm.model import Q
from qterm.tui.look import Look, Shown, at_work, said_length, turn_content
from qterm.tui.words.step_words import FOLD

if TYPE_CHECKING:
    from textual.css.styles import RulesMap
    from textual.selection import Selection

    from qterm.tui.widgets.answer import Answer
    from qterm.tui.words.links import Link


class Beside(Static):
    """What stands beside the words: dragging over it, or from it, takes nothing of it along."""

    def get_selection(self, selection: Selection) -> None:
        """Nothing of it."""


class Body(Static):
    """The text of a turn. Taking other words of the same height costs no layout of the feed.

    `said` are the code points that were said; the notes behind them are not copied with them.
    """

    def __init__(self, words: Content) -> None:
        super().__init__(words, classes="turn--body", markup=False)
        self.said: int | None = None

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """What was said of what is selected."""
        text = self.visual
        if self.said is None or not isinstance(text, Content):
            return super().get_selection(selection)
        taken = selection.extract(text.plain[: self.said])
        return (taken, "\n") if taken else None

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


class LinkChosen(Message):
    """The operator clicked a link; nothing has been opened."""

    def __init__(self, link: Link) -> None:
        super().__init__()
        self.link = link


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
        self._head = Beside(look.head(shown.turn), classes="turn--head", markup=False)
        self._head.styles.width = look.margin
        self._is_plain = False
        self._answer: Answer | None = None
        self._body, self._said = self._make()

    def _make(self) -> tuple[Body, Widget]:
        """What holds the notes, and all that stands right of the label."""
        words = turn_content(self.shown, self._look)
        body = Body(words)
        body.said = said_length(self.shown)
        if not self.shown.is_drawn:
            self._answer = None
            return body, body
        from qterm.tui.widgets.answer import Answer  # its libraries are slow to import

        body.display = bool(words.plain)
        whole = not self.shown.turn.state.is_open
        self._answer = Answer(self.shown.said, whole=whole)
        return body, Vertical(self._answer, body, classes="turn--column")

    @property
    def turn_id(self) -> int:
        """The id of the turn it shows."""
        return self.shown.turn.id

    def compose(self) -> ComposeResult:
        """Head and body."""
        yield self._head
        yield self._said

    def show(self, shown: Shown) -> None:
        """Show a newer state of the same turn; nothing is drawn where nothing has changed."""
        if self._is_plain:
            shown = replace(shown, is_drawn=False)
        if shown == self.shown:
            return
        before, self.shown = self.shown, shown
        if shown.is_drawn is not before.is_drawn:
            self._change()
            return
        if self._answer is not None:
            self._answer.say(shown.said, whole=not shown.turn.state.is_open)
        self._take()

    def _take(self) -> None:
        words = turn_content(self.shown, self._look)
        self._body.take(words)
        self._body.said = said_length(self.shown)
        if self._answer is not None:
            self._body.display = bool(words.plain)

    def _change(self) -> None:
        """From plain text to Markdown, or back."""
        self._body, self._said = self._make()
        self.run_worker(
            self._replace(self._said), group="change", exclusive=True, exit_on_error=False
        )

    async def _replace(self, new: Widget) -> None:
        """The old text stays until the new one is drawn, so that nothing jumps for a frame."""
        answer = self._answer
        new.display = False
        await self.mount(new)
        if answer is not None:
            await answer.is_drawn.wait()
        with self.app.batch_update():
            new.display = True
            for old in [child for child in self.children if child not in {self._head, new}]:
                await old.remove()

    def on_answer_failed(self) -> None:
        """Markdown that Textual can't draw."""
        self._is_plain = True
        self.show(self.shown)

    def redraw(self) -> None:
        """Draw it again, after the theme has changed."""
        self._head.update(self._look.head(self.shown.turn))
        self._take()

    def on_click(self, event: Click) -> None:
        """Tell the feed which turn is meant, or which fold of it."""
        self.post_message(_folded(event) or self.Clicked(self.turn_id))


class DayLine(Beside):
    """The line above the first turn of a day, or of a task's run: its words in a rule."""

    def __init__(self, words: str) -> None:
        super().__init__(Content(""), markup=False)
        self.words = words
        self.border_title = Content(f" {words} ")  # a str would be markup


class WorkingLine(Horizontal):
    """Q at work on a message, before the first word of the answer. Last in the feed."""

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look = look
        label = Content.assemble(" " * 6, look.label(Q, look.label_cells))
        self._head = Beside(label, classes="turn--head", markup=False)
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
