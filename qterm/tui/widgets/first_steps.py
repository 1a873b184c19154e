"""What one can try first: above the editor, until the first message of a rehearsal is sent."""

from __future__ import annotations

from textual.content import Content
from textual.widgets import Static

from qterm.tui.look import Look

_STEPS = (
    ("ask Q", "What did Mallory say?"),
    ("tab", "into the feed: c copies a turn, h hides it from Q, o opens a link"),
    ("told", "what Q will be told, exactly; facts and mode are changed there"),
    ("search", "finds an old turn"),
    ("tasks", "the tasks: open one, finish it, reopen it"),
    ("help", "every key"),
)
"""A command's id, or words; and what comes of it."""


class FirstSteps(Static):
    """A few lines for somebody who is here for the first time."""

    def __init__(self, look: Look) -> None:
        super().__init__(_words(look), id="first-steps", markup=False)


def _words(look: Look) -> Content:
    lines = []
    for name, words in _STEPS:
        key = name if name in {"ask Q", "tab"} else look.key(name)
        lines.append(
            Content.assemble(
                Content.styled(f"{key:<7}", "bold $text-accent"),
                Content.styled(words, "$foreground-muted"),
            )
        )
    title = Content.styled("This is a rehearsal. Try:", "bold")
    return Content("\n").join([title, *lines])
