"""What Q will be told, as a screen of its own: where the terminal has no room for a pane."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.events import Resize

from qterm.tui.commands import Place, Situation, bindings, by_action
from qterm.tui.screens.told_commands import ToldCommands, make_view
from qterm.tui.widgets.bars import KeysLine

if TYPE_CHECKING:
    from qterm.tui.screens.home import HomeScreen

LOW = 20
"""Below this many rows the sentence that explains it makes way."""


class ToldScreen(ToldCommands):
    """The same view with the same keys, over the home screen, which brings what it shows."""

    PLACES: ClassVar[tuple[Place, ...]] = (Place.TOLD, Place.HOME)
    BINDINGS = bindings(Place.HOME)
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

    def on_resize(self, event: Resize) -> None:
        """With room for the pane, home has it."""
        self.set_class(event.size.height < LOW, "-short")

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
