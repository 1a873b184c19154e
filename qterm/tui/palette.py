"""hermes's own commands in the palette."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import partial

from textual.app import SystemCommand

from qterm.tui import messages
from qterm.tui.content import palette_words
from qterm.tui.screens.thread import ThreadScreen

COMMAND_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,39}")
"""What one of hermes's commands is called; others are not offered."""


def hermes_commands(screen: ThreadScreen) -> Iterable[SystemCommand]:
    """hermes's own commands, where its session takes them; their words are never markup."""
    if screen.work is None or not screen.can_write:
        return
    for command in screen.work.commands:
        if COMMAND_NAME.fullmatch(command.name):
            chosen = messages.HermesCommandChosen(command.name, command.hint)
            words = palette_words(command.description)[:200]
            post = partial(screen.post_message, chosen)
            yield SystemCommand(f"hermes: /{command.name}", words, post)
