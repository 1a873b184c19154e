"""The commands that belong to no thread: what Q will be told, the rooms, the app."""

from __future__ import annotations

from qterm.tui.commands.command import Command, Place, Test
from qterm.tui.words.told_rows import RowKind


def _told(*kinds: RowKind) -> Test:
    return lambda now: now.told is not None and now.told.kind in kinds


ELSEWHERE: tuple[Command, ...] = (
    Command(
        "told-above", "up", "above", "Go to the row above",
        "Move the highlight to the fact or turn above, or scroll.",
        Place.TOLD, "cursor_up", palette=False,
    ),
    Command(
        "told-below", "down", "below", "Go to the row below",
        "Move the highlight to the fact or turn below, or scroll.",
        Place.TOLD, "cursor_down", palette=False,
    ),
    Command(
        "told-edit", "enter,e", "edit…", "Edit the fact, or the mode…",
        "Change the words of the highlighted fact, or the mode.",
        Place.TOLD, "screen.told_edit", footer=True, available=_told(RowKind.FACT, RowKind.MODE),
    ),
    Command(
        "told-turn", "enter", "go there", "Show the turn in the feed",
        "Go to the highlighted turn of what Q will be told, where it stands in the feed.",
        Place.TOLD, "screen.told_turn", footer=True, available=_told(RowKind.TURN),
    ),
    Command(
        "told-hide", "h", "hide/show", "Hide the turn from Q, or tell it again",
        "Take the highlighted turn out of what Q will be told, or put it back.",
        Place.TOLD, "screen.told_hide", footer=True, available=_told(RowKind.TURN),
    ),
    Command(
        "told-add", "a", "add…", "Add a fact…",
        "Add a fact about you, told with every message.",
        Place.TOLD, "screen.fact", footer=True, palette=False,
    ),
    Command(
        "told-pin", "p", "pin", "Pin the fact, or unpin it",
        "Only pinned facts are sent; an unpinned one is kept for later.",
        Place.TOLD, "screen.told_pin", footer=True, available=_told(RowKind.FACT),
    ),
    Command(
        "told-up", "alt+up,shift+up", "move", "Move the fact up",
        "Put the highlighted fact further up; the first ones are sent.",
        Place.TOLD, "screen.told_move(-1)", footer=True, available=_told(RowKind.FACT),
    ),
    Command(
        "told-down", "alt+down,shift+down", "move down", "Move the fact down",
        "Put the highlighted fact further down.",
        Place.TOLD, "screen.told_move(1)", available=_told(RowKind.FACT),
    ),
    Command(
        "told-remove", "x", "remove", "Remove the fact",
        "Remove the highlighted fact; it can be brought back until qterm ends.",
        Place.TOLD, "screen.told_remove", footer=True, available=_told(RowKind.FACT),
    ),
    Command(
        "told-undo", "u", "bring back", "Bring back the removed fact",
        "Bring the fact back that was removed last, to where it was.",
        Place.TOLD, "screen.told_undo", footer=True, available=lambda now: now.removed,
    ),
    Command(
        "told-leave", "escape", "write", "Go back to writing from what Q will be told",
        "Put the cursor into the editor again.",
        Place.TOLD, "screen.told_leave", footer=True, palette=False,
        available=lambda now: not now.running,
    ),
    Command(
        "setting-change", "enter", "change", "Change the setting", "Change the chosen setting.",
        Place.SETTINGS, "screen.change", footer=True,
        available=lambda now: bool(now.setting),
    ),
    Command(
        "setting-back", "ctrl+r", "set back", "Set back the setting",
        "Let go of what is kept here: what the config file says counts again, or the default.",
        Place.SETTINGS, "screen.set_back", footer=True,
        available=lambda now: now.setting_is_kept,
    ),
    Command(
        "setting-add-key", "ctrl+n", "another key", "Add a key to the command",
        "Give the chosen command one more key.",
        Place.SETTINGS, "screen.add_key", footer=True,
        available=lambda now: now.setting.startswith("keys."),
    ),
    Command(
        "doctor-again", "r", "look again", "Look again", "Have the doctor look once more.",
        Place.DOCTOR, "look_again", footer=True,
    ),
    Command(
        "doctor-copy", "c", "copy", "Copy the doctor’s report",
        "Send the whole report to the terminal’s clipboard, as `qterm doctor` prints it.",
        Place.DOCTOR, "copy_report", footer=True,
    ),
    Command(
        "close", "escape", "close", "Close", "Go back to where you were.",
        Place.ROOM, "screen.close", footer=True, palette=False,
    ),
    Command(
        "home", "f2", "home", "Home", "Go to the home feed.",
        Place.APP, "home",
    ),
    Command(
        "tasks", "f3", "tasks", "Tasks", "Go to the tasks; once there, to their list.",
        Place.APP, "tasks",
    ),
    Command(
        "memory", "f4", "memory", "Memory",
        "See what Q remembers, tag and edit it, and look at a prune before anything is written.",
        Place.APP, "memory",
    ),
    Command(
        "doctor", "f5", "doctor", "Doctor",
        "Check hermes, its model, the store and the config, with a mend for each fault.",
        Place.APP, "doctor",
    ),
    Command(
        "search", "ctrl+f", "search", "Search",
        "Find what was said, in home and in every task, and go there.",
        Place.APP, "search", priority=True,
    ),
    Command(
        "settings", "f6", "settings", "Settings",
        "See every setting with where it is from, and change it; keys can be changed there, too.",
        Place.APP, "settings",
    ),
    Command(
        "theme", "f12", "theme", "Light or dark",
        "Change between a light and a dark screen; it is kept.",
        Place.APP, "theme",
    ),
    Command(
        "choose-theme", "", "theme…", "Choose a theme…",
        "Try the colours one after the other, and keep those you like.",
        Place.APP, "choose_theme",
    ),
    Command(
        "palette", "ctrl+p", "commands", "Commands", "Find a command by its name.",
        Place.APP, "command_palette", footer=True, palette=False, priority=True,
    ),
    Command(
        "help", "f1", "help", "Help", "Show the keys of this screen, then all others.",
        Place.APP, "help", footer=True,
    ),
    Command(
        "quit", "ctrl+q", "quit", "Quit",
        "Leave qterm; you are asked only when a turn is under way. Your draft is kept.",
        Place.APP, "quit", priority=True,
    ),
)  # fmt: skip
"""They are part of `COMMANDS`, as all others."""
