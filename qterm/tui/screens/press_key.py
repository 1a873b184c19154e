"""A key for a command: the operator presses it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.events import Key
from textual.screen import ModalScreen
from textual.widgets import Static

from qterm.tui.commands.own_keys import why_not
from qterm.tui.commands.registry import BY_ID
from qterm.tui.content import plain


class PressKey(ModalScreen[str | None]):
    """Dismissed with the key that was pressed, if the command can have it; escape leaves.

    `own` are the operator's keys by the command's id.
    """

    TAKES_EVERY_KEY: ClassVar = True

    def __init__(self, command_id: str, own: Mapping[str, str], *, also: bool) -> None:
        super().__init__()
        self._command_id, self._own, self._also = command_id, own, also

    def compose(self) -> ComposeResult:
        """What is asked, and what was wrong with the last answer."""
        which = "another key" if self._also else "the new key"
        name = BY_ID[self._command_id].name
        with Vertical(classes="dialog"):
            yield Static(plain(f"Press {which} for “{name}”."), markup=False)
            yield Static(Content(""), id="dialog--wrong", markup=False)
            yield Static(Content("esc leaves it as it is"), classes="dialog--hint", markup=False)

    def on_key(self, event: Key) -> None:
        """Take the key before any binding does."""
        event.stop()
        event.prevent_default()
        if event.key == "escape":
            self.dismiss(None)
            return
        wrong = why_not(self._command_id, event.key, self._own, is_letter=event.is_printable)
        if wrong:
            self.query_one("#dialog--wrong", Static).update(plain(wrong))
        else:
            self.dismiss(event.key)
