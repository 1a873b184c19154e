"""The second way to hermes: processes that are kept running, so that an answer begins at once."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import logging
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import msgspec

from qterm.hermes import capabilities as probing
from qterm.hermes import failures
from qterm.hermes.argv import Unfit
from qterm.hermes.live import freshness, waiting
from qterm.hermes.live.answer import QUEUED
from qterm.hermes.live.answer import Answer as Reply
from qterm.hermes.live.asking import Asking
from qterm.hermes.live.commands import as_text
from qterm.hermes.live.freshness import Freshness
from qterm.hermes.live.peer import CannotStart, Peer, start_peer
from qterm.hermes.live.pool import Pool
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
    Replied,
    SessionRecord,
    SessionSeen,
    SessionState,
    Standing,
    Started,
    Stopped,
    Transport,
)
from qterm.private import private_folder

log = logging.getLogger(__name__)

LARGEST = 16_000_000
"""Code points of a prompt; hermes itself was seen to take three million."""

CANCEL_SECONDS = 0.4
"""How long a stopped turn is waited for before it is told to have stopped."""

STORE_SECONDS = 2.0
"""How long hermes then may take to store what it has, before its process is ended."""

MOST_SESSIONS = 100
"""Sessions one process begins before another takes its place: it keeps them all in its memory."""

_TOO_LARGE = "This message is too large: shorten it, or put it in a file and name the file."
_ENDED = "hermes ended before it had answered: send the message again."
_CANNOT_OPEN = (
    "hermes has this session and can't open it now: look at the details, then send again, "
    'or set hermes.transport to "spawn".'
)


@dataclass(slots=True)
class _Home:
    """What is kept for one hermes home."""

    place: HermesPlace
    pool: Pool
    freshness: Freshness


@dataclass(slots=True)
class _Live:
    """A turn that is with a process."""

    peer: Peer
    session: str
    asking: Asking


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
        self._find = find
        self._approvals = approvals
        self._cache_dir = cache_dir
        self._environ = environ
        self._sessions = sessions
        self._homes: dict[HermesPlace, _Home] = {}
        self._turns: dict[str, RunningTurn] = {}
        self._live: dict[str, _Live] = {}
        self._leaving: dict[str, asyncio.Task[None]] = {}
        self._modes: dict[str, str] = {}
        self._unusable: dict[HermesPlace, str] = {}
        self._checking = asyncio.Lock()
        self._checked: dict[HermesPlace, str] = {}
        self._starting: asyncio.Task[str] | None = None
        self._tasks: set[asyncio.Task[Any]] = set()
        self._closed = False

    # Whether it can be used

    async def available(self) -> str:
        """Whether this hermes can be kept running: empty, or why not in one sentence.

        Asks hermes once for each of its binaries (2 s) and remembers the answer.
        """
        try:
            place = await asyncio.to_thread(self._find)
        except (HermesNotFound, OSError) as error:
            return str(error)
        if place.remote is not None:
            return "hermes is on another machine, where it is started for each turn."
        if place in self._unusable:
            return self._unusable[place]
        async with self._checking:
            if place not in self._checked:
                try:
                    self._checked[place] = await self._check(place)
                except HermesUnusable as error:
                    return str(error)
            return self._checked[place]

    async def _check(self, place: HermesPlace) -> str:
        known = await asyncio.to_thread(probing.recall, place, self._cache_dir)
        known = known or await self._sessions.probe()
        if known.acp is None:
            found = await probing.acp_check(place, self._environ, self._cache_dir)
            known = msgspec.structs.replace(known, acp=found)
            try:
                await asyncio.to_thread(probing.remember, place, known, self._cache_dir)
            except OSError as error:
                log.warning("what hermes can do could not be kept: %s", error)
        if known.acp:
            return ""
        return (
            "hermes can't be kept running, as its `acp` part is missing: install "
            "`hermes-agent[acp]` to have answers begin at once."
        )

    async def ready(self) -> bool:
        """See that a process is there, and start one where there is none; else `why` tells.

        Nothing of a turn has been sent by then, so another way can take it.
        """
        if self._starting is None or self._starting.done():
            if self._closed or any(home.pool.peers for home in self._homes.values()):
                self.why = ""
                return True
            self._starting = asyncio.create_task(self._start_first())
        self.why = await asyncio.shield(self._starting)
        return not self.why

    def warm(self) -> None:
        """Start a process in the background, with a session opened ahead."""
        if not self._closed:
            self._background(self._ready_quietly())

    async def warm_folder(self, folder: Path) -> None:
        """See that a session can begin at once in this folder (a task's). Never raises."""
        with contextlib.suppress(CannotStart, HermesNotFound, HermesUnusable, OSError):
            if not await self.ready():
                return
            home = await self._home()
            peer = await home.pool.take(folder=folder)
            home.pool.give_back(peer)
            await self._open_ahead(home, peer)

    async def _ready_quietly(self) -> None:
        if not await self.ready():
            log.info("hermes is not kept running: %s", self.why)

    async def _start_first(self) -> str:
        """Start a process; why it can't be kept running, empty when it is."""
        why = await self.available()
        if why:
            return why
        try:
            home = await self._home()
            peer = await home.pool.take()
        except CannotStart as error:
            place = await asyncio.to_thread(self._find)
            why = f"hermes can't be kept running ({error}): `qterm doctor` says more."
            log.warning("%s", why)
            if not self._closed:
                self._unusable[place] = why
            return why
        except (HermesNotFound, HermesUnusable, OSError) as error:
            return str(error)
        home.pool.give_back(peer)
        self._background(self._open_ahead(home, peer))
        return ""

    async def _home(self) -> _Home:
        """What is kept for the home that is found now. Raises HermesNotFound, HermesUnusable."""
        place = await asyncio.to_thread(self._find)
        home = self._homes.get(place)
        if home is None:
            known = await self._sessions.probe()

            async def start(folder: Path) -> Peer:
                settings = await asyncio.to_thread(freshness.settings_print, place.home)
                return await start_peer(place, known, self._environ, folder, settings)

            pool = Pool(start, self._make_folder)
            fresh = Freshness(place.home, self._sessions.read_session)
            home = self._homes.setdefault(place, _Home(place, pool, fresh))
        return home

    def _make_folder(self) -> Path:
        return Path(mkdtemp(dir=private_folder(self._cache_dir / "live"))).resolve()

    async def _open_ahead(self, home: _Home, peer: Peer) -> None:
        """Open a session before it is needed: that takes 0.15 s, in a new process over one."""
        if peer.ahead is not None or not peer.is_alive or not peer.has_model or self._closed:
            return
        begun = await asyncio.to_thread(freshness.beginning_print, home.place.home)
        with contextlib.suppress(WireClosed, Refused):
            peer.ahead = (await peer.new_session(peer.folder), begun)

    # The seam

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

    async def send(self, request: HermesRequest) -> AsyncIterator[HermesEvent]:
        """Run one turn; see HermesWay.send."""
        turn = RunningTurn(request)
        turn.outbox.put(Started(self._in_force, Transport.LIVE))
        if self._closed or request.key in self._turns:
            sentence = (
                "qterm is closing: send the message again after the next start."
                if self._closed
                else "This message is being sent already: wait for its answer."
            )
            turn.outbox.put(Failed(FailureKind.CRASHED, sentence))
            turn.outbox.close()
        else:
            self._turns[request.key] = turn
            self._background(self._run(turn))
        async with contextlib.aclosing(turn.outbox.events()) as events:
            async for event in events:
                yield event

    async def answer(self, key: str, approval_id: str, answer: Answer) -> bool:
        """Answer a request of the turn with this key (rule A1)."""
        live = self._live.get(key)
        return live is not None and live.asking.answer(approval_id, answer)

    async def set_mode(self, session: str, mode: str) -> bool:
        """Set a session's mode for its turns from now on, in whichever process they run."""
        holding = [peer for peer in self._peers if session in peer.held]
        for peer in holding:
            modes = peer.held[session].modes
            if modes is not None and mode not in {known.id for known in modes.modes}:
                return False
            try:
                await peer.set_mode(session, mode)
            except (WireClosed, Refused) as error:
                log.warning("a session's mode could not be set: %s", type(error).__name__)
                return False
        self._modes[session] = mode
        return True

    async def standing(self) -> Standing:
        """Which transport the next turn takes."""
        why = await self.available()
        if why:
            return Standing(Transport.SPAWN, why)
        return Standing(Transport.LIVE, "hermes is kept running, and answers at once.")

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
        await asyncio.gather(*(home.pool.close() for home in self._homes.values()))
        for turn in turns:
            await turn.done.wait()
        await asyncio.gather(*(home.freshness.close() for home in self._homes.values()))
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        # One that was being started meanwhile.
        await asyncio.gather(*(home.pool.close() for home in self._homes.values()))

    # One turn

    @property
    def _in_force(self) -> Approvals:
        """`bypass` is for home turns, which are then spawned: what comes here may be asked."""
        return Approvals.DENY if self._approvals is Approvals.DENY else Approvals.ASK

    @property
    def _peers(self) -> list[Peer]:
        return [peer for home in self._homes.values() for peer in home.pool.peers]

    async def _run(self, turn: RunningTurn) -> None:
        timer = None
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
            self._live.pop(turn.request.key, None)
            turn.outbox.put(turn.judged(outcome))
            turn.outbox.close()
            await self._left(turn.request.key)
            self._turns.pop(turn.request.key, None)
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
        home = await turn.unless_halted(self._home())
        if request.session is not None:
            await turn.unless_halted(self._left(request.session))
            if not await turn.unless_halted(self._is_ours(home, request.session)):
                for peer in home.pool.peers:
                    peer.spoil(request.session)
        peer = await self._taken(turn, home)
        try:
            return await self._with(turn, home, peer)
        except WireClosed:
            await asyncio.sleep(0)
            said = failures.excerpt("", peer.errors.text)
            return Failed(FailureKind.CRASHED, _ENDED, said, request.session)
        except Refused as error:
            home.pool.let_go(peer, CLOSING)
            kind, reason = failures.explain(1, str(error), "")
            return Failed(kind, reason, failures.excerpt(str(error), peer.errors.text))
        finally:
            if len(peer.held) > MOST_SESSIONS:
                home.pool.let_go(peer)
            home.pool.give_back(peer)

    async def _is_ours(self, home: _Home, session: str) -> bool:
        """Whether what our processes hold of this session is all there is."""
        if not any(session in peer.held for peer in home.pool.peers):
            return True
        return await home.freshness.is_fresh(session)

    async def _taken(self, turn: RunningTurn, home: _Home) -> Peer:
        """A process for this turn, with hermes's settings as they are now."""
        request = turn.request
        while True:
            taking = home.pool.take(
                session=request.session,
                folder=request.cwd.resolve() if request.is_task else None,
                begins=request.session is None,
            )
            peer = await turn.unless_halted(taking)
            settings = await asyncio.to_thread(freshness.settings_print, home.place.home)
            if settings == peer.settings:
                return peer
            log.info("hermes's settings have changed: it is started anew")
            home.pool.let_go(peer)

    async def _with(self, turn: RunningTurn, home: _Home, peer: Peer) -> Outcome:
        request = turn.request
        if not peer.has_model:
            return Failed(FailureKind.NO_MODEL, failures.NO_MODEL)
        session = await turn.unless_halted(self._session(home, peer, request))
        if session is None:
            return await turn.unless_halted(self._not_loaded(request.session or "", peer))
        turn.outbox.put(SessionSeen(session))
        for other in home.pool.peers:
            if other is not peer:
                other.spoil(session)
        reply = Reply(session, turn.outbox.put)
        seconds = await asyncio.to_thread(
            waiting.approval_seconds, home.place.home, await self._sessions.probe()
        )
        asking = Asking(self._in_force, turn.outbox.put, str(request.cwd), seconds)
        held = peer.held[session]
        for seen in held.known:
            turn.outbox.put(seen)

        def told(of: str, update: object) -> None:
            if of == held.id:
                reply.update(update)

        peer.on_update, peer.on_request = told, asking.ask
        self._live[request.key] = _Live(peer, session, asking)
        text = request.prompt if request.is_command else as_text(request.prompt, held.commands)
        answering = asyncio.ensure_future(peer.prompt(session, text))
        try:
            answer = await turn.unless_halted(asyncio.shield(answering))
            outcome = reply.outcome(answer, peer.errors.text, is_command=request.is_command)
        except Halted:
            return await self._halted(home, peer, turn, reply, answering)
        except WireClosed:
            reply.release()
            said = failures.excerpt("", peer.errors.text)
            return Failed(FailureKind.CRASHED, _ENDED, said, session, reply.partial)
        except Refused as error:
            reply.release()
            home.pool.let_go(peer, CLOSING)
            said = failures.excerpt(str(error), peer.errors.text)
            return Failed(FailureKind.CRASHED, failures.BROKE_OFF, said, session, reply.partial)
        finally:
            asking.end()
            peer.on_update = peer.on_request = None
        return self._settled(home, peer, request, session, outcome)

    def _settled(
        self, home: _Home, peer: Peer, request: HermesRequest, session: str, outcome: Outcome
    ) -> Outcome:
        """What is to be done once hermes has answered."""
        now = session
        if isinstance(outcome, Replied):
            now = outcome.session or session
        elif isinstance(outcome, Failed):
            outcome = dataclasses.replace(outcome, session=session)
            if outcome.detail.startswith(QUEUED):  # it waits for a turn that never ends
                home.pool.let_go(peer, CLOSING)
        if now != session:
            peer.moved(session, now)
        if request.is_task:
            home.freshness.wrote(now, session)
        else:
            self._background(self._open_ahead(home, peer))
        return outcome

    async def _session(self, home: _Home, peer: Peer, request: HermesRequest) -> str | None:
        """The session of this turn, in this process; None where hermes did not load it."""
        session = request.session
        if session is None:
            session = await self._begun(home, peer, request.cwd)
        elif session not in peer.held:
            if not await peer.load_session(session, request.cwd):
                return None
            home.freshness.forget(session)
        held = peer.held[session]
        mode = self._modes.get(session)
        if mode is not None and held.modes is not None and held.modes.current != mode:
            await peer.set_mode(session, mode)
        return session

    async def _begun(self, home: _Home, peer: Peer, cwd: Path) -> str:
        """A new session: the one opened ahead, if what it was begun with is still as it was."""
        ahead, peer.ahead = peer.ahead, None
        if ahead is not None:
            session, begun = ahead
            now = await asyncio.to_thread(freshness.beginning_print, home.place.home)
            if begun == now and await peer.load_session(session, cwd):
                return session
        return await peer.new_session(cwd)

    async def _not_loaded(self, session: str, peer: Peer) -> Failed:
        record = await self._sessions.read_session(session)
        if record.state is SessionState.GONE:
            return Failed(FailureKind.SESSION_LOST, failures.SESSION_LOST, session=session)
        detail = failures.excerpt("", peer.errors.text)
        return Failed(FailureKind.CRASHED, _CANNOT_OPEN, detail, session)

    # Its end

    async def _halted(
        self,
        home: _Home,
        peer: Peer,
        turn: RunningTurn,
        reply: Reply,
        answering: asyncio.Future[Mapping[str, Any]],
    ) -> Outcome:
        """Stop what runs. After a cancel neither line can be trusted: its process is ended."""
        session = reply.session
        peer.child.note_descendants()
        if not self._closed:
            with contextlib.suppress(WireClosed):
                await peer.cancel(session)
            await asyncio.wait({answering}, timeout=CANCEL_SECONDS)
        reply.release()
        home.freshness.forget(session)
        leaving = asyncio.create_task(self._leave(home, peer, answering))
        self._tasks.add(leaving)
        leaving.add_done_callback(self._tasks.discard)
        self._leaving[session] = self._leaving[turn.request.key] = leaving
        return Stopped(reply.partial, session)

    async def _leave(
        self, home: _Home, peer: Peer, answering: asyncio.Future[Mapping[str, Any]]
    ) -> None:
        """End a stopped turn's process once it has stored what it has, and start another."""
        if not self._closed:
            await asyncio.wait({answering}, timeout=STORE_SECONDS)
        await home.pool.let_go(peer, CLOSING if self._closed else STOPPING)
        await asyncio.gather(answering, return_exceptions=True)
        if not self._closed:
            self.warm()

    async def _left(self, name: str) -> None:
        """Wait until the process of a stopped turn (by key or session) is gone."""
        leaving = self._leaving.get(name)
        if leaving is not None:
            await asyncio.gather(asyncio.shield(leaving), return_exceptions=True)
            self._leaving.pop(name, None)

    def _background(self, work: Coroutine[Any, Any, Any]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
