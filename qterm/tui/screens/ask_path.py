"""Where a thread is to be written."""

from __future__ import annotations

import re
from datetime import datetime
from pathlib import Path

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from qterm.tui.content import plain
from qterm.tui.screens.ask import Words


class AskPath(Words):
    """The file a thread is written into; dismissed with a Path, or with None."""

    def __init__(self, path: str) -> None:
        super().__init__()
        self._path = path

    def compose(self) -> ComposeResult:
        """One line."""
        with Vertical(classes="dialog"):
            yield Static(
                Content("Write this thread as Markdown into"), markup=False, classes="dialog--text"
            )
            yield self.line(self._path, hint="thread.md", name="path")
            yield Static(Content(""), markup=False, id="dialog--wrong")
            yield Static(
                Content("enter writes it, for you alone to read · esc leaves"),
                markup=False,
                classes="dialog--hint",
            )

    def on_input_submitted(self) -> None:
        """Enter writes it."""
        said = self.said("path")
        try:
            path = Path(said).expanduser().absolute()
        except (OSError, ValueError, RuntimeError):
            path = None
        if not said or path is None or "\0" in said:
            self.query_one("#dialog--wrong", Static).update(plain("Name a file to write into."))
            return
        self.dismiss(path)


def export_name(title: str, now: datetime) -> str:
    """A file name for a thread, with the day: `qterm-home-2026-11-30.md`."""
    words = re.sub(r"[^\w.-]+", "-", title.lower())[:40].strip("-.")
    return f"qterm-{words or 'thread'}-{now:%Y-%m-%d}.md"
