"""What Q will be told, on a real terminal: none of its texts gets there raw."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tui.pty_app import TEXTS
from tests.tui.test_terminal import clean, scene


@pytest.mark.parametrize("size", [(120, 40), (80, 24)], ids=["pane", "screen"])
def test_no_text_of_it_reaches_the_terminal_raw(size: tuple[int, int], tmp_path: Path) -> None:
    with scene(tmp_path, "odd", size=size) as terminal:
        terminal.shows("ctrl+p")
        terminal.until(lambda: "okend" in terminal.text)
        terminal.type("\x14")  # ctrl+t
        terminal.shows("What Q will be told")
        terminal.shows("enter edit")
        for _ in range(len(TEXTS) + 25):
            terminal.type("\x1b[B")
            terminal.read(0.02)
        for row in range(2, size[1], 2):
            terminal.mouse(size[0] - 20, row)
            terminal.mouse(size[0] - 20, row, click=True)
            terminal.read(0.02)
        terminal.type("\x1b[H")  # home: the mode, with every text in it
        terminal.shows("enter edit")
        terminal.type("\r")
        terminal.shows("What are you at?")
        terminal.type("\x1b")
        terminal.until(lambda: "What are you at?" not in terminal.text)
        for _ in range(4):  # facts, edited and removed
            terminal.type("\x1b[B" * 3 + "\r")
            terminal.shows("enter changes it")
            terminal.type("\x1b")
            terminal.until(lambda: "enter changes it" not in terminal.text)
            terminal.type("x")
            terminal.shows("Removed: ")
        terminal.type("\x1b[F")  # end: turns, hidden and shown again
        terminal.shows("hide/show")
        terminal.type("h")
        terminal.shows(", 1 hidden")
        terminal.type("\x11")
        assert terminal.ended() == 0
        clean(terminal)
