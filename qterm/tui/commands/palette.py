"""The palette: every command that works now, with its key, and hermes's own ones."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from rich.text import Text
from textual.command import CommandPalette, DiscoveryHit, Hit, Hits, Provider
from textual.screen import ModalScreen, Screen
from textual.worker import Worker

from qterm.safe_text import safe_line
from qterm.tui.commands.registry import COMMANDS, Command, Place, key_words
from qterm.tui.content import palette_words
from qterm.tui.desk import messages
from qterm.tui.preferences import is_room
from qterm.tui.screens.tasks import TasksScreen

if TYPE_CHECKING:
    from qterm.tui.app import QtermApp
    from qterm.tui.screens.room import Room
    from qterm.tui.screens.thread import ThreadScreen

COMMAND_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,39}")
"""What one of hermes's commands is called; others are not offered."""

NAME_CELLS = 44
"""From this column on the keys stand, where the name leaves room."""

_OVER_A_QUESTION = frozenset({"doctor", "theme", "choose-theme", "help", "quit"})


@dataclass(frozen=True, slots=True)
class Entry:
    """One row: the name, the key as it is written (perhaps empty), a sentence, what it runs."""

    name: str
    keys: str
    help: str
    run: Callable[[], Awaitable[object] | object]

    @property
    def prompt(self) -> Text:
        """Name and key; a Text, which the palette doesn't parse."""
        text = Text(safe_line(self.name))
        if self.keys:
            text.append(" " * max(NAME_CELLS - text.cell_len, 2))
            text.append(safe_line(self.keys), "not bold dim")
        return text


def can_run(command: Command, screen: Screen[object]) -> bool:
    """Whether a command works now on a screen."""
    if command.place is Place.APP:
        if is_room(screen):
            return command.id != getattr(screen, "HERE", "")
        return not isinstance(screen, ModalScreen) or command.id in _OVER_A_QUESTION
    if command.place not in getattr(screen, "PLACES", ()):
        return False
    return command.available(cast("ThreadScreen | Room", screen).situation())


def entries(app: QtermApp, screen: Screen[object]) -> Iterable[Entry]:
    """What the palette offers over a screen; the screen's own commands first."""
    own = app.services.settings.keys
    here = [command for command in COMMANDS if command.palette and can_run(command, screen)]
    for command in sorted(here, key=lambda command: command.place is Place.APP):
        keys = key_words(own.get(command.id) or command.key)
        yield Entry(command.name, keys, command.help, partial(app.run_command, command, screen))
    if isinstance(screen, TasksScreen):
        yield from hermes_commands(screen)


def hermes_commands(screen: ThreadScreen) -> Iterable[Entry]:
    """hermes's own commands, where its session takes them; their words are never markup."""
    if screen.work is None or not screen.can_write:
        return
    for command in screen.work.commands:
        if COMMAND_NAME.fullmatch(command.name):
            chosen = messages.HermesCommandChosen(command.name, command.hint)
            words = palette_words(command.description)[:200]
            yield Entry(f"hermes: /{command.name}", "", words, partial(screen.post_message, chosen))


class Commands(Provider):
    """The entries, as Textual's palette wants them."""

    def _entries(self) -> Iterable[Entry]:
        return entries(cast("QtermApp", self.app), self.screen)

    async def discover(self) -> Hits:
        """All of them, while nothing is typed."""
        for entry in self._entries():
            yield DiscoveryHit(entry.prompt, entry.run, entry.name, entry.help)

    async def search(self, query: str) -> Hits:
        """Those whose name, or else whose sentence or key, is like what was typed."""
        matcher = self.matcher(query)
        wanted = query.casefold().split()
        for entry in self._entries():
            score = matcher.match(entry.name)
            text = f"{entry.help}\n{entry.keys}".casefold()
            if score <= 0 and all(word in text for word in wanted):
                score = 0.01
            if score > 0:
                yield Hit(score, entry.prompt, entry.run, entry.name, entry.help)


class Palette(CommandPalette):
    """Textual's palette; one that is closed while it gathers its commands ends nothing else."""

    def run_worker(self, *arguments: Any, **options: Any) -> Worker[Any]:
        """Its workers look for what is gone when it has been closed: that is no fault."""
        options["exit_on_error"] = False
        return super().run_worker(*arguments, **options)
