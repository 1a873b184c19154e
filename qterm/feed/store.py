"""The feed in SQLite, shared by every qterm and script on the same data folder.

All of SQLite runs in one worker thread, so no call blocks the event loop. What a call stored is on
the disk when it returns. See `source.py` for what each call promises.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import sqlite3
import weakref
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Concatenate, ParamSpec, Self, TypeVar

from qterm.feed import facts, locks, opening, tasks, turns, watching, wiping
from qterm.feed.database import Database
from qterm.feed.drafts import Drafts
from qterm.feed.migrations import Step, steps
from qterm.feed.search import STEP, is_indexed, newest, search
from qterm.feed.source import FeedChange, FeedError, NewTurn, TurnChange
from qterm.model import Fact, Mode, Owner, Session, Task, TaskState, Turn

WATCH_SECONDS = 0.25
"""How often a watcher looks for what other processes did."""

CLOSE_SECONDS = 5.0
"""How long closing goes on wiping deleted words; the next start does what is left."""

P = ParamSpec("P")
T = TypeVar("T")

_log = logging.getLogger(__name__)


def _now() -> datetime:
    return datetime.now(UTC)


async def open_store(
    path: Path,
    *,
    locks_dir: Path,
    now: Callable[[], datetime] = _now,
    max_pages: int | None = None,
    migrations: Sequence[Step] | None = None,
) -> Store:
    """Open the feed in a file, or begin one; its folder and `locks_dir` are made where missing.

    `now` stamps new turns. `max_pages` (of 4,096 bytes) limits the file and `migrations` replaces
    the steps of its shape: both are for tests. Raises FeedError, one sentence with what to do:
    the folder can't be made or written, the file is a newer qterm's or another program's, the disk
    is full. A damaged file is set aside, and `Store.notices` tells where it lies.
    """
    worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="feed")

    def work() -> opening.Opened:
        todo = steps() if migrations is None else migrations
        return opening.open_file(path, locks_dir=locks_dir, steps=todo, max_pages=max_pages)

    try:
        opened = await asyncio.wrap_future(worker.submit(work))
    except BaseException:
        worker.shutdown(wait=False)
        raise
    store = Store(Database(path, opened.connection, worker), opened.notices, locks_dir, now)
    try:
        await store.resume_wiping()
    except BaseException:
        await store.close()
        raise
    return store


class Store:
    """A feed source on SQLite; made by `open_store`, ended by `close` (or `async with`).

    `notices` are sentences the operator should read once: a damaged file set aside, an upgrade.
    """

    def __init__(
        self,
        database: Database,
        notices: tuple[str, ...],
        locks_dir: Path,
        now: Callable[[], datetime],
    ) -> None:
        self.notices = notices
        self._database = database
        self._locks_dir = locks_dir
        self._now = now
        self._wakers: weakref.WeakSet[asyncio.Event] = weakref.WeakSet()
        self._wiper: asyncio.Task[None] | None = None
        self._drafts = Drafts()

    @property
    def path(self) -> Path:
        """The feed's file."""
        return self._database.path

    @property
    def leftovers(self) -> tuple[Path, ...]:
        """Damaged files set aside: what is deleted from the feed may still be in these."""
        return opening.set_aside(self.path)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    # Turns

    async def page(
        self,
        task_id: str | None,
        *,
        before: int | None = None,
        after: int | None = None,
        limit: int = 50,
    ) -> list[Turn]:
        """Turns of a thread, oldest first: the newest ones, or those next to an id (exclusive)."""
        return await self._database.read(turns.page, task_id, before, after, limit)

    async def turn(self, turn_id: int) -> Turn | None:
        """One turn, whole; None when there is none (or it was deleted)."""
        return await self._database.read(turns.one, turn_id)

    async def own_message(
        self, task_id: str | None, *, before: int | None = None, after: int | None = None
    ) -> Turn | None:
        """The operator's message next to a turn's id in a thread; without an id the newest."""
        return await self._database.read(turns.own_message, task_id, before, after)

    async def transcript(
        self,
        task_id: str | None,
        *,
        run: int = 0,
        before: int | None = None,
        limit: int,
        chars: int,
    ) -> tuple[list[Turn], int]:
        """The last said, unhidden turns of a run before an id, and how many older (rule C5)."""
        return await self._database.read(turns.transcript, task_id, run, before, limit, chars)

    async def hidden(
        self, task_id: str | None, *, since: int, limit: int, chars: int
    ) -> list[Turn]:
        """The last said turns from an id on that are hidden from Q, oldest first."""
        return await self._database.read(turns.hidden, task_id, since, limit, chars)

    async def append(self, turn: NewTurn) -> Turn:
        """Store a turn; it is on the disk when this returns."""
        return await self._write(turns.append, turn, self._now())

    async def update(self, turn_id: int, change: TurnChange) -> Turn:
        """Change a turn; raises FeedError when it is not there, or was deleted."""
        return await self._write(turns.update, turn_id, change)

    async def claim(self, turn_id: int, owner: Owner) -> bool:
        """Make a queued turn of this owner pending; False when it is queued no more."""
        return await self._write(turns.claim, turn_id, owner)

    async def open_turns(self, task_id: str | None) -> list[Turn]:
        """Turns that are queued or pending in a thread, oldest first."""
        return await self._database.read(turns.open_turns, task_id)

    async def interrupt_orphans(self) -> list[Turn]:
        """Turn every open turn whose owner is gone into an interrupted one; returns those.

        A reply without an owner of its own has its question's.
        """
        return await self._write(turns.interrupt_orphans)

    async def hide(self, turn_id: int, hidden: bool = True) -> Turn:
        """Hide a turn from Q, or show it again."""
        return await self._write(turns.hide, turn_id, hidden)

    async def delete(self, turn_id: int) -> None:
        """Delete a turn for good; its words are wiped from the disk in the background after."""
        await self._write(turns.delete, turn_id)
        self._wipe()

    async def search(
        self,
        text: str,
        *,
        task_id: str | None = None,
        before: int | None = None,
        limit: int = 50,
    ) -> list[Turn]:
        """Turns holding this text, newest first; over the whole feed when no task is named."""
        if is_indexed(text):
            return await self._database.read(search, text, task_id, limit, before)
        found: list[Turn] = []
        top = await self._database.read(newest) + 1
        top = top if before is None else min(before, top)
        while top > 1 and len(found) < limit and text.strip():
            since = max(top - STEP, 1)
            found += await self._database.read(
                search, text, task_id, limit - len(found), top, since
            )
            top = since
        return found

    async def export(
        self, task_id: str | None, *, chunk: int = 500
    ) -> AsyncIterator[Sequence[Turn]]:
        """All turns of a thread, oldest first, in chunks."""
        last = 0
        while found := await self.page(task_id, after=last, limit=chunk):
            yield found
            last = found[-1].id

    # Tasks

    async def tasks(self) -> list[Task]:
        """All tasks: the open ones first, each part with the newest words first."""
        return await self._database.read(tasks.tasks)

    async def task(self, task_id: str) -> Task | None:
        """One task; None when there is none."""
        return await self._database.read(tasks.one, task_id)

    async def add_task(self, title: str, cwd: str) -> Task:
        """Begin a task; raises FeedError for one without a title."""
        return await self._write(tasks.add, title, cwd, self._now())

    async def rename_task(self, task_id: str, title: str) -> Task:
        """Give a task another title; its session keeps its name."""
        return await self._write(tasks.rename, task_id, title)

    async def end_task(self, task_id: str, state: TaskState) -> Task:
        """Make an open task done or cancelled; raises FeedError when it is not open."""
        return await self._write(tasks.end, task_id, state)

    async def reopen_task(self, task_id: str) -> Task:
        """The next run, without a session (rule S2); raises FeedError when it is open."""
        return await self._write(tasks.reopen, task_id)

    async def bind(self, task_id: str, run: int, session: Session) -> Task:
        """Bind a run to a session (rule S3)."""
        return await self._write(tasks.bind, task_id, run, session)

    async def unbind(self, task_id: str, run: int, session_id: str, *, lost: bool = True) -> Task:
        """Let go of a lost session (rule S5), if it still is the bound one."""
        return await self._write(tasks.unbind, task_id, run, session_id, lost)

    async def mark_seen(self, task_id: str, turn_id: int) -> None:
        """Note that a thread's turns up to this one were on the screen."""
        await self._write(tasks.mark_seen, task_id, turn_id)

    # Facts, mode, drafts

    async def facts(self) -> list[Fact]:
        """All facts: the pinned ones first, each part in the operator's order."""
        return await self._database.read(facts.facts)

    async def add_fact(self, text: str, *, pinned: bool = True) -> Fact:
        """Add a fact at the end of its part; raises FeedError for a blank one."""
        return await self._write(facts.add, text, pinned)

    async def edit_fact(self, fact_id: int, text: str) -> Fact:
        """Change a fact's words."""
        return await self._write(facts.edit, fact_id, text)

    async def pin_fact(self, fact_id: int, pinned: bool = True) -> Fact:
        """Pin a fact (only pinned ones are sent), or unpin it."""
        return await self._write(facts.pin, fact_id, pinned)

    async def move_fact(self, fact_id: int, position: int) -> list[Fact]:
        """Put a fact at this position (from 1) within its part; returns all facts."""
        return await self._write(facts.move, fact_id, position)

    async def remove_fact(self, fact_id: int) -> Fact:
        """Remove a fact; returns what it was. Its words are wiped as those of a turn are."""
        removed = await self._write(facts.remove, fact_id)
        self._wipe()
        return removed

    async def mode(self) -> Mode | None:
        """The mode as it was set, also when its time has passed."""
        return await self._database.read(facts.mode)

    async def set_mode(self, text: str | None, until: datetime | None = None) -> Mode | None:
        """Set the mode, or clear it with None (or a blank text)."""
        return await self._write(facts.set_mode, text, until)

    async def draft(self, task_id: str | None) -> str:
        """The text not yet sent in a thread."""
        found = await self._database.read(self._drafts.look, task_id)
        return await self._database.write(self._drafts.join, task_id) if found is None else found

    async def save_draft(self, task_id: str | None, text: str) -> None:
        """Keep the text not yet sent in a thread, beside what another process wrote there."""
        try:
            await self._database.write(self._drafts.save, task_id, text)
        except FeedError:
            self._drafts.forget(task_id)
            raise

    # Threads, changes, the end

    def lock(self, task_id: str | None, turn_id: int) -> AbstractAsyncContextManager[None]:
        """Hold the thread for this queued turn, one at a time and in the order of ids (rule S7).

        A queued turn lets earlier ones go first as long as the process they belong to runs: so a
        turn that is given up has to be closed (or deleted), not only forgotten.
        """

        async def is_first() -> bool:
            return await self._database.read(turns.is_first, task_id, turn_id)

        return locks.hold_in_turn(locks.lock_file(self._locks_dir, task_id), is_first)

    def watch(self) -> AsyncIterator[FeedChange]:
        """Changes as they happen, this process's and others'; ends when the store is closed.

        It begins at the state that a read asked for right after this call sees: nothing is missed
        by watching first and reading then. Several watchers each get everything.
        """
        waker = asyncio.Event()
        self._wakers.add(waker)
        return self._changes(waker, self._database.submit(watching.revision))

    async def close(self) -> None:
        """Finish what was begun and let go of the feed; watchers end. More than once is fine."""
        if self._database.closed:
            return
        if self._wiper is not None:
            await asyncio.wait({self._wiper}, timeout=CLOSE_SECONDS)
            self._wiper.cancel()
            await asyncio.wait({self._wiper})
        await self._database.close()
        self._wake()

    async def resume_wiping(self) -> None:
        """Go on with what an earlier process had not wiped; called by `open_store`."""
        if await self._database.read(wiping.marked) is not None:
            self._wipe()

    async def _write(
        self,
        work: Callable[Concatenate[sqlite3.Connection, P], T],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        try:
            return await self._database.write(work, *args, **kwargs)
        finally:
            self._wake()

    def _wake(self) -> None:
        for waker in self._wakers:
            waker.set()

    async def _changes(self, waker: asyncio.Event, start: Future[int]) -> AsyncIterator[FeedChange]:
        since = await asyncio.wrap_future(start)
        more = False
        while True:
            if not more:
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(WATCH_SECONDS):
                        await waker.wait()
            waker.clear()
            if self._database.closed:
                return
            found = await self._database.read(watching.look, since)
            since, more = found.rev, found.more
            if found.change is not None:
                yield found.change

    def _wipe(self) -> None:
        if self._wiper is None or self._wiper.done():
            self._wiper = asyncio.create_task(self._wipe_all(), name="feed-wiping")

    async def _wipe_all(self) -> None:
        """Wipe deleted words until none is left; what fails is tried again at the next start."""
        try:
            while (rev := await self._database.read(wiping.marked)) is not None:
                first = True
                while await self._database.write(wiping.merge, first=first):
                    first = False
                failed = await self._database.outside(wiping.wipe_copies, self.path)
                while True:
                    if await self._database.outside(wiping.cut_log):
                        break
                    await asyncio.sleep(WATCH_SECONDS)  # another process reads just now
                if failed:
                    _log.warning("Deleted words could not be wiped from %s", failed)
                    return
                await self._database.write(wiping.unmark, rev)
        except FeedError as error:
            _log.warning("Deleted words could not be wiped yet: %s", error)
