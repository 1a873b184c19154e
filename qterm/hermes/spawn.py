"""The first way to hermes: one process of its command line for each turn."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import platform
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from pathlib import Path
from typing import Any

import msgspec

from qterm.hermes import capabilities as probing
from qterm.hermes import failures, launch
from qterm.hermes.argv import Call, Unfit, build_call, carries, in_force
from qterm.hermes.model_state import model_state
from qterm.hermes.pictures import could_be_picture, is_picture
from qterm.hermes.place import Capabilities, HermesNotFound, HermesPlace, HermesUnusable
from qterm.hermes.processes import CLOSING, STOPPING, Stream
from qterm.hermes.remote_reply import Preamble, exit_code, over_ssh
from qterm.hermes.reply import is_usage_error, reader_for
from qterm.hermes.sessions import Sessions
from qterm.hermes.turn import Halted, RunningTurn
from qterm.hermes.usage_file import read_report, usage_file
from qterm.hermes.way import (
    Answer,
    Approvals,
    Failed,
    FailureKind,
    HermesEvent,
    HermesRequest,
    Outcome,
    SessionRecord,
    SessionState,
    Standing,
    Started,
    Stopped,
    Transport,
)

log = logging.getLogger(__name__)

LARGEST_OUTPUT = 64_000_000
"""Bytes one call may print: what prints more is no answer, and would fill the memory."""

_UNUSABLE_SECONDS = 2.0
"""How long a hermes that could not be used is not asked again: measuring a text and sending it
come one after the other, and one that hangs shall be waited for once."""

UNFIT = {
    Unfit.EMPTY: "There is nothing to send: write a message first.",
    Unfit.TOO_LARGE: (
        "This message is too large for this call (128 kB as UTF-8): shorten it, "
        "or put it in a file and name the file."
    ),
    Unfit.NOT_TEXT: (
        "This message holds characters that can't be passed to hermes "
        "(NUL or half of a surrogate pair): remove them."
    ),
}


class SpawnWay:
    """Talks with hermes by starting its command line once for each turn (implements HermesWay).

    `find` tells which hermes and which home (it may raise HermesNotFound), `approvals` is the
    operator's choice, `cache_dir` a folder for what was learned about hermes and for its reports,
    `environ` what the processes inherit.
    """

    def __init__(
        self,
        find: Callable[[], HermesPlace],
        *,
        approvals: Approvals,
        cache_dir: Path,
        environ: Mapping[str, str],
    ) -> None:
        self._find = find
        self._approvals = approvals
        self._cache_dir = cache_dir
        self._environ = environ
        self._turns: dict[str, RunningTurn] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._known: dict[HermesPlace, Capabilities] = {}
        self._checked: set[HermesPlace] = set()
        self._unusable: dict[HermesPlace, tuple[float, str]] = {}
        self._probing = asyncio.Lock()
        self._closed = False

    async def carries(self, prompt: str, *, is_task: bool = False) -> bool:
        """Whether a call can take this text at all (rule C6); never starts the turn.

        True where hermes can't be asked: `send` then says why.
        """
        try:
            known = await self._capabilities(await asyncio.to_thread(self._find))
        except (HermesNotFound, HermesUnusable, OSError):
            return True
        return carries(known, prompt, self._approvals, is_task=is_task) is None

    async def identity(self) -> str:
        """Which hermes this is, `MACHINE:HOME`; empty where there is none (rule S3)."""
        try:
            place = await asyncio.to_thread(self._find)
        except (HermesNotFound, OSError):
            return ""
        if place.remote is not None:
            return place.remote.identity
        return f"{platform.node()}:{place.home.resolve()}"

    async def name_session(self, session: str, name: str) -> bool:
        """Give a session a title; whether it has it now (rule S3)."""
        sessions = await self._sessions()
        return sessions is not None and await sessions.name(session, name)

    async def read_session(self, session: str) -> SessionRecord:
        """What hermes holds under this id."""
        sessions = await self._sessions()
        if sessions is None:
            return SessionRecord(SessionState.UNKNOWN)
        return await sessions.read(session)

    async def _sessions(self) -> Sessions | None:
        try:
            place = await asyncio.to_thread(self._find)
            return Sessions(place, await self._capabilities(place), self._environ)
        except (HermesNotFound, HermesUnusable, OSError) as error:
            log.warning("hermes's sessions can't be asked: %s", error)
            return None

    async def send(self, request: HermesRequest) -> AsyncIterator[HermesEvent]:
        """Run one turn; see HermesWay.send."""
        turn = RunningTurn(request)
        turn.outbox.put(Started(in_force(self._approvals, is_task=request.is_task)))
        if self._closed or request.key in self._turns:
            turn.refuse(is_closing=self._closed)
        else:
            self._turns[request.key] = turn
            self._background(self._run(turn))
        async with contextlib.aclosing(turn.outbox.events()) as events:
            async for event in events:
                yield event

    async def answer(self, key: str, approval_id: str, answer: Answer) -> bool:
        """A spawned hermes asks nobody."""
        return False

    async def set_mode(self, session: str, mode: str) -> bool:
        """A spawned hermes takes no mode."""
        return False

    async def standing(self) -> Standing:
        """hermes is started for each turn."""
        return Standing(Transport.SPAWN, "hermes is started for each turn.")

    def warm(self, folder: Path | None = None) -> None:
        """There is nothing to keep warm."""

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
        for turn in turns:
            await turn.done.wait()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def probe(self, *, fresh: bool = False) -> Capabilities:
        """What the installed hermes can do; `fresh` asks it again.

        Raises HermesNotFound or HermesUnusable.
        """
        place = await asyncio.to_thread(self._find)
        if fresh:
            await self._forget(place)
        return await self._capabilities(place)

    async def dry_run(self, request: HermesRequest) -> Call:
        """The call `send` would make; nothing is started but, where needed, the probe.

        Raises HermesNotFound, HermesUnusable, and ValueError for a text that can't be sent.
        """
        place = await asyncio.to_thread(self._find)
        known = await self._capabilities(place)
        unfit = carries(known, request.prompt, self._approvals, is_task=request.is_task)
        if unfit is not None:
            raise ValueError(UNFIT[unfit])
        return await self._build(place, known, request, "USAGE_FILE")

    # One turn

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
        except OSError as error:
            log.warning("a turn could not be run: %s", error)
            what = error.strerror or type(error).__name__
            outcome = Failed(
                FailureKind.CRASHED, f"The call to hermes failed ({what}): send the message again."
            )
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
            if turn.child is not None and turn.child.returncode is None:
                await asyncio.shield(turn.child.end(CLOSING))
            await turn.all_ended()
            self._turns.pop(turn.request.key, None)
            turn.outbox.put(turn.judged(outcome))
            turn.outbox.close()
            turn.done.set()

    async def _outcome(self, turn: RunningTurn) -> Outcome:
        request = turn.request
        place = await turn.unless_halted(asyncio.to_thread(self._find))
        known = await turn.unless_halted(self._capabilities(place))
        outcome = await self._try(turn, place, known)
        if outcome is None:  # it did not know the arguments: what was learned of it is out of date
            await turn.unless_halted(self._forget(place))
            known = await turn.unless_halted(self._capabilities(place))
            outcome = await self._try(turn, place, known)
        if outcome is None:
            return Failed(
                FailureKind.CRASHED,
                f"hermes {known.version} does not know the arguments qterm gave it: "
                "`qterm doctor` says more.",
            )
        if isinstance(outcome, Failed) and turn.why is None:
            with contextlib.suppress(Halted):  # the failure stands as it is
                return await turn.unless_halted(self._explained(outcome, request, place, known))
        return outcome

    async def _explained(
        self, failed: Failed, request: HermesRequest, place: HermesPlace, known: Capabilities
    ) -> Failed:
        """The failure, told apart from a lost session and from a home without a model."""
        if failed.kind not in {FailureKind.PROVIDER, FailureKind.CRASHED}:
            return failed
        if request.session is not None:
            sessions = Sessions(place, known, self._environ)
            record = await sessions.read(request.session)
            if record.state is not SessionState.GONE:
                return failed
            kind, reason = FailureKind.SESSION_LOST, failures.SESSION_LOST
        elif place.remote is not None:
            return failed  # what its home holds can't be seen from here
        else:
            state = await asyncio.to_thread(model_state, place.home, self._environ)
            if failed.session is not None or state.is_set:
                return failed
            kind, reason = FailureKind.NO_MODEL, failures.NO_MODEL
        return msgspec.structs.replace(failed, kind=kind, reason=reason)

    async def _try(
        self, turn: RunningTurn, place: HermesPlace, known: Capabilities
    ) -> Outcome | None:
        """One call; None when hermes did not know its arguments, and so ran nothing."""
        request = turn.request
        unfit = carries(known, request.prompt, self._approvals, is_task=request.is_task)
        if unfit is not None:
            return Failed(FailureKind.TOO_LARGE, UNFIT[unfit])
        if place.remote is None and not request.cwd.is_dir():
            return Failed(
                FailureKind.CRASHED,
                f"The folder {request.cwd} is not there any more: make it again.",
            )
        is_reported = in_force(self._approvals, is_task=request.is_task) is Approvals.BYPASS
        with usage_file(self._cache_dir, is_wanted=is_reported) as report:
            call = await turn.unless_halted(self._build(place, known, request, report))
            return await self._call(turn, place, call)

    async def _call(self, turn: RunningTurn, place: HermesPlace, call: Call) -> Outcome | None:
        if turn.halted.is_set():  # nothing is awaited from here until `turn.child` is there
            raise Halted
        reader = reader_for(call.shape)
        try:
            child = await launch.start(place, call, cwd=turn.request.cwd, environ=self._environ)
        except OSError as error:
            return Failed(FailureKind.NO_HERMES, probing.cannot_start(place, error))
        turn.child = child
        log.debug("process %d: a %s call for turn %s", child.pid, call.shape, turn.request.key)
        printed = 0
        preamble = Preamble() if place.remote is not None else None
        async with contextlib.aclosing(child.chunks()) as chunks:
            async for stream, data in chunks:
                printed += len(data)
                if printed > LARGEST_OUTPUT:
                    await child.end(CLOSING)
                    return _printed_too_much(data)
                if preamble is not None and stream is Stream.OUT:
                    data = preamble.feed(data)  # noqa: PLW2901
                for event in reader.out(data) if stream is Stream.OUT else reader.err(data):
                    turn.outbox.put(event)
        code = await child.wait()
        log.debug("process %d: ended with %d", child.pid, code)
        await turn.all_ended()
        usage = await asyncio.to_thread(read_report, call.usage_file)
        if turn.why is None and is_usage_error(code, reader, usage):
            return None
        stopped = turn.why is not None
        if place.remote is None or preamble is None:
            return reader.outcome(code, usage=usage, stopped=stopped)
        begun, folder = preamble.begun, str(turn.request.cwd)
        outcome = reader.outcome(exit_code(code, begun=begun), stopped=stopped)
        return over_ssh(place.remote, outcome, code, reader.errors, begun=begun, folder=folder)

    async def _build(
        self, place: HermesPlace, known: Capabilities, request: HermesRequest, report: str | None
    ) -> Call:
        def is_image(written: str) -> bool:
            if place.remote is not None:
                return could_be_picture(written)
            return is_picture(written, cwd=request.cwd, environ=self._environ)

        return await asyncio.to_thread(
            build_call, known, place, request, self._approvals, report, is_image=is_image
        )

    # What hermes can do

    async def _capabilities(self, place: HermesPlace) -> Capabilities:
        async with self._probing:
            known = self._known.get(place)
            if known is None:
                known = await asyncio.to_thread(probing.recall, place, self._cache_dir)
                if known is None:
                    known = await self._learn(place)
                elif place not in self._checked:
                    self._checked.add(place)
                    self._background(self._check(place, known))
                self._known[place] = known
            return known

    async def _learn(self, place: HermesPlace) -> Capabilities:
        clock = asyncio.get_running_loop().time
        since, sentence = self._unusable.get(place, (0.0, ""))
        if sentence and clock() - since < _UNUSABLE_SECONDS:
            raise HermesUnusable(sentence)
        try:
            known = await probing.probe(place, self._environ, self._cache_dir)
        except HermesUnusable as error:
            self._unusable[place] = (clock(), str(error))
            raise
        self._checked.add(place)
        try:
            await asyncio.to_thread(probing.remember, place, known, self._cache_dir)
        except OSError as error:
            log.warning("what hermes can do could not be kept: %s", error)
        return known

    async def _check(self, place: HermesPlace, known: Capabilities) -> None:
        """See in the background whether what is remembered still holds: a wrapper's own file
        stays the same when the hermes behind it changes."""
        try:
            line = await probing.version_line(place, self._environ, self._cache_dir)
            if line != known.version_line:
                async with self._probing:
                    self._known[place] = await self._learn(place)
        except HermesUnusable as error:
            log.warning("hermes could not be looked at again: %s", error)

    async def _forget(self, place: HermesPlace) -> None:
        self._known.pop(place, None)
        self._unusable.pop(place, None)
        with contextlib.suppress(OSError):
            await asyncio.to_thread(probing.forget, place, self._cache_dir)

    def _background(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _printed_too_much(last: bytes) -> Failed:
    return Failed(
        FailureKind.CRASHED,
        f"hermes printed more than {LARGEST_OUTPUT // 1_000_000} MB and was ended: see what "
        "`hermes chat` prints in a terminal, then send the message again.",
        failures.excerpt(last.decode(errors="replace"), ""),
    )
