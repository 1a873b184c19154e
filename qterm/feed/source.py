"""The feed source: what the Conversation and the faces may ask of a feed, wherever it is kept."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from qterm.model import (
    Degraded,
    Fact,
    Mode,
    Owner,
    Session,
    Task,
    TaskState,
    Turn,
    TurnState,
)


class FeedError(Exception):
    """A feed that can't be read or written; the text is one sentence with what to do."""


class TurnGoneError(FeedError):
    """A turn that is not in the feed (any more): it was deleted."""


@dataclass(frozen=True, slots=True)
class NewTurn:
    """A turn about to be stored. Texts are stored as they are, but NUL and lone surrogates.

    It belongs to the run its task is at.
    """

    task_id: str | None
    persona: str
    text: str
    state: TurnState
    reply_to: int | None = None
    owner: Owner | None = None
    again_of: int | None = None


@dataclass(frozen=True, slots=True)
class TurnChange:
    """What becomes of a turn. A field left None stays as it is; an open state's owner too.

    A state that is not open clears the owner.
    """

    state: TurnState | None = None
    text: str | None = None
    degraded: Degraded | None = None
    reason: str | None = None
    detail: str | None = None
    elapsed: float | None = None
    owner: Owner | None = None


@dataclass(frozen=True, slots=True)
class FeedChange:
    """What has changed since the last look, by this process or another.

    `turns` are the new and the changed ones in the order of their ids; `deleted` are ids.
    """

    turns: tuple[Turn, ...] = ()
    deleted: tuple[int, ...] = ()
    facts: bool = False
    mode: bool = False
    tasks: bool = False


class FeedSource(Protocol):
    """A feed. Every call may raise FeedError; none blocks the event loop."""

    async def page(
        self,
        task_id: str | None,
        *,
        before: int | None = None,
        after: int | None = None,
        limit: int = 50,
    ) -> list[Turn]:
        """Turns of a thread, oldest first: the newest ones, or those next to an id (exclusive)."""
        ...

    async def turn(self, turn_id: int) -> Turn | None:
        """One turn, whole; None when there is none (or it was deleted)."""
        ...

    async def own_message(
        self, task_id: str | None, *, before: int | None = None, after: int | None = None
    ) -> Turn | None:
        """The operator's message next to a turn's id in a thread, in whatever state it is.

        Without an id the newest; a message that was sent again counts once. The cost does not grow
        with the feed, however many others spoke since.
        """
        ...

    async def transcript(
        self,
        task_id: str | None,
        *,
        run: int = 0,
        before: int | None = None,
        limit: int,
        chars: int,
    ) -> tuple[list[Turn], int]:
        """The last `limit` said, unhidden turns of a run before an id, oldest first (rule C5).

        Each text has at most `chars` code points. Comes with how many older said turns were
        left out, counted up to 1,000. The cost does not grow with the feed.
        """
        ...

    async def hidden(
        self, task_id: str | None, *, since: int, limit: int, chars: int
    ) -> list[Turn]:
        """The last said turns from an id on that are hidden from Q, oldest first, texts cut as
        those of `transcript`. Only the newest few hundred turns are looked at."""
        ...

    async def append(self, turn: NewTurn) -> Turn:
        """Store a turn; it is on the disk when this returns."""
        ...

    async def update(self, turn_id: int, change: TurnChange) -> Turn:
        """Change a turn; it is on the disk when this returns."""
        ...

    async def claim(self, turn_id: int, owner: Owner) -> bool:
        """Make a queued turn of this owner pending; False when it is queued no more."""
        ...

    async def open_turns(self, task_id: str | None) -> list[Turn]:
        """Turns that are queued or pending in a thread, oldest first."""
        ...

    async def interrupt_orphans(self) -> list[Turn]:
        """Turn every open turn whose owner is gone into an interrupted one; returns those."""
        ...

    async def hide(self, turn_id: int, hidden: bool = True) -> Turn:
        """Hide a turn from Q, or show it again."""
        ...

    async def delete(self, turn_id: int) -> None:
        """Delete a turn for good: its words are gone from the file and from the search."""
        ...

    async def search(
        self,
        text: str,
        *,
        task_id: str | None = None,
        before: int | None = None,
        limit: int = 50,
    ) -> list[Turn]:
        """Turns holding this text, newest first; over the whole feed when no task is named.

        `before`: only those before this id, so that more can be asked for. Other work comes
        between the steps of a long one.
        """
        ...

    async def facts(self) -> list[Fact]:
        """All facts: the pinned ones first, each part in the operator's order."""
        ...

    async def add_fact(self, text: str, *, pinned: bool = True) -> Fact:
        """Add a fact at the end of its part."""
        ...

    async def edit_fact(self, fact_id: int, text: str) -> Fact:
        """Change a fact's words."""
        ...

    async def pin_fact(self, fact_id: int, pinned: bool = True) -> Fact:
        """Pin a fact (only pinned ones are sent), or unpin it."""
        ...

    async def move_fact(self, fact_id: int, position: int) -> list[Fact]:
        """Put a fact at this position (from 1) within its part; returns all facts."""
        ...

    async def remove_fact(self, fact_id: int) -> Fact:
        """Remove a fact; returns what it was."""
        ...

    async def tasks(self) -> list[Task]:
        """All tasks: the open ones first, each part with the newest words first."""
        ...

    async def task(self, task_id: str) -> Task | None:
        """One task; None when there is none."""
        ...

    async def add_task(self, title: str, cwd: str) -> Task:
        """Begin a task, with an id that was never used (rule S1); no session is made."""
        ...

    async def rename_task(self, task_id: str, title: str) -> Task:
        """Give a task another title; its session keeps its name."""
        ...

    async def end_task(self, task_id: str, state: TaskState) -> Task:
        """Make an open task done or cancelled."""
        ...

    async def reopen_task(self, task_id: str) -> Task:
        """Open a done or cancelled task again: the next run, without a session (rule S2)."""
        ...

    async def bind(self, task_id: str, run: int, session: Session) -> Task:
        """Bind a run to a session (rule S3); nothing changes when the task is at another run."""
        ...

    async def unbind(self, task_id: str, run: int, session_id: str, *, lost: bool = True) -> Task:
        """Let go of a session hermes no longer has (rule S5), if it still is the bound one.

        `lost` False: it never began, so its name is still free.
        """
        ...

    async def mark_seen(self, task_id: str, turn_id: int) -> None:
        """Note that a thread's turns up to this one were on the screen."""
        ...

    async def mode(self) -> Mode | None:
        """The mode as it was set, also when its time has passed."""
        ...

    async def set_mode(self, text: str | None, until: datetime | None = None) -> Mode | None:
        """Set the mode, or clear it with None."""
        ...

    async def draft(self, task_id: str | None) -> str:
        """The text not yet sent in a thread; with what processes that have gone kept apart."""
        ...

    async def save_draft(self, task_id: str | None, text: str) -> None:
        """Keep the text not yet sent in a thread; it survives a kill.

        What another process wrote there since this one last looked is not written over: the text
        is then kept apart, and joined once this process has gone. The same text again is no change.
        """
        ...

    def lock(self, task_id: str | None, turn_id: int) -> AbstractAsyncContextManager[None]:
        """Hold the thread for this queued turn: one at a time over every qterm on this data,
        in the order of the turns' ids (rule S7). Waits as long as it takes; can be cancelled."""
        ...

    def watch(self) -> AsyncIterator[FeedChange]:
        """Changes as they happen, this process's and others', within a second or so."""
        ...

    def export(self, task_id: str | None, *, chunk: int = 500) -> AsyncIterator[Sequence[Turn]]:
        """All turns of a thread, oldest first, in chunks."""
        ...

    async def close(self) -> None:
        """Finish what was begun and let go of the feed."""
        ...
