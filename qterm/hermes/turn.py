"""One turn under way behind the seam, and how it is brought to an end."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import Literal, TypeVar

from qterm.hermes.outbox import Outbox
from qterm.hermes.processes import Child, Patience
from qterm.hermes.way import Failed, FailureKind, HermesRequest, Outcome, Replied, Stopped

_T = TypeVar("_T")

CLOSED = "qterm is closing: send the message again after the next start."
TWICE = "This message is being sent already: wait for its answer."


class Halted(Exception):  # noqa: N818
    """The turn is to end before its process was started."""


class RunningTurn:
    """One turn under way: its events, its process if there is one, and why it is to end."""

    def __init__(self, request: HermesRequest) -> None:
        self.request = request
        self.outbox = Outbox()
        self.child: Child | None = None
        self.why: Literal["stop", "timeout"] | None = None
        self.halted = asyncio.Event()
        self.done = asyncio.Event()
        self._ending: set[asyncio.Task[None]] = set()

    def refuse(self, *, is_closing: bool) -> None:
        """End it at once, begun by nobody: qterm closes, or its key is under way already."""
        sentence = (
            CLOSED if is_closing else "This message is being sent already: wait for its answer."
        )
        self.outbox.put(Failed(FailureKind.CRASHED, sentence))
        self.outbox.close()

    def halt(self, why: Literal["stop", "timeout"], patience: Patience) -> None:
        """Begin to end the turn; `done` is set when nothing of it is left."""
        self.why = self.why or why
        self.halted.set()
        if self.child is not None:
            self._ending.add(asyncio.create_task(self.child.end(patience)))

    async def unless_halted(self, work: Awaitable[_T]) -> _T:
        """Wait for `work`; raises Halted, with the work cancelled, when the turn is to end."""
        task = asyncio.ensure_future(work)
        halted = asyncio.create_task(self.halted.wait())
        try:
            await asyncio.wait({task, halted}, return_when=asyncio.FIRST_COMPLETED)
            if not task.done():
                raise Halted
            return task.result()
        finally:
            halted.cancel()
            task.cancel()
            await asyncio.gather(task, halted, return_exceptions=True)

    async def all_ended(self) -> None:
        """Wait until what `halt` began is over."""
        while self._ending:
            await asyncio.gather(*self._ending, return_exceptions=True)
            self._ending = {task for task in self._ending if not task.done()}

    def judged(self, outcome: Outcome) -> Outcome:
        """The outcome, or a time-out's failure where that is why the turn was ended."""
        if self.why != "timeout" or isinstance(outcome, Replied):
            return outcome
        seconds = self.request.timeout or 0.0
        limit = f"{seconds / 60:g} minutes" if seconds >= 120 else f"{seconds:g} s"
        detail = outcome.detail if isinstance(outcome, Failed) else ""
        reason = f"Q gave no answer within {limit}: send the message again, or allow more time."
        if isinstance(outcome, Stopped) and outcome.note:
            reason += f" {outcome.note}"
        return Failed(FailureKind.TIMEOUT, reason, detail, outcome.session, outcome.partial)
