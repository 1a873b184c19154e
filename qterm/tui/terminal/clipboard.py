"""What is sent to the terminal's clipboard, and what can honestly be said of it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final

from qterm.safe_text import safe_text

if TYPE_CHECKING:
    from textual.app import App

MOST_BYTES: Final = 74_000
"""Many terminals take no more than about 100,000 signs, which is so much before it is coded."""


def copy(app: App[Any], text: str, what: str) -> None:
    """Send a text to the terminal's clipboard, without controls, and say so.

    Nothing tells whether the terminal took it.
    """
    text = safe_text(text)
    if not text.strip():
        app.notify(f"There are no words in {what} to copy.", severity="warning")
        return
    app.copy_to_clipboard(text)
    app.notify(sent_words(text, what, in_tmux="TMUX" in os.environ))


def sent_words(text: str, what: str, *, in_tmux: bool = False) -> str:
    """What was sent, how much of it, and what may keep it from arriving."""
    size, lines = len(text.encode()), text.rstrip("\n").count("\n") + 1
    amount = f"{lines:,} lines, " if lines > 1 else ""
    words = f"Sent to the terminal's clipboard: {what} ({amount}{size:,} bytes)."
    if size > MOST_BYTES:
        words += " Many terminals take less than that: look before you rely on it."
    if in_tmux:
        words += " tmux passes it on only with `set -s set-clipboard on`."
    return words
