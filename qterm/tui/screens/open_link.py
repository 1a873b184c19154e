"""Before a link is opened: the whole address, as it is."""

from __future__ import annotations

from enum import StrEnum
from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Button, Static

from qterm.tui.content import plain
from qterm.tui.words.links import Link


class LinkAnswer(StrEnum):
    """What is to be done with a link; the values are the buttons' ids."""

    LEAVE = "leave"
    COPY = "copy"
    OPEN = "open"


class LinkQuestion(ModalScreen[LinkAnswer]):
    """The address in plain text, its host emphasised. The focus is on the safe answer.

    `trouble`: why it could not be opened; then it can only be copied.
    """

    BINDINGS: ClassVar = [
        ("y", "answer('open')", "Open"),
        ("c", "answer('copy')", "Copy"),
        ("n,escape", "answer('leave')", "Leave it"),
        ("left", "app.focus_previous", "Other"),
        ("right", "app.focus_next", "Other"),
        ("up", "scroll(-1)", "Above"),
        ("down", "scroll(1)", "Below"),
    ]

    def __init__(self, link: Link, trouble: str = "") -> None:
        super().__init__()
        self.link, self._trouble = link, trouble

    def compose(self) -> ComposeResult:
        """The question, the address, what to know about it, the safe answer first."""
        before, host, after = self.link.parts
        address = Content.assemble(
            plain(before, "$foreground-muted"),
            plain(host, "bold $text-primary"),
            plain(after),
        )
        said = self._trouble or "Open this address in your browser?"
        with Vertical(classes="dialog"):
            yield Static(plain(said), markup=False, classes="dialog--text")
            with VerticalScroll(id="link--address", can_focus=False):
                yield Static(address, markup=False)
            for warning in self.link.warnings:
                yield Static(plain(f"! {warning}", "$text-warning"), markup=False)
            with Horizontal(classes="dialog--buttons"):
                yield Button(Content("Leave it (n)"), id="leave", compact=True)
                yield Button(Content("Copy it (c)"), id="copy", compact=True)
                if not self._trouble:
                    yield Button(Content("Open (y)"), id="open", variant="warning", compact=True)

    def on_mount(self) -> None:
        """The safe answer has the focus."""
        self.query_one("#leave", Button).focus()

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """A button answers."""
        self.dismiss(LinkAnswer(event.button.id or "leave"))

    def action_answer(self, answer: str) -> None:
        """A key answers."""
        if answer != LinkAnswer.OPEN or not self._trouble:
            self.dismiss(LinkAnswer(answer))

    def action_scroll(self, step: int) -> None:
        """Move a long address."""
        self.query_one("#link--address").scroll_relative(y=step, animate=False)
