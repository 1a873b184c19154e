"""Texts that hermes would take for commands of its own, kept for the model. Pure."""

from __future__ import annotations

from qterm.hermes.argv import ZERO_WIDTH_SPACE
from qterm.hermes.way import CommandsSeen

# What both lines take; each session tells of its own, too.
_KNOWN = frozenset(
    "help model tools context reset compact compress steer queue version".split()  # noqa: SIM905
)


def as_text(prompt: str, commands: CommandsSeen | None = None) -> str:
    """The prompt, with a zero-width space in front where hermes would take it for a command."""
    text = prompt.lstrip()
    if not text.startswith("/"):
        return prompt
    words = text[1:200].split(maxsplit=1)
    first = words[0].lower() if words else ""
    told = {command.name.lower().lstrip("/") for command in commands.commands} if commands else ()
    return ZERO_WIDTH_SPACE + prompt if first in _KNOWN or first in told else prompt
