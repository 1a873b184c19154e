"""The highlighted turn of a feed: how it is chosen and moved, with the keys and the mouse."""

from __future__ import annotations

from dataclasses import dataclass

from textual.containers import VerticalScroll
from textual.message import Message

from qterm.model import Turn
from qterm.tui.widgets.turn import TurnView
from qterm.tui.widgets.window import Window


class Selecting(VerticalScroll):
    """One turn of `window` is highlighted, or none; `unseen` came below the end of the view."""

    @dataclass
    class Moved(Message):
        """The selection, or what waits below the end of the view, has changed."""

        unseen: int
        selected: int | None

    window: Window

    def __init__(self, *, id: str) -> None:  # noqa: A002 - Textual calls it so
        super().__init__(id=id)
        self.selected: int | None = None
        self.unseen = 0
        self._views: dict[int, TurnView] = {}

    def _tell(self) -> None:
        self.post_message(self.Moved(self.unseen, self.selected))

    def forget_selection(self) -> None:
        """No turn is highlighted any more."""
        self._select(None)

    def on_focus(self) -> None:
        """Coming here selects the newest turn, if none is."""
        if self.selected is None and self.window.turns:
            self._select(self.window.turns[-1].id)

    def action_select(self, step: int) -> None:
        """Move the highlight."""
        if not self.window.turns:
            return
        if self.selected is None:
            self._select(self.window.turns[-1].id)
        elif (turn := self.window.neighbour(self.selected, step)) is not None:
            self._select(turn.id)
        elif step < 0:
            self.scroll_home(animate=False)
        else:
            self.scroll_end(animate=False)

    def _select(self, turn_id: int | None) -> None:
        view = self._mark(turn_id)
        if view is not None:
            self.scroll_to_widget(view, animate=False)
        self._tell()

    def _mark(self, turn_id: int | None) -> TurnView | None:
        """Move the highlight, and nothing else; the turn's widget, where there is one already."""
        if self.selected in self._views:
            self._views[self.selected].remove_class("-selected")
        self.selected = turn_id
        view = None if turn_id is None else self._views.get(turn_id)
        if view is not None:
            view.add_class("-selected")
        return view

    def choose(self, turn_id: int) -> bool:
        """Highlight a turn and bring it into view; False where it is not in the window."""
        if turn_id not in self._views:
            return False
        self._select(turn_id)
        return True

    def on_turn_view_clicked(self, event: TurnView.Clicked) -> None:
        """A click selects."""
        event.stop()
        self._select(event.turn_id)

    def selected_turn(self) -> Turn | None:
        """The highlighted turn."""
        return None if self.selected is None else self.window.find(self.selected)
