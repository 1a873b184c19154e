"""The Conversation: the one place where the steps of a turn are put in order.

It takes a chat frame and yields events; it knows no widget and no command line. A turn goes on
when its consumer leaves: only `stop` and `close` end it.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from qterm.context import QContext, reading_limit, render_q_context
from qterm.events import Accepted, Event, Finished, TakenBack, Waiting
from qterm.exchange import STORE_AGAIN, Composed, Exchange
from qterm.feed.source import FeedError, FeedSource, NewTurn, TurnChange, TurnGoneError
from qterm.frame import ChatFrame
from qterm.hermes import way as hermes
from qterm.model import YOU, Degraded, Owner, Turn, TurnState
from qterm.settings.schema import Settings

log = logging.getLogger(__name__)

CONTEXT_SECONDS = 2.0
"""How long the making of a context may take before the message goes bare (rule C6)."""


class SendError(ValueError):
    """A frame that can't be sent at all; the text is one sentence. Nothing was stored."""


_Emit = Callable[[Event], None]


@dataclass
class Conversation:
    """Turns in, events out.

    `owner` is this process. `home_cwd` is where each home turn gets an empty folder to run in
    (rule S8: hermes takes instructions from files it finds). `now` gives the local time with its
    zone, `clock` seconds that never go back.
    """

    feed: FeedSource
    way: hermes.HermesWay
    settings: Settings
    owner: Owner
    home_cwd: Path
    now: Callable[[], datetime] = lambda: datetime.now().astimezone()
    clock: Callable[[], float] = time.monotonic
    _tasks: dict[asyncio.Task[None], Turn | None] = field(default_factory=dict)
    _running: dict[str | None, Exchange] = field(default_factory=dict)
    _taken_back: set[int] = field(default_factory=set)
    _closing: bool = False

    # -- what the faces call ----------------------------------------------------------------

    async def send(self, frame: ChatFrame, *, again_of: int | None = None) -> AsyncIterator[Event]:
        """Send one message; the only way in.

        Yields `Accepted` once it is stored and `Finished` (or `TakenBack`) last. Raises SendError
        for a frame that can't be sent and FeedError where it can't be stored: then hermes was
        never started. `again_of` is the turn whose text is sent once more.
        """
        self.check(frame)
        events: asyncio.Queue[Event | None] = asyncio.Queue()
        task = asyncio.create_task(self._run(frame, again_of, events.put_nowait))
        self._tasks[task] = None

        def ended(task: asyncio.Task[None]) -> None:
            self._tasks.pop(task, None)
            if not task.cancelled():
                task.exception()  # seen, also when nobody listens any more
            events.put_nowait(None)

        task.add_done_callback(ended)
        while (event := await events.get()) is not None:
            yield event
        if not task.cancelled():
            await task

    def running(self, task_id: str | None = None) -> Turn | None:
        """The turn that hermes works on in this thread for this process, if there is one."""
        running = self._running.get(task_id)
        return running.turn if running else None

    def busy(self) -> bool:
        """Whether anything of this process is under way or waits: quitting would end it."""
        return bool(self._tasks)

    async def stop(self, task_id: str | None = None) -> bool:
        """Stop the running turn of a thread; False when there is none. Others go on."""
        running = self._running.get(task_id)
        if running is None:
            return False
        await running.stop()
        return True

    async def take_back(self, turn_id: int) -> str | None:
        """Take back a message that waits; returns its text, None when it waits no more."""
        for task, turn in list(self._tasks.items()):
            if turn is not None and turn.id == turn_id and turn.state is TurnState.QUEUED:
                self._taken_back.add(turn_id)
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task
                return turn.text
        return None

    async def recover(self) -> list[Turn]:
        """Mark what a qterm that is gone had left open as interrupted; nothing is sent again."""
        return await self.feed.interrupt_orphans()

    async def context(self) -> QContext:
        """What Q would be told with a home message now.

        A message that is being sent is not in it, since it is pending (rule C5); an answer that
        came while it waited is, though that one's id is the higher.
        """
        caps = self.settings.caps
        turns, older = await self.feed.transcript(None, limit=caps.turns, chars=reading_limit(caps))
        facts, mode = await self.feed.facts(), await self.feed.mode()
        return await asyncio.to_thread(
            render_q_context,
            turns,
            facts,
            mode,
            labels={persona.key: persona.label for persona in self.settings.personas},
            operator=self.settings.operator,
            now=self.now(),
            caps=caps,
            older_turns=older,
        )

    async def compose(self, frame: ChatFrame, text: str) -> Composed:
        """The text for hermes: block and message, or the bare message (rules C2, C6, F1).

        `text` is the message as it was stored.
        """
        context, block, degraded = None, frame.given_context, None
        if block is None:
            try:
                async with asyncio.timeout(CONTEXT_SECONDS):
                    context = await self.context()
                block = context.text
            except Exception as error:  # noqa: BLE001 - whatever it is, the message still goes (C6)
                log.warning("a message goes without context: %s", type(error).__name__)
                degraded, block = Degraded.NO_CONTEXT, ""
        prompt = f"{block}\n\n{text}" if block else text
        if block and not await self.way.carries(prompt, is_task=frame.task_id is not None):
            degraded, prompt = Degraded.NO_CONTEXT, text
        return Composed(prompt, context, degraded)

    async def close(self) -> None:
        """End everything that runs or waits; it is stored as interrupted, its words kept."""
        self._closing = True
        for task, turn in list(self._tasks.items()):
            if turn is None or turn.state is TurnState.QUEUED:
                task.cancel()
        for running in self._running.values():
            running.give_up()
        await self.way.close()
        if self._tasks:
            _, left = await asyncio.wait(list(self._tasks), timeout=10)
            for task in left:
                task.cancel()
            if left:
                await asyncio.wait(left, timeout=2)

    # -- the steps of a turn ------------------------------------------------------------------

    def check(self, frame: ChatFrame) -> None:
        """Raise SendError for a frame that can't be sent at all."""
        if self._closing:
            raise SendError("qterm is closing; the message was not sent.")
        if frame.task_id is not None:
            raise SendError(f"There is no task “{frame.task_id}”.")
        if not frame.text.strip():
            raise SendError("There is nothing to send: the message is empty.")

    async def _run(self, frame: ChatFrame, again_of: int | None, emit: _Emit) -> None:
        turn = await self.feed.append(
            NewTurn(
                frame.task_id,
                YOU,
                frame.text,
                TurnState.QUEUED,
                owner=self.owner,
                again_of=again_of,
            )
        )
        self._note(turn)
        emit(Accepted(turn))
        try:
            try:
                await self._wait_and_run(frame, turn, emit)
            except Exception as error:
                if self._closing:
                    raise
                await self._exchange(frame, turn, emit).fail(error)
        except asyncio.CancelledError:
            await asyncio.shield(self._cut_off(turn, emit))
            raise

    async def _wait_and_run(self, frame: ChatFrame, turn: Turn, emit: _Emit) -> None:
        ahead = [other for other in await self.feed.open_turns(turn.task_id) if other.id < turn.id]
        ahead = [other for other in ahead if other.persona == YOU]
        if ahead:
            emit(Waiting(turn, len(ahead)))
        async with self.feed.lock(turn.task_id, turn.id):
            await self.feed.interrupt_orphans()
            if not await self.feed.claim(turn.id, self.owner):
                emit(TakenBack(turn))
                return
            turn = await self.feed.turn(turn.id) or turn
            self._note(turn)
            running = self._running[turn.task_id] = self._exchange(frame, turn, emit)
            try:
                await running.run()
            finally:
                self._running.pop(turn.task_id, None)

    def _exchange(self, frame: ChatFrame, turn: Turn, emit: _Emit) -> Exchange:
        return Exchange(
            feed=self.feed,
            way=self.way,
            turn=turn,
            owner=self.owner,
            cwd=self.home_cwd / str(turn.id),
            timeout=self.settings.timeouts.home or None,
            compose=lambda text: self.compose(frame, text),
            emit=emit,
            clock=self.clock,
            is_closing=lambda: self._closing,
        )

    def _note(self, turn: Turn) -> None:
        task = asyncio.current_task()
        if task is not None:
            self._tasks[task] = turn

    async def _cut_off(self, turn: Turn, emit: _Emit) -> None:
        """The turn's task was cancelled: it was taken back, or qterm closes."""
        while turn.id in self._taken_back:
            try:
                await self.feed.delete(turn.id)
            except TurnGoneError:
                pass  # another qterm was quicker
            except FeedError as error:  # as long as it is queued, it holds up what comes after
                log.warning("turn %d can't be taken back yet: %s", turn.id, error)
                if self._closing:
                    return  # the next start finds it
                await asyncio.sleep(STORE_AGAIN)
                continue
            emit(TakenBack(turn))
            return
        with suppress(FeedError):
            reason = "qterm was closed before this was sent."
            change = TurnChange(state=TurnState.INTERRUPTED, reason=reason)
            emit(Finished(await self.feed.update(turn.id, change), None))
