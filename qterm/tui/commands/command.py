"""What a command is: where its key counts, its words, and when it is available."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from textual.binding import Binding

from qterm.model import Task, Turn
from qterm.tui.words.told_rows import Row


class Place(StrEnum):
    """Which part of the screen listens to a key; the value is the heading in F1."""

    COMPOSER = "Writing"
    FEED = "In the feed (tab goes there)"
    LIST = "In the list of tasks (tab goes there)"
    TOLD = "In what Q will be told (ctrl+t goes there)"
    FILTER = "In the filter of the tasks"
    ENTRIES = "In the list of memory entries"
    ENTRY = "Editing a memory entry"
    ENTRY_FILTER = "In the filter of the entries"
    MEMORY = "Memory"
    PREVIEW = "In the preview of a prune"
    COMPARISON = "In the comparison of the policies"
    KEPT = "In what was kept of the memory"
    KEPT_FILTER = "In the filter of what was kept"
    SUGGESTED = "In the suggested tags"
    CONFLICT = "Where the memory was changed on both sides"
    HOME = "Home"
    TASKS = "Tasks"
    THREAD = "Home and tasks"
    SETTINGS = "In the settings"
    DOCTOR = "In the doctor"
    ROOM = "In the settings, the doctor and here"
    APP = "Everywhere"


NEEDS_FOCUS = frozenset(
    {
        Place.COMPOSER,
        Place.FEED,
        Place.LIST,
        Place.TOLD,
        Place.FILTER,
        Place.ENTRIES,
        Place.ENTRY,
        Place.ENTRY_FILTER,
        Place.KEPT,
        Place.KEPT_FILTER,
    }
)
"""Places of which one listens at a time: the one that has the focus."""

TAKES_LETTERS = frozenset(
    {
        Place.FEED,
        Place.LIST,
        Place.TOLD,
        Place.DOCTOR,
        Place.ENTRIES,
        Place.PREVIEW,
        Place.COMPARISON,
        Place.KEPT,
        Place.SUGGESTED,
        Place.CONFLICT,
    }
)
"""Places in which nothing is written, so that a letter can be a key."""


@dataclass(frozen=True, slots=True)
class Situation:
    """What the availability of commands hangs on. `task` is the chosen one, None at home.

    `did`: it is known what Q did in this thread, `selected_did` for the selected turn; `modes`: its
    session's mode can be chosen; `asks`: hermes waits for an answer in another thread; `turns`:
    something has been said in this one; `writes`: a message can be written here, `folded`: a paste
    in it is folded; `filtered`: the list does not show all tasks. `told` is the chosen row of
    what Q will be told; `removed`: a fact can be brought back. `setting` is the chosen one's dotted
    name, `setting_is_kept`: settings.toml has it. `can` are words for what a screen of the memory
    can do now, by which its commands ask (see `can`).
    """

    running: bool = False
    waiting: Turn | None = None
    selected: Turn | None = None
    again: Turn | None = None
    notices: int = 0
    offers: bool = False
    did: bool = False
    selected_did: bool = False
    modes: bool = False
    asks: bool = False
    turns: bool = False
    writes: bool = False
    folded: bool = False
    task: Task | None = None
    told: Row | None = None
    removed: bool = False
    filtered: bool = False
    setting: str = ""
    setting_is_kept: bool = False
    can: frozenset[str] = frozenset()


Test = Callable[[Situation], bool]


def _always(_: Situation) -> bool:
    return True


def can(word: str) -> Test:
    """Available where the screen says that it can do this now."""
    return lambda now: word in now.can


NO_KEY = "no-key"
"""What stands for the key of a command that has none, until the operator gives it one."""


@dataclass(frozen=True, slots=True)
class Command:
    """One command. `action` is the method `action_…` of its place; `footer` shows it there.

    `short` is the footer's word, `help` a full sentence for the palette and F1.
    """

    id: str
    key: str
    short: str
    name: str
    help: str
    place: Place
    action: str
    footer: bool = False
    palette: bool = True
    priority: bool = False
    available: Test = _always

    def binding(self) -> Binding:
        """The command as a Textual binding; one without a key is reached by the palette."""
        return Binding(
            self.key or NO_KEY,
            self.action,
            self.short,
            show=self.footer,
            priority=self.priority,
            id=self.id,
        )
