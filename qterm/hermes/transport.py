"""Which way a turn takes: a hermes that is kept running where there is one, else spawned calls."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import TYPE_CHECKING

from qterm.hermes.argv import Call
from qterm.hermes.place import Capabilities, HermesNotFound, HermesPlace
from qterm.hermes.way import (
    Answer,
    Approvals,
    Failed,
    FailureKind,
    HermesEvent,
    HermesRequest,
    HermesWay,
    SessionRecord,
    Standing,
    Started,
    Stopped,
    Transport,
)
from qterm.model import TransportChoice

if TYPE_CHECKING:
    from qterm.hermes.live.live import LiveWay
    from qterm.hermes.spawn import SpawnWay

log = logging.getLogger(__name__)


class ChosenWay:
    """Takes the live way where it can and the choice allows it (implements HermesWay).

    `find` tells which hermes (it may raise HermesNotFound). `open_spawn` and `open_live` make the
    ways when they are first wanted, since what they import takes time. The two ways share hermes's
    sessions, so a thread goes on whichever its turns take.
    """

    def __init__(
        self,
        open_spawn: Callable[[], SpawnWay],
        open_live: Callable[[SpawnWay], LiveWay],
        find: Callable[[], HermesPlace],
        *,
        choice: TransportChoice,
        approvals: Approvals,
    ) -> None:
        self._open_spawn = open_spawn
        self._spawn: SpawnWay | None = None
        self._opening = threading.RLock()
        self._open_live = open_live
        self._find = find
        self._choice = choice
        self._approvals = approvals
        self._live: LiveWay | None = None
        self._running: dict[str, HermesWay] = {}
        self._picking: dict[str, asyncio.Event] = {}
        self._warming: set[asyncio.Task[None]] = set()
        self._closed = False

    # -- which way ------------------------------------------------------------------------------

    async def standing(self) -> Standing:
        """Which transport the next turn takes, and why."""
        if why := await asyncio.to_thread(self._why_not, is_task=False):
            return Standing(Transport.SPAWN, why)
        return await self.live.standing()

    @property
    def spawn(self) -> SpawnWay:
        """The spawned way, made when it is first wanted. Safe from any thread."""
        with self._opening:
            if self._spawn is None:
                self._spawn = self._open_spawn()
            return self._spawn

    async def _spawned(self) -> SpawnWay:
        """The same, without holding up the event loop."""
        if self._spawn is None:
            return await asyncio.to_thread(lambda: self.spawn)
        return self._spawn

    @property
    def live(self) -> LiveWay:
        """The live way, made when it is first wanted. Safe from any thread."""
        with self._opening:
            if self._live is None:
                self._live = self._open_live(self.spawn)
            return self._live

    def _why_not(self, *, is_task: bool) -> str:
        """Why a turn has to be spawned, in one sentence; empty where it may be live. Run in a
        thread: it reads files and imports."""
        if self._choice is TransportChoice.SPAWN:
            return 'hermes is started for each turn (hermes.transport is "spawn").'
        if self._approvals is Approvals.BYPASS and not is_task:
            return "hermes is started for each turn at home, as it runs tools unasked (bypass)."
        try:
            place = self._find()
        except (HermesNotFound, OSError):
            return "There is no hermes yet."
        if place.remote is not None:
            return "hermes is on another machine, where it is started for each turn."
        _ = self.live  # imported here, beside the event loop
        return ""

    async def _pick(self, request: HermesRequest) -> HermesWay | Failed:
        why = await asyncio.to_thread(self._why_not, is_task=request.is_task)
        begins_in = request.cwd if request.is_task and request.session is None else None
        if not why and await self.live.ready(begins_in):
            return self.live
        if self._choice is TransportChoice.LIVE and not why:
            reason = f'{self.live.why} Mend that, or set hermes.transport to "auto".'
            return Failed(FailureKind.CRASHED, reason)
        return await self._spawned()

    async def probe(self, *, fresh: bool = False) -> Capabilities:
        """What the installed hermes can do; raises HermesNotFound or HermesUnusable."""
        return await (await self._spawned()).probe(fresh=fresh)

    async def dry_run(self, request: HermesRequest) -> Call:
        """The call a spawned turn would make; see SpawnWay.dry_run."""
        return await (await self._spawned()).dry_run(request)

    # -- the seam -------------------------------------------------------------------------------

    async def send(self, request: HermesRequest) -> AsyncIterator[HermesEvent]:
        """Run one turn; see HermesWay.send."""
        picked = await self._picked(request)
        if isinstance(picked, Stopped | Failed):
            yield Started(self._approvals)
            yield picked
            return
        self._running[request.key] = picked
        try:
            async for event in picked.send(request):
                yield event
        finally:
            self._running.pop(request.key, None)

    async def _picked(self, request: HermesRequest) -> HermesWay | Failed | Stopped:
        """The way for this turn; Stopped where it was stopped while hermes was still starting."""
        if self._closed:
            return await self._spawned()  # which says that qterm is closing
        stopping = self._picking[request.key] = asyncio.Event()
        picking = asyncio.create_task(self._pick(request))
        waiting = asyncio.create_task(stopping.wait())
        try:
            await asyncio.wait({picking, waiting}, return_when=asyncio.FIRST_COMPLETED)
            return Stopped() if stopping.is_set() else picking.result()
        finally:
            self._picking.pop(request.key, None)
            for task in (picking, waiting):
                task.cancel()

    async def carries(self, prompt: str, *, is_task: bool = False) -> bool:
        """Whether a call can take this text (rule C6)."""
        why = await asyncio.to_thread(self._why_not, is_task=is_task)
        if not why and not await self.live.available():
            return await self.live.carries(prompt, is_task=is_task)
        return await (await self._spawned()).carries(prompt, is_task=is_task)

    async def identity(self) -> str:
        """Which hermes this is; the same by either way."""
        return await (await self._spawned()).identity()

    async def name_session(self, session: str, name: str) -> bool:
        """Give a session a title (rule S3)."""
        return await (await self._spawned()).name_session(session, name)

    async def read_session(self, session: str) -> SessionRecord:
        """What hermes holds under this id."""
        return await (await self._spawned()).read_session(session)

    async def answer(self, key: str, approval_id: str, answer: Answer) -> bool:
        """Answer a request of a live turn (rule A1)."""
        way = self._running.get(key)
        return way is not None and await way.answer(key, approval_id, answer)

    async def set_mode(self, session: str, mode: str) -> bool:
        """Set a session's mode; only a live hermes takes one."""
        return self._live is not None and await self._live.set_mode(session, mode)

    def warm(self, folder: Path | None = None) -> None:
        """Start hermes in the background, where a turn would take it; in a task's `folder` too."""
        if not self._closed:
            task = asyncio.create_task(self._warm(folder))
            self._warming.add(task)
            task.add_done_callback(self._warming.discard)

    async def _warm(self, folder: Path | None) -> None:
        try:
            if not await asyncio.to_thread(self._why_not, is_task=True):
                self.live.warm(folder)
        except Exception:
            log.exception("hermes could not be started ahead")

    async def stop(self, key: str) -> None:
        """End the turn with this key, and all it started."""
        if (stopping := self._picking.get(key)) is not None:
            stopping.set()
        elif (way := self._running.get(key)) is not None:
            await way.stop(key)

    async def close(self) -> None:
        """End everything, quickly."""
        self._closed = True
        for stopping in self._picking.values():
            stopping.set()
        for task in self._warming:
            task.cancel()
        await asyncio.gather(*self._warming, return_exceptions=True)
        await asyncio.gather(*(way.close() for way in (self._spawn, self._live) if way is not None))
