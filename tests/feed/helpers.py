"""What the feed's tests share: stores, turns, other processes, and waiting for a state."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

from qterm.feed.source import NewTurn
from qterm.feed.store import Store, open_store
from qterm.model import Owner, TurnState

PATIENCE = 30.0
"""Seconds after which a test gives up waiting: far more than is ever needed."""

NOBODY = Owner(2**22 + 1, "long-gone")
"""A process that cannot run: its id is beyond what Linux gives out."""


async def open_in(folder: Path, **options: Any) -> Store:
    return await open_store(folder / "feed.sqlite3", locks_dir=folder / "locks", **options)


def said(text: str, persona: str = "mallory", task_id: str | None = None) -> NewTurn:
    return NewTurn(task_id, persona, text, TurnState.SENT)


def queued(owner: Owner | None, text: str = "hello", task_id: str | None = None) -> NewTurn:
    return NewTurn(task_id, "you", text, TurnState.QUEUED, owner=owner)


async def until(condition: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not await condition():
            await asyncio.sleep(0.01)


_PROLOGUE = """
import asyncio, sys
from pathlib import Path
from qterm.feed.owner import current_owner
from qterm.feed.source import NewTurn, TurnChange
from qterm.feed.store import open_store
from qterm.model import TurnState
folder = Path(sys.argv[1])
def tell(*words):
    print(*words, flush=True)
async def heard():
    return await asyncio.to_thread(sys.stdin.readline)
async def open_here():
    return await open_store(folder / "feed.sqlite3", locks_dir=folder / "locks")
"""


class Other:
    """Another Python process on the same data; `main` is the body of its coroutine."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process

    async def line(self) -> str:
        assert self.process.stdout is not None
        async with asyncio.timeout(PATIENCE):
            return (await self.process.stdout.readline()).decode().rstrip("\n")

    def say(self, text: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{text}\n".encode())

    async def ended(self) -> int:
        async with asyncio.timeout(PATIENCE):
            return await self.process.wait()


@contextlib.asynccontextmanager
async def other(folder: Path, main: str) -> AsyncIterator[Other]:
    body = "".join(f"    {line}\n" for line in main.strip().splitlines())
    code = f"{_PROLOGUE}\nasync def main():\n{body}\nasyncio.run(main())\n"
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        code,
        str(folder),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        yield Other(process)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
