"""The app: one factory for the command line and for every test, and how it ends."""

from __future__ import annotations

import asyncio
import gc
import logging
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.binding import Binding
from textual.errors import NoWidget

from qterm.model import YOU, Q
from qterm.services import FirstStart, Services
from qterm.tui.asking import Asking
from qterm.tui.commands.registry import Place, bindings, key_words
from qterm.tui.common import Common
from qterm.tui.content import plain, to_editor
from qterm.tui.desk import messages
from qterm.tui.desk.desk import Desk
from qterm.tui.filling import Filling
from qterm.tui.going import Going
from qterm.tui.look import Look
from qterm.tui.screens.approval import Guarded
from qterm.tui.screens.home import WIDE, HomeScreen
from qterm.tui.screens.thread import ThreadScreen
from qterm.tui.telling import Telling
from qterm.tui.terminal.ending import Leave, signals_leave
from qterm.tui.widgets.composer import Composer
from qterm.tui.widgets.too_small import NEEDS

if TYPE_CHECKING:
    from rich.console import RenderableType
    from textual.command import Provider
    from textual.notifications import SeverityLevel

    from qterm.settings.load import Loaded
    from qterm.tui.memory.pane import MemoryScreen
    from qterm.tui.screens.tasks import TasksScreen

__all__ = ["Leave", "QtermApp", "make_app", "run", "run_screen"]

log = logging.getLogger(__name__)

TOAST_CHARS = 400
"""The most code points of a toast."""

END_SECONDS = 15.0
"""The longest that leaving may take, whatever hangs."""


def _palette() -> type[Provider]:
    """What the palette offers, once it is opened."""
    from qterm.tui.commands.palette import Commands

    return Commands


class QtermApp(Telling, inherit_bindings=False):
    """qterm's screens over one set of services, which the caller opens and closes."""

    CSS_PATH = Path(__file__).with_name("app.tcss")
    BINDINGS: ClassVar = [*bindings(Place.APP), ("ctrl+c", "hint_quit")]
    COMMANDS: ClassVar = {_palette}
    ENABLE_COMMAND_PALETTE = True
    COMMAND_PALETTE_BINDING = "ctrl+p"
    TITLE = "qterm"
    DEFAULT_MODE = "home"
    HORIZONTAL_BREAKPOINTS = [  # noqa: RUF012 - Textual declares it so
        (0, "-tiny"),
        (NEEDS[0], "-narrow"),
        (WIDE, "-wide"),
    ]
    VERTICAL_BREAKPOINTS = [(0, "-low"), (NEEDS[1], "-high")]  # noqa: RUF012 - as above

    def __init__(self, services: Services) -> None:
        super().__init__()
        self.set_reactive(
            QtermApp.theme, services.settings.screen.theme
        )  # before the styles are read
        self.services = services
        self.failure: BaseException | None = None
        self._ending = False
        conversation = services.conversation
        self.look = Look(
            {persona.key: persona for persona in services.settings.personas},
            conversation.now,
            keys=services.settings.keys,
        )
        in_tasks = replace(self.look, speakers=frozenset({YOU, Q}))
        self.common = Common(services, self.look, in_tasks, services.first_start())
        self.desk = Desk(services, self.told, self.run_worker)
        self.asking = Asking(self)
        self.going = Going(self)
        self.home: HomeScreen | None = None
        self.tasks: TasksScreen | None = None
        self.memory: MemoryScreen | None = None
        self.add_mode("home", self._make_home)
        self.add_mode("tasks", self._make_tasks)
        self.add_mode("memory", self._make_memory)

    def _make_home(self) -> HomeScreen:
        self._fit_look()
        self.home = HomeScreen(self.common)
        return self.home

    def _make_tasks(self) -> TasksScreen:
        from qterm.tui.screens.tasks import TasksScreen

        self.tasks = TasksScreen(self.common)
        return self.tasks

    def _make_memory(self) -> MemoryScreen:
        from qterm.tui.memory.pane import MemoryScreen

        self.memory = MemoryScreen(self.common)
        return self.memory

    def mode_screens(self) -> list[ThreadScreen | MemoryScreen]:
        """The screens of the modes that are there."""
        screens = (self.home, self.tasks, self.memory)
        return [screen for screen in screens if screen and screen.is_mounted]

    def thread_screens(self) -> list[ThreadScreen]:
        """The screens with a thread that are there."""
        return [screen for screen in (self.home, self.tasks) if screen and screen.is_mounted]

    def on_mount(self) -> None:
        """Take the operator's keys and theme; begin to watch; offer what a first start needs."""
        self.set_keymap(dict(self.services.settings.keys))
        self.theme_changed_signal.subscribe(self, lambda _theme: self._redraw())
        self.call_after_refresh(self._first_frame)
        self.follow_themes()
        self._add_notices()
        self.services.told_of_maintenance = lambda report: self.post_message(
            messages.Maintained(report)
        )
        self.desk.watch()
        self.filling = Filling(self)
        self.desk.read_tasks()
        if self.common.state.kind is FirstStart.READY:
            self.look_at_hermes()
        else:
            self.offer()

    def _first_frame(self) -> None:
        """What was made until now stays until the end: it need not be looked through again."""
        gc.freeze()
        gc.enable()

    def _add_notices(self) -> None:
        notices = self.common.notices
        for problem in self.services.loaded.problems:
            notices.add(problem.sentence)
        for sentence in (*self.odd_keys(), *self.services.notices):
            notices.add(sentence)

    def _fit_look(self) -> None:
        for look in (self.common.look, self.common.task_look):
            look.dark = self.current_theme.dark
            look.moving = self.animation_level != "none"

    def _redraw(self) -> None:
        self._fit_look()
        for screen in self.thread_screens():
            screen.redraw()

    # -- commands ------------------------------------------------------------------------------

    async def action_home(self) -> None:
        """Go to the home feed."""
        await self.leave_rooms()
        await self.switch_mode("home")
        if self.home is not None and self.home.is_mounted:
            self.home.write()

    async def action_tasks(self) -> None:
        """Go to the tasks; once there, to their list."""
        await self.leave_rooms()
        self.common.sort()
        if self.current_mode != "tasks":
            await self.switch_mode("tasks")
            if self.tasks is not None and self.tasks.is_mounted:
                self.tasks.write()
        elif self.tasks is not None:
            self.tasks.common_changed()
            self.tasks.list.focus()

    async def action_memory(self) -> None:
        """Go to the memory."""
        await self.leave_rooms()
        if self.memory is not None and self.screen is self.memory:
            self.memory.to_list()
        await self.switch_mode("memory")

    def action_command_palette(self) -> None:
        """Not over hermes's question: it has its own keys."""
        from qterm.tui.commands.palette import Palette

        if not isinstance(self.screen, Guarded | Palette):
            self.push_screen(Palette(id="--command-palette"))

    def action_search(self) -> None:
        """Search the whole feed."""
        self.going.search()

    def get_key_display(self, binding: Binding) -> str:
        """Keys in the footer are written as in F1."""
        return key_words(binding.key)

    def action_hint_quit(self) -> None:
        """ctrl+c is for copying; say how to leave."""
        self.notify("ctrl+q leaves qterm.")

    async def action_quit(self) -> None:
        """Leave; ask only when a turn is under way."""
        if not self.services.conversation.busy():
            self.leave(Leave.DONE)
            return
        from qterm.tui.screens.ask import Question

        if isinstance(self.screen, Question):
            return
        question = Question(
            "Q is still at work. Quitting stops the turn; what has come of the answer is kept.",
            yes="Stop Q and quit",
            no="Stay",
        )
        self.push_screen(question, lambda yes: self.leave(Leave.DONE) if yes else None)

    def on_maintained(self, message: messages.Maintained) -> None:
        """A pass after a turn: say what it did, in passing."""
        from qterm.tui.words.maintenance_words import said_of

        words, is_fault = said_of(message.report)
        if words:
            self.notify(
                words, title="Maintenance", severity="warning" if is_fault else "information"
            )

    # -- the end -------------------------------------------------------------------------------

    def leave(self, how: Leave) -> None:
        """End what runs, keep the draft, then leave. Safe to call twice."""
        if self._ending:
            return
        self._ending = True
        for screen in self.thread_screens():
            screen.leaving()
        self.run_worker(self._end(how), group="end", exit_on_error=False, name="end")

    async def _end(self, how: Leave) -> None:
        try:
            async with asyncio.timeout(END_SECONDS):
                await self.take_terminal_back()
                await self.keep_drafts()
                await self.services.conversation.close()
                if self.memory is not None:
                    await self.memory.keep_edits()
        except Exception:
            log.exception("ending what runs failed")
        finally:
            self.exit(how)
            if self.failure is not None:  # whoever should take the message may be what failed
                self._close_messages_no_wait()

    async def keep_drafts(self) -> None:
        """Store what is in the editors."""
        for screen in (self.home, self.tasks):
            if screen is not None:
                await screen.keep_draft()

    def log_failure(self, error: BaseException | None) -> None:
        """A worker failed in a way nobody foresaw: into the log, and a sentence."""
        log.error("a worker failed", exc_info=error)
        self.notify("Something went wrong inside qterm; the log has the details.", severity="error")

    def panic(self, *renderables: RenderableType) -> None:
        """Textual gives up, mostly since the terminal can't be read: no traceback on top of it."""
        if self.is_headless:
            super().panic(*renderables)
            return
        log.error("the terminal can't be used any more")
        self.leave(Leave.HUNG_UP)

    def _handle_exception(self, error: Exception) -> None:
        """A fault in qterm: no traceback over the screen (a touch on Textual's inside)."""
        if self.is_headless:
            super()._handle_exception(error)
            return
        log.error("internal error", exc_info=error)
        self.failure = self.failure or error
        self.leave(Leave.DONE)

    async def on_event(self, event: events.Event) -> None:
        """What is pasted comes with its controls as visible stand-ins; what is typed beside the
        editor, and means nothing there, goes into it."""
        if isinstance(event, events.Paste) and not event.is_forwarded:
            is_written = isinstance(self.focused, Composer)  # which does so itself
            event.text = event.text if is_written else to_editor(event.text)
        if isinstance(event, events.Key) and not event.is_forwarded:
            screen = self.screen
            if isinstance(screen, ThreadScreen) and screen.begins_to_write(event):
                return
        if isinstance(event, (events.MouseDown, events.MouseMove)) and self._meets_what_is_gone(
            event
        ):
            return
        await super().on_event(event)

    def _meets_what_is_gone(self, event: events.MouseEvent) -> bool:
        """Whether the mouse is over a widget that was taken away since the last layout: Textual
        8.2.8 asks for its parent, which is None by then."""
        if event.is_forwarded or self.mouse_captured is not None:
            return False
        try:
            widget, _ = self.get_widget_at(event.x, event.y)
        except NoWidget:
            return False
        return not widget.is_attached

    # -- safe text -----------------------------------------------------------------------------

    def notify(
        self,
        message: str,
        *,
        title: str = "",
        severity: SeverityLevel = "information",
        timeout: float | None = None,
        markup: bool = False,
    ) -> None:
        """A toast; its words are never markup, wherever they come from."""
        del markup
        if len(message) > TOAST_CHARS:  # one that fills the screen hides what it is about
            message = f"{message[: TOAST_CHARS - 1]}…"
        super().notify(
            plain(message).plain, title=plain(title).plain, severity=severity, timeout=timeout,
            markup=False,
        )  # fmt: skip


def make_app(services: Services) -> QtermApp:
    """The app over these services; the caller closes them when it has ended."""
    return QtermApp(services)


async def run(services: Services) -> Leave:
    """Show the screens until they are left. SIGHUP, SIGTERM and SIGINT leave them cleanly."""
    app = make_app(services)
    with signals_leave(app, app.leave):
        outcome = await app.run_async()
        await app.keep_drafts()  # once more, since a fault leaves without asking
    if app.failure is not None:
        raise app.failure
    return outcome or Leave.DONE


def run_screen(loaded: Loaded, *, environ: Mapping[str, str], is_demo: bool = False) -> Leave:
    """Open the services, show the screens, close the services. Raises FeedError."""

    async def main() -> Leave:
        from qterm.services import open_services

        services = await open_services(loaded, environ=environ, is_demo=is_demo, has_screen=True)
        try:
            return await run(services)
        finally:
            await services.close()

    return asyncio.run(main())
