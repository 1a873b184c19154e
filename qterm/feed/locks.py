"""File locks between processes: one a thread (rule S7), and one for opening the store.

`flock` locks belong to an open file, so two waiters of one process exclude each other too, and a
holder that is killed lets go. The files are empty, and stay: removing one would be a race.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import hashlib
import os
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path

from qterm.feed.source import FeedError
from qterm.private import touch_private

POLL = 0.05
"""Seconds between two looks at a lock that is taken."""


def lock_file(folder: Path, task_id: str | None) -> Path:
    """The lock file of a thread. Ids that are no plain file name go by their hash."""
    if task_id is None:
        return folder / "home.lock"
    if re.fullmatch(r"[a-z0-9]{1,64}", task_id):
        return folder / f"task-{task_id}.lock"
    name = hashlib.sha256(task_id.encode("utf-8", "surrogatepass")).hexdigest()[:32]
    return folder / f"other-{name}.lock"


def try_lock(path: Path) -> int | None:
    """Take the lock if it is free: the open file that holds it, for `os.close`. Never waits.

    None when somebody holds it. Raises FeedError when locks don't work there.
    """
    try:
        touch_private(path)
        handle = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except OSError as error:
        raise FeedError(
            f"The lock file {path} can't be opened ({error.strerror}): "
            "check who owns its folder, and its mode."
        ) from error
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        return None
    except OSError as error:
        os.close(handle)
        raise FeedError(
            f"The lock file {path} can't be locked ({error.strerror}): "
            "put the data folder on a file system that knows file locks."
        ) from error
    return handle


@contextlib.contextmanager
def held(path: Path, *, timeout: float) -> Iterator[None]:
    """Hold a lock in a worker thread; waits at most `timeout` seconds, then raises FeedError."""
    give_up = time.monotonic() + timeout
    while (handle := try_lock(path)) is None:
        if time.monotonic() >= give_up:
            raise FeedError("Another qterm is busy opening the feed: wait a moment and try again.")
        time.sleep(POLL)
    try:
        yield
    finally:
        os.close(handle)


@contextlib.asynccontextmanager
async def hold_in_turn(
    path: Path, is_first: Callable[[], Awaitable[bool]], *, poll: float = POLL
) -> AsyncIterator[None]:
    """Hold a lock once `is_first` says so and nobody else has it; waits as long as it takes.

    Being first must last: it is not asked again. Cancelling the wait leaves nothing behind.
    """
    while not await is_first():  # noqa: ASYNC110 - other processes set no event
        await asyncio.sleep(poll)
    while (handle := try_lock(path)) is None:  # noqa: ASYNC110 - nor does flock
        await asyncio.sleep(poll)
    try:
        yield
    finally:
        os.close(handle)
