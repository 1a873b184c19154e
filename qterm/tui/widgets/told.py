"""What Q will be told with the next message: the numbers first, then the block, word for word."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from qterm.context import QContext
from qterm.tui.content import one_line, plain

_NAME = "$foreground-muted"


def told_summary(context: QContext, operator: str, now: datetime) -> Content:
    """The numbers: mode, facts, transcript, clips and size."""
    mode = one_line(context.mode.text) if context.mode else Content.styled("none", _NAME)
    if context.mode and context.mode.until is not None:
        until = context.mode.until.astimezone(now.tzinfo)
        day = "" if until.date() == now.date() else f"{until.day} {until:%B} "
        mode = Content.assemble(mode, f" until {day}{until:%H:%M}")
    rows: list[tuple[Content, Content]] = [
        (Content("Mode"), mode),
        (one_line(f"About {operator}", 14), _of(context.facts, context.facts_left_out, "fact")),
        (Content("Transcript"), _of(context.turns, context.turns_left_out, "turn")),
    ]
    if context.notes or context.notes_left_out:
        rows.append((Content("Notes"), _of(context.notes, context.notes_left_out, "note")))
    size = f"{context.chars:,} characters"
    if context.clipped:
        size += f", {context.clipped} cut short"
    rows.append((Content("Size"), Content(size)))
    width = max(name.cell_length for name, _ in rows) + 2
    return Content("\n").join(
        Content.assemble(name.stylize(_NAME).pad_right(width - name.cell_length), value)
        for name, value in rows
    )


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
        self._summary = Static(Content("…"), id="told--summary", markup=False)
        self._block = Static(Content(""), id="told--block", markup=False)

    def compose(self) -> ComposeResult:
        """The heading, the numbers, the block."""
        yield Static(Content("What Q will be told"), id="told--title", markup=False)
        yield self._summary
        yield self._block

    def show(self, context: QContext) -> None:
        """Show a context."""
        self._summary.update(told_summary(context, self._operator, self._now()))
        nothing = Content.styled("Nothing yet: your message goes as it is.", _NAME)
        self._block.update(plain(context.text) if context.text else nothing)

    def show_trouble(self, sentence: str) -> None:
        """Show why there is no context to show."""
        self._summary.update(plain(sentence, "$text-error"))
        self._block.update(Content(""))
