"""What others did meanwhile: whether a session is as we left it, hermes's files as they were.

A hermes that is kept running has its own copy of a session and does not see what another process
adds to it. So its store is looked at before each turn, by size and time; where that has changed
(other threads write there too) a process is asked when the session was last written to, and where
that has changed its messages are read through hermes's command line.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from qterm.hermes.way import SessionRecord, SessionState
from qterm.private import read_bounded

Stamp = Callable[[], Awaitable[str | None]]
"""Asks a hermes that runs when a session was last written to."""

Print = tuple[object, ...]
"""The state some files are in; equal only if nothing was written."""

_SETTINGS = ("config.yaml", ".env")
_BEGINNING = ("memories/MEMORY.md", "memories/USER.md", "SOUL.md", *_SETTINGS)
_TRIES, _PAUSE = 3, 0.5
_STORE = ("state.db", "state.db-wal")


def settings_print(home: Path) -> Print:
    """The state of what a hermes process reads when it starts; blocks briefly."""
    return tuple(_file(home / name) for name in _SETTINGS)


def beginning_print(home: Path) -> Print:
    """The state of what a session is begun with, and keeps; blocks briefly."""
    return tuple(_file(home / name) for name in _BEGINNING)


def store_print(home: Path) -> Print:
    """The state of hermes's store of sessions; blocks briefly."""
    return tuple(_stat(home / name) for name in _STORE)


async def unknown() -> str | None:
    """A stamp where no hermes can be asked."""
    return None


@dataclass(frozen=True, slots=True)
class _Note:
    """A session as it was when the store was in this state: what people said in it, and when it was
    last written to (None: not known)."""

    store: Print
    said: tuple[str, ...]
    stamp: str | None = None


class Freshness:
    """Knows of each session of one home how we left it.

    `read` gives what hermes holds under an id.
    """

    def __init__(self, home: Path, read: Callable[[str], Awaitable[SessionRecord]]) -> None:
        self._home = home
        self._read = read
        self._notes: dict[str, _Note] = {}
        self._noting: dict[str, asyncio.Task[None]] = {}

    async def is_fresh(self, session: str, stamp: Stamp = unknown) -> bool:
        """Whether nobody else wrote to this session since our last turn in it.

        `stamp` asks a running hermes when it was last written to. Only where the store has changed
        and that can't tell are the session's messages read, which takes up to a second.
        """
        await self.settled(session)
        note = self._notes.get(session)
        if note is None:
            return False
        store = await asyncio.to_thread(store_print, self._home)
        if store == note.store:
            return True
        if note.stamp is not None and note.stamp == await stamp():
            return True
        said = _said(await self._read(session))
        if said != note.said:
            del self._notes[session]
            return False
        self._notes[session] = _Note(store, said, await stamp())
        return True

    def wrote(self, session: str, stamp: Stamp = unknown, before: str | None = None) -> None:
        """A turn of ours in this session has ended; how it is now is noted in the background.

        `before` is the id it was stored under until then, where compression moved it.
        """
        if before is not None and before != session:
            self._notes.pop(before, None)
        earlier = self._noting.get(session)
        self._noting[session] = asyncio.create_task(self._note(session, stamp, earlier))

    def forget(self, session: str) -> None:
        """How this session is now is not known."""
        self._notes.pop(session, None)
        noting = self._noting.pop(session, None)
        if noting is not None:
            noting.cancel()

    async def settled(self, session: str) -> None:
        """Wait until what is being noted of this session is."""
        noting = self._noting.get(session)
        if noting is not None:
            await asyncio.gather(asyncio.shield(noting), return_exceptions=True)

    async def close(self) -> None:
        """Note nothing more."""
        tasks = list(self._noting.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _note(self, session: str, stamp: Stamp, earlier: asyncio.Task[None] | None) -> None:
        if earlier is not None:
            await asyncio.gather(earlier, return_exceptions=True)
        before = self._notes.pop(session, None)
        for _ in range(_TRIES):
            store = await asyncio.to_thread(store_print, self._home)
            stamped = await stamp()  # before the reading: what comes between the two is noticed
            said = _said(await self._read(session))
            if said and (before is None or said != before.said):
                break
            await asyncio.sleep(_PAUSE)  # hermes has not stored this turn yet
        else:
            return
        if before is not None and said[:-1] != before.said:
            return  # somebody else's words are among them: what the process holds lacks them
        self._notes[session] = _Note(store, said, stamped)


def _said(record: SessionRecord) -> tuple[str, ...] | None:
    """What people said in a session, in order; None where it can't be told.

    Every writer leaves a message of the user's; hermes may still be adding its own.
    """
    if record.state is not SessionState.THERE:
        return None
    return tuple(text for role, text in record.messages if role == "user")


def _stat(path: Path) -> object:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_size, found.st_mtime_ns, found.st_ino


def _file(path: Path) -> object:
    try:
        content = hashlib.blake2b(read_bounded(path), digest_size=16).digest()
    except OSError:
        content = b""
    return _stat(path), content
