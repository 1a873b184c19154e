"""What a write did, with the way back."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Button, Static


class Result(ModalScreen[bool]):
    """Dismissed with True where the write is to be undone."""

    BINDINGS: ClassVar = [
        ("escape,enter,q", "answer(False)", "Close"),
        ("u", "answer(True)", "Undo"),
        ("left,right", "app.focus_next", "Other"),
    ]

    def __init__(self, words: Content, *, can_undo: bool) -> None:
        super().__init__()
        self._words, self._can_undo = words, can_undo

    def compose(self) -> ComposeResult:
        """What was done, then what one can do about it."""
        with Vertical(classes="dialog long-question"):
            with VerticalScroll(id="about", can_focus=False):
                yield Static(self._words, markup=False)
            with Horizontal(classes="dialog--buttons"):
                yield Button(Content("Close (esc)"), id="close", compact=True)
                if self._can_undo:
                    yield Button(Content("Undo it (u)"), id="undo", compact=True)

    def on_mount(self) -> None:
        """Closing is the safe answer."""
        self.query_one("#close", Button).focus()

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """A button answers."""
        self.dismiss(event.button.id == "undo")

    def action_answer(self, answer: bool) -> None:
        """A key answers."""
        self.dismiss(answer and self._can_undo)
