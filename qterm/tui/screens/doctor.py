"""What the doctor finds, as a list: each check, and how to mend what is wrong."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from textual.content import Content

from qterm.services import Services
from qterm.tui.content import plain
from qterm.tui.screens.sheets import Sheet

if TYPE_CHECKING:
    from collections.abc import Sequence

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
        self.show(checks_text(checks))


def checks_text(checks: Sequence[Check]) -> Content:
    """One line a check, and the mend below it."""
    lines: list[Content] = []
    for check in checks:
        mark, style = _MARKS.get(check.state, _MARKS["info"])
        lines.append(
            Content.assemble(
                Content.styled(f"{mark} ", style),
                plain(check.title, "bold"),
                plain(f"  {check.sentence}"),
            )
        )
        if check.mend:
            lines.append(Content.assemble("  → ", plain(check.mend)))
    return Content("\n").join(lines)
