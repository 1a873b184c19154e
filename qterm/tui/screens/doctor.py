"""What the doctor finds, as a list: each check, and how to mend what is wrong."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from qterm.services import Services
from qterm.tui.content import plain
from qterm.tui.screens.sheets import Sheet

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from qterm.doctor import Check

log = logging.getLogger(__name__)

_MARKS = {
    "ok": ("✓", "$text-success"),
    "info": ("·", "$foreground-muted"),
    "warn": ("!", "$text-warning"),
    "fail": ("✗", "bold $text-error"),
}


class DoctorScreen(Sheet):
    """The checks; they run when the screen opens."""

    def __init__(self, services: Services) -> None:
        super().__init__("Doctor", Content("Looking…"))
        self._services = services

    def on_mount(self) -> None:
        """Begin to look."""
        super().on_mount()
        self.run_worker(
            self._look(), group="doctor", exclusive=True, exit_on_error=False, name="doctor"
        )

    async def _look(self) -> None:
        from qterm.doctor import examine

        try:
            checks = await examine(self._services.loaded, environ=self._services.environ)
        except Exception as error:
            log.exception("the doctor failed")
            self.show(plain(f"The doctor itself failed ({type(error).__name__}); see the log."))
            return
        await self.query_one("#sheet--text").remove()
        await self.query_one(VerticalScroll).mount_all(_rows(checks))


def _rows(checks: Sequence[Check]) -> Iterable[Widget]:
    """One row a check, with the mend below what was found."""
    for check in checks:
        mark, style = _MARKS.get(check.state, _MARKS["info"])
        title = Content.assemble(Content.styled(f"{mark} ", style), plain(check.title))
        found = plain(check.sentence)
        if check.mend:
            found = Content.assemble(found, "\n→ ", plain(check.mend))
        yield Horizontal(
            Static(title, markup=False, classes="doctor--title"),
            Static(found, markup=False, classes="help--text"),
            classes="help--row",
        )
