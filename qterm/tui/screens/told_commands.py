"""What can be done with what Q will be told: beside the feed, and on the screen of its own."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING

from textual import on
from textual.screen import Screen

from qterm.services import Services
from qterm.tui.content import one_line
from qterm.tui.desk.desk import Desk
from qterm.tui.look import Look
from qterm.tui.screens.ask import AskFact, AskMode, NewMode
from qterm.tui.widgets.told import ToldList, ToldView
from qterm.tui.words.told_rows import Row, RowKind, RowWords, Telling

if TYPE_CHECKING:
    from qterm.tui.app import QtermApp


def make_view(services: Services, look: Look) -> ToldView:
    """The view, over these settings."""
    settings = services.settings

    def label(key: str) -> str:
        persona = look.personas.get(key)
        return persona.label if persona is not None else key

    words = RowWords(settings.operator, settings.caps.facts, label, look.now, look.key)
    return ToldView(words, settings.caps)


class ToldCommands(Screen[None]):
    """The commands; whoever mixes them in puts the parts they work on in place."""

    app: QtermApp
    services: Services
    look: Look
    desk: Desk
    told: ToldView
    telling: Telling

    def told_row(self) -> Row | None:
        """The row they work on."""
        return self.told.row

    @on(ToldList.OptionHighlighted, "#told--list")
    def _told_moved(self) -> None:
        self.refresh_bindings()

    def action_told_edit(self) -> None:
        """Change the highlighted fact, or the mode."""
        row = self.told_row()
        if row is not None and row.kind is RowKind.MODE:
            self.action_mode()
        elif row is not None and row.fact is not None:
            fact = row.fact

            def answered(words: object) -> None:
                if isinstance(words, str) and words != fact.text.replace("\n", " ").strip():
                    self._change(partial(self.services.feed.edit_fact, fact.id, words))

            self.app.push_screen(AskFact(self.services.settings.operator, fact.text), answered)

    def action_told_pin(self) -> None:
        """Pin the highlighted fact, or unpin it."""
        row = self.told_row()
        if row is not None and row.fact is not None:
            fact = row.fact
            self._change(partial(self.services.feed.pin_fact, fact.id, not fact.pinned))

    def action_told_move(self, step: int) -> None:
        """Move the highlighted fact by so many places."""
        row = self.told_row()
        if row is not None and row.fact is not None:
            self.desk.move_fact(row.fact.id, step)

    def action_told_remove(self) -> None:
        """Remove the highlighted fact; it can be brought back."""
        row = self.told_row()
        if row is None or row.fact is None:
            return
        fact = row.fact

        def removed() -> None:
            self.telling.removed.append(fact)
            key = self.look.key("told-undo")
            self.app.notify(f"Removed: {one_line(fact.text, 60).plain} · {key} brings it back.")
            self.refresh_bindings()

        self.desk.change(partial(self.services.feed.remove_fact, fact.id), removed)

    def action_told_undo(self) -> None:
        """Bring back the fact that was removed last."""
        if self.telling.removed:
            self.desk.bring_back(self.telling.removed.pop())
            self.refresh_bindings()

    def action_told_hide(self) -> None:
        """Hide the highlighted turn from Q, or tell it again."""
        row = self.told_row()
        if row is not None and row.turn_id is not None:
            self._change(partial(self.services.feed.hide, row.turn_id, not row.hidden))

    def action_told_turn(self) -> None:
        """Go to the highlighted turn in the feed."""
        row = self.told_row()
        if row is not None and row.turn_id is not None:
            self.show_turn(row.turn_id)

    def show_turn(self, turn_id: int) -> None:
        """Go to a turn in the feed."""
        raise NotImplementedError

    def action_mode(self) -> None:
        """Ask for the mode."""
        mode, until = self.telling.mode, ""
        if mode is not None and mode.until is not None and not mode.is_over(self.look.now()):
            moment = self.look.local(mode.until)
            is_today = moment.date() == self.look.now().date()
            until = moment.strftime("%H:%M" if is_today else "%Y-%m-%d %H:%M")

        def answered(new: object) -> None:
            if isinstance(new, NewMode):
                change = partial(self.services.feed.set_mode, new.text or None, new.until)
                words = "The mode is set." if new.text else "There is no mode any more."
                self.desk.change(change, partial(self.app.notify, words))

        self.app.push_screen(AskMode(mode.text if mode else "", until, self.look.now), answered)

    def action_fact(self) -> None:
        """Ask for a fact."""

        def answered(words: object) -> None:
            if isinstance(words, str):
                said = partial(self.app.notify, "The fact is added.")
                self.desk.change(partial(self.services.feed.add_fact, words), said)

        self.app.push_screen(AskFact(self.services.settings.operator), answered)

    def _change(self, work: Callable[[], Awaitable[object]]) -> None:
        """A change that the pane shows by itself."""
        self.desk.change(work, lambda: None)
