"""Going to a turn, wherever it was said: from the search, and from whatever else names one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.screen import SystemModalScreen

from qterm.model import Turn
from qterm.tui.screens.approval import Guarded
from qterm.tui.screens.ask import Question, Words
from qterm.tui.screens.thread import ThreadScreen

if TYPE_CHECKING:
    from qterm.tui.app import QtermApp

GONE = "That message was deleted meanwhile: there is nothing left to show."


class Going:
    """The part of the app that brings a turn onto the screen."""

    def __init__(self, app: QtermApp) -> None:
        self._app = app

    def search(self) -> None:
        """Open the search, or go back to its words; never over hermes's question (rule A2)."""
        from qterm.tui.screens.search import SearchScreen

        app = self._app
        if isinstance(app.screen, Guarded):
            return
        if isinstance(app.screen, SearchScreen):
            app.screen.again()
            return
        if isinstance(app.screen, SystemModalScreen):
            app.pop_screen()  # the palette

        def chosen(turn_id: int | None) -> None:
            if turn_id is not None:
                app.go_to_turn(turn_id)

        app.push_screen(SearchScreen(app.common), chosen)

    async def take(self, turn: Turn | None) -> None:
        """Show the turn that was looked up: its mode, its task, the turns around it."""
        app = self._app
        if turn is None:
            self.say_gone()
            return
        if isinstance(app.screen, Guarded):
            app.notify("hermes waits for your answer; go to the message after it.")
            return
        if turn.task_id is None:
            await app.switch_mode("home")
            await self._uncover()
            if app.home is not None:
                app.home.go_to(turn)
            return
        if app.common.task(turn.task_id) is None:
            app.notify("The task of that message is not in the feed any more.", severity="warning")
            return
        await app.switch_mode("tasks")
        await self._uncover()
        if app.tasks is not None:
            app.tasks.opened(turn.task_id).goal = turn
            app.tasks.choose(turn.task_id)
            app.tasks.go_to(turn)

    async def _uncover(self) -> None:
        """Close what only shows something and stands above the thread; questions stay."""
        app = self._app
        while not isinstance(app.screen, ThreadScreen | Guarded | Question | Words):
            if len(app.screen_stack) < 2:
                return
            await app.pop_screen()

    def say_gone(self) -> None:
        """The turn is not there any more."""
        self._app.notify(GONE, severity="warning")
