"""What Q will be told with the next message: the numbers first, then the block, word for word."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from textual.app import ComposeResult
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from qterm.context import QContext
from qterm.tui.content import one_line, plain

_NAME = "$foreground-muted"
_ROWS = {
    "mode": "Mode",
    "about": "About {operator}",
    "transcript": "Transcript",
    "notes": "Notes",
    "size": "Size",
}


def told_rows(context: QContext, now: datetime) -> dict[str, Content]:
    """The numbers: mode, facts, transcript, notes where there are any, clips and size."""
    mode = one_line(context.mode.text) if context.mode else Content.styled("none", _NAME)
    if context.mode and context.mode.until is not None:
        until = context.mode.until.astimezone(now.tzinfo)
        day = "" if until.date() == now.date() else f"{until.day} {until:%B} "
        mode = Content.assemble(mode, f" until {day}{until:%H:%M}")
    size = f"{context.chars:,} characters"
    if context.clipped:
        size += f", {context.clipped} cut short"
    rows = {
        "mode": mode,
        "about": _of(context.facts, context.facts_left_out, "fact"),
        "transcript": _of(context.turns, context.turns_left_out, "turn"),
        "size": Content(size),
    }
    if context.notes or context.notes_left_out:
        rows["notes"] = _of(context.notes, context.notes_left_out, "note")
    return rows


def _of(shown: int, left_out: int, noun: str) -> Content:
    total = shown + left_out
    many = "1,000 or more" if left_out >= 1_000 else f"{total:,}"
    if not total:
        return Content.styled(f"no {noun}s", _NAME)
    if not left_out:
        return Content(f"{shown} {noun}" if shown == 1 else f"all {shown} {noun}s")
    return Content(f"{shown} of {many} {noun}s")


class ToldView(VerticalScroll, can_focus=True):
    """The context as it would go out now; scrolls, never wraps a word it could keep."""

    def __init__(self, operator: str, now: Callable[[], datetime]) -> None:
        super().__init__(id="told")
        self._operator = operator
        self._now = now
        self._values = {
            name: Static(Content("…"), markup=False, classes="told--value") for name in _ROWS
        }
        self._rows: dict[str, Horizontal] = {}
        self._trouble = Static(Content(""), id="told--trouble", markup=False)
        self._trouble.display = False
        self._block = Static(Content(""), id="told--block", markup=False)

    def compose(self) -> ComposeResult:
        """The heading, the numbers, the block."""
        yield Static(Content("What Q will be told"), id="told--title", markup=False)
        for name, value in self._values.items():
            title = one_line(_ROWS[name].replace("{operator}", self._operator), 13)
            row = Horizontal(
                Static(title, markup=False, classes="told--name"), value, classes="told--row"
            )
            row.display = name != "notes"
            self._rows[name] = row
            yield row
        yield self._trouble
        yield self._block

    def show(self, context: QContext) -> None:
        """Show a context."""
        rows = told_rows(context, self._now())
        for name, value in self._values.items():
            self._rows[name].display = name in rows
            value.update(rows.get(name, Content("")))
        self._trouble.display = False
        nothing = Content.styled("Nothing yet: your message goes as it is.", _NAME)
        self._block.update(plain(context.text) if context.text else nothing)

    def show_trouble(self, sentence: str) -> None:
        """Show why there is no context to show."""
        for row in self._rows.values():
            row.display = False
        self._trouble.display = True
        self._trouble.update(plain(sentence, "$text-error"))
        self._block.update(Content(""))
