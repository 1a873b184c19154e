"""What the work beside the screen tells the home screen. Workers post; only handlers change it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from textual.message import Message

from qterm.context import QContext
from qterm.events import Event
from qterm.feed.source import FeedChange
from qterm.model import Turn


class Side(StrEnum):
    """Where a page belongs."""

    NEWEST = "newest"
    OLDER = "older"
    NEWER = "newer"


@dataclass
class PageRead(Message):
    """A page of the feed; `more` says whether there is still more on that side."""

    side: Side
    turns: Sequence[Turn]
    more: bool


@dataclass
class FeedMoved(Message):
    """The feed has changed, by this process or another."""

    change: FeedChange


@dataclass
class Happened(Message):
    """An event of a turn that this qterm sent."""

    event: Event


@dataclass
class NotSent(Message):
    """A message that was not even stored; it is still in the editor."""

    sentence: str


@dataclass
class Told(Message):
    """What Q would be told now, or why that is not known."""

    context: QContext | None
    trouble: str = ""


@dataclass
class DraftRead(Message):
    """The text that was not sent last time."""

    text: str


@dataclass
class VersionSeen(Message):
    """Which hermes answers."""

    words: str


@dataclass
class Trouble(Message):
    """Something failed; one sentence with what to do. `page` is true where a page was wanted."""

    sentence: str
    page: bool = False
