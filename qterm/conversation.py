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
from qterm.events import (
    Accepted,
    Began,
    ContextReady,
    Event,
    Finished,
    NotStored,
    ReplyText,
    TakenBack,
    ToolUsed,
    Waiting,
)
from qterm.feed.source import FeedError, FeedSource, NewTurn, TurnChange
from qterm.frame import ChatFrame
from qterm.hermes import way as hermes
from qterm.model import YOU, Degraded, Owner, Q, Turn, TurnState
from qterm.settings.schema import Settings

log = logging.getLogger(__name__)

CONTEXT_SECONDS = 2.0
"""How long the making of a context may take before the message goes bare (rule C6)."""

STORE_EVERY = 0.5
"""Seconds between two writes of an answer that is still coming."""

STORE_AGAIN = 2.0
"""Seconds until an outcome that could not be stored is tried again."""


class SendError(ValueError):
    """A frame that can't be sent at all; the text is one sentence. Nothing was stored."""


__all__ = [
    "Accepted",
    "Began",
    "Composed",
    "ContextReady",
    "Conversation",
    "Event",
    "Finished",
    "NotStored",
    "ReplyText",
    "SendError",
    "TakenBack",
    "ToolUsed",
    "Waiting",
]

_Emit = Callable[[Event], None]


@dataclass(frozen=True, slots=True)
class Composed:
    """A message with what goes in front of it: the `prompt` as hermes gets it."""

    prompt: str
    context: QContext | None
    degraded: Degraded | None


@dataclass(slots=True)
class _Running:
    """A turn that hermes works on now."""

    turn: Turn
    since: float
    text: str = ""
    reply: Turn | None = None
    stored_at: float = 0.0
    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    outcome: hermes.Outcome | None = None
    degraded: Degraded | None = None
    approvals: hermes.Approvals = hermes.Approvals.DENY


@dataclass
class Conversation:
    """Turns in, events out.

    `owner` is this process; `home_cwd` the empty folder that home turns run in. `now` gives the
    local time with its zone, `clock` seconds that never go back.
    """

    feed: FeedSource
    way: hermes.HermesWay
    settings: Settings
    owner: Owner
    home_cwd: Path
    now: Callable[[], datetime] = lambda: datetime.now().astimezone()
    clock: Callable[[], float] = time.monotonic
    _tasks: dict[asyncio.Task[None], Turn | None] = field(default_factory=dict)
    _running: dict[str | None, _Running] = field(default_factory=dict)
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
        running.stopping.set()
        await self.way.stop(_key(running.turn))
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
        if block and not await self.way.carries(prompt):
            degraded, prompt = Degraded.NO_CONTEXT, text
        return Composed(prompt, context, degraded)

    async def close(self) -> None:
        """End everything that runs or waits; it is stored as interrupted, its words kept."""
        self._closing = True
        for task, turn in list(self._tasks.items()):
            if turn is None or turn.state is TurnState.QUEUED:
                task.cancel()
        for running in self._running.values():
            running.stopping.set()
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
            await self._wait_and_run(frame, turn, emit)
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
            running = self._running[turn.task_id] = _Running(turn, self.clock())
            try:
                await self._ask(frame, running, emit)
                await self._finish(running, emit)
            finally:
                self._running.pop(turn.task_id, None)

    def _note(self, turn: Turn) -> None:
        task = asyncio.current_task()
        if task is not None:
            self._tasks[task] = turn

    async def _cut_off(self, turn: Turn, emit: _Emit) -> None:
        """The turn's task was cancelled: it was taken back, or qterm closes."""
        with suppress(FeedError):
            if turn.id in self._taken_back:
                await self.feed.delete(turn.id)
                emit(TakenBack(turn))
                return
            reason = "qterm was closed before this was sent."
            change = TurnChange(state=TurnState.INTERRUPTED, reason=reason)
            emit(Finished(await self.feed.update(turn.id, change), None))

    async def _ask(self, frame: ChatFrame, running: _Running, emit: _Emit) -> None:
        prompt = await self._prompt(frame, running, emit)
        if prompt is None:
            running.outcome = hermes.Stopped()
            return
        seconds = self.settings.timeouts.home
        request = hermes.HermesRequest(
            key=_key(running.turn), prompt=prompt, cwd=self.home_cwd, timeout=seconds or None
        )
        async for event in self.way.send(request):
            match event:
                case hermes.Started(approvals):
                    running.approvals = approvals
                    emit(Began(running.turn, approvals))
                    if running.stopping.is_set():  # esc came between the context and the start
                        await self.way.stop(request.key)
                case hermes.TextDelta(delta):
                    await self._more(running, delta, emit)
                case hermes.ToolSeen():
                    emit(ToolUsed(running.turn, event))
                case hermes.Replied() | hermes.Failed() | hermes.Stopped():
                    running.outcome = event
                case hermes.SessionSeen():
                    pass  # a home turn is never continued (rule C1)

    async def _prompt(self, frame: ChatFrame, running: _Running, emit: _Emit) -> str | None:
        """The text for hermes; None when the turn was stopped meanwhile: learning what an
        unknown hermes can carry may take seconds."""
        turn = running.turn
        composing = asyncio.create_task(self.compose(frame, turn.text))
        stopping = asyncio.create_task(running.stopping.wait())
        try:
            await asyncio.wait({composing, stopping}, return_when=asyncio.FIRST_COMPLETED)
            if running.stopping.is_set():
                return None
            composed = composing.result()
        finally:
            for task in (composing, stopping):
                task.cancel()
        running.degraded = composed.degraded
        emit(ContextReady(turn, composed.context, composed.degraded))
        return composed.prompt

    async def _more(self, running: _Running, delta: str, emit: _Emit) -> None:
        """Keep what has come of the answer, on the disk every half second."""
        running.text += delta
        moment = self.clock()
        try:
            if running.reply is None:
                running.reply = await self._new_reply(running, TurnState.PENDING)
                running.stored_at = moment
            elif moment - running.stored_at >= STORE_EVERY:
                change = TurnChange(text=running.text)
                running.reply = await self.feed.update(running.reply.id, change)
                running.stored_at = moment
        except FeedError as error:
            log.warning("turn %d: the answer so far is not stored: %s", running.turn.id, error)
        if running.reply is not None:
            emit(ReplyText(running.turn, running.reply, delta))

    async def _new_reply(self, running: _Running, state: TurnState) -> Turn:
        turn = running.turn
        owner = self.owner if state.is_open else None
        new = NewTurn(turn.task_id, Q, running.text, state, reply_to=turn.id, owner=owner)
        return await self.feed.append(new)

    async def _finish(self, running: _Running, emit: _Emit) -> None:
        """Store how the turn ended, however often it takes; the reply first, then the question."""
        state, reason, detail = self._verdict(running)
        failure = running.outcome if isinstance(running.outcome, hermes.Failed) else None
        change = TurnChange(
            state=state,
            reason=reason,
            detail=detail,
            degraded=running.degraded,
            elapsed=self.clock() - running.since,
        )
        told = False
        while True:
            try:
                reply = await self._store_reply(running, state)
                turn = await self.feed.update(running.turn.id, change)
                break
            except FeedError as error:
                log.error("turn %d can't be stored: %s", running.turn.id, error)  # noqa: TRY400
                if not told:
                    emit(NotStored(running.turn, running.text, str(error)))
                told = True
                if self._closing:
                    raise
                await asyncio.sleep(STORE_AGAIN)
        emit(Finished(turn, reply, failure))

    def _verdict(self, running: _Running) -> tuple[TurnState, str, str]:
        """The turn's state with its reason and detail; puts the answer's words in order."""
        match running.outcome:
            case hermes.Replied(text):
                running.text = text
                return TurnState.SENT, "", ""
            case hermes.Failed(reason=reason, detail=detail, partial=partial):
                running.text = partial or running.text
                return TurnState.FAILED, reason, detail
            case hermes.Stopped(partial) if not self._closing:
                running.text = partial or running.text
                return TurnState.STOPPED, "", ""
            case _:
                return TurnState.INTERRUPTED, "qterm was closed before Q had answered.", ""

    async def _store_reply(self, running: _Running, state: TurnState) -> Turn | None:
        if running.reply is not None:
            change = TurnChange(
                state=state, text=running.text, elapsed=self.clock() - running.since
            )
            running.reply = await self.feed.update(running.reply.id, change)
        elif running.text:
            running.reply = await self._new_reply(running, state)
            elapsed = self.clock() - running.since
            running.reply = await self.feed.update(running.reply.id, TurnChange(elapsed=elapsed))
        return running.reply


def _key(turn: Turn) -> str:
    return str(turn.id)
