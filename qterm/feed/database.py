"""One SQLite connection in one thread of its own, and SQLite's errors as plain sentences."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

from qterm.feed.source import FeedError

P = ParamSpec("P")
T = TypeVar("T")

_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}


def is_damage(error: sqlite3.Error) -> bool:
    """True for SQLITE_CORRUPT and SQLITE_NOTADB: nothing else counts as a corrupt file."""
    return _primary_code(error) in _DAMAGED


def sentence(error: sqlite3.Error, path: Path) -> str:
    """What an SQLite error means for the operator, and what to do."""
    if is_damage(error):
        return (
            f"The feed's file {path} is damaged ({error}): close qterm, move the file away and "
            "start again; a new feed begins."
        )
    return {
        sqlite3.SQLITE_FULL: (
            "The disk is full, so nothing was stored: free some space and try again."
        ),
        sqlite3.SQLITE_BUSY: (
            "Another program has kept the feed busy for too long, so nothing was stored: "
            "try again in a moment."
        ),
        sqlite3.SQLITE_READONLY: (
            f"The feed's file {path} can't be written: check its owner and mode, "
            "or choose another folder with --data-dir."
        ),
        sqlite3.SQLITE_CANTOPEN: (
            f"The feed's file {path} can't be opened: check its owner and mode, "
            "or choose another folder with --data-dir."
        ),
        sqlite3.SQLITE_TOOBIG: "The text is too large for the feed: send it in parts.",
    }.get(
        _primary_code(error),
        f"The feed's file {path} can't be used ({error}): check the disk it lies on.",
    )


def _primary_code(error: sqlite3.Error) -> int:
    # Errors that Python's module raises by itself have no code.
    code = int(getattr(error, "sqlite_errorcode", 0))
    if code == sqlite3.SQLITE_IOERR_SHMSIZE:  # no room for the file beside the feed's
        return sqlite3.SQLITE_FULL
    return code & 0xFF


class Database:
    """A connection that only its own thread touches; work is done in the order it was handed in.

    Work is a plain function that gets the connection first. Every error of SQLite comes out as
    FeedError, and after it nothing of the work is stored.
    """

    def __init__(
        self, path: Path, connection: sqlite3.Connection, worker: ThreadPoolExecutor
    ) -> None:
        self.path = path
        self._connection = connection
        self._worker = worker
        self._closed = False

    @property
    def closed(self) -> bool:
        """True once `close` was called."""
        return self._closed

    def submit(
        self,
        work: Callable[Concatenate[sqlite3.Connection, P], T],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> Future[T]:
        """Queue work that reads, on one state of the file. Raises FeedError when closed."""
        return self._submit("BEGIN", lambda: work(self._connection, *args, **kwargs))

    async def read(
        self,
        work: Callable[Concatenate[sqlite3.Connection, P], T],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        """Do work that reads, on one state of the file. Raises FeedError."""
        return await asyncio.wrap_future(self.submit(work, *args, **kwargs))

    async def write(
        self,
        work: Callable[Concatenate[sqlite3.Connection, P], T],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        """Do work that writes, whole or not at all; it is on the disk after. Raises FeedError."""
        job = self._submit("BEGIN IMMEDIATE", lambda: work(self._connection, *args, **kwargs))
        return await asyncio.wrap_future(job)

    async def outside(
        self,
        work: Callable[Concatenate[sqlite3.Connection, P], T],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        """Do work that can't run inside a transaction. Raises FeedError."""
        job = self._submit("", lambda: work(self._connection, *args, **kwargs))
        return await asyncio.wrap_future(job)

    async def close(self) -> None:
        """Finish the work that was handed in, and close the file. More than once is fine."""
        if self._closed:
            return
        self._closed = True
        try:
            await asyncio.wrap_future(self._worker.submit(self._connection.close))
        finally:
            self._worker.shutdown(wait=False)

    def _submit(self, begin: str, work: Callable[[], T]) -> Future[T]:
        if self._closed:
            raise FeedError("The feed is closed already: start qterm again.")
        return self._worker.submit(self._run, begin, work)

    def _run(self, begin: str, work: Callable[[], T]) -> T:
        connection = self._connection
        try:
            if begin:
                connection.execute(begin)
            result = work()
            if begin:
                connection.execute("COMMIT")
        except sqlite3.Error as error:
            raise FeedError(sentence(error, self.path)) from error
        except OverflowError as error:  # a number beyond 64 bits
            raise FeedError("There is no message with such a number in the feed.") from error
        finally:
            if connection.in_transaction:
                with contextlib.suppress(sqlite3.Error):  # the first error is the one to tell
                    connection.execute("ROLLBACK")
        return result
