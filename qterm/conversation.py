"""The Conversation: the one place where the steps of a turn are put in order.

It takes a chat frame and yields events; it knows no widget and no command line. A turn goes on
when its consumer leaves: only `stop` and `close` end it.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from qterm.clock import local_now
from qterm.context import QContext
from qterm.events import Accepted, Event, Finished, TakenBack, Waiting
from qterm.exchange import STORE_AGAIN, Exchange
from qterm.feed.source import FeedError, FeedSource, NewTurn, TurnChange, TurnGoneError
from qterm.frame import ChatFrame
from qterm.hermes import way as hermes
from qterm.model import QTERM, YOU, Owner, Task, TaskState, Turn, TurnState
from qterm.settings.schema import Settings
from qterm.threads.home import HomeThread
from qterm.threads.task import TaskThread, held
from qterm.threads.thread import Composed, Thread

log = logging.getLogger(__name__)


class SendError(ValueError):
    """A frame that can't be sent at all; the text is one sentence. Nothing was stored."""


_Emit = Callable[[Event], None]

_FINISHED = {TurnState.SENT, TurnState.FAILED, TurnState.STOPPED}
"""How a turn ends that was not cut off."""


def _nothing() -> None:
    """What is done after a turn, unless somebody wants something done."""


@dataclass
class Conversation:
    """Turns in, events out.

    `owner` is this process. `home_cwd` is where each home turn gets an empty folder to run in
    (rule S8: hermes takes instructions from files it finds). `now` gives the local time with its
    zone, `clock` seconds that never go back, `notes` the working notes of the home thread.
    `end_left_behind` ends what a qterm that was killed has left running; it blocks.
    """

    feed: FeedSource
    way: hermes.HermesWay
    settings: Settings
    owner: Owner
    home_cwd: Path
    now: Callable[[], datetime] = local_now
    clock: Callable[[], float] = time.monotonic
    notes: Callable[[], Sequence[str]] = tuple
    after_turn: Callable[[], None] = _nothing
    end_left_behind: Callable[[], int] | None = None
    _tasks: dict[asyncio.Task[None], Turn | None] = field(default_factory=dict)
    _running: dict[str | None, Exchange] = field(default_factory=dict)
    _settling: set[asyncio.Task[None]] = field(default_factory=set)
    _over: set[asyncio.Task[Any]] = field(default_factory=set)  # the turn has ended
    _taken_back: set[int] = field(default_factory=set)
    _ending_left: asyncio.Task[int] | None = None
    _closing: bool = False

    # -- what the faces call ----------------------------------------------------------------

    async def send(self, frame: ChatFrame, *, again_of: int | None = None) -> AsyncIterator[Event]:
        """Send one message; the only way in.

        Yields `Accepted` once it is stored and `Finished` (or `TakenBack`) last. Raises SendError
        for a frame that can't be sent and FeedError where it can't be stored: then hermes was
        never started. `again_of` is the turn whose text is sent once more.
        """
        events: asyncio.Queue[Event | None] = asyncio.Queue()

        def tell(event: Event) -> None:
            events.put_nowait(event)
            if isinstance(event, Finished):
                self._has_finished(event.turn)

        task = asyncio.create_task(self._run(frame, again_of, tell))
        self._tasks[task] = None

        def ended(task: asyncio.Task[None]) -> None:
            self._tasks.pop(task, None)
            self._over.discard(task)
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
        return any(task not in self._over for task in self._tasks)

    def is_at_work(self, task_id: str | None) -> bool:
        """Whether a message of this process's runs or waits in this thread."""
        if self.running(task_id) is not None:
            return True
        turns = [turn for turn in self._tasks.values() if turn and turn.task_id == task_id]
        return any(turn.state is TurnState.QUEUED for turn in turns)

    async def stop(self, task_id: str | None = None) -> bool:
        """Stop the running turn of a thread; False when there is none. Others go on."""
        running = self._running.get(task_id)
        if running is None:
            return False
        await running.stop()
        return True

    async def answer(self, turn_id: int, approval_id: str, answer: hermes.Answer) -> bool:
        """Answer a request of hermes's in this turn; False where it stands no more (rule A1)."""
        return await self.way.answer(str(turn_id), approval_id, answer)

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
        """Mark what a qterm that is gone had left open as interrupted; nothing is sent again.

        What of it still runs is ended, beside whatever comes next but a turn.
        """
        turns = await self.feed.interrupt_orphans()
        if turns and self.end_left_behind is not None:
            self._ending_left = asyncio.create_task(asyncio.to_thread(self.end_left_behind))
        return turns

    async def context(self) -> QContext:
        """What Q would be told with a home message now."""
        return await self._home().context()

    async def compose(self, frame: ChatFrame) -> tuple[Thread, Composed]:
        """What this frame's message would carry now, and where it would go; nothing is stored.

        Raises SendError for a frame that can't be sent.
        """
        thread = await self._thread(frame)
        return thread, await thread.compose(frame.text)

    async def end_task(self, task_id: str, state: TaskState) -> Task:
        """Finish or cancel a task: its running turn is stopped, what waits is the draft again (S8).

        Raises SendError where another qterm is at work in it, and FeedError.
        """
        await self._quiet(task_id)
        return await self.feed.end_task(task_id, state)

    async def reopen_task(self, task_id: str) -> Task:
        """Open a done or cancelled task again: the next message begins a fresh session (S2).

        Raises SendError where another qterm is at work in it, and FeedError.
        """
        await self._quiet(task_id)
        task = await self.feed.reopen_task(task_id)
        line = f"Reopened, run {task.run}: Q starts fresh, nothing of run {task.run - 1} is told."
        await self.feed.append(NewTurn(task_id, QTERM, line, TurnState.SENT))
        return task

    async def held(self, turn: Turn) -> str:
        """What the session already holds of a message that is to be sent again (S5), or nothing."""
        return await held(self.feed, self.way, turn)

    async def close(self) -> None:
        """End everything that runs or waits; it is stored as interrupted, its words kept."""
        self._closing = True
        for task, turn in list(self._tasks.items()):
            if turn is None or turn.state is TurnState.QUEUED:
                task.cancel()
        for running in self._running.values():
            running.give_up()
        for settling in self._settling:
            settling.cancel()
        await self.way.close()
        if self._tasks:
            _, left = await asyncio.wait(list(self._tasks), timeout=10)
            for task in left:
                task.cancel()
            if left:
                await asyncio.wait(left, timeout=2)

    # -- the steps of a turn ------------------------------------------------------------------

    async def _thread(self, frame: ChatFrame) -> Thread:
        """The thread a frame goes to; raises SendError for one that can't be sent at all."""
        if self._closing:
            raise SendError("qterm is closing; the message was not sent.")
        if not frame.text.strip():
            raise SendError("There is nothing to send: the message is empty.")
        if frame.task_id is None:
            return self._home(frame.given_context)
        task = await self.feed.task(frame.task_id)
        if task is None:
            raise SendError(f"There is no task “{frame.task_id}”; `qterm task list` shows them.")
        if task.state is not TaskState.OPEN:
            raise SendError(f"The task is {task.state.value}: reopen it to go on.")
        return TaskThread(self.feed, self.way, self.settings, task, self.now)

    def _home(self, given: str | None = None) -> HomeThread:
        return HomeThread(
            self.feed, self.way, self.settings, self.home_cwd, self.now, given, self.notes
        )

    async def _quiet(self, task_id: str) -> None:
        """Nothing of a task's thread runs or waits any more (S8)."""
        opened = [turn for turn in await self.feed.open_turns(task_id) if turn.persona == YOU]
        for turn in opened:
            if turn.state is TurnState.QUEUED and (text := await self.take_back(turn.id)):
                await self._to_draft(task_id, text)
        await self.stop(task_id)
        ours = [task for task, turn in self._tasks.items() if turn and turn.task_id == task_id]
        if ours:
            await asyncio.wait(ours)
        await self.recover()
        if await self.feed.open_turns(task_id):
            raise SendError("Another qterm is at work in this task: stop it there first.")

    async def _to_draft(self, task_id: str | None, text: str) -> None:
        draft = await self.feed.draft(task_id)
        await self.feed.save_draft(task_id, f"{draft}\n{text}" if draft.strip() else text)

    async def _run(self, frame: ChatFrame, again_of: int | None, emit: _Emit) -> None:
        await self._thread(frame)
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
            except Exception as error:  # noqa: BLE001 - whatever it is, the turn ends
                if self._closing:  # it had not begun
                    await self._cut_off(turn, emit)
                    return
                await self._exchange(self._home(), turn, emit).fail(error)
        except asyncio.CancelledError:
            await asyncio.shield(self._cut_off(turn, emit))
            raise

    async def _wait_and_run(self, frame: ChatFrame, turn: Turn, emit: _Emit) -> None:
        ahead = [other for other in await self.feed.open_turns(turn.task_id) if other.id < turn.id]
        ahead = [other for other in ahead if other.persona == YOU]
        if ahead:
            emit(Waiting(turn, len(ahead)))
        async with self.feed.lock(turn.task_id, turn.id):
            await self.recover()
            if self._ending_left is not None:  # this turn must not meet it
                await asyncio.shield(self._ending_left)
            if not await self.feed.claim(turn.id, self.owner):
                emit(TakenBack(turn))
                return
            turn = await self.feed.turn(turn.id) or turn
            self._note(turn)
            if (thread := await self._still_open(frame, turn)) is None:
                emit(TakenBack(turn))
                return
            running = self._exchange(thread, turn, emit, is_command=frame.is_command)
            self._running[turn.task_id] = running
            try:
                await running.run()
            finally:
                self._running.pop(turn.task_id, None)
            if (task := asyncio.current_task()) is not None:
                self._over.add(task)
            await self._settle(running)

    def _has_finished(self, turn: Turn) -> None:
        """A turn is over, stored and told; whatever breaks here is no part of it."""
        if turn.state not in _FINISHED or self._closing:
            return
        try:
            self.after_turn()
        except Exception:
            log.exception("turn %d is over, but what comes after it failed", turn.id)

    async def _settle(self, running: Exchange) -> None:
        """What is left to do for the session; `close` does not wait for it (rule S3)."""
        settling = asyncio.create_task(running.settle())
        self._settling.add(settling)
        try:
            await asyncio.wait({settling})
        finally:
            settling.cancel()
            self._settling.discard(settling)

    async def _still_open(self, frame: ChatFrame, turn: Turn) -> Thread | None:
        """The thread as it is now; None when its task was ended or reopened while the message
        waited: then the message is the draft again (S8)."""
        task = await self.feed.task(turn.task_id) if turn.task_id else None
        if task is not None and (task.state is not TaskState.OPEN or task.run != turn.run):
            await self._to_draft(turn.task_id, turn.text)
            await self.feed.delete(turn.id)
            return None
        return await self._thread(frame)

    def _exchange(
        self, thread: Thread, turn: Turn, emit: _Emit, *, is_command: bool = False
    ) -> Exchange:
        return Exchange(
            feed=self.feed,
            way=self.way,
            turn=turn,
            owner=self.owner,
            thread=thread,
            emit=emit,
            clock=self.clock,
            is_closing=lambda: self._closing,
            is_command=is_command,
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
            stored = await self.feed.turn(turn.id)
            if stored is not None and not stored.state.is_open:
                return  # how it ended is known, and told
            reason = "qterm was closed before this was sent."
            change = TurnChange(state=TurnState.INTERRUPTED, reason=reason)
            emit(Finished(await self.feed.update(turn.id, change), None))
