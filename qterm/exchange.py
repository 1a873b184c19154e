"""One exchange with hermes: a pending message goes out, what comes back is shown and stored."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from qterm.events import (
    Began,
    ContextReady,
    Event,
    Finished,
    Meanwhile,
    NotStored,
    ReplyText,
    TakenBack,
)
from qterm.feed.source import FeedError, FeedSource, NewTurn, TurnChange, TurnGoneError
from qterm.hermes import way as hermes
from qterm.model import SAID, Degraded, Owner, Q, Turn, TurnState
from qterm.threads.thread import Composed, Thread

log = logging.getLogger(__name__)

STORE_EVERY = 0.5
"""Seconds between two writes of an answer that is still coming."""

_WORK = (hermes.ToolSeen, hermes.Asked)
"""What may have changed something: a turn that began it is never repeated by itself (rule S5)."""

STORE_AGAIN = 2.0
"""Seconds until an outcome that could not be stored is tried again."""


@dataclass(slots=True)
class Exchange:
    """One turn's work with hermes, from its message to its stored outcome.

    `thread` says what the message carries and what it continues, `emit` takes the events, `clock`
    is in seconds, `is_closing` tells whether qterm is about to end, `is_command` whether the
    message is one of hermes's own commands.
    """

    feed: FeedSource
    way: hermes.HermesWay
    turn: Turn
    owner: Owner
    thread: Thread
    emit: Callable[[Event], None]
    clock: Callable[[], float]
    is_closing: Callable[[], bool]
    is_command: bool = False
    _since: float = 0.0
    _stopping: asyncio.Event = field(default_factory=asyncio.Event)
    _text: str = ""
    _reply: Turn | None = None
    _stored_at: float = 0.0
    _degraded: Degraded | None = None
    _has_begun: bool = False
    _outcome: hermes.Outcome | None = None

    @property
    def key(self) -> str:
        """The turn's name at the seam to hermes."""
        return str(self.turn.id)

    async def run(self) -> None:
        """Do it. The outcome is stored, however it ends, and `Finished` tells it."""
        self._since = self.clock()
        try:
            self._outcome = await self._ask()
        except Exception as error:  # noqa: BLE001 - whatever it is, the turn ends
            self._outcome = self._broke_off(error)
            await self.way.stop(self.key)  # nobody listens any more: nothing may run on unseen
        await self._finish()

    async def settle(self) -> None:
        """What is left to do for the session once the turn is stored and shown; never raises."""
        if self._outcome is None or self.is_closing():
            return  # a session without a name gets it with the next turn
        try:
            await self.thread.settle(self._outcome)
        except Exception:
            log.exception("turn %d is over, but its session is not settled", self.turn.id)

    async def fail(self, error: Exception) -> None:
        """End it as failed before it began: one left queued would hold up its whole thread."""
        self._since = self.clock()
        self._outcome = self._broke_off(error)
        await self._finish()

    def _broke_off(self, error: Exception) -> hermes.Failed:
        log.error("turn %d broke off", self.turn.id, exc_info=error)
        if isinstance(error, FeedError):
            return hermes.Failed(hermes.FailureKind.CRASHED, str(error))
        reason = "Something in qterm broke during this turn: its log says more; send it again."
        return hermes.Failed(hermes.FailureKind.CRASHED, reason, type(error).__name__)

    async def stop(self) -> None:
        """End it as stopped; returns when nothing of it runs any more."""
        self._stopping.set()
        await self.way.stop(self.key)

    def give_up(self) -> None:
        """Do not begin what has not begun: the way to hermes is being closed."""
        self._stopping.set()

    async def _ask(self) -> hermes.Outcome:
        """Ask hermes; where it has lost the session, ask once more outside of it (rule S5)."""
        if (refusal := await self.thread.refusal()) is not None:
            return refusal
        composed = await self._unless_stopped(self.thread.compose(self.turn.text))
        if composed is None:
            return hermes.Stopped()
        try:
            async with self.thread.folder(self.turn) as cwd:
                outcome = await self._listen(composed, cwd)
                if not self._is_lost(outcome):
                    return outcome
                fallback = await self.thread.without_session(self.turn.text)
                return outcome if fallback is None else await self._listen(fallback, cwd)
        except OSError as error:
            what = f"The folder {error.filename} can't be made ({error.strerror})"
            reason = f"{what}: mend that, then send the message again."
            return hermes.Failed(hermes.FailureKind.CRASHED, reason)

    def _is_lost(self, outcome: hermes.Outcome) -> bool:
        """Whether the session was gone before anything was done: only then is it asked again."""
        return (
            isinstance(outcome, hermes.Failed)
            and outcome.kind is hermes.FailureKind.SESSION_LOST
            and not self._has_begun
            and not self._stopping.is_set()
        )

    async def _listen(self, composed: Composed, cwd: Path) -> hermes.Outcome:
        self._degraded = composed.degraded
        log.debug("turn %d: %d code points go to hermes", self.turn.id, len(composed.prompt))
        self.emit(ContextReady(self.turn, composed.context, composed.degraded))
        request = hermes.HermesRequest(
            key=self.key,
            prompt=composed.prompt,
            cwd=cwd,
            session=self.thread.session,
            is_task=self.thread.is_task,
            timeout=self.thread.timeout,
            is_command=self.is_command,
        )
        outcome: hermes.Outcome = hermes.Stopped()
        async for event in self.way.send(request):
            match event:
                case hermes.Started(approvals, transport):
                    self.emit(Began(self.turn, approvals, transport))
                    if self._stopping.is_set():  # esc came between the context and the start
                        await self.way.stop(request.key)
                case hermes.TextDelta(delta):
                    await self._more(delta)
                case hermes.Replied() | hermes.Failed() | hermes.Stopped():
                    outcome = event
                case hermes.SessionSeen(session):
                    await self._saw(session)
                case _:
                    self._has_begun = self._has_begun or isinstance(event, _WORK)
                    self.emit(Meanwhile(self.turn, event))
        return outcome

    async def _saw(self, session: str) -> None:
        """Note the session early; what can't be stored now is noted with the outcome."""
        try:
            await self.thread.saw(session)
        except FeedError as error:
            log.warning("turn %d: its session is not noted yet: %s", self.turn.id, error)

    async def _unless_stopped(self, composing: Coroutine[Any, Any, Composed]) -> Composed | None:
        """What was composed; None when the turn was stopped meanwhile: learning what an unknown
        hermes can carry may take seconds."""
        task = asyncio.create_task(composing)
        stopping = asyncio.create_task(self._stopping.wait())
        try:
            await asyncio.wait({task, stopping}, return_when=asyncio.FIRST_COMPLETED)
            return None if self._stopping.is_set() else task.result()
        finally:
            for waiting in (task, stopping):
                waiting.cancel()

    async def _more(self, delta: str) -> None:
        """Keep what has come of the answer, on the disk every half second."""
        self._has_begun = True
        self._text += delta
        moment = self.clock()
        try:
            if self._reply is None:
                self._reply = await self._new_reply(TurnState.PENDING)
                self._stored_at = moment
            elif moment - self._stored_at >= STORE_EVERY:
                change = TurnChange(text=self._text)
                self._reply = await self.feed.update(self._reply.id, change)
                self._stored_at = moment
        except FeedError as error:
            log.warning("turn %d: the answer so far is not stored: %s", self.turn.id, error)
        if self._reply is not None:
            self.emit(ReplyText(self.turn, self._reply, delta))

    async def _new_reply(self, state: TurnState) -> Turn:
        turn = self.turn
        owner = self.owner if state.is_open else None
        new = NewTurn(turn.task_id, Q, self._text, state, reply_to=turn.id, owner=owner)
        return await self.feed.append(new)

    async def _finish(self) -> None:
        """Store how the turn ended, however often it takes; the reply first, then the question."""
        state, reason, detail = self._verdict()
        failure = self._outcome if isinstance(self._outcome, hermes.Failed) else None
        change = TurnChange(
            state=state,
            reason=reason,
            detail=detail,
            degraded=self._degraded if state in SAID else None,  # else nothing was told
            elapsed=self.clock() - self._since,
        )
        told = False
        while True:
            try:
                reply = await self._store_reply(state)
                await self._note_session()
                turn = await self.feed.update(self.turn.id, change)
                break
            except TurnGoneError:  # deleted meanwhile, by another qterm: there is nothing to end
                self.emit(TakenBack(self.turn))
                return
            except FeedError as error:
                log.error("turn %d can't be stored: %s", self.turn.id, error)  # noqa: TRY400
                if not told:
                    self.emit(NotStored(self.turn, self._text, str(error)))
                told = True
                if self.is_closing():
                    raise
                await asyncio.sleep(STORE_AGAIN)
        log.debug("turn %d: %s after %.1f s", turn.id, turn.state.value, turn.elapsed or 0.0)
        self.emit(Finished(turn, reply, failure))

    async def _note_session(self) -> None:
        """Let the thread note the session; what breaks there, but for the feed, stops nobody.

        As long as the feed can't take it the turn is not over: the next message would begin
        another session (rule S1).
        """
        assert self._outcome is not None  # the turn has ended
        try:
            await self.thread.outcome(self._outcome)
        except FeedError:
            raise
        except Exception:
            log.exception("turn %d is over, but its session is not noted", self.turn.id)

    def _verdict(self) -> tuple[TurnState, str, str]:
        """The turn's state with its reason and detail; puts the answer's words in order."""
        match self._outcome:
            case hermes.Replied(text):
                self._text = text
                return TurnState.SENT, "", ""
            case hermes.Failed(reason=reason, detail=detail, partial=partial):
                self._text = partial or self._text
                return TurnState.FAILED, reason, detail
            case hermes.Stopped(partial, note=note) if not self.is_closing():
                self._text = partial or self._text
                return TurnState.STOPPED, note, ""
            case _:
                return TurnState.INTERRUPTED, "qterm was closed before Q had answered.", ""

    async def _store_reply(self, state: TurnState) -> Turn | None:
        if self._reply is not None:
            change = TurnChange(state=state, text=self._text, elapsed=self.clock() - self._since)
            with suppress(TurnGoneError):  # deleted while it came: it stays deleted
                self._reply = await self.feed.update(self._reply.id, change)
        elif self._text:
            self._reply = await self._new_reply(state)
            elapsed = self.clock() - self._since
            self._reply = await self.feed.update(self._reply.id, TurnChange(elapsed=elapsed))
        return self._reply
