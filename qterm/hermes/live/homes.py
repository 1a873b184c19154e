"""Which processes are kept running, for which hermes, and whether it can be kept running at all."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import msgspec

from qterm.hermes import capabilities as probing
from qterm.hermes.live import freshness
from qterm.hermes.live.freshness import Freshness
from qterm.hermes.live.peer import CannotStart, Peer, start_peer
from qterm.hermes.live.pool import Pool
from qterm.hermes.live.wire import Refused, WireClosed
from qterm.hermes.place import Capabilities, HermesNotFound, HermesPlace, HermesUnusable
from qterm.hermes.spawn import SpawnWay
from qterm.private import private_folder

log = logging.getLogger(__name__)

NO_ACP = (
    "hermes can't be kept running, as its `acp` part is missing: install `hermes-agent[acp]` to "
    "have answers begin at once."
)
FAR = "hermes is on another machine, where it is started for each turn."


@dataclass(slots=True)
class Home:
    """What is kept for one hermes and its home. `known` is what that hermes can do."""

    place: HermesPlace
    known: Capabilities
    pool: Pool
    freshness: Freshness


class Homes:
    """The processes, and what is known of them; see LiveWay for what goes in."""

    def __init__(
        self,
        find: Callable[[], HermesPlace],
        *,
        cache_dir: Path,
        environ: Mapping[str, str],
        sessions: SpawnWay,
    ) -> None:
        self._find = find
        self._cache_dir = cache_dir
        self._environ = environ
        self._sessions = sessions
        self._homes: dict[HermesPlace, Home] = {}
        self._unusable: dict[HermesPlace, str] = {}
        self._checking = asyncio.Lock()
        self._checked: dict[HermesPlace, str] = {}
        self._starting: asyncio.Task[str] | None = None
        self._tasks: set[asyncio.Task[Any]] = set()
        self._closed = False

    @property
    def peers(self) -> list[Peer]:
        """All the processes that live and serve."""
        return [peer for home in self._homes.values() for peer in home.pool.peers]

    async def available(self) -> str:
        """Whether this hermes can be kept running: empty, or why not in one sentence.

        Asks hermes once for each of its binaries (2 s) and remembers the answer.
        """
        try:
            place = await asyncio.to_thread(self._find)
        except (HermesNotFound, OSError) as error:
            return str(error)
        if place.remote is not None:
            return FAR
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
        return "" if known.acp else NO_ACP

    async def ready(self, folder: Path | None = None) -> str:
        """See that there is a process, and start one where there is none.

        `folder` is where its first session is to begin, None at home or where one is there already.
        Returns why there can't be one, in one sentence; empty when there is.
        """
        if self._starting is None or self._starting.done():
            if self._closed or self.peers:
                return ""
            self._starting = asyncio.create_task(self._start_first(folder))
        return await asyncio.shield(self._starting)

    async def _start_first(self, folder: Path | None) -> str:
        why = await self.available()
        if why:
            return why
        try:
            home = await self.here()
            peer = await home.pool.start_spare(folder)
        except CannotStart as error:
            why = f"hermes can't be kept running ({error}): `qterm doctor` says more."
            log.warning("%s", why)
            if not self._closed:
                self._unusable[home.place] = why
            return why
        except (HermesNotFound, HermesUnusable, OSError) as error:
            return str(error)
        if peer is not None:
            self.open_ahead(home, peer)
        return ""

    def warm(self, folder: Path | None = None) -> None:
        """Start a process in the background, with a session opened ahead."""
        self._background(self._warm(folder))

    async def _warm(self, folder: Path | None) -> None:
        why = await self.ready(folder)
        if why:
            log.info("hermes is not kept running: %s", why)
        elif folder is not None and not any(peer.folder == folder for peer in self.peers):
            with contextlib.suppress(HermesNotFound, HermesUnusable, OSError, CannotStart):
                await self._another(await self.here(), folder)

    def replace(self, home: Home) -> None:
        """Start another process in the background, in place of one that is ended."""

        async def work() -> None:
            with contextlib.suppress(CannotStart):
                await self._another(home, None)

        self._background(work())

    async def _another(self, home: Home, folder: Path | None) -> None:
        peer = await home.pool.start_spare(folder)
        if peer is not None:
            self.open_ahead(home, peer)

    async def here(self) -> Home:
        """What is kept for the home that is found now. Raises HermesNotFound, HermesUnusable."""
        place = await asyncio.to_thread(self._find)
        if place not in self._homes:
            known = await self._sessions.probe()

            async def start(folder: Path) -> Peer:
                settings = await asyncio.to_thread(freshness.settings_print, place.home)
                return await start_peer(place, known, self._environ, folder, settings)

            pool = Pool(start, self._make_folder)
            fresh = Freshness(place.home, self._sessions.read_session)
            self._homes.setdefault(place, Home(place, known, pool, fresh))
        return self._homes[place]

    def _make_folder(self) -> Path:
        return Path(mkdtemp(dir=private_folder(self._cache_dir / "live"))).resolve()

    def open_ahead(self, home: Home, peer: Peer) -> None:
        """Open a session in the background before it is needed: that takes 0.15 s, and over a
        second in a new process."""
        is_wanted = peer.ahead is None and peer.is_alive and peer.has_model
        if is_wanted and (peer.opening is None or peer.opening.done()):
            peer.opening = self._background(self._open_ahead(home, peer))

    async def _open_ahead(self, home: Home, peer: Peer) -> None:
        begun = await asyncio.to_thread(freshness.beginning_print, home.place.home)
        with contextlib.suppress(WireClosed, Refused):
            peer.ahead = (await peer.new_session(peer.folder), begun)

    async def close(self) -> None:
        """End them all, quickly; returns when nothing of them is left."""
        self._closed = True
        homes = list(self._homes.values())
        await asyncio.gather(*(home.pool.close() for home in homes))
        await asyncio.gather(*(home.freshness.close() for home in homes))
        starting = [self._starting] if self._starting is not None else []
        tasks = [*self._tasks, *starting]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.gather(*(home.pool.close() for home in self._homes.values()))

    def _background(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None] | None:
        if self._closed:
            work.close()
            return None
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task
