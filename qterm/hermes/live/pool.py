"""The few hermes processes that are kept running, each serving one turn at a time."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from typing import Any

from qterm.hermes.live.peer import CannotStart, Peer
from qterm.hermes.processes import CLOSING, STOPPING, Patience
from qterm.hermes.turn import CLOSED

log = logging.getLogger(__name__)

MOST = 4
"""Processes at once: hermes takes 110 to 170 MB each."""

KEPT = 2
"""Idle processes that are kept however long nothing happens."""

IDLE_SECONDS = 300.0
"""How long another one may be idle."""


class Pool:
    """Gives out peers, and takes them back.

    `start` starts one in a folder (raises CannotStart); `make_folder` makes a new, empty one, which
    is removed with its peer if it still is empty. A session is begun where its folder is, because
    hermes reads a project's own instructions where its process runs, and tells the model that
    folder; a session that is there already can be loaded by any.
    """

    def __init__(
        self,
        start: Callable[[Path], Awaitable[Peer]],
        make_folder: Callable[[], Path],
        *,
        most: int = MOST,
        idle: float = IDLE_SECONDS,
    ) -> None:
        self._start = start
        self._make_folder = make_folder
        self._most = most
        self._idle_seconds = idle
        self._idle: list[Peer] = []  # the last used one is the last
        self._busy: set[Peer] = set()
        self._own_folders: set[Path] = set()
        self._parting: set[Peer] = set()
        self._starting = 0
        self._spares: list[Path | None] = []
        self._wake = asyncio.Event()
        self._ending: set[asyncio.Task[None]] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._closed = False

    @property
    def peers(self) -> list[Peer]:
        """Those that live."""
        return [peer for peer in (*self._busy, *self._idle) if peer.is_alive]

    async def take(
        self, *, session: str | None = None, folder: Path | None = None, begins: bool = True
    ) -> Peer:
        """A peer for one turn; give it back, or let it go. Raises CannotStart.

        One that holds this `session` is preferred, one that holds it out of date is not taken. With
        `begins` it is one that runs in this `folder` (None: in an empty one). Waits while as many
        as there may be are at work.
        """
        while True:
            if self._closed:
                raise CannotStart(CLOSED)
            self._drop_dead()
            peer = self._choose(session, folder, begins=begins)
            if peer is not None:
                self._idle.remove(peer)
                self._busy.add(peer)
                return peer
            if not (self._spares and not begins) and folder not in self._spares:
                if self._has_room:
                    break
                if self._idle:
                    self._end(self._idle.pop(0))
                    break
            self._wake.clear()
            await self._wake.wait()
        peer = await self._started(folder)
        self._busy.add(peer)
        return peer

    async def start_spare(self, folder: Path | None = None) -> Peer | None:
        """Start a peer that nobody has asked for yet, if there is room. Raises CannotStart.

        Whoever wants one like it meanwhile waits for this one.
        """
        if self._closed or not self._has_room:
            return None
        self._spares.append(folder)
        try:
            peer = await self._started(folder)
            peer.used_at = asyncio.get_running_loop().time()
            self._idle.append(peer)
            return peer
        finally:
            self._spares.remove(folder)
            self._wake.set()

    @property
    def _has_room(self) -> bool:
        return len(self._busy) + len(self._idle) + self._starting < self._most

    async def _started(self, folder: Path | None) -> Peer:
        self._starting += 1
        try:
            peer = await self._new(folder)
        finally:
            self._starting -= 1
            self._wake.set()
        if self._closed:
            self._end(peer, CLOSING)
            raise CannotStart(CLOSED)
        return peer

    def give_back(self, peer: Peer) -> None:
        """This peer's turn is over, and it can serve another."""
        if peer not in self._busy:
            return
        self._busy.discard(peer)
        peer.on_update = peer.on_request = None
        if peer.is_alive and not self._closed:
            peer.used_at = asyncio.get_running_loop().time()
            self._idle.append(peer)
            self._background(self._end_idle_ones())
        else:
            self._end(peer, CLOSING)
        self._wake.set()

    def part_with(self, peer: Peer) -> None:
        """This peer serves nobody any more; `let_go` ends it, sooner or later."""
        self._busy.discard(peer)
        self._parting.add(peer)
        self._wake.set()

    def let_go(self, peer: Peer, patience: Patience = STOPPING) -> asyncio.Task[None]:
        """End this peer and all it started; the task is done when nothing of it is left."""
        self._busy.discard(peer)
        self._parting.discard(peer)
        if peer in self._idle:
            self._idle.remove(peer)
        self._wake.set()
        return self._end(peer, patience)

    async def close(self) -> None:
        """End them all, quickly; returns when nothing of them is left."""
        self._closed = True
        for task in list(self._tasks):
            task.cancel()
        for peer in (*self._busy, *self._idle, *self._parting):
            self._end(peer, CLOSING)
        self._busy.clear()
        self._parting.clear()
        self._idle.clear()
        self._wake.set()
        while self._ending or self._starting:
            self._wake.clear()
            waking = asyncio.create_task(self._wake.wait())
            await asyncio.wait({waking, *self._ending}, return_when=asyncio.FIRST_COMPLETED)
            waking.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    # Inside

    def _choose(self, session: str | None, folder: Path | None, *, begins: bool) -> Peer | None:
        for peer in reversed(self._idle):
            if session is not None and session in peer.held:
                return peer
        for peer in reversed(self._idle):
            if session not in peer.spoiled and (not begins or self._runs_in(peer, folder)):
                return peer
        return None

    def _runs_in(self, peer: Peer, folder: Path | None) -> bool:
        if folder is not None:
            return peer.folder == folder
        try:  # what one session left there is no instruction for the next
            return peer.folder in self._own_folders and not any(peer.folder.iterdir())
        except OSError:
            return False

    async def _new(self, folder: Path | None) -> Peer:
        if folder is not None:
            return await self._start(folder)
        try:
            made = await asyncio.to_thread(self._make_folder)
        except OSError as error:
            raise CannotStart(f"its folder can't be made ({error.strerror})") from error
        self._own_folders.add(made)
        try:
            return await self._start(made)
        except BaseException:
            self._remove(made)
            raise

    def _remove(self, folder: Path) -> None:
        if folder in self._own_folders:
            self._own_folders.discard(folder)
            with contextlib.suppress(OSError):  # what Q left there is kept
                folder.rmdir()

    def _drop_dead(self) -> None:
        for peer in [peer for peer in self._idle if not peer.is_alive]:
            log.warning("a hermes that was kept running has ended: another takes its place")
            self._idle.remove(peer)
            self._end(peer, CLOSING)

    def _end(self, peer: Peer, patience: Patience = STOPPING) -> asyncio.Task[None]:
        task = asyncio.create_task(self._ended(peer, patience))
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)
        return task

    async def _ended(self, peer: Peer, patience: Patience) -> None:
        try:
            await peer.end(patience)
        finally:
            self._remove(peer.folder)

    async def _end_idle_ones(self) -> None:
        """End those that have been idle for long, beyond the ones that are kept."""
        await asyncio.sleep(self._idle_seconds)
        since = asyncio.get_running_loop().time() - self._idle_seconds
        for peer in [peer for peer in self._idle if peer.used_at <= since]:
            if len(self._idle) + len(self._busy) > KEPT:
                self._idle.remove(peer)
                self._end(peer)

    def _background(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
