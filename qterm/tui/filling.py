"""How full Q's memory is, for the title line of every screen: looked at beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qterm.tui.desk.memory_work import MemoryWork

if TYPE_CHECKING:
    from qterm.memory.book import MemoryBook
    from qterm.tui.app import QtermApp

LOOK = "how full"
FIRST_SECONDS = 1.0
"""After the first frame, which it must not delay."""


class Filling:
    """Asks, and tells the app by a `messages.MemoryDone` with `LOOK`."""

    def __init__(self, app: QtermApp) -> None:
        self._work = MemoryWork(app.services, app.told, app.run_worker)
        app.set_timer(FIRST_SECONDS, self.look)

    def look(self) -> None:
        """Look; of several, the newest counts."""
        self._work.ask(LOOK, percent_full)


def percent_full(book: MemoryBook) -> int | None:
    """How full MEMORY.md is, in percent of its limit; None where there is none."""
    from qterm.memory.stores import StoreName
    from qterm.tui.words.entry_rows import percent_of

    return percent_of(book.look(StoreName.MEMORY))
