"""One hermes that is kept running: its process, and what can be asked of it."""

from __future__ import annotations

import asyncio
import codecs
import contextlib
import logging
import os
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from qterm.hermes import launch
from qterm.hermes.argv import base
from qterm.hermes.failures import last_line
from qterm.hermes.home_config import has_own_code
from qterm.hermes.live import updates
from qterm.hermes.live.wire import Refused, Wire, WireClosed
from qterm.hermes.place import Capabilities, HermesPlace
from qterm.hermes.processes import CLOSING, STOPPING, Child, Patience, Stream
from qterm.hermes.text_parts import Tail
from qterm.hermes.way import CommandsSeen, ModesSeen, UsageSeen

log = logging.getLogger(__name__)

START_SECONDS = 30.0
"""How long a process may take until it has answered `initialize`; a busy machine is slow."""

OPEN_SECONDS = 60.0
"""How long opening or loading a session may take: a long one is told again in whole."""

STAMP_SECONDS = 2.0
"""How long the look at the time of a session's last change may take."""

_SETUP = "hermes-setup"
_LASTING = frozenset({"available_commands_update", "usage_update"})
"""Updates that tell of the session, whenever they come."""


class CannotStart(Exception):  # noqa: N818
    """A hermes that can't be kept running. The text is one sentence; `detail` what it printed."""

    def __init__(self, sentence: str, detail: str = "") -> None:
        super().__init__(sentence)
        self.detail = detail


@dataclass(slots=True)
class Held:
    """A session that a process holds: its id there, and what was told of it last."""

    id: str
    modes: ModesSeen | None = None
    commands: CommandsSeen | None = None
    usage: UsageSeen | None = None

    @property
    def known(self) -> list[ModesSeen | CommandsSeen | UsageSeen]:
        """What a turn can tell of it before hermes says anything."""
        return [seen for seen in (self.modes, self.commands, self.usage) if seen is not None]


@dataclass(slots=True, eq=False)
class Peer:
    """One process. Made by `start_peer`; `pool.py` gives it to one turn at a time.

    `folder` is where it was started, `settings` the state of hermes's settings then. `held` has the
    sessions it keeps in its memory, by the id hermes stores them under, `spoiled` the ids of those
    that others have written to since. `ahead` is a session opened before it is needed, with the
    state of what it was begun with, `opening` the work that opens it. `on_update` and `on_request`
    are the running turn's.
    """

    child: Child
    folder: Path
    settings: object
    held: dict[str, Held] = field(default_factory=dict)
    spoiled: set[str] = field(default_factory=set)
    has_model: bool = True
    ahead: tuple[str, object] | None = None
    opening: asyncio.Task[None] | None = None
    on_update: Callable[[str, object], None] | None = None
    on_request: Callable[[object], Awaitable[dict[str, Any]]] | None = None
    errors: Tail = field(default_factory=lambda: Tail(16_000))
    used_at: float = 0.0
    _told_of: dict[str, Held] = field(default_factory=dict)
    _wire: Wire | None = None
    _reading: asyncio.Task[None] | None = None

    @property
    def is_alive(self) -> bool:
        """Whether it can be asked something."""
        return self.child.returncode is None and self._wire is not None and not self._wire.is_closed

    @property
    def last_words(self) -> str:
        """The last line of its standard error."""
        return last_line(self.errors.text)

    async def new_session(self, cwd: Path) -> str:
        """Begin a session in this folder; its id. Raises WireClosed and Refused."""
        async with _within(OPEN_SECONDS):
            answer = await self._ask("session/new", {"cwd": str(cwd), "mcpServers": []})
        session = updates.session_of(answer)
        if not session:
            raise Refused("hermes began a session and did not say which")
        self._hold(session).modes = updates.modes_of(answer)
        return session

    async def load_session(self, session: str, cwd: Path) -> bool:
        """Load a session, or move one that is held to this folder; whether hermes has it.

        Raises WireClosed and Refused.
        """
        held = self.held.get(session)
        asked = held.id if held is not None else session
        async with _within(OPEN_SECONDS):
            answer = await self._ask(
                "session/load", {"cwd": str(cwd), "mcpServers": [], "sessionId": asked}
            )
        modes = updates.modes_of(answer)
        if modes is None:
            return False
        self._hold(session).modes = modes
        return True

    async def prompt(self, session: str, text: str) -> Mapping[str, Any]:
        """Run a turn to its end; hermes's answer to it. Raises WireClosed and Refused."""
        params = {
            "sessionId": self.held[session].id,
            "prompt": [{"type": "text", "text": text}],
        }
        answer = await self._ask("session/prompt", params)
        return answer if isinstance(answer, Mapping) else {}

    async def cancel(self, session: str) -> None:
        """Ask it to break off the turn of this session; its answer to the prompt follows."""
        if self._wire is not None and session in self.held:
            await self._wire.notify("session/cancel", {"sessionId": self.held[session].id})

    async def set_mode(self, session: str, mode: str) -> None:
        """Set the mode of a session it holds. Raises WireClosed and Refused."""
        held = self.held[session]
        async with _within(OPEN_SECONDS):
            await self._ask("session/set_mode", {"sessionId": held.id, "modeId": mode})
        if held.modes is not None:
            held.modes = ModesSeen(mode, held.modes.modes)

    async def stamp(self, session: str) -> str | None:
        """When this session was last written to by anybody, as hermes says now; None unknown.

        Takes milliseconds. Never raises.
        """
        held = self.held.get(session)
        names = {session} if held is None else {session, held.id}
        try:
            async with asyncio.timeout(STAMP_SECONDS):
                answer = await self._ask("session/list", {})
        except (WireClosed, Refused, TimeoutError):
            return None
        return updates.stamp_of(answer, names)

    def spoil(self, session: str) -> None:
        """Others wrote to this session: what this process holds of it is out of date."""
        held = self.held.pop(session, None)
        if held is not None:
            self.spoiled |= {session, held.id}

    def moved(self, session: str, now: str) -> None:
        """hermes stores this session under another id from now on."""
        if session in self.held:
            self.held[now] = self.held.pop(session)

    async def end(self, patience: Patience = STOPPING) -> None:
        """End it and all it started; returns when nothing of it is left."""
        await self.child.end(patience)
        if self._reading is not None:
            await asyncio.gather(self._reading, return_exceptions=True)
        elif self._wire is not None:
            await self._wire.close()

    # Inside

    async def begin(self) -> None:
        """Connect to the process that was started, and say hello. Raises WireClosed and Refused."""
        self._wire = Wire(await self.child.writer(), self._told, self._asked)
        self._reading = asyncio.create_task(self._read(self._wire))
        await self._wire.open()
        nothing = {"fs": {"readTextFile": False, "writeTextFile": False}, "terminal": False}
        answer = await self._ask(
            "initialize", {"protocolVersion": 1, "clientCapabilities": nothing}
        )
        methods = answer.get("authMethods") if isinstance(answer, Mapping) else None
        names = [m.get("id") for m in methods or [] if isinstance(m, Mapping)]
        self.has_model = names != [_SETUP]

    async def _ask(self, method: str, params: Mapping[str, Any]) -> Any:
        if self._wire is None:
            raise WireClosed
        return await self._wire.request(method, params)

    async def _read(self, wire: Wire) -> None:
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        try:
            async with contextlib.aclosing(self.child.chunks()) as chunks:
                async for stream, data in chunks:
                    if stream is Stream.OUT:
                        wire.feed(data)
                    else:
                        self.errors.add(decoder.decode(data))
        except Exception:
            log.exception("what hermes says can't be read any more")
            await self.child.end(CLOSING)
        finally:
            await wire.close()
            log.debug("process %d: ended with %s", self.child.pid, self.child.returncode)

    def _told(self, params: object) -> None:
        session = updates.session_of(params)
        update = params.get("update") if isinstance(params, Mapping) else None
        if isinstance(update, Mapping) and update.get("sessionUpdate") in _LASTING:
            told = self._told_of.setdefault(session, Held(session))
            for seen in updates.UpdateReader().read(update):
                if isinstance(seen, CommandsSeen):
                    told.commands = seen
                elif isinstance(seen, UsageSeen):
                    told.usage = seen
        if self.on_update is not None:
            self.on_update(session, update)

    async def _asked(self, params: object) -> dict[str, Any]:
        from qterm.hermes.live.asking import denial

        return denial(params) if self.on_request is None else await self.on_request(params)

    def _hold(self, session: str) -> Held:
        held = self.held.get(session) or self._told_of.setdefault(session, Held(session))
        self.held[session] = held
        return held


async def start_peer(
    place: HermesPlace,
    known: Capabilities,
    environ: Mapping[str, str],
    folder: Path,
    settings: object,
    *,
    seconds: float = START_SECONDS,
) -> Peer:
    """Start a hermes in this folder and wait until it can be asked. Raises CannotStart.

    `settings` is noted with it. Nothing is left of one that could not be.
    """
    env = launch.environment(place, environ, place.home)
    argv = await asyncio.to_thread(acp_command, place, known)
    try:
        child = await Child.start(argv, env=env, cwd=folder, talks=True)
    except OSError as error:
        raise CannotStart(f"{argv[0]} can't be started ({error.strerror})") from error
    peer = Peer(child, folder, settings)
    log.debug("process %d: hermes is started to be kept running", child.pid)
    try:
        async with asyncio.timeout(seconds):
            await peer.begin()
    except BaseException as error:
        await peer.end(CLOSING)
        if not isinstance(error, Exception):
            raise
        raise _cannot(peer, error, argv[0], seconds) from error
    return peer


def acp_command(place: HermesPlace, known: Capabilities) -> tuple[str, ...]:
    """How this hermes is kept running: its `hermes-acp`, which is quicker to start, where it is
    there and does the same.

    That one follows no sticky profile and takes no `-p`: its home is in the environment. It fires
    no hook and loads no plugin (0.19.0 and 0.22.2, measured), so where the home has some it is
    `hermes acp`: what the operator set up to guard tools, or to run after a turn, counts here too.
    """
    if len(place.command) == 1 and not has_own_code(place.home):
        given = Path(place.command[0])
        for program in (given, given.resolve()):
            beside = program.with_name("hermes-acp")
            if program.name == "hermes" and beside.is_file() and os.access(beside, os.X_OK):
                return (str(beside),)
    return (*base(place, known), "acp")


def _cannot(peer: Peer, error: Exception, program: str, seconds: float) -> CannotStart:
    if isinstance(error, TimeoutError):
        what = f"{program} did not answer within {seconds:g} s"
    elif isinstance(error, Refused):
        what = f"{program} refused to begin ({str(error)[:200]})"
    else:
        said = f" ({peer.last_words})" if peer.last_words else ""
        what = f"{program} ended before it had answered{said}"
    return CannotStart(what, peer.errors.text[-4_000:])


@contextlib.asynccontextmanager
async def _within(seconds: float) -> Any:
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError:
        raise Refused(f"hermes did not answer within {seconds:g} s") from None
