"""A theme to choose: what is behind shows it while one moves."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from qterm.settings.keys import THEMES
from qterm.tui.widgets.options import Options


class ChooseTheme(ModalScreen[str | None]):
    """Dismissed with a theme's name, or with None: then the one from before is back."""

    BINDINGS: ClassVar = [("escape", "leave", "Leave")]

    def compose(self) -> ComposeResult:
        """The themes, the one in force highlighted."""
        with Vertical(id="themes") as box:
            box.border_title = Content("Theme")
            box.border_subtitle = Content("enter keeps it · esc leaves")
            yield Options(*map(self._option, THEMES), id="themes--list", compact=True)

    def _option(self, name: str) -> Option:
        theme = self.app.available_themes[name]
        kind = Content.styled("dark" if theme.dark else "light", "$foreground-muted")
        return Option(Content.assemble(f"{name:<21}", kind), id=name)

    def on_mount(self) -> None:
        """The theme that is there is chosen."""
        self._before = self.app.theme
        themes = self.query_one(OptionList)
        themes.highlighted = THEMES.index(self._before) if self._before in THEMES else 0
        themes.focus()

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        """Show it at once."""
        if event.option.id is not None and self.is_current:
            self.app.theme = event.option.id

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """It was taken."""
        self.dismiss(event.option.id)

    def action_leave(self) -> None:
        """As it was."""
        self.app.theme = self._before
        self.dismiss(None)
