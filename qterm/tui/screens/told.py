"""What Q will be told, as a screen of its own: where the terminal has no room for a pane."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from qterm.tui.commands.registry import Place, Situation, bindings, by_action
from qterm.tui.screens.told_commands import ToldCommands, make_view
from qterm.tui.widgets.bars import KeysLine

if TYPE_CHECKING:
    from qterm.tui.screens.home import HomeScreen


class ToldScreen(ToldCommands):
    """The same view with the same keys, over the home screen, which brings what it shows."""

    TITLE_WORDS: ClassVar = "What Q will be told"
    PLACES: ClassVar[tuple[Place, ...]] = (Place.TOLD, Place.HOME)
    BINDINGS: ClassVar[list[BindingType]] = [
        replace(binding, show=False)  # the footer has no room, and escape does the same
        for binding in bindings(Place.HOME)
        if isinstance(binding, Binding)
    ]
    AUTO_FOCUS = "#told--list"

    def __init__(self, home: HomeScreen) -> None:
        super().__init__()
        self._home = home
        self.services, self.look, self.desk = home.services, home.look, home.desk
        self.telling = home.telling
        self.told = make_view(self.services, self.look)

    def compose(self) -> ComposeResult:
        """The view, and its keys."""
        yield self.told
        yield KeysLine(show_command_palette=False, compact=True)

    def on_mount(self) -> None:
        """Show what is known already."""
        self.told.show(self.telling)

    def on_screen_resume(self) -> None:
        """Back from a question: the keys are this screen's again."""
        self.refresh_bindings()

    def situation(self) -> Situation:
        """What the availability of commands hangs on, now."""
        return Situation(told=self.told.row, removed=bool(self.telling.removed))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Every command says itself when it is available."""
        command = by_action(action, self.PLACES)
        return True if command is None else command.available(self.situation())

    def action_told(self) -> None:
        """Back to home."""
        self.dismiss()

    def action_told_leave(self) -> None:
        """Back to home."""
        self.dismiss()

    def show_turn(self, turn_id: int) -> None:
        """Back to home, to a turn in the feed."""
        self.dismiss()
        self._home.show_turn(turn_id)
