"""Which key a command may get: what stands against it, in a sentence (no widget here)."""

from __future__ import annotations

from collections.abc import Mapping

from qterm.tui.commands.registry import (
    BY_ID,
    COMMANDS,
    NEEDS_FOCUS,
    TAKES_LETTERS,
    Command,
    Place,
    key_words,
    keys_of,
)
from qterm.tui.widgets.composer import EDITING

_THREAD = {Place.COMPOSER, Place.FEED, Place.THREAD}
_SCREENS = (
    {*_THREAD, Place.HOME, Place.TOLD},
    {*_THREAD, Place.TASKS, Place.LIST, Place.FILTER},
    {Place.MEMORY, Place.ENTRIES, Place.ENTRY, Place.ENTRY_FILTER},
    {Place.ROOM, Place.SETTINGS},
    {Place.ROOM, Place.DOCTOR},
    {Place.ROOM, Place.PREVIEW},
    {Place.ROOM, Place.COMPARISON},
    {Place.ROOM, Place.KEPT, Place.KEPT_FILTER},
    {Place.ROOM, Place.SUGGESTED},
    {Place.ROOM, Place.CONFLICT},
)
"""The places that each screen has."""
_MOVES = frozenset({"tab", "shift+tab", "backspace", "ctrl+c"})


def _editor_keys() -> frozenset[str]:
    keys = set(_MOVES)
    for binding in EDITING:
        keys |= {name.strip() for name in binding.key.split(",")}
    return frozenset(keys)


EDITOR_KEYS = _editor_keys()
"""The keys with which one writes, moves and selects in the editor."""


def meet(one: Place, other: Place) -> bool:
    """Whether keys of these two places can be pressed on the same screen at the same moment."""
    if one is other or Place.APP in {one, other}:
        return True
    pair = {one, other}
    return not pair <= NEEDS_FOCUS and any(pair <= places for places in _SCREENS)


def why_not(command_id: str, key: str, own: Mapping[str, str], *, is_letter: bool) -> str:
    """Why a key can't be a command's, as a sentence with what to do; empty where it can.

    `own` are the operator's keys by the command's id. `is_letter`: pressing it writes something.
    """
    command = BY_ID[command_id]
    shown = key_words(key)
    usual = {name.strip() for name in command.key.split(",")}
    if is_letter and command.place not in TAKES_LETTERS:
        return f"“{shown}” is for writing there: take one with ctrl or alt, or f1 to f12."
    if key in EDITOR_KEYS and key not in usual and command.place not in TAKES_LETTERS:
        return f"The editor needs {shown} for itself: take another."
    for other in COMMANDS:
        if key in keys_of(other.id, own) and _clash(command, other, key):
            return (
                f"{shown} is the key of “{other.name}” ({_where(other.place)}): take another, or "
                "give that command another one first."
            )
    return ""


def _clash(command: Command, other: Command, key: str) -> bool:
    if command is other or not meet(command.place, other.place):
        return False
    by_design = {name.strip() for name in command.key.split(",")} & {
        name.strip() for name in other.key.split(",")
    }
    return key not in by_design


def _where(place: Place) -> str:
    words = place.value.partition(" (")[0]
    return words[0].lower() + words[1:]


def with_another(command_id: str, key: str, own: Mapping[str, str]) -> str:
    """The command's keys and one more, as the config writes them."""
    keys = [name.strip() for name in (own.get(command_id) or BY_ID[command_id].key).split(",")]
    return ",".join(dict.fromkeys([name for name in keys if name] + [key]))
