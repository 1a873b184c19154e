"""One turn with one process: its session, the prompt, the answer, and how it is stopped."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import msgspec

from qterm.hermes import failures
from qterm.hermes.live import freshness
from qterm.hermes.live.answer import QUEUED, Answer
from qterm.hermes.live.asking import Asking
from qterm.hermes.live.commands import as_text
from qterm.hermes.live.homes import Home, Homes
from qterm.hermes.live.peer import Peer
from qterm.hermes.live.wire import Refused, WireClosed
from qterm.hermes.processes import CLOSING, STOPPING
from qterm.hermes.turn import Halted, RunningTurn
from qterm.hermes.way import (
    Failed,
    FailureKind,
    Outcome,
    Replied,
    SessionRecord,
    SessionSeen,
    SessionState,
    Stopped,
)

CANCEL_SECONDS = 0.4
"""How long a stopped turn is waited for before it is told to have stopped."""

STORE_SECONDS = 2.0
"""How long hermes then may take to store what it has, before its process is ended."""

ENDED = "hermes ended before it had answered: send the message again."
CANNOT_OPEN = (
    "hermes has this session and can't open it now: look at the details, then send again, "
    'or set hermes.transport to "spawn".'
)

NOTE_SECONDS = 1.0
"""How often the running tools of a turn are noted."""


@dataclass(slots=True)
class LiveTurn:
    """A turn that has been given a process.

    `mode` is the mode its session is to have, None for hermes's own choice. `read` gives what
    hermes holds under an id. After `run`, `leaving` is the end of the process where the turn was
    stopped.
    """

    turn: RunningTurn
    homes: Homes
    home: Home
    peer: Peer
    asking: Asking
    read: Callable[[str], Awaitable[SessionRecord]]
    mode: Callable[[str], str | None]
    is_closing: Callable[[], bool]
    leaving: asyncio.Task[None] | None = None

    async def run(self) -> Outcome:
        """Run it to its end. Raises Halted only before anything was sent."""
        request, peer = self.turn.request, self.peer
        if not peer.has_model:
            return Failed(FailureKind.NO_MODEL, failures.NO_MODEL)
        try:
            session = await self.turn.unless_halted(self._session())
        except WireClosed:
            return self._ended(request.session)
        except Refused as error:
            self.home.pool.let_go(peer, CLOSING)
            kind, reason = failures.explain(1, str(error), "")
            detail = failures.excerpt(str(error), peer.errors.text)
            return Failed(kind, reason, detail, request.session)
        if session is None:
            return await self.turn.unless_halted(self._not_loaded(request.session or ""))
        self.turn.outbox.put(SessionSeen(session))
        for other in self.home.pool.peers:
            if other is not peer:
                other.spoil(session)
        outcome = await self._prompted(session)
        if isinstance(outcome, Stopped) or not peer.is_alive:
            self.home.freshness.forget(session)
        elif request.is_task:
            self._wrote(session, outcome)
        return outcome

    # The session

    async def _session(self) -> str | None:
        """The session of this turn, in this process; None where hermes did not load it."""
        request, peer = self.turn.request, self.peer
        session = request.session
        if session is None:
            session = await self._begun()
        elif session not in peer.held:
            peer.spoiled.add(session)  # as long as it is not known when it was read
            is_loaded = await peer.load_session(session, request.cwd)
            peer.spoiled.discard(session)
            if not is_loaded:
                return None
            self.home.freshness.forget(session)
        held, mode = peer.held[session], self.mode(session)
        known = {each.id for each in held.modes.modes} if held.modes is not None else set()
        if held.modes is not None and mode in known and held.modes.current != mode:
            await peer.set_mode(session, mode)
        return session

    async def _begun(self) -> str:
        """A new session: the one opened ahead, if what it was begun with is still as it was."""
        peer, cwd = self.peer, self.turn.request.cwd
        if peer.opening is not None and not peer.opening.done():
            await asyncio.wait({peer.opening})
        ahead, peer.ahead = peer.ahead, None
        if ahead is not None:
            session, begun = ahead
            now = await asyncio.to_thread(freshness.beginning_print, self.home.place.home)
            if begun == now and await peer.load_session(session, cwd):
                return session
        return await peer.new_session(cwd)

    async def _not_loaded(self, session: str) -> Failed:
        """Why: only a session that is provably gone is lost (rule S5)."""
        record = await self.read(session)
        if record.state is SessionState.GONE:
            return Failed(FailureKind.SESSION_LOST, failures.SESSION_LOST, session=session)
        detail = failures.excerpt("", self.peer.errors.text)
        return Failed(FailureKind.CRASHED, CANNOT_OPEN, detail, session)

    def _wrote(self, session: str, outcome: Outcome) -> None:
        """Note how the session is now, under the id that compression may have given it."""
        now = session
        if isinstance(outcome, Replied) and outcome.session:
            now = outcome.session
            if now != session:
                self.peer.moved(session, now)
        self.home.freshness.wrote(now, partial(self.peer.stamp, now), session)

    # The prompt

    async def _prompted(self, session: str) -> Outcome:
        request, peer, put = self.turn.request, self.peer, self.turn.outbox.put
        held = peer.held[session]
        for seen in held.known:
            put(seen)
        answer = Answer(session, put)

        def told(of: str, update: object) -> None:
            if of == held.id:
                answer.update(update)

        peer.on_update, peer.on_request = told, self.asking.ask
        text = request.prompt if request.is_command else as_text(request.prompt, held.commands)
        prompting = asyncio.ensure_future(peer.prompt(session, text))
        noting = asyncio.create_task(self._note_tools())
        try:
            ended = await self.turn.unless_halted(asyncio.shield(prompting))
            outcome = answer.outcome(ended, peer.errors.text, is_command=request.is_command)
        except Halted:
            return await self._halted(session, answer, prompting)
        except WireClosed:
            answer.release()
            # A tool of its own outlives it, and sending again would run that twice.
            await peer.end(CLOSING)
            return self._ended(session, answer.partial)
        except Refused as error:
            answer.release()
            self.home.pool.let_go(peer, CLOSING)
            detail = failures.excerpt(str(error), peer.errors.text)
            kind = FailureKind.CRASHED
            return Failed(kind, failures.BROKE_OFF, detail, session, answer.partial)
        finally:
            noting.cancel()
            self.asking.end()
            peer.on_update = peer.on_request = None
        if isinstance(outcome, Failed):
            outcome = msgspec.structs.replace(outcome, session=session)
            if outcome.detail.startswith(QUEUED):  # it waits for a turn that never ends
                self.home.pool.let_go(peer, CLOSING)
        return outcome

    async def _note_tools(self) -> None:
        """Know what the process has started, for when it dies and they can't be found any more."""
        while True:
            await asyncio.sleep(NOTE_SECONDS)
            await asyncio.to_thread(self.peer.child.note_descendants)

    def _ended(self, session: str | None, partial: str = "") -> Failed:
        """The process has ended; another takes its place."""
        self.homes.replace(self.home)
        said = failures.excerpt("", self.peer.errors.text)
        return Failed(FailureKind.CRASHED, ENDED, said, session, partial)

    # Its end

    async def _halted(
        self, session: str, answer: Answer, prompting: asyncio.Future[Mapping[str, Any]]
    ) -> Outcome:
        """Stop what runs. After a cancel neither line can be trusted: the process is ended."""
        self.asking.end()  # what waits for an answer ends sooner with one
        self.home.pool.part_with(self.peer)
        await asyncio.to_thread(self.peer.child.note_descendants)
        if not self.is_closing():
            with contextlib.suppress(WireClosed):
                await self.peer.cancel(session)
            await asyncio.wait({prompting}, timeout=CANCEL_SECONDS)
        answer.release()
        self.leaving = asyncio.create_task(self._leave(prompting))
        return Stopped(answer.partial, session)

    async def _leave(self, prompting: asyncio.Future[Mapping[str, Any]]) -> None:
        if not self.is_closing():
            self.homes.replace(self.home)
            await asyncio.wait({prompting}, timeout=STORE_SECONDS)
        await self.home.pool.let_go(self.peer, CLOSING if self.is_closing() else STOPPING)
        await asyncio.gather(prompting, return_exceptions=True)
