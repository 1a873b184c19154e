"""The terminal lent to another program for a while: qterm goes on working, and draws nothing."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Iterator
from contextlib import contextmanager

from textual.app import App

from qterm.tui.screens.approval import Guarded
from qterm.tui.terminal.ending import Leave, interrupts_go_elsewhere


class Lending(App[Leave], inherit_bindings=False):
    """The part of the app that gives the terminal away and takes it back."""

    _borrower: asyncio.Task[object] | None = None
    """Who waits for the other program, while the terminal is lent."""
    _has_rung = False

    @contextmanager
    def lend_terminal(self) -> Iterator[None]:
        """Nothing is drawn, read or rung while this lasts; the loop may go on.

        Raises textual's SuspendNotSupported where there is no terminal to lend.
        """
        with interrupts_go_elsewhere(), _stops_go_elsewhere(), self.batch_update():
            failed: BaseException | None = None
            with self.suspend():  # which would not take the terminal back behind an exception
                self._borrower = asyncio.current_task()
                try:
                    yield
                except BaseException as error:  # noqa: BLE001 - raised again below
                    failed = error
                self._borrower = None
        self._taken_back()
        if failed is not None:
            raise failed

    def _taken_back(self) -> None:
        self.screen.refresh(layout=True)
        if isinstance(self.screen, Guarded):
            self.screen.disarm()  # nobody has seen it yet (rule A2)
        if self._has_rung:
            self._has_rung = False
            self.bell()

    async def take_terminal_back(self) -> None:
        """End the other program, if there is one, and wait until the terminal is qterm's again."""
        borrower = self._borrower
        if borrower is not None:
            borrower.cancel()
            await asyncio.wait([borrower])

    def bell(self) -> None:
        """Ring, once the terminal is qterm's again."""
        if self._borrower is not None:
            self._has_rung = True
        else:
            super().bell()


@contextmanager
def _stops_go_elsewhere() -> Iterator[None]:
    """While another program has the terminal, ctrl+z stops both, and none takes it on return."""
    wanted = {signal.SIGTSTP: signal.SIG_DFL, signal.SIGCONT: signal.SIG_DFL}
    before = {number: signal.signal(number, handler) for number, handler in wanted.items()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
