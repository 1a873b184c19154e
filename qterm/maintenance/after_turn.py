"""What happens once a turn is stored and shown: the gate is asked, beside the conversation.

The screens run a pass in a thread of their own and tell what it did; the command line starts it as
a process of its own, so that the shell returns. The next turn waits for neither.
"""

from __future__ import annotations

import asyncio
import logging
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from qterm.maintenance.report import Report
    from qterm.maintenance.run import Maintenance
    from qterm.settings.load import Paths

log = logging.getLogger(__name__)

_END_SECONDS = 4.0
"""The longest that ending a pass may take."""

_SHOWN_SECONDS = 0.1
"""How long the screen has to draw the answer before anything else is done."""

_START = (
    "import sys; sys.path.insert(0, sys.argv.pop(1)); "
    "from qterm.__main__ import main; sys.argv[0] = 'qterm'; main()"
)


class AfterTurn(Protocol):
    """Asks the gate after a turn. `begin` is called on the loop, returns at once and never raises;
    `close` ends what runs and can be ended."""

    def begin(self) -> None:
        """A turn has ended, its outcome is stored and told."""
        ...

    async def close(self) -> None:
        """qterm is being left."""
        ...


class InThread:
    """Runs a pass in a thread of this process; `tell` gets on the loop what there is to say.

    `maintenance` gives the gate, always the same one; it is loaded in the thread, too.
    """

    def __init__(
        self, maintenance: Callable[[], Maintenance], tell: Callable[[Report], None]
    ) -> None:
        self.maintenance = maintenance
        self.tell = tell
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        self._soon: asyncio.TimerHandle | None = None

    @property
    def is_running(self) -> bool:
        """Whether the gate is about to be asked, is being asked, or a pass runs."""
        return self._soon is not None or (self._thread is not None and self._thread.is_alive())

    def begin(self) -> None:
        """Ask the gate once the answer was drawn, unless that is under way."""
        if not self.is_running and not self._stopping.is_set():
            loop = asyncio.get_running_loop()
            self._soon = loop.call_later(_SHOWN_SECONDS, self._start, loop)

    def _start(self, loop: asyncio.AbstractEventLoop) -> None:
        self._soon = None
        # A thread that ends with the process: leaving never waits for a disk that hangs.
        self._thread = threading.Thread(
            target=self._run, args=(loop,), name="maintenance", daemon=True
        )
        self._thread.start()

    def _run(self, loop: asyncio.AbstractEventLoop) -> None:
        report = self.maintenance().run_if_due(stopping=self._stopping)
        if report.lines and not self._stopping.is_set():
            try:
                loop.call_soon_threadsafe(self.tell, report)
            except RuntimeError:  # the loop is closed: nobody is there to be told
                log.info("a maintenance pass ended after qterm")

    async def close(self) -> None:
        """End the pass that runs: hive-mind is ended, a file that is being written is finished."""
        self._stopping.set()
        if self._soon is not None:
            self._soon.cancel()
            self._soon = None
        thread = self._thread
        if thread is not None and thread.is_alive():
            await asyncio.to_thread(thread.join, _END_SECONDS)


class Detached:
    """Starts `qterm compact --if-due` as a process of its own, where a pass is due."""

    def __init__(
        self, maintenance: Callable[[], Maintenance], paths: Paths, environ: Mapping[str, str]
    ) -> None:
        self._maintenance = maintenance
        self._paths = paths
        self._environ = environ
        self._starting: asyncio.Task[None] | None = None

    def begin(self) -> None:
        """Look whether a pass is due, and start it."""
        if self._starting is None or self._starting.done():
            self._starting = asyncio.create_task(asyncio.to_thread(self._start))

    def _start(self) -> None:
        if self._maintenance().is_due():
            start_detached(own_options(self._paths), self._environ)

    async def close(self) -> None:
        """Wait until it is started: a few milliseconds."""
        if self._starting is not None:
            await asyncio.wait({self._starting}, timeout=_END_SECONDS)


def own_options(paths: Paths) -> list[str]:
    """The options that make another qterm use the same files."""
    config = ["--config", str(paths.config_file)] if paths.config_given else []
    return [*config, "--data-dir", str(paths.data_dir)]


def start_detached(
    options: Sequence[str], environ: Mapping[str, str], arguments: Sequence[str] = ("--if-due",)
) -> bool:
    """Start `qterm compact` in a session of its own and without a terminal; returns at once.

    Whoever started this may end: the pass goes on. Returns whether it could be started; why not is
    in the log. The folder one is in is no place that Python loads from (`-P`).
    """
    root = str(Path(__file__).resolve().parents[2])
    argv = [sys.executable, "-P", "-c", _START, root, *options, "compact", *arguments]
    try:
        subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=dict(environ),
            start_new_session=True,
            close_fds=True,
        )
    except (OSError, ValueError) as error:
        log.warning("a maintenance pass can't be started: %s", error)
        return False
    return True
