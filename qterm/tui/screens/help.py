"""F1: the keys of this screen first, then all others; what one types filters them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar

from rich.console import Group
from rich.table import Table
from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Input, Static

from qterm.safe_text import safe_line
from qterm.tui.commands.registry import COMMANDS, Command, Place, key_words
from qterm.tui.screens.room import FilterLine, Room

_NOTE = (
    "What Q will be told goes with a message of the home feed only: a task's session remembers by "
    "itself. Other keys work as in any editor: ctrl+z takes back a change, ctrl+w a word. Select "
    "text with the mouse and press ctrl+c to copy it. Keys are changed in the settings (f6), or in "
    "the config under [keys], by the name on the right."
)


class HelpScreen(Room):
    """`here` are the places whose keys work on the screen below, `where` is what it is called.

    `keys` are the operator's own, by the command's id.
    """

    PLACES: ClassVar = (Place.ROOM,)
    TITLE_WORDS: ClassVar = "Keys"
    HERE: ClassVar = "help"
    BINDINGS: ClassVar = [
        ("up", "scroll('up')", "Up"),
        ("down", "scroll('down')", "Down"),
        ("pageup", "scroll('page_up')", "Up"),
        ("pagedown", "scroll('page_down')", "Down"),
    ]

    def __init__(self, where: str, here: Sequence[Place], keys: Mapping[str, str]) -> None:
        super().__init__()
        self._where, self._keys = where, keys
        self._here = _in_order(here)
        self.filter = FilterLine("type to find a key")
        self._table = Static(Content(""), id="help--table", markup=False)

    def compose(self) -> ComposeResult:
        """The filter, and the keys below it in a box that scrolls."""
        with VerticalScroll(classes="sheet", id="help", can_focus=False) as box:
            box.border_title = Content(f"Keys: {self._where}")
            box.border_subtitle = Content("↑ ↓ scroll · esc closes")
            yield self.filter
            with VerticalScroll(id="help--scroll", can_focus=False):
                yield self._table

    def on_mount(self) -> None:
        """One types into the filter."""
        self.filter.focus()
        self._fill()

    @on(Input.Changed)
    def _fill(self) -> None:
        self._table.update(self._rows())
        self.query_one("#help--scroll", VerticalScroll).scroll_home(animate=False)

    def _rows(self) -> Group:
        parts: list[Table | Text] = []
        for place in (*self._here, *(place for place in Place if place not in self._here)):
            found = [each for each in COMMANDS if each.place is place and self._matches(each)]
            if not found:
                continue
            heading = Text("\n" if parts else "", no_wrap=True)
            heading.append(place.value, "bold underline")
            if place not in self._here:
                heading.append("  not on this screen", "dim")
            parts += [heading, self._grid(found)]
        if not parts:
            parts.append(Text("No key has these words."))
        if not self.filter.words:
            parts.append(Text(f"\n{_NOTE}", "dim"))
        return Group(*parts)

    def _grid(self, commands: Iterable[Command]) -> Table:
        table = Table.grid(padding=(0, 2, 0, 0), expand=True)
        table.add_column(width=11, style="bold", no_wrap=True)
        table.add_column(ratio=1)
        table.add_column(width=16, style="dim", no_wrap=True)
        for command in commands:
            table.add_row(*self._cells(command))
        return table

    def _cells(self, command: Command) -> Iterable[Text]:
        keys = safe_line(key_words(self._keys.get(command.id) or command.key))
        first, _, others = keys.partition(", ")
        also = f" Also {others}." if others else ""
        return Text(first or "palette"), Text(command.help + also), Text(command.id)

    def _matches(self, command: Command) -> bool:
        keys = key_words(self._keys.get(command.id) or command.key)
        text = "\n".join((keys, command.name, command.help, command.id, command.place.value))
        return all(word in text.casefold() for word in self.filter.words)

    def action_scroll(self, way: str) -> None:
        """Scroll the keys; the cursor stays in the filter."""
        box = self.query_one("#help--scroll", VerticalScroll)
        getattr(box, f"scroll_{way}")(animate=False)

    def action_close(self) -> None:
        """Escape takes back what was typed first."""
        if self.filter.value:
            self.filter.value = ""
        else:
            super().action_close()


def _in_order(here: Sequence[Place]) -> tuple[Place, ...]:
    """Their order in F1: as they are declared, what works everywhere last."""
    return tuple(place for place in Place if place in {*here, Place.APP})
