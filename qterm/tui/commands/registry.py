"""Every command, declared once: its key, its words, and when it is available.

One declaration gives the binding, the palette entry, the footer and the row in F1. Keys can be
changed in the config, `[keys]`, by the command's id.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from textual.binding import BindingType

from qterm.model import YOU, TaskState, Turn, TurnState
from qterm.tui.commands.command import (
    NEEDS_FOCUS,
    NO_KEY,
    TAKES_LETTERS,
    Command,
    Place,
    Situation,
)
from qterm.tui.commands.elsewhere import ELSEWHERE
from qterm.tui.commands.for_memory import FOR_MEMORY
from qterm.tui.commands.for_review import FOR_REVIEW

__all__ = [
    "BY_ID",
    "COMMANDS",
    "NEEDS_FOCUS",
    "NO_KEY",
    "TAKES_LETTERS",
    "Command",
    "Place",
    "Situation",
]


def _selected_said(now: Situation) -> bool:
    return now.selected is not None and not now.selected.state.is_open


def _has_turns(now: Situation) -> bool:
    return now.turns


def _is_home_turn(now: Situation) -> bool:
    """A task's session holds every turn of it: hiding one would change nothing (rule S6)."""
    return _selected_said(now) and now.task is None


def _task_is_open(now: Situation) -> bool:
    return now.task is not None and now.task.state is TaskState.OPEN


def _task_is_over(now: Situation) -> bool:
    return now.task is not None and now.task.state is not TaskState.OPEN


def _has_detail(now: Situation) -> bool:
    return now.selected is not None and (bool(now.selected.detail) or now.selected_did)


COMMANDS: tuple[Command, ...] = (
    Command(
        "send", "enter", "send", "Send", "Send what you wrote to Q.",
        Place.COMPOSER, "send", footer=True, palette=False,
    ),
    Command(
        "newline", "ctrl+j,shift+enter,alt+enter", "new line", "New line",
        "Begin a new line without sending.",
        Place.COMPOSER, "newline", footer=True, palette=False,
    ),
    Command(
        "edit", "f7", "your editor", "Write in your own editor",
        "Open what you are writing in $VISUAL or $EDITOR, its pastes unfolded.",
        Place.COMPOSER, "screen.edit_message", available=lambda now: now.writes,
    ),
    Command(
        "unfold", "ctrl+o", "unfold", "Unfold the paste",
        "Put the text of a folded paste into the editor: the one at the cursor, or before it.",
        Place.COMPOSER, "unfold", available=lambda now: now.folded,
    ),
    Command(
        "earlier", "up", "earlier", "Your earlier messages",
        "On the first row: your message before; change it, or come back to your draft with down.",
        Place.COMPOSER, "earlier", palette=False,
    ),
    Command(
        "later", "down", "later", "Your later messages",
        "On the last row, after that: your message after, and at last your draft.",
        Place.COMPOSER, "later", palette=False,
    ),
    Command(
        "select-message", "", "select all", "Select the whole message",
        "Select all that stands in the editor.",
        Place.COMPOSER, "select_message", available=lambda now: now.writes,
    ),
    Command(
        "page-up", "pageup", "older", "Scroll up", "Scroll the feed up, to what was said before.",
        Place.COMPOSER, "screen.page_up", palette=False,
    ),
    Command(
        "page-down", "pagedown", "newer", "Scroll down", "Scroll the feed down.",
        Place.COMPOSER, "screen.page_down", palette=False,
    ),
    Command(
        "select-up", "up", "select", "Select the turn above",
        "Move the highlight to the turn above.",
        Place.FEED, "select(-1)", palette=False,
    ),
    Command(
        "select-down", "down", "select", "Select the turn below",
        "Move the highlight to the turn below.",
        Place.FEED, "select(1)", palette=False,
    ),
    Command(
        "send-again", "a", "send again", "Send again",
        "Send the selected message again, or the last one that did not get through.",
        Place.FEED, "screen.send_again", footer=True, available=lambda now: now.again is not None,
    ),
    Command(
        "take-back", "t", "take back", "Take back the waiting message",
        "Put a message that still waits back into the editor.",
        Place.FEED, "screen.take_back", footer=True, available=lambda now: now.waiting is not None,
    ),
    Command(
        "detail", "enter", "details", "Show the details of the selected turn",
        "Unfold or fold what Q did for the selected turn, or why it failed.",
        Place.FEED, "screen.detail", footer=True, available=_has_detail,
    ),
    Command(
        "hide", "h", "hide", "Hide the selected turn from Q, or show it again",
        "A turn hidden in the home feed stays there, but Q is no longer told of it.",
        Place.FEED, "screen.hide", footer=True, available=_is_home_turn,
    ),
    Command(
        "delete", "d", "delete…", "Delete the selected turn…",
        "Delete the selected turn for good; you are asked first.",
        Place.FEED, "screen.delete", available=_selected_said,
    ),
    Command(
        "copy-turn", "c", "copy", "Copy the selected turn",
        "Send the whole text of the selected turn, or of the newest one, to the terminal's "
        "clipboard.",
        Place.FEED, "screen.copy_turn", footer=True, available=_has_turns,
    ),
    Command(
        "copy-code", "y", "copy code", "Copy a block of code…",
        "Copy the code in the selected turn, or in Q's newest answer that has some.",
        Place.FEED, "screen.copy_code", available=_has_turns,
    ),
    Command(
        "open-link", "o", "open link", "Open a link…",
        "Look at where a link of the selected turn, or of the newest one, leads; then open it.",
        Place.FEED, "screen.open_link", available=_has_turns,
    ),
    Command(
        "newest", "end", "newest", "Go to the newest turn", "Scroll to the end of the feed.",
        Place.FEED, "screen.newest",
    ),
    Command(
        "write", "escape", "write", "Go back to writing", "Put the cursor into the editor.",
        Place.FEED, "screen.write", footer=True, palette=False,
        available=lambda now: not now.running,
    ),
    Command(
        "stop", "escape", "stop Q", "Stop Q", "Stop the turn that Q is working on in this thread.",
        Place.THREAD, "stop", footer=True, available=lambda now: now.running,
    ),
    Command(
        "steps", "ctrl+r", "what Q did", "What Q did, and thought",
        "Unfold the tools and thoughts below an answer; again for arguments and results; again "
        "to fold them.",
        Place.THREAD, "steps", available=lambda now: now.did,
    ),
    Command(
        "session-mode", "f8", "session mode…", "Session mode…",
        "Choose how freely Q may edit files in this task's session.",
        Place.TASKS, "session_mode", available=lambda now: now.modes,
    ),
    Command(
        "go-to-request", "ctrl+l", "answer Q…", "Go where Q asks you",
        "Go to the thread in which hermes waits for your answer before it acts.",
        Place.THREAD, "go_to_request", available=lambda now: now.asks,
    ),
    Command(
        "told", "ctrl+t", "context", "What Q will be told",
        "Go to the context that goes to Q with your next message; once there, put it away.",
        Place.HOME, "told", footer=True,
    ),
    Command(
        "mode", "f8", "mode…", "Set the mode…",
        "Say what you are at, with a time at which it is over; Q is told.",
        Place.HOME, "mode",
    ),
    Command(
        "fact", "f9", "add fact…", "Add a fact about you…",
        "Add a fact that Q is told with every message.",
        Place.HOME, "fact",
    ),
    Command(
        "dismiss", "ctrl+g", "dismiss notice", "Dismiss the notice",
        "Put the notice at the top away; “Notices” shows it again.",
        Place.THREAD, "dismiss_notice", available=lambda now: now.notices > 0,
    ),
    Command(
        "notices", "", "notices", "Notices", "Show every notice since qterm was started.",
        Place.THREAD, "notices",
    ),
    Command(
        "export", "", "export", "Export this thread…",
        "Write this thread, whole, as Markdown into a file that only you can read.",
        Place.THREAD, "export", available=_has_turns,
    ),
    Command(
        "first-start", "f10", "set up", "Set up or rehearse…",
        "Go back to the offers of the first start.",
        Place.THREAD, "first_start", available=lambda now: now.offers,
    ),
    Command(
        "new-task", "ctrl+n", "new task", "New task…",
        "Begin a task: a thread of its own, in which Q remembers everything until it ends.",
        Place.TASKS, "new_task", footer=True,
    ),
    Command(
        "reopen-task", "ctrl+o", "reopen…", "Reopen the task…",
        "Open a done or cancelled task again; Q starts fresh. You are asked first.",
        Place.TASKS, "reopen_task", footer=True, available=_task_is_over,
    ),
    Command(
        "previous-task", "alt+up", "task above", "Task above", "Go to the task above in the list.",
        Place.TASKS, "step_task(-1)", palette=False, available=lambda now: now.task is not None,
    ),
    Command(
        "next-task", "alt+down", "task below", "Task below", "Go to the task below in the list.",
        Place.TASKS, "step_task(1)", palette=False, available=lambda now: now.task is not None,
    ),
    Command(
        "write-in-task", "enter", "write", "Write in the task",
        "Put the cursor into the editor of the chosen task.",
        Place.LIST, "screen.write_in_task", footer=True, palette=False,
        available=lambda now: now.task is not None,
    ),
    Command(
        "rename-task", "r", "rename…", "Rename the task…",
        "Give the chosen task another title; its session keeps its name.",
        Place.LIST, "screen.rename_task", available=lambda now: now.task is not None,
    ),
    Command(
        "finish-task", "f", "finish…", "Finish the task…",
        "Mark the chosen task as done; it is read-only then. You are asked first.",
        Place.LIST, "screen.finish_task", footer=True, available=_task_is_open,
    ),
    Command(
        "cancel-task", "x", "cancel…", "Cancel the task…",
        "As finishing, but it says that nothing came of it. You are asked first.",
        Place.LIST, "screen.cancel_task", available=_task_is_open,
    ),
    Command(
        "filter-tasks", "slash", "filter", "Filter the tasks",
        "Show only the tasks with these words in their title or the last thing said.",
        Place.LIST, "screen.filter_tasks", footer=True,
    ),
    Command(
        "narrow-tasks", "s", "open or over", "Show all, open or ended tasks",
        "Show the open tasks, then those that are over, then all of them again.",
        Place.LIST, "screen.narrow_tasks",
    ),
    Command(
        "clear-filter", "escape", "show all", "Show all tasks", "Show every task again.",
        Place.LIST, "screen.clear_filter", footer=True, available=lambda now: now.filtered,
    ),
    Command(
        "take-filter", "enter,down", "to the list", "To the list",
        "Go to the tasks that the filter leaves.",
        Place.FILTER, "screen.take_filter", footer=True, palette=False,
    ),
    Command(
        "leave-filter", "escape", "show all", "Show all tasks", "Show every task again.",
        Place.FILTER, "screen.leave_filter", footer=True, palette=False,
    ),
    *FOR_MEMORY,
    *FOR_REVIEW,
    *ELSEWHERE,
)  # fmt: skip

BY_ID = {command.id: command for command in COMMANDS}


def unknown_commands(own: Mapping[str, str]) -> list[str]:
    """The ids under `[keys]` that no command has."""
    return [command_id for command_id in own if command_id not in BY_ID]


def keys_of(command_id: str, own: Mapping[str, str]) -> frozenset[str]:
    """The keys of a command: the operator's own, else its default ones."""
    keys = own.get(command_id) or BY_ID[command_id].key
    return frozenset(key.strip() for key in keys.split(","))


def first_key(command_id: str, own: Mapping[str, str]) -> str:
    """The first key of a command as people write it."""
    keys = own.get(command_id) or BY_ID[command_id].key
    return key_words(keys.partition(",")[0])


def key_words(keys: str) -> str:
    """Keys as people write them: `ctrl+j, shift+enter`; `esc`, `page up`."""
    short = {
        "escape": "esc",
        "pageup": "page up",
        "pagedown": "page down",
        "slash": "/",
        "asterisk": "*",
        "left_square_bracket": "[",
        "right_square_bracket": "]",
        "left": "←",
        "right": "→",
    }
    return ", ".join(short.get(key.strip(), key.strip()) for key in keys.split(","))


def bindings(place: Place) -> list[BindingType]:
    """The bindings of one part of the screen."""
    return [command.binding() for command in COMMANDS if command.place is place]


def by_action(action: str, places: Iterable[Place]) -> Command | None:
    """The command behind an action of one of these places."""
    wanted = set(places)
    for command in COMMANDS:
        if command.place in wanted and command.action.rpartition(".")[2].split("(")[0] == action:
            return command
    return None


def again_candidate(turn: Turn | None) -> Turn | None:
    """The turn, if it is a message of the operator that may be sent once more."""
    if turn is None or turn.persona != YOU or not turn.state.can_be_sent_again:
        return None
    return turn


def is_waiting(turn: Turn) -> bool:
    """True for a message of the operator that waits for its turn."""
    return turn.persona == YOU and turn.state is TurnState.QUEUED
