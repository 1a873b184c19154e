"""What the doctor finds: each check, how to mend what is wrong, every setting and every path."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from qterm.safe_text import safe_text
from qterm.services import Services
from qterm.tui.commands.registry import Place, bindings
from qterm.tui.content import plain
from qterm.tui.screens.room import Room

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


class DoctorScreen(Room):
    """The checks; they run when the screen opens, and again when they are asked to."""

    PLACES: ClassVar = (Place.DOCTOR, Place.ROOM)
    TITLE_WORDS: ClassVar = "Doctor"
    HERE: ClassVar = "doctor"
    BINDINGS: ClassVar = [*bindings(Place.DOCTOR), ("q", "close", "Close")]

    def __init__(self, services: Services) -> None:
        super().__init__()
        self._services = services
        self._checks: Sequence[Check] = ()

    def compose(self) -> ComposeResult:
        """A box that scrolls."""
        with VerticalScroll(classes="sheet") as box:
            box.border_title = Content("Doctor")
            yield Static(Content("Looking…"), markup=False, id="doctor--state")

    def on_mount(self) -> None:
        """Begin to look."""
        self.query_one(VerticalScroll).focus()
        self.action_look_again()

    def action_look_again(self) -> None:
        """Look once more; what was found stays until there is something newer."""
        self._say("looking…")
        self.run_worker(
            self._look(), group="doctor", exclusive=True, exit_on_error=False, name="doctor"
        )

    async def _look(self) -> None:
        from qterm.doctor import examine

        try:
            checks = await examine(self._services.loaded, environ=self._services.environ)
        except Exception as error:
            log.exception("the doctor failed")
            words = f"The doctor itself failed ({type(error).__name__}); see the log."
            self.query_one("#doctor--state", Static).update(plain(words))
            self._say("r looks again · esc closes")
            return
        await self.show(checks)

    async def show(self, checks: Sequence[Check]) -> None:
        """Show these findings."""
        self._checks = checks
        box = self.query_one(VerticalScroll)
        with self.app.batch_update():
            await box.query(".help--row").remove()
            self.query_one("#doctor--state", Static).update(_summary(checks))
            await box.mount_all(_rows(checks))
        self._say("r looks again · c copies · esc closes")

    def _say(self, words: str) -> None:
        self.query_one(VerticalScroll).border_subtitle = Content(words)

    def action_copy_report(self) -> None:
        """Send the report to the terminal's clipboard; nothing tells whether it took it."""
        if not self._checks:
            self.app.notify("There is nothing to copy yet: the doctor is still looking.")
            return
        lines = [safe_text(line) for check in self._checks for line in check.lines()]
        self.app.copy_to_clipboard("\n".join([*lines, ""]))
        self.app.notify(f"The report, {len(lines)} lines, was sent to the terminal’s clipboard.")


def _summary(checks: Sequence[Check]) -> Content:
    """How it stands, in one line."""
    wrong = sum(check.state == "fail" for check in checks)
    odd = sum(check.state == "warn" for check in checks)
    if not wrong and not odd:
        return Content.styled("All is well.", "$text-success")
    parts = []
    if wrong:
        words = f"{wrong} {'thing keeps' if wrong == 1 else 'things keep'} qterm from working"
        parts.append(Content.styled(words, "bold $text-error"))
    if odd:
        words = f"{odd} {'thing is' if odd == 1 else 'things are'} worth knowing"
        parts.append(Content.styled(words, "$text-warning"))
    return Content.assemble(Content(", ").join(parts), ": marked ✗ and ! below.")


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
