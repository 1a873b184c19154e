"""Screens that only show something: the keys, the notices, the findings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Static

from qterm.tui.commands import COMMANDS, Place, key_words
from qterm.tui.content import plain

_LEAVE = "esc closes"


class Sheet(ModalScreen[None]):
    """A text in a box that scrolls; escape closes it."""

    BINDINGS: ClassVar = [("escape,q,f1", "app.pop_screen", "Close")]

    def __init__(self, title: str, text: Content) -> None:
        super().__init__()
        self._title, self._text = title, text

    def compose(self) -> ComposeResult:
        """Title, text, how to leave."""
        with VerticalScroll(classes="sheet") as box:
            box.border_title = Content(self._title)
            box.border_subtitle = Content(_LEAVE)
            yield from self.parts()

    def parts(self) -> Iterable[Widget]:
        """What is in the box."""
        yield Static(self._text, markup=False, id="sheet--text")

    def on_mount(self) -> None:
        """The box takes the keys that scroll."""
        self.query_one(VerticalScroll).focus()

    def show(self, text: Content) -> None:
        """Show another text."""
        self.query_one("#sheet--text", Static).update(text)


class HelpSheet(Sheet):
    """Every key with what it does; `keys` are the operator's own, by the command's id."""

    def __init__(self, keys: Mapping[str, str]) -> None:
        super().__init__("Keys", Content(""))
        self._keys = keys

    def parts(self) -> Iterable[Widget]:
        """A heading a place, a row a command."""
        for place in Place:
            yield Static(Content(place.value), markup=False, classes="help--place")
            for command in COMMANDS:
                if command.place is place:
                    keys = self._keys.get(command.id) or command.key
                    first, _, others = key_words(keys).partition(", ")
                    also = f" Also {others}." if others else ""
                    with Horizontal(classes="help--row"):
                        yield Static(plain(first or "palette"), markup=False, classes="help--key")
                        yield Static(plain(command.help + also), markup=False, classes="help--text")
        yield Static(Content(_OTHER_KEYS), markup=False, classes="help--note")


_OTHER_KEYS = (
    "What Q will be told goes with a message of the home feed only: a task's session remembers by "
    "itself. "
    "Other keys work as in any editor: ctrl+z takes back a change, ctrl+w a word. Select text "
    "with the mouse and press ctrl+c to copy it. Keys are changed in the config, under [keys]."
)


def notices_text(notices: Sequence[str]) -> Content:
    """Every notice since the start."""
    if not notices:
        return Content("There is none.")
    return Content("\n\n").join(Content.assemble("! ", plain(words)) for words in notices)
