"""Dragging and copying on a real terminal: what is sent to its clipboard."""

from __future__ import annotations

import base64
import re
from pathlib import Path

from tests.tui.terminal import Terminal


def clipboards(terminal: Terminal) -> list[str]:
    """All that was sent to the terminal's clipboard so far."""
    coded = re.findall(rb"\x1b\]52;c;([A-Za-z0-9+/=]*)\x07", terminal.raw)
    return [base64.b64decode(each).decode() for each in coded]


def test_a_drag_and_a_key_send_what_was_said_and_nothing_beside_it(tmp_path: Path) -> None:
    with Terminal("-m", "tests.tui.pty_app", str(tmp_path), "plain") as terminal:
        terminal.shows("hello from afar")
        terminal.shows("● ready")
        lines = terminal.text.splitlines()
        row = next(n for n, line in enumerate(lines) if "hello from afar" in line)
        column = lines[row].index("hello") + 1
        # from the label, which is not taken along, to the end of the words
        terminal.type(f"\x1b[<0;{column - 8};{row + 1}M\x1b[<32;{column + 4};{row + 1}M")
        terminal.type(f"\x1b[<32;{column + 15};{row + 1}M\x1b[<0;{column + 15};{row + 1}m")
        terminal.read(0.3)
        terminal.type("\x03")
        terminal.until(lambda: clipboards(terminal))
        assert "hello from afar".endswith(clipboards(terminal)[-1].strip())
        assert "hello from" in clipboards(terminal)[-1]
        terminal.type("\x1b[<0;3;3M\x1b[<0;3;3m")  # a click goes into the feed
        terminal.shows("h hide")
        terminal.type("c")
        terminal.shows("Sent to the terminal's clipboard")
        assert clipboards(terminal)[-1] == "hello from afar"
        terminal.type("\x11")
        assert terminal.ended() == 0
