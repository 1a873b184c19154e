"""Events on their way from a running turn to whoever reads it."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator

from qterm.hermes.way import HermesEvent, TextDelta


class Outbox:
    """A queue of events in which texts that wait are put together.

    The turn never waits for its reader, and a reader that has left costs nothing more.
    """

    def __init__(self) -> None:
        self._waiting: deque[HermesEvent | list[str]] = deque()
        self._filled = asyncio.Event()
        self._closed = False
        self._left = False

    def put(self, event: HermesEvent) -> None:
        """Add an event; neighbouring texts become one."""
        if self._left:
            return
        if not isinstance(event, TextDelta):
            self._waiting.append(event)
        elif self._waiting and isinstance(self._waiting[-1], list):
            self._waiting[-1].append(event.text)
        else:
            self._waiting.append([event.text])
        self._filled.set()

    def close(self) -> None:
        """Say that nothing more comes."""
        self._closed = True
        self._filled.set()

    async def events(self) -> AsyncGenerator[HermesEvent, None]:
        """The events in order, until the box is closed and empty."""
        try:
            while True:
                while self._waiting:
                    item = self._waiting.popleft()
                    yield TextDelta("".join(item)) if isinstance(item, list) else item
                if self._closed:
                    return
                self._filled.clear()
                await self._filled.wait()
        finally:
            self._left = True
            self._waiting.clear()
