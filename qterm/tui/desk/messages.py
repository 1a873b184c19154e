"""What the work beside the screens tells them. Workers post; only handlers change a screen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from textual.message import Message

from qterm.events import Event
from qterm.feed.source import FeedChange
from qterm.hermes.way import Standing
from qterm.model import Task, Turn
from qterm.settings.load import Loaded
from qterm.tui.words.told_rows import Fit, Known

if TYPE_CHECKING:
    from qterm.maintenance.report import Report
    from qterm.tui.words.excerpt import Hit
    from qterm.tui.words.links import Link
    from qterm.tui.words.markdown_words import CodeBlock


class Side(StrEnum):
    """Where a page belongs."""

    NEWEST = "newest"
    OLDER = "older"
    NEWER = "newer"


@dataclass
class ThreadChosen(Message, bubble=False):
    """Another thread comes onto the screen; None: there is none to show."""

    task_id: str | None


@dataclass
class PageRead(Message, bubble=False):
    """A page of a thread; `more` says whether there is still more on that side."""

    task_id: str | None
    side: Side
    turns: Sequence[Turn]
    more: bool


@dataclass
class AroundRead(Message, bubble=False):
    """The turns around one that is to be looked at, with it; whether there are more beside them."""

    turn: Turn
    turns: Sequence[Turn]
    has_older: bool
    has_newer: bool


@dataclass
class TurnFound(Message, bubble=False):
    """A turn to go to; None where it was deleted meanwhile."""

    turn: Turn | None


@dataclass
class FeedMoved(Message, bubble=False):
    """The feed has changed, by this process or another."""

    change: FeedChange


@dataclass
class ChangesMissed(Message, bubble=False):
    """The feed could not be watched for a while: what is shown may be old."""


@dataclass
class Happened(Message, bubble=False):
    """An event of a turn that this qterm sent. `written`: its words came from the editor."""

    event: Event
    written: bool = True


@dataclass
class NotSent(Message, bubble=False):
    """A message that was not even stored; it is still in the editor.

    `refused`: it could not have been, as against a feed that can't be written. `again`: it was to
    be sent again, and is not in the editor.
    """

    task_id: str | None
    sentence: str
    refused: bool = False
    again: bool = False


@dataclass
class Held(Message, bubble=False):
    """What the session already holds of a message that is to be sent again; may be nothing."""

    turn: Turn
    sentence: str


@dataclass
class Told(Message, bubble=False):
    """What Q would be told now, or why that is not known."""

    known: Known | None
    trouble: str = ""


@dataclass
class Weighed(Message, bubble=False):
    """What one call can carry of the block and a message of so many code points (rule C6)."""

    chars: int
    fit: Fit


@dataclass
class DraftRead(Message, bubble=False):
    """The text that was not sent. `instead`: it takes the place of what is in the editor."""

    task_id: str | None
    text: str
    instead: bool = False


@dataclass
class Edited(Message, bubble=False):
    """The operator's own editor has ended. `text` is None where nothing changes, `was` the old one.

    `sentence` says why not, `failed` that something went wrong.
    """

    task_id: str | None
    text: str | None
    was: str = ""
    sentence: str = ""
    failed: bool = False


@dataclass
class VersionSeen(Message, bubble=False):
    """Which hermes answers."""

    words: str


@dataclass
class StandingSeen(Message, bubble=False):
    """Which transport the next turn takes, and why."""

    standing: Standing


@dataclass
class Unanswered(Message, bubble=False):
    """An answer to a request came too late: hermes no longer waited for it."""


@dataclass
class ModeSet(Message, bubble=False):
    """A session's mode was to be set; `taken`: hermes took it."""

    task_id: str | None
    mode: str
    taken: bool


@dataclass
class HermesCommandChosen(Message, bubble=False):
    """One of hermes's own commands was chosen; `hint` says what follows it, where something may."""

    name: str
    hint: str


@dataclass
class TasksRead(Message, bubble=False):
    """All tasks, the open ones first."""

    tasks: Sequence[Task]


@dataclass
class TaskBegun(Message, bubble=False):
    """A task was made on this screen."""

    task: Task


@dataclass
class TaskChanged(Message, bubble=False):
    """An ending or a reopening is over: what became of the task, or one sentence why not."""

    task_id: str
    task: Task | None
    trouble: str = ""


@dataclass
class Found(Message, bubble=False):
    """Turns that hold the words, newest first; `is_next`: they go below those found before."""

    words: str
    hits: list[Hit]
    more: bool
    is_next: bool


@dataclass
class SearchFailed(Message, bubble=False):
    """The feed could not be searched; one sentence with what to do."""

    words: str
    sentence: str


@dataclass
class CodeFound(Message, bubble=False):
    """The blocks of code in a turn; `chosen`: it is the turn the operator had chosen."""

    blocks: list[CodeBlock]
    chosen: bool


@dataclass
class LinksFound(Message, bubble=False):
    """The links in a turn."""

    links: list[Link]


@dataclass
class LinkOpened(Message, bubble=False):
    """What became of a link that was to be opened; no sentence: a browser has it."""

    link: Link
    sentence: str = ""


@dataclass
class Exported(Message, bubble=False):
    """A thread was to be written into a file: one sentence about it."""

    sentence: str
    failed: bool = False


@dataclass
class ExportTaken(Message, bubble=False):
    """There is a file already where a thread was to be written."""

    task_id: str | None
    path: Path


@dataclass
class Trouble(Message, bubble=False):
    """Something failed; one sentence with what to do. `page` is true where a page was wanted."""

    sentence: str
    page: bool = False


@dataclass
class SettingsRead(Message, bubble=False):
    """The settings as the files have them now; `name` is the one that was changed, if any."""

    loaded: Loaded
    name: str = ""


@dataclass
class SettingRefused(Message, bubble=False):
    """A setting could not be kept; the sentence says why and what to do."""

    name: str
    sentence: str


@dataclass
class MemoryDone(Message, bubble=False):
    """Work on the memory is done; `what` is what was asked for, `found` what came of it."""

    what: str
    found: object


@dataclass
class MemoryFailed(Message, bubble=False):
    """Work on the memory that could not be done; `error` is a MemoryFault where it was refused."""

    what: str
    sentence: str
    error: Exception


@dataclass
class Maintained(Message, bubble=False):
    """A maintenance pass has run after a turn, or could not."""

    report: Report
