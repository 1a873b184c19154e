"""Child processes of qterm: started in a session of their own, drained, and ended with all theirs.

How hermes has to be ended is in docs/hermes.md, *Stopping*: a tool of its lives in yet another
session and survives its parent's death, so the descendants are noted first.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import os
import signal
import subprocess
import threading
import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

import psutil

from qterm.hermes.left_behind import LeftBehind, note_children, runs

CHUNK = 65_536
DRAIN = 2.0
"""Seconds the pipes are still read after the process has ended: another may hold them open."""


class Stream(Enum):
    """Which of a child's streams a chunk came from."""

    OUT = 1
    ERR = 2


@dataclass(frozen=True, slots=True)
class Patience:
    """How long each step of an ending may take, in seconds. `term` 0 leaves SIGTERM out."""

    interrupt: float
    term: float = 0.0


STOPPING = Patience(interrupt=5.0, term=1.0)
CLOSING = Patience(interrupt=2.0)

_live: set[Child] = set()
_notes: LeftBehind | None = None


def note_in(notes: LeftBehind | None) -> None:
    """Note every process that is started from now on, so that a later qterm can end what this one
    leaves behind when it is killed."""
    global _notes  # noqa: PLW0603 - as `_live`, it belongs to this process
    _notes = notes


class Child:
    """One running process. Made by `start`; the event loop that started it must read it."""

    def __init__(self, popen: subprocess.Popen[bytes]) -> None:
        self._popen = popen
        self._ended = asyncio.Event()
        self._noted: dict[int, psutil.Process] = {}
        self._ending: asyncio.Task[None] | None = None
        self._stdin_task: asyncio.Task[None] | None = None
        self._tethered = False
        self._loop = asyncio.get_running_loop()
        _live.add(self)
        self._notes = _notes
        if self._notes is not None:
            self._notes.note(popen.pid)
        threading.Thread(target=self._wait, name=f"wait-{popen.pid}", daemon=True).start()

    @classmethod
    async def start(
        cls,
        argv: Sequence[str],
        *,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        stdin: str | None = None,
        tethered: bool = False,
        talks: bool = False,
    ) -> Child:
        """Start a process; `stdin` is written in the background. Raises OSError.

        With `tethered` its standard input stays open until it ends or is to end: closing it tells
        what it started on another machine to end, too. With `talks` it is the caller's, by
        `writer`.
        """
        popen = subprocess.Popen(  # noqa: ASYNC220 - returns once the child has begun
            # In UTF-8 whatever the locale: the child is told to read it so.
            [part.encode("utf-8", "surrogateescape") for part in argv],
            cwd=cwd,
            env=dict(env) if env is not None else None,
            stdin=subprocess.PIPE if stdin is not None or tethered or talks else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        child = cls(popen)
        child._tethered = tethered
        if stdin is not None or tethered:
            child._stdin_task = asyncio.create_task(child._write((stdin or "").encode()))
        return child

    @property
    def pid(self) -> int:
        """The process id; also that of its group and session."""
        return self._popen.pid

    @property
    def returncode(self) -> int | None:
        """The exit code, negative for a signal; None while it runs."""
        return self._popen.returncode

    async def writer(self) -> asyncio.StreamWriter:
        """The way into the standard input of a process that `talks`; the caller closes it."""
        assert self._popen.stdin is not None
        transport, protocol = await self._loop.connect_write_pipe(
            asyncio.streams.FlowControlMixin, self._popen.stdin
        )
        return asyncio.StreamWriter(transport, protocol, None, self._loop)

    async def chunks(self) -> AsyncGenerator[tuple[Stream, bytes], None]:
        """Everything the process prints, both streams as they come; ends when it has ended.

        Afterwards `returncode` is set. A process that holds a pipe open after this one has ended
        is waited for no longer than `DRAIN`. Call it once.
        """
        queue: asyncio.Queue[tuple[Stream, bytes] | None] = asyncio.Queue(maxsize=8)
        pumps = [
            asyncio.create_task(self._pump(stream, queue)) for stream in (Stream.OUT, Stream.ERR)
        ]
        closing = asyncio.create_task(self._close_queue(pumps, queue))
        try:
            while (item := await queue.get()) is not None:
                yield item
        finally:
            tasks = [closing, *pumps, *([self._stdin_task] if self._stdin_task else [])]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def wait(self) -> int:
        """Wait for the end; returns the exit code."""
        await self._ended.wait()
        return self._popen.returncode

    async def end(self, patience: Patience = STOPPING) -> None:
        """End the process and all it started; returns when nothing of it is left.

        A second call waits for the first one's end, unless it is more hurried: then it takes over.
        """
        before = self._ending
        if before is not None and not before.done() and patience is CLOSING:
            before.cancel()
            await asyncio.gather(before, return_exceptions=True)
            before = None
        if before is None:
            before = self._ending = asyncio.create_task(self._end(patience))
        await asyncio.shield(before)

    async def _end(self, patience: Patience) -> None:
        await asyncio.to_thread(self.note_descendants)
        if self._tethered:
            await self._let_go()
            await self._ends_within(patience.interrupt)
        self.signal_group(signal.SIGINT)
        if not await self._ends_within(patience.interrupt) and patience.term:
            await asyncio.to_thread(self.note_descendants)
            self.signal_group(signal.SIGTERM)
            await self._ends_within(patience.term)
        await asyncio.to_thread(self.kill)
        await self._ended.wait()

    async def _let_go(self) -> None:
        """Close a tethered process's standard input, whatever of it has been written."""
        if self._stdin_task is not None:
            self._stdin_task.cancel()
            await asyncio.gather(self._stdin_task, return_exceptions=True)
        await asyncio.sleep(0)  # the transport closes the pipe in the loop's next round
        if self._popen.stdin is not None:
            with contextlib.suppress(OSError):
                self._popen.stdin.close()

    async def _ends_within(self, seconds: float) -> bool:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._ended.wait(), seconds)
        return self._ended.is_set()

    def note_descendants(self) -> None:
        """Remember what this process has started so far: it can't be found once it is gone."""
        if self._popen.returncode is None:  # afterwards the id may be a stranger's
            with contextlib.suppress(psutil.Error):
                for process in psutil.Process(self.pid).children(recursive=True):
                    self._noted.setdefault(process.pid, process)
        note_children(self._noted)

    def signal_group(self, number: signal.Signals) -> None:
        """Send a signal to the process and its group, if it still runs."""
        if self._popen.returncode is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, number)

    def kill(self) -> None:
        """Kill what is left: the process, its group, and every noted descendant. Blocks briefly."""
        self.note_descendants()
        self.signal_group(signal.SIGKILL)
        left = list(self._noted.values())
        for process in left:
            with contextlib.suppress(psutil.Error):
                process.kill()  # psutil checks that the id is still this process's
        until = time.monotonic() + 1.0
        while any(runs(process) for process in left) and time.monotonic() < until:
            time.sleep(0.01)

    def poll(self) -> bool:
        """Whether it has ended; never blocks."""
        return self._popen.poll() is not None

    def _wait(self) -> None:
        self._popen.wait()
        _live.discard(self)
        if self._notes is not None:
            self._notes.forget(self.pid)
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
            self._loop.call_soon_threadsafe(self._ended.set)

    async def _pump(
        self, stream: Stream, queue: asyncio.Queue[tuple[Stream, bytes] | None]
    ) -> None:
        pipe = self._popen.stdout if stream is Stream.OUT else self._popen.stderr
        assert pipe is not None
        reader = asyncio.StreamReader(limit=CHUNK)
        transport, _ = await self._loop.connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), pipe
        )
        try:
            while data := await reader.read(CHUNK):
                await queue.put((stream, data))
        finally:
            transport.close()

    async def _close_queue(
        self,
        pumps: Sequence[asyncio.Task[None]],
        queue: asyncio.Queue[tuple[Stream, bytes] | None],
    ) -> None:
        await self._ended.wait()
        await asyncio.wait(pumps, timeout=DRAIN)
        await queue.put(None)

    async def _write(self, data: bytes) -> None:
        writer = await self.writer()
        try:
            writer.write(data)
            await writer.drain()
            if self._tethered:
                await self._ended.wait()
        except OSError:
            pass  # it did not want to know more; its exit code says why
        except asyncio.CancelledError:
            writer.transport.abort()
            raise
        finally:
            writer.close()


@dataclass(frozen=True, slots=True)
class Finished:
    """A short command that has ended: its exit code and what it printed, bounded.

    `cut` says that it printed more than was kept.
    """

    code: int
    out: str
    err: str
    cut: bool = False


async def run(
    argv: Sequence[str],
    *,
    env: Mapping[str, str],
    cwd: Path | None,
    seconds: float,
    limit: int = 4 << 20,
    tethered: bool = False,
) -> Finished:
    """Run a short command to its end; see `Child.start`.

    Raises TimeoutError after so many `seconds` and OSError when it can't be started; in either
    case nothing of it is left. What is printed beyond `limit` bytes a stream is dropped.
    """
    child = await Child.start(argv, env=env, cwd=cwd, tethered=tethered)
    printed: dict[Stream, list[bytes]] = {Stream.OUT: [], Stream.ERR: []}
    sizes = {Stream.OUT: 0, Stream.ERR: 0}
    try:
        async with asyncio.timeout(seconds):
            async for stream, data in child.chunks():
                if sizes[stream] < limit:
                    printed[stream].append(data)
                    sizes[stream] += len(data)
            code = await child.wait()
    except BaseException:
        await child.end(CLOSING)
        raise
    out, err = (b"".join(printed[stream]).decode(errors="replace") for stream in Stream)
    return Finished(code, out, err, cut=max(sizes.values()) >= limit)


def kill_all_now(patience: float = CLOSING.interrupt) -> None:
    """End every process that still runs, from any thread and without an event loop.

    For signal handlers and the interpreter's end: SIGINT to all, up to `patience` seconds
    altogether, then SIGKILL, then whatever they had started.
    """
    children = list(_live)
    for child in children:
        child.note_descendants()
        child.signal_group(signal.SIGINT)
    until = time.monotonic() + patience
    while not all(child.poll() for child in children) and time.monotonic() < until:
        time.sleep(0.02)
    for child in children:
        child.kill()
        _live.discard(child)


atexit.register(kill_all_now)
