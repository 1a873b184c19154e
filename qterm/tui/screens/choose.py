"""Sheets of a live session: its mode, and what follows one of hermes's own commands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from qterm.hermes.way import SessionMode
from qterm.tui.content import one_line, plain
from qterm.tui.screens.ask import Words
from qterm.tui.widgets.options import Options


class ChooseMode(ModalScreen[str | None]):
    """How freely Q may act in this session; dismissed with a mode's id, or with None."""

    BINDINGS: ClassVar = [("escape", "leave", "Leave")]

    def __init__(self, modes: Sequence[SessionMode], current: str) -> None:
        super().__init__()
        self._modes, self._current = modes, current

    def compose(self) -> ComposeResult:
        """The modes, the current one chosen."""
        with Vertical(classes="dialog"):
            yield Static(
                Content("How freely may Q edit files in this task’s session?"),
                markup=False,
                classes="dialog--text",
            )
            yield Options(*map(self._option, self._modes), markup=False)
            yield Static(
                Content("↑ ↓ choose · enter takes it · esc leaves"),
                markup=False,
                classes="dialog--hint",
            )

    def _option(self, mode: SessionMode) -> Option:
        now = " (now)" if mode.id == self._current else ""
        words = Content.assemble(
            one_line(mode.name or mode.id, 40, "bold"), Content.styled(now, "$text-success")
        )
        if mode.description:
            below = plain(mode.description[:300], "$foreground-muted")
            words = Content.assemble(words, "\n", below)
        return Option(words)

    def on_mount(self) -> None:
        """The current one is highlighted."""
        options = self.query_one(OptionList)
        ids = [mode.id for mode in self._modes]
        options.highlighted = ids.index(self._current) if self._current in ids else 0
        options.focus()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """A mode was taken."""
        self.dismiss(self._modes[event.option_index].id)

    def action_leave(self) -> None:
        """Nothing is changed."""
        self.dismiss(None)


class AskMore(Words):
    """What follows a command of hermes's; dismissed with the words, which may be empty, or None."""

    def __init__(self, name: str, hint: str) -> None:
        super().__init__()
        self._command, self._hint = name, hint

    def compose(self) -> ComposeResult:
        """One line."""
        with Vertical(classes="dialog"):
            yield Static(
                Content.assemble("hermes: /", one_line(self._command, 40, "bold")),
                markup=False,
                classes="dialog--text",
            )
            yield self.line("", hint=one_line(self._hint, 50).plain, name="more")
            yield Static(
                Content("enter runs it · esc leaves"), markup=False, classes="dialog--hint"
            )

    def on_input_submitted(self) -> None:
        """Enter runs it."""
        self.dismiss(self.said("more"))
