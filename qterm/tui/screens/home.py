"""The home screen: the home feed, and what Q will be told beside it."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import ClassVar

from textual import on
from textual.widget import Widget

from qterm.context import QContext
from qterm.model import Turn
from qterm.services import FirstStart
from qterm.tui import messages
from qterm.tui.commands import Place, bindings
from qterm.tui.common import Common
from qterm.tui.screens.ask import AskFact, AskMode, NewMode
from qterm.tui.screens.sheets import ToldScreen
from qterm.tui.screens.thread import ThreadScreen
from qterm.tui.widgets.told import ToldView

WIDE = 100
"""From this many columns on, what Q will be told stands beside the feed."""


class HomeScreen(ThreadScreen):
    """The home thread: every message carries a context (rules C1 to C6)."""

    PLACES: ClassVar = (*ThreadScreen.PLACES, Place.HOME)
    BINDINGS = bindings(Place.HOME)

    def __init__(self, common: Common) -> None:
        super().__init__(common, common.look)
        self.told = ToldView(self.services.settings.operator, self.look.now)
        self.told.set_class(not self.services.settings.screen.side_pane, "-off")
        self.told_context: QContext | None = None

    def beside(self) -> Iterable[Widget]:
        """The pane is docked to the right; it is here so that tab goes feed, pane, editor."""
        return (self.told,)

    def on_mount(self) -> None:
        """Begin to read."""
        self.desk.recover()
        self.show_thread(self.opened(None))
        self.desk.tell()

    @property
    def told_is_known(self) -> bool:
        """Whether it is known what Q would be told."""
        return self.told_context is not None

    @on(messages.FeedMoved)
    def _context_moved(self, event: messages.FeedMoved) -> None:
        change = event.change
        said = any(turn.task_id is None and not turn.state.is_open for turn in change.turns)
        if change.deleted or change.facts or change.mode or said:
            self.desk.tell()

    def finished(self, turn: Turn) -> None:
        """The answer is part of what Q is told next."""
        self.desk.tell()

    @on(messages.Told)
    def _told_came(self, event: messages.Told) -> None:
        self.told_context = event.context
        views = [self.told]
        if isinstance(self.app.screen, ToldScreen):
            views.append(self.app.screen.view)
        for view in views:
            if event.context is None:
                view.show_trouble(event.trouble)
            else:
                view.show(event.context)

    def first_words(self) -> str:
        """What stands in a feed in which nothing has been said."""
        if self.common.state.kind is FirstStart.READY:
            return "Nothing has been said yet. Write to Q below, and press enter."
        offers = self.look.key("first-start")
        return f"Nothing has been said yet. You can write, but Q can't answer: press {offers}."

    # -- commands ------------------------------------------------------------------------------

    def action_told(self) -> None:
        """Show or hide what Q will be told: beside the feed, or as a screen of its own."""
        if self.size.width >= WIDE:
            self.told.toggle_class("-off")
            return
        view = ToldView(self.services.settings.operator, self.look.now)
        self.app.push_screen(ToldScreen(view, self.told_context))

    def action_mode(self) -> None:
        """Ask for the mode."""
        mode = self.told_context.mode if self.told_context else None
        until = self.look.local(mode.until).strftime("%H:%M") if mode and mode.until else ""

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
