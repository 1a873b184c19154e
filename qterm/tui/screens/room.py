"""Rooms: screens over the threads that one looks around in and leaves again, with escape."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType
from textual.screen import ModalScreen
from textual.widgets import Input

from qterm.tui.commands.registry import BY_ID, Place, Situation, bindings, by_action

if TYPE_CHECKING:
    from qterm.tui.app import QtermApp

_STILL_WORK = ("home", "tasks", "memory", "doctor", "settings", "help", "theme")


def app_bindings() -> list[BindingType]:
    """The app's keys that work in a room, too: a modal screen cuts them off."""
    return [
        Binding(command.key, f"app.{command.action}", command.short, show=False, id=command.id)
        for command in map(BY_ID.__getitem__, _STILL_WORK)
    ]


class Room(ModalScreen[None]):
    """A room; `TITLE_WORDS` is what F1 calls it, `PLACES` are those whose keys work in it."""

    PLACES: ClassVar[tuple[Place, ...]] = (Place.ROOM,)
    TITLE_WORDS: ClassVar[str] = ""
    BINDINGS: ClassVar = [*bindings(Place.ROOM), *app_bindings()]

    app: QtermApp

    IS_ROOM: ClassVar = True
    HERE: ClassVar[str] = ""
    """The id of the command that comes here."""

    def situation(self) -> Situation:
        """What the availability of commands hangs on, now."""
        return Situation()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Every command says itself when it is available."""
        command = by_action(action, self.PLACES)
        return True if command is None else command.available(self.situation())

    def action_close(self) -> None:
        """Go back to where one was."""
        self.dismiss()


class FilterLine(Input):
    """A line that filters what is below it, as one types; up and down are the list's."""

    def __init__(self, hint: str) -> None:
        super().__init__(placeholder=hint, compact=True, id="filter", select_on_focus=False)

    @property
    def words(self) -> list[str]:
        """What is looked for, word by word."""
        return self.value.casefold().split()
