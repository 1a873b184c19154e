"""The home screen: the home feed, and what Q will be told beside it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import ClassVar

from textual import on
from textual.events import Resize
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import TextArea

from qterm import events
from qterm.model import Turn
from qterm.services import FirstStart
from qterm.settings.schema import Settings
from qterm.tui.commands.registry import Place, Situation, bindings
from qterm.tui.common import Common
from qterm.tui.desk import messages
from qterm.tui.screens.thread import ThreadScreen
from qterm.tui.screens.told import ToldScreen
from qterm.tui.screens.told_commands import ToldCommands, make_view
from qterm.tui.widgets.first_steps import FirstSteps
from qterm.tui.widgets.told import ToldView
from qterm.tui.words.told_rows import Telling

WIDE = 100
"""From this many columns on, what Q will be told stands beside the feed."""

WEIGH_SECONDS = 0.25
"""So long after a key the size follows what is in the editor."""


class HomeScreen(ToldCommands, ThreadScreen):
    """The home thread: every message carries a context (rules C1 to C6)."""

    PLACES: ClassVar = (*ThreadScreen.PLACES, Place.HOME, Place.TOLD)
    BINDINGS = bindings(Place.HOME)

    def __init__(self, common: Common) -> None:
        super().__init__(common, common.look)
        self.told = make_view(self.services, self.look)
        self.told.set_class(not self.services.settings.screen.side_pane, "-off")
        self.telling = Telling()
        self._weigh_timer: Timer | None = None
        self.first_steps = FirstSteps(self.look)
        self.first_steps.display = self.services.is_demo

    def beside(self) -> Iterable[Widget]:
        """The pane is docked to the right; it is here so that tab goes feed, pane, editor."""
        return (self.first_steps, self.told)

    def on_mount(self) -> None:
        """Begin to read."""
        self.desk.recover()
        self.show_thread(self.opened(None))
        self.desk.tell()
        self.set_interval(1.0, self._look_at_mode)

    @on(messages.Happened)
    def _first_step_taken(self, message: messages.Happened) -> None:
        if isinstance(message.event, events.Accepted):
            self.first_steps.display = False

    def was_seen(self, task_id: str | None, turn_id: int) -> None:
        """Nothing up to this turn is new any more."""
        if self.common.news.see_home(turn_id):
            self.show_state()

    def on_resize(self, event: Resize) -> None:
        """A pane that has no room any more lets go of the keys."""
        if event.size.width < WIDE and (self.focused is None or self.told.list.has_focus):
            self.composer.focus()

    def settings_changed(self, before: Settings) -> None:
        """Also the pane, and what Q is told."""
        now = self.services.settings
        if now.screen.side_pane != before.screen.side_pane:
            self.told.set_class(not now.screen.side_pane, "-off")
        super().settings_changed(before)
        self.desk.tell()

    @property
    def told_is_known(self) -> bool:
        """Whether it is known what Q would be told."""
        return self.telling.known is not None

    def situation(self) -> Situation:
        """What the availability of commands hangs on, now."""
        return replace(super().situation(), told=self.told.row, removed=bool(self.telling.removed))

    # -- what Q will be told ---------------------------------------------------------------------

    @on(messages.FeedMoved)
    def _context_moved(self, event: messages.FeedMoved) -> None:
        change = event.change
        said = any(turn.task_id is None and not turn.state.is_open for turn in change.turns)
        if change.deleted or change.facts or change.mode or said:
            self.desk.tell()

    @on(messages.ChangesMissed)
    def _context_missed(self) -> None:
        self.desk.tell()

    def finished(self, turn: Turn) -> None:
        """The answer is part of what Q is told next."""
        self.desk.tell()

    def _look_at_mode(self) -> None:
        """A mode whose time is over is told no more."""
        known = self.telling.known
        mode = known.context.mode if known is not None else None
        if mode is not None and mode.is_over(self.look.now()):
            self.desk.tell()

    @on(messages.Told)
    def _told_came(self, event: messages.Told) -> None:
        self.telling.trouble = event.trouble
        self.telling.known = event.known
        for view in self._views():
            view.show(self.telling)
        self._weigh()
        self.app.screen.refresh_bindings()

    @on(TextArea.Changed, "#composer")
    def _message_changed(self) -> None:
        if self._weigh_timer is None:  # not put off by the next key: the size follows the typing
            self._weigh_timer = self.set_timer(WEIGH_SECONDS, self._weigh)

    def _weigh(self) -> None:
        """Find out whether block and message fit into one call, where that can be seen."""
        if self._weigh_timer is not None:
            self._weigh_timer.stop()
            self._weigh_timer = None
        known = self.telling.known
        if known is not None and any(view.display for view in self._views()):
            self.desk.weigh(known.context.text, self.composer.message)

    @on(messages.Weighed)
    def _weighed(self, event: messages.Weighed) -> None:
        self.telling.draft, self.telling.fit = event.chars, event.fit
        for view in self._views():
            view.show_size(self.telling)

    def _views(self) -> list[ToldView]:
        """Where it is shown."""
        above = [s.told for s in self.app.screen_stack if isinstance(s, ToldScreen)]
        return [self.told, *above]

    def first_words(self) -> str:
        """What stands in a feed in which nothing has been said."""
        if self.common.state.kind is FirstStart.READY:
            return "Nothing has been said yet. Write to Q below, and press enter."
        offers = self.look.key("first-start")
        return f"Nothing has been said yet. You can write, but Q can't answer: press {offers}."

    # -- commands ------------------------------------------------------------------------------

    def action_told(self) -> None:
        """Go to what Q will be told, beside the feed or on a screen of its own; once there, put
        it away."""
        if self.size.width < WIDE:
            self.app.push_screen(ToldScreen(self))
        elif self.told.list.has_focus:
            self.told.add_class("-off")
            self.composer.focus()
        else:
            self.told.remove_class("-off")
            self.told.list.focus()
        self._weigh()

    def action_told_leave(self) -> None:
        """Go back to the editor."""
        self.composer.focus()

    def show_turn(self, turn_id: int) -> None:
        """Go to a turn in the feed."""
        if self.feed.choose(turn_id):
            self.feed.focus(scroll_visible=False)
        else:
            self.app.go_to_turn(turn_id)
