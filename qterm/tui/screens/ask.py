"""Questions: one that is answered yes or no, and two that are answered with words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Button, Input, Static

from qterm.moments import parse_until
from qterm.tui.content import from_editor, plain, to_editor


class Question(ModalScreen[bool]):
    """A question before something that can't be undone. The focus is on the safe answer."""

    BINDINGS: ClassVar = [
        ("y", "answer(True)", "Yes"),
        ("n,escape", "answer(False)", "No"),
        ("left,right", "app.focus_next", "Other"),
    ]

    def __init__(self, question: str, *, yes: str, no: str) -> None:
        super().__init__()
        self._question = question
        self._yes, self._no = yes, no

    def compose(self) -> ComposeResult:
        """The question, and the safe answer first."""
        with Vertical(classes="dialog"):
            yield Static(plain(self._question), markup=False, classes="dialog--text")
            with Horizontal(classes="dialog--buttons"):
                yield Button(Content(f"{self._no} (n)"), id="no", compact=True)
                yield Button(Content(f"{self._yes} (y)"), id="yes", variant="error", compact=True)

    def on_mount(self) -> None:
        """The safe answer has the focus."""
        self.query_one("#no", Button).focus()

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """A button answers."""
        self.dismiss(event.button.id == "yes")

    def action_answer(self, answer: bool) -> None:
        """A key answers."""
        self.dismiss(answer)


class Words(ModalScreen[object]):
    """Some lines to fill in; escape leaves without a change."""

    BINDINGS: ClassVar = [("escape", "leave", "Leave")]

    def line(self, words: str, *, hint: str, name: str) -> Input:
        """One line to fill in, with the words that are in it already."""
        words = to_editor(words).replace("\n", " ")  # what Q is told has one line, too
        return Input(
            words, placeholder=Content(hint).plain, id=name, compact=True, select_on_focus=False
        )

    def said(self, name: str) -> str:
        """What was written into a line."""
        return from_editor(self.query_one(f"#{name}", Input).value).strip()

    def action_leave(self) -> None:
        """Nothing is changed."""
        self.dismiss(None)


class AskFact(Words):
    """A fact about the operator, new or to be changed; dismissed with its words, or with None."""

    def __init__(self, operator: str, words: str = "") -> None:
        super().__init__()
        self._operator, self._words = operator, words

    def compose(self) -> ComposeResult:
        """One line."""
        with Vertical(classes="dialog"):
            yield Static(
                plain(f"What should Q know about {self._operator}?"),
                markup=False,
                classes="dialog--text",
            )
            yield self.line(self._words, hint="prefers short answers", name="fact")
            yield Static(
                Content(f"enter {'changes' if self._words else 'adds'} it · esc leaves"),
                markup=False,
                classes="dialog--hint",
            )

    def on_input_submitted(self) -> None:
        """Enter adds it."""
        self.dismiss(self.said("fact") or None)


@dataclass(frozen=True, slots=True)
class NewMode:
    """A mode to set; an empty text clears it."""

    text: str
    until: datetime | None = None


class AskMode(Words):
    """The mode and until when; dismissed with a NewMode, or with None."""

    def __init__(self, text: str, until: str, now: Callable[[], datetime]) -> None:
        super().__init__()
        self._text, self._until, self._now = text, until, now

    def compose(self) -> ComposeResult:
        """Two lines."""
        with Vertical(classes="dialog"):
            yield Static(Content("What are you at?"), markup=False, classes="dialog--text")
            yield self.line(self._text, hint="Deep work", name="mode")
            yield Static(Content("Until (may be empty)"), markup=False, classes="dialog--text")
            yield self.line(self._until, hint="15:00", name="until")
            yield Static(Content(""), markup=False, id="dialog--wrong")
            yield Static(
                Content("enter sets it, empty clears it · esc leaves"),
                markup=False,
                classes="dialog--hint",
            )

    def on_input_submitted(self) -> None:
        """Enter sets it, if the time can be read."""
        said = self.said("until")
        try:
            until = parse_until(said, self._now()) if said else None
        except ValueError as error:
            self.query_one("#dialog--wrong", Static).update(plain(str(error)))
            self.query_one("#until", Input).focus()
            return
        self.dismiss(NewMode(self.said("mode"), until))
