"""The app: one factory for the command line and for every test, and how it ends."""

from __future__ import annotations

import asyncio
import logging
import subprocess
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.app import App, SuspendNotSupported, SystemCommand
from textual.binding import Binding
from textual.screen import Screen

from qterm.feed.source import FeedError
from qterm.services import FirstStart, Services
from qterm.tui.commands import COMMANDS, Command, Place, bindings, key_words
from qterm.tui.content import plain, to_editor
from qterm.tui.ending import Leave, interrupts_go_elsewhere, signals_leave
from qterm.tui.look import Look
from qterm.tui.screens.first_start import FirstStartScreen, Offer
from qterm.tui.screens.home import NEEDS, HomeScreen
from qterm.tui.screens.home_commands import WIDE

if TYPE_CHECKING:
    from rich.console import RenderableType
    from textual.notifications import SeverityLevel

    from qterm.hermes.place import HermesPlace
    from qterm.settings.load import Loaded

__all__ = ["Leave", "QtermApp", "make_app", "run", "run_screen"]

log = logging.getLogger(__name__)

TOAST_CHARS = 400
"""The most code points of a toast."""

END_SECONDS = 15.0
"""The longest that leaving may take, whatever hangs."""


class QtermApp(App[Leave], inherit_bindings=False):
    """qterm's screens over one set of services, which the caller opens and closes."""

    CSS_PATH = Path(__file__).with_name("app.tcss")
    BINDINGS: ClassVar = [*bindings(Place.APP), ("ctrl+c", "hint_quit")]
    ENABLE_COMMAND_PALETTE = True
    COMMAND_PALETTE_BINDING = "ctrl+p"
    TITLE = "qterm"
    HORIZONTAL_BREAKPOINTS = [  # noqa: RUF012 - Textual declares it so
        (0, "-tiny"),
        (NEEDS[0], "-narrow"),
        (WIDE, "-wide"),
    ]
    VERTICAL_BREAKPOINTS = [(0, "-low"), (NEEDS[1], "-high")]  # noqa: RUF012 - as above

    def __init__(self, services: Services) -> None:
        super().__init__()
        self.services = services
        self.failure: BaseException | None = None
        self._ending = False
        conversation = services.conversation
        self.look = Look(
            {persona.key: persona for persona in services.settings.personas},
            conversation.now,
            keys=services.settings.keys,
        )
        self.home: HomeScreen | None = None

    def get_default_screen(self) -> Screen[object]:
        """The home screen."""
        self.theme = self.services.settings.screen.theme
        self._fit_look()
        self.home = HomeScreen(self.services, self.look, self.services.first_start())
        return self.home  # type: ignore[return-value]

    def on_mount(self) -> None:
        """Take the operator's keys and theme; offer what a first start needs."""
        self.set_keymap(dict(self.services.settings.keys))
        self.theme_changed_signal.subscribe(self, lambda _theme: self._redraw())
        if self.home is not None and self.home.state.kind is not FirstStart.READY:
            self.offer()

    def _fit_look(self) -> None:
        self.look.dark = self.current_theme.dark
        self.look.moving = self.animation_level != "none"

    def _redraw(self) -> None:
        self._fit_look()
        if self.home is not None and self.home.is_mounted:
            self.home.redraw()

    # -- the first start -----------------------------------------------------------------------

    def offer(self) -> None:
        """Show what can be done where hermes has no model, or is not there."""
        if self.home is not None:
            self.push_screen(FirstStartScreen(self.home.state), self._offer_taken)

    def _offer_taken(self, offer: Offer | None) -> None:
        match offer:
            case Offer.REHEARSE:
                self.leave(Leave.REHEARSE)
            case Offer.SET_UP:
                self._set_up()
                self._look_again()
            case Offer.LOOK_AGAIN:
                self._look_again()
            case _:
                pass

    def _set_up(self) -> None:
        """Run `hermes setup` in this terminal; the screen comes back afterwards."""
        from qterm.hermes.environment import child_environment
        from qterm.hermes.place import HermesNotFound

        try:
            place = self.services.find_hermes()
            environ = child_environment(self.services.environ, place.home)
            with interrupts_go_elsewhere(), self.suspend():
                code = subprocess.run(setup_command(place), env=environ, check=False).returncode
        except HermesNotFound as error:
            self.notify(str(error), severity="error")
            return
        except SuspendNotSupported:
            self.notify("Run `hermes setup` in another terminal, then look again.")
            return
        except OSError as error:
            self.notify(f"hermes could not be started: {error.strerror}.", severity="error")
            return
        if code:
            self.notify(f"`hermes setup` ended with {code}.", severity="warning")

    def _look_again(self) -> None:
        assert self.home is not None
        state = self.services.first_start()
        self.home.new_state(state)
        if state.kind is FirstStart.READY:
            self.notify("Q is ready.")
        else:
            self.offer()

    # -- commands ------------------------------------------------------------------------------

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """The palette: every command that is available now, under its full name."""
        for command in COMMANDS:
            if command.palette and self._available(command, screen):
                yield SystemCommand(command.name, command.help, partial(self._invoke, command))

    def _available(self, command: Command, screen: Screen[object]) -> bool:
        if command.place is Place.APP:
            return True
        return screen is self.home and command.available(self.home.situation())

    async def _invoke(self, command: Command) -> None:
        namespace = self if command.place is Place.APP else self.home
        await self.run_action(command.action.removeprefix("screen."), namespace)

    def action_help(self) -> None:
        """Show every key."""
        from qterm.tui.screens.sheets import HelpSheet

        self.push_screen(HelpSheet(self.services.settings.keys))

    def action_theme(self) -> None:
        """Change between light and dark."""
        self.theme = "textual-light" if self.current_theme.dark else "textual-dark"

    def action_doctor(self) -> None:
        """Show what the doctor finds."""
        from qterm.tui.screens.doctor import DoctorScreen

        self.push_screen(DoctorScreen(self.services))

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

    # -- the end -------------------------------------------------------------------------------

    def leave(self, how: Leave) -> None:
        """End what runs, keep the draft, then leave. Safe to call twice."""
        if self._ending:
            return
        self._ending = True
        if self.home is not None:
            self.home.leaving()
        self.run_worker(self._end(how), group="end", exit_on_error=False, name="end")

    async def _end(self, how: Leave) -> None:
        try:
            async with asyncio.timeout(END_SECONDS):
                await self.keep_draft()
                await self.services.conversation.close()
        except Exception:
            log.exception("ending what runs failed")
        finally:
            self.exit(how)
            if self.failure is not None:  # whoever should take the message may be what failed
                self._close_messages_no_wait()

    async def keep_draft(self) -> None:
        """Store what is in the editor; a feed that can't take it is not a reason to stay."""
        if self.home is not None and self.home.draft_is_known:
            with suppress(FeedError):
                await self.services.feed.save_draft(None, self.home.composer.message)

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
        """What is pasted, into whichever field, comes with its controls as visible stand-ins."""
        if isinstance(event, events.Paste) and not event.is_forwarded:
            event.text = to_editor(event.text)
        await super().on_event(event)

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


def setup_command(place: HermesPlace) -> list[str]:
    """The call that sets hermes up in the home that qterm uses, whatever profile is sticky."""
    return [*place.command, *(("-p", "default") if place.home_is_root else ()), "setup"]


def make_app(services: Services) -> QtermApp:
    """The app over these services; the caller closes them when it has ended."""
    return QtermApp(services)


async def run(services: Services) -> Leave:
    """Show the screens until they are left. SIGHUP, SIGTERM and SIGINT leave them cleanly."""
    app = make_app(services)
    with signals_leave(app, app.leave):
        outcome = await app.run_async()
        await app.keep_draft()  # once more, since a fault leaves without asking
    if app.failure is not None:
        raise app.failure
    return outcome or Leave.DONE


def run_screen(loaded: Loaded, *, environ: Mapping[str, str], is_demo: bool = False) -> Leave:
    """Open the services, show the screens, close the services. Raises FeedError."""

    async def main() -> Leave:
        from qterm.services import open_services

        services = await open_services(loaded, environ=environ, is_demo=is_demo)
        try:
            return await run(services)
        finally:
            await services.close()

    return asyncio.run(main())
