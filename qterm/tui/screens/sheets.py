"""Screens that only show something: a text, the notices."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Static

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


def notices_text(notices: Sequence[str]) -> Content:
    """Every notice since the start."""
    if not notices:
        return Content("There is none.")
    return Content("\n\n").join(Content.assemble("! ", plain(words)) for words in notices)
