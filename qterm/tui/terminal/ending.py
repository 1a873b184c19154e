"""How the screen ends when a signal ends it, also when the terminal is gone.

Everything here that touches Textual's inside is in `_spare_the_writer`.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import termios
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from enum import StrEnum
from types import FrameType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from textual.app import App

LAST_RESORT_SECONDS = 20.0
"""A qterm that was told to end and has not is ended after this, with all it started."""


class Leave(StrEnum):
    """How the screen was left."""

    DONE = "done"
    REHEARSE = "rehearse"
    HUNG_UP = "hung-up"
    TERMINATED = "terminated"
    INTERRUPTED = "interrupted"

    @property
    def exit_code(self) -> int:
        """The exit code of a qterm left like this: 128 and the signal, as shells have it."""
        return {
            Leave.HUNG_UP: 128 + signal.SIGHUP,
            Leave.TERMINATED: 128 + signal.SIGTERM,
            Leave.INTERRUPTED: 128 + signal.SIGINT,
        }.get(self, 0)


_WAYS = {
    signal.SIGHUP: Leave.HUNG_UP,
    signal.SIGTERM: Leave.TERMINATED,
    signal.SIGINT: Leave.INTERRUPTED,
}


@contextmanager
def signals_leave(app: App[Leave], leave: Callable[[Leave], None]) -> Iterator[None]:
    """While this lasts, SIGHUP, SIGTERM and SIGINT call `leave` on the event loop.

    Needs a running loop, and the main thread.
    """
    loop = asyncio.get_running_loop()
    watchdogs: list[threading.Timer] = []

    def told(number: int, _frame: FrameType | None) -> None:
        how = _WAYS[signal.Signals(number)]
        watchdog = threading.Timer(LAST_RESORT_SECONDS, _last_resort, (how.exit_code,))
        watchdog.daemon = True
        watchdog.start()
        watchdogs.append(watchdog)
        if _let_go_of_dead_terminal():
            # A closed window sends SIGCONT as well, which Textual takes for a return to the screen.
            signal.signal(signal.SIGCONT, lambda *_: None)
            _spare_the_writer(app)
        loop.call_soon_threadsafe(leave, how)

    before = {number: signal.signal(number, told) for number in _WAYS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for watchdog in watchdogs:
            watchdog.cancel()


@contextmanager
def interrupts_go_elsewhere() -> Iterator[None]:
    """While another program has the terminal, ctrl+c is for that program, as in a shell."""
    before = signal.signal(signal.SIGINT, lambda *_: None)  # not ignored: that would be inherited
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _let_go_of_dead_terminal() -> bool:
    """Put /dev/null in the place of a terminal that is gone, so that nothing fails or waits there.

    True when there was one.
    """
    gone = False
    for stream in (sys.__stdin__, sys.__stdout__, sys.__stderr__):
        with suppress(OSError, ValueError, AttributeError):
            number = stream.fileno()  # type: ignore[union-attr]
            try:
                termios.tcgetattr(number)
            except termios.error as error:
                if error.args[0] != _NO_TERMINAL:
                    null = os.open(os.devnull, os.O_RDWR)
                    os.dup2(null, number)
                    os.close(null)
                    gone = True
    return gone


_NO_TERMINAL = 25  # ENOTTY: a pipe or a file, which is none of our business


def _spare_the_writer(app: App[Any]) -> None:
    """Keep the loop from waiting for Textual's writing thread, which a dead terminal ends."""
    writer = getattr(app._driver, "_writer_thread", None)
    if writer is None:
        return

    def drain() -> None:
        writer.join()
        while True:
            writer._queue.get()

    threading.Thread(target=drain, name="qterm-drain", daemon=True).start()


def _last_resort(code: int) -> None:
    from qterm.hermes.processes import kill_all_now

    try:
        kill_all_now()
    finally:
        os._exit(code)
