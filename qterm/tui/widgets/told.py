"""What Q will be told with the next message: the numbers first, then the block, word for word."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.events import Resize
from textual.widgets import Static

from qterm.context import Caps
from qterm.tui.commands.registry import Place, bindings
from qterm.tui.content import one_line, plain
from qterm.tui.widgets.walking import Line, WalkList
from qterm.tui.words.told_rows import Row, RowWords, Telling, fit_words, numbers, rows

_NAMES = {
    "mode": "Mode",
    "about": "About {operator}",
    "transcript": "Transcript",
    "notes": "Notes",
    "size": "Size",
    "draft": "Your message",
}
LOW = 18
"""Below this many rows the sentence that explains it makes way."""

INTRO = "Goes in front of your next message, word for word; qterm sends nothing else."


class ToldList(WalkList):
    """The rows; what can be done with them are commands."""

    BINDINGS = bindings(Place.TOLD)

    def __init__(self) -> None:
        super().__init__(id="told--list")
        self._of: dict[str, Row] = {}

    def show_rows(self, made: list[Row]) -> None:
        """Show these rows."""
        self._of = {row.id: row for row in made if row.id}
        self.show([Line(row.id, row.content) for row in made])

    @property
    def row(self) -> Row | None:
        """The row with the cursor."""
        return self._of.get(self.chosen or "")


class ToldView(Vertical):
    """The context as it would go out now, in rows one can walk; beside the feed, or alone."""

    def __init__(self, words: RowWords, caps: Caps) -> None:
        super().__init__(id="told")
        self._words, self._caps = words, caps
        self._values = {
            name: Static(Content(""), markup=False, classes="told--value") for name in _NAMES
        }
        self._lines: dict[str, Horizontal] = {}
        self._trouble = Static(Content(""), id="told--trouble", markup=False)
        self._trouble.display = False
        self.list = ToldList()

    def compose(self) -> ComposeResult:
        """The heading, the numbers, the block."""
        yield Static(Content("What Q will be told"), id="told--title", markup=False)
        yield Static(Content(INTRO), id="told--intro", markup=False)
        for name, value in self._values.items():
            title = one_line(_NAMES[name].replace("{operator}", self._words.operator), 13)
            line = Horizontal(
                Static(title, markup=False, classes="told--name"), value, classes="told--row"
            )
            line.display = False
            self._lines[name] = line
            yield line
        yield self._trouble
        yield self.list

    def on_resize(self, event: Resize) -> None:
        """The sentence makes way where there are few rows."""
        self.set_class(event.size.height < LOW, "-short")

    @property
    def row(self) -> Row | None:
        """The row with the cursor, where there is one on the screen."""
        return self.list.row if self.display and self.is_attached else None

    def show(self, telling: Telling) -> None:
        """Show what is known now."""
        self.show_size(telling)
        self.list.display = telling.known is not None
        if telling.known is not None:
            self.list.show_rows(rows(telling.known, self._words))

    def show_size(self, telling: Telling) -> None:
        """Show the numbers, and what is wrong with them."""
        values = numbers(telling, self._caps, self._words.now())
        for name, value in self._values.items():
            self._lines[name].display = name in values
            value.update(values.get(name, Content("")))
        trouble = telling.trouble or fit_words(telling)
        self._trouble.display = bool(trouble)
        self._trouble.update(plain(trouble, "$text-error"))
