"""A question about much: what it is about scrolls, the answers stay in view."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Button, Static

from qterm.tui.screens.ask import Question


class LongQuestion(Question):
    """The focus is on the safe answer; up and down scroll what it is about."""

    BINDINGS: ClassVar = [
        ("up", "scroll('up')", "Up"),
        ("down", "scroll('down')", "Down"),
        ("pageup", "scroll('page_up')", "Up"),
        ("pagedown", "scroll('page_down')", "Down"),
    ]

    def __init__(self, about: Content, *, yes: str, no: str) -> None:
        super().__init__("", yes=yes, no=no)
        self._about = about

    def compose(self) -> ComposeResult:
        """What it is about, and the answers below."""
        with Vertical(classes="dialog long-question"):
            with VerticalScroll(id="about", can_focus=False):
                yield Static(self._about, markup=False)
            with Horizontal(classes="dialog--buttons"):
                yield Button(Content(f"{self._no} (n)"), id="no", compact=True)
                yield Button(Content(f"{self._yes} (y)"), id="yes", variant="error", compact=True)

    def action_scroll(self, way: str) -> None:
        """Scroll what it is about; the answer keeps the keys."""
        getattr(self.query_one("#about", VerticalScroll), f"scroll_{way}")(animate=False)
