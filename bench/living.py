"""An app that is asked for measurements, in a task of its own: the app that runs is known by it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

Asked = asyncio.Queue["tuple[str, asyncio.Future[float]] | None"]
Measure = Callable[[str], Awaitable[float]]


async def answer(asked: Asked, ready: asyncio.Event, measure: Measure) -> None:
    """Answer what is asked until None comes; `ready` is set once that begins."""
    ready.set()
    while (wanted := await asked.get()) is not None:
        what, future = wanted
        future.set_result(await measure(what))


@asynccontextmanager
async def living(run: Callable[[Asked, asyncio.Event], Awaitable[None]]) -> AsyncIterator[Asked]:
    """Run an app beside, until this is left; `run` calls `answer` once its screen is there."""
    asked: Asked = asyncio.Queue()
    ready = asyncio.Event()
    task = asyncio.ensure_future(run(asked, ready))
    try:
        waits = asyncio.ensure_future(ready.wait())
        await asyncio.wait([task, waits], return_when=asyncio.FIRST_COMPLETED)
        waits.cancel()
        if task.done():
            await task
        yield asked
    finally:
        asked.put_nowait(None)
        await task


async def one(asked: Asked, what: str) -> float:
    """One measurement, in seconds."""
    future: asyncio.Future[float] = asyncio.get_running_loop().create_future()
    asked.put_nowait((what, future))
    return await future
