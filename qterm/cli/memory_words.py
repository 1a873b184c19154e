"""How the memory commands put text onto a terminal: wrapped, set in, or fitted to one line."""

from __future__ import annotations

import shutil
import sys
import textwrap

from qterm.cli import show
from qterm.safe_text import safe_line, safe_lines


def _width() -> int:
    return max(shutil.get_terminal_size().columns, 30)


def say(text: str) -> None:
    """A line on standard output; on a terminal, wrapped at its width with what follows set in."""
    if not sys.stdout.isatty():
        show.out(text)
        return
    inner = " " * (len(text) - len(text.lstrip()) + 2)
    show.out("\n".join(_wrapped(safe_line(text), inner[2:], inner)))


def note(sentence: str) -> None:
    """A sentence on standard error; on a terminal, wrapped at its width."""
    if not sys.stderr.isatty():
        show.diagnostic(sentence)
        return
    lines = _wrapped(f"qterm: {safe_line(sentence)}", "", "  ")
    show.diagnostic("\n".join(lines).removeprefix("qterm: "))


def _wrapped(text: str, first: str, others: str) -> list[str]:
    return textwrap.wrap(
        text,
        _width(),
        initial_indent=first,
        subsequent_indent=others,
        break_on_hyphens=False,
        break_long_words=False,
    ) or [""]


def whole(head: str, text: str) -> str:
    """Head and all lines of a text, set in behind the head; on a terminal, wrapped to its width."""
    lines = safe_lines(text)
    if sys.stdout.isatty():
        width = max(_width() - len(head), 20)
        lines = [part for line in lines for part in textwrap.wrap(line, width) or [""]]
    return head + ("\n" + " " * len(head)).join(lines)


def fitted(head: str, text: str) -> str:
    """Head and text on one line; on a terminal within its width, whatever the letters' width."""
    line = head + safe_line(text)
    if not sys.stdout.isatty():
        return line
    width = shutil.get_terminal_size().columns
    from rich.cells import cell_len, set_cell_size

    return line if cell_len(line) <= width else set_cell_size(line, width - 1).rstrip() + "…"


def count(number: int, one: str, several: str) -> str:
    """A number with its noun: `1 entry`, `3 entries`."""
    return f"{number:,} {one if number == 1 else several}"
