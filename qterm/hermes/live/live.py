"""The second way to hermes: processes that are kept running, so that an answer begins at once."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Callable, Mapping
from functools import partial
from pathlib import Path

from qterm.hermes.argv import Unfit
from qterm.hermes.live import freshness, waiting
from qterm.hermes.live.asking import Asking
from qterm.hermes.live.homes import Home, Homes
from qterm.hermes.live.peer import CannotStart, Peer
from qterm.hermes.live.session import LiveTurn
from qterm.hermes.live.wire import Refused, WireClosed
from qterm.hermes.place import HermesNotFound, HermesPlace, HermesUnusable
from qterm.hermes.processes import CLOSING, STOPPING
from qterm.hermes.spawn import UNFIT, SpawnWay
from qterm.hermes.turn import Halted, RunningTurn
from qterm.hermes.way import (
    Answer,
    Approvals,
    Failed,
    FailureKind,
    HermesEvent,
    HermesRequest,
    Outcome,
    SessionRecord,
    Standing,
    Started,
    Stopped,
    Transport,
)

log = logging.getLogger(__name__)

LARGEST = 16_000_000
"""Code points of a prompt; hermes itself was seen to take three million."""

MOST_SESSIONS = 100
"""Sessions one process begins before another takes its place: it keeps them all in its memory."""

_UNASKED_EDITS = "accept_edits"
"""hermes's mode that takes edits in the workspace; sensitive places are still asked about."""

STANDING = "hermes is kept running, and answers at once."
_TOO_LARGE = "This message is too large: shorten it, or put it in a file and name the file."


class LiveWay:
    """Talks with a hermes that is kept running (implements HermesWay).

    `find` tells which hermes and which home (it may raise HermesNotFound), `approvals` is the
    operator's choice, `cache_dir` a folder for what was learned about hermes, `environ` what the
    processes inherit, `sessions` the spawned way, by which sessions are read and named. Ask
    `ready` before `send`.
    """

    def __init__(
        self,
        find: Callable[[], HermesPlace],
        *,
        approvals: Approvals,
        cache_dir: Path,
        environ: Mapping[str, str],
        sessions: SpawnWay,
    ) -> None:
        self.why = ""
        """Why `ready` said no, in one sentence; empty after a yes."""
        self._approvals = approvals
        self._sessions = sessions
        self._homes = Homes(find, cache_dir=cache_dir, environ=environ, sessions=sessions)
        self._turns: dict[str, RunningTurn] = {}
        self._asking: dict[str, Asking] = {}
        self._leaving: dict[str, asyncio.Task[None]] = {}
        self._modes: dict[str, str] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._closed = False

    # Whether it can be used

    async def available(self) -> str:
        """Whether this hermes can be kept running: empty, or why not in one sentence.

        Asks hermes once for each of its binaries (2 s) and remembers the answer.
        """
        return await self._homes.available()

    async def ready(self, folder: Path | None = None) -> bool:
        """See that a process is there, and start one where there is none; else `why` tells.

        Nothing of a turn has been sent by then, so another way can take it. `folder` is a task's
        whose first turn it is to be: then the process is started there.
        """
        resolved = await asyncio.to_thread(folder.resolve) if folder is not None else None
        self.why = await self._homes.ready(resolved)
        return not self.why

    async def standing(self) -> Standing:
        """Which transport the next turn takes."""
        why = await self.available()
        return Standing(Transport.SPAWN, why) if why else Standing(Transport.LIVE, STANDING)

    def warm(self, folder: Path | None = None) -> None:
        """Start a process in the background; with `folder` one for sessions that begin there."""
        self._homes.warm(folder.resolve() if folder is not None else None)

    # Sessions

    async def carries(self, prompt: str, *, is_task: bool = False) -> bool:
        """Whether a call can take this text at all (rule C6)."""
        return len(prompt) <= LARGEST

    async def identity(self) -> str:
        """Which hermes this is; see SpawnWay.identity."""
        return await self._sessions.identity()

    async def name_session(self, session: str, name: str) -> bool:
        """Give a session a title (rule S3); it can be done while a process holds it."""
        return await self._sessions.name_session(session, name)

    async def read_session(self, session: str) -> SessionRecord:
        """What hermes holds under this id."""
        return await self._sessions.read_session(session)

    async def set_mode(self, session: str, mode: str) -> bool:
        """Set a session's mode for its turns from now on, in whichever process they run."""
        for peer in self._homes.peers:
            held = peer.held.get(session)
            if held is None:
                continue
            if held.modes is not None and mode not in {known.id for known in held.modes.modes}:
                return False
            try:
                await peer.set_mode(session, mode)
            except (WireClosed, Refused) as error:
                log.warning("a session's mode could not be set: %s", type(error).__name__)
                return False
        self._modes[session] = mode
        return True

    # Turns

    async def send(self, request: HermesRequest) -> AsyncIterator[HermesEvent]:
        """Run one turn; see HermesWay.send."""
        turn = RunningTurn(request)
        turn.outbox.put(Started(self._in_force, Transport.LIVE))
        if self._closed or request.key in self._turns:
            turn.refuse(is_closing=self._closed)
        else:
            self._turns[request.key] = turn
            task = asyncio.create_task(self._run(turn))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        async with contextlib.aclosing(turn.outbox.events()) as events:
            async for event in events:
                yield event

    async def answer(self, key: str, approval_id: str, answer: Answer) -> bool:
        """Answer a request of the turn with this key (rule A1)."""
        asking = self._asking.get(key)
        return asking is not None and asking.answer(approval_id, answer)

    async def stop(self, key: str) -> None:
        """End the turn with this key, and all it started; returns when nothing of it is left."""
        turn = self._turns.get(key)
        if turn is not None:
            turn.halt("stop", STOPPING)
            await turn.done.wait()

    async def close(self) -> None:
        """End everything, quickly; afterwards nothing may be sent."""
        self._closed = True
        turns = list(self._turns.values())
        for turn in turns:
            turn.halt("stop", CLOSING)
        await self._homes.close()
        for turn in turns:
            await turn.done.wait()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    @property
    def _in_force(self) -> Approvals:
        """`bypass` is for home turns, which are then spawned: what comes here may be asked."""
        return Approvals.DENY if self._approvals is Approvals.DENY else Approvals.ASK

    def _mode(self, session: str) -> str | None:
        """The mode a session is to be in: the operator's choice; where qterm denies, the one in
        which hermes does not ask about ordinary edits, as a spawned call does not (rule A1)."""
        default = _UNASKED_EDITS if self._approvals is Approvals.DENY else None
        return self._modes.get(session, default)

    async def _run(self, turn: RunningTurn) -> None:
        timer, key = None, turn.request.key
        if turn.request.timeout is not None:
            loop = asyncio.get_running_loop()
            timer = loop.call_later(turn.request.timeout, turn.halt, "timeout", STOPPING)
        outcome: Outcome = Failed(FailureKind.CRASHED, "qterm broke off this turn.")
        try:
            outcome = await self._outcome(turn)
        except Halted:
            outcome = Stopped()
        except HermesNotFound as error:
            outcome = Failed(FailureKind.NO_HERMES, str(error))
        except HermesUnusable as error:
            outcome = Failed(FailureKind.CRASHED, str(error))
        except CannotStart as error:
            sentence = f"hermes could not be started ({error}): send the message again."
            outcome = Failed(FailureKind.CRASHED, sentence, error.detail)
        except Exception as error:  # the seam promises never to raise
            log.exception("a turn broke off")
            outcome = Failed(
                FailureKind.CRASHED,
                "Something in qterm broke during this call: its log says more.",
                f"{type(error).__name__}: {error}",
            )
        finally:
            if timer is not None:
                timer.cancel()
            self._asking.pop(key, None)
            turn.outbox.put(turn.judged(outcome))
            turn.outbox.close()
            await self._left(key)
            self._turns.pop(key, None)
            turn.done.set()

    async def _outcome(self, turn: RunningTurn) -> Outcome:
        request = turn.request
        if not request.prompt.strip():
            return Failed(FailureKind.TOO_LARGE, UNFIT[Unfit.EMPTY])
        if len(request.prompt) > LARGEST:
            return Failed(FailureKind.TOO_LARGE, _TOO_LARGE)
        if not request.cwd.is_dir():
            return Failed(
                FailureKind.CRASHED,
                f"The folder {request.cwd} is not there any more: make it again.",
            )
        home = await turn.unless_halted(self._homes.here())
        if request.session is not None:
            await turn.unless_halted(self._left(request.session))
            await turn.unless_halted(self._see_others(home, request.session))
        seconds = await asyncio.to_thread(waiting.approval_seconds, home.place.home, home.known)
        peer = await self._taken(turn, home)
        asking = Asking(self._in_force, turn.outbox.put, str(request.cwd), seconds)
        self._asking[request.key] = asking
        live = LiveTurn(
            turn,
            self._homes,
            home,
            peer,
            asking,
            read=self._sessions.read_session,
            mode=self._mode,
            is_closing=lambda: self._closed,
        )
        try:
            outcome = await live.run()
        finally:
            if live.leaving is not None:
                self._leaving[request.key] = live.leaving
            if len(peer.held) > MOST_SESSIONS and live.leaving is None:
                home.pool.let_go(peer)
                self._homes.replace(home)
            home.pool.give_back(peer)
        if live.leaving is None:
            if not request.is_task:
                self._homes.open_ahead(home, peer)
        elif outcome.session is not None:
            self._leaving[outcome.session] = live.leaving
        return outcome

    async def _see_others(self, home: Home, session: str) -> None:
        """Where others wrote to this session, let no process go on with what it holds of it."""
        holding = [peer for peer in home.pool.peers if session in peer.held]
        if holding and not await home.freshness.is_fresh(
            session, partial(holding[0].stamp, session)
        ):
            log.info("others wrote to a session: it is loaded anew")
            for peer in holding:
                peer.spoil(session)

    async def _taken(self, turn: RunningTurn, home: Home) -> Peer:
        """A process for this turn, with hermes's settings as they are now."""
        request = turn.request
        while True:
            taking = home.pool.take(
                session=request.session,
                folder=request.cwd.resolve() if request.is_task else None,
                begins=request.session is None,
            )
            peer = await turn.unless_halted(taking)
            if peer.settings == await asyncio.to_thread(freshness.settings_print, home.place.home):
                return peer
            log.info("hermes's settings have changed: it is started anew")
            home.pool.let_go(peer)

    async def _left(self, name: str) -> None:
        """Wait until the process of a stopped turn (by its key or session) is gone."""
        leaving = self._leaving.get(name)
        if leaving is not None:
            await asyncio.gather(asyncio.shield(leaving), return_exceptions=True)
            self._leaving.pop(name, None)
