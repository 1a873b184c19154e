"""The memory screens on a real terminal: none of their texts gets there raw."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from qterm.memory.archive import archive_folder
from qterm.memory.files import sha256
from qterm.memory.records import Removed, encode, plain
from qterm.memory.stores import StoreName
from tests.tui.memory_stage import hermes_home, write_store
from tests.tui.pty_app import TEXTS
from tests.tui.terminal import Terminal
from tests.tui.test_terminal import clean, scene

MEMORY = StoreName.MEMORY
BEGAN = datetime(2026, 11, 1, 9, tzinfo=UTC)
F4, DOWN, TAB, ESCAPE = "\x1bOS", "\x1b[B", "\t", "\x1b"


def texts() -> list[str]:
    """Every text as a file can hold it, each once."""
    return list(dict.fromkeys(clean for text in TEXTS if (clean := plain(text).strip())))


def write_odd_memory(folder: Path) -> None:
    """Every text as an entry, tagged and not, as an archived one, as a reason, in a whole file."""
    tagged = [f"[P{number % 3 + 1}] {text}" for number, text in enumerate(texts())]
    first = "The host web-2 runs Debian 13."
    write_store(folder, [first, *tagged, *texts()])
    archive = archive_folder(folder / "data", hermes_home(folder))
    (archive / "backups").mkdir(parents=True)
    records = [
        Removed(
            id=f"odd{number}",
            time=BEGAN + timedelta(minutes=number),
            store=MEMORY,
            by=text,
            reason=text,
            text=f"[P2] gone {text}",
            index=number,
            write="w",
            replaced_by=tagged[number],
        )
        for number, text in enumerate(texts())
    ]
    (archive / "archive.jsonl").write_bytes(encode(records))
    data = write_store(folder, [first, "[P1] kept", *reversed(texts())]).read_bytes()
    (archive / "backups" / f"{sha256(data)}.md").write_bytes(data)
    write_store(folder, [first, *tagged, *texts()])


def walk(terminal: Terminal, steps: int) -> None:
    for _ in range(steps):
        terminal.type(DOWN)
        terminal.read(0.02)


def opened(terminal: Terminal) -> None:
    terminal.shows("ctrl+p")
    terminal.type(F4)
    terminal.shows("t tags b kept")


@pytest.mark.parametrize("size", [(120, 40), (80, 24)], ids=["wide", "narrow"])
def test_no_entry_reaches_the_terminal_raw(size: tuple[int, int], tmp_path: Path) -> None:
    write_odd_memory(tmp_path)
    with scene(tmp_path, "odd-memory", size=size) as terminal:
        opened(terminal)
        for _ in range(len(TEXTS) * 2):  # each is seen, edited and left again
            terminal.type(DOWN + "e")
            terminal.until(lambda: "t tags b kept" not in terminal.text)
            terminal.type(ESCAPE)
            terminal.shows("t tags b kept")
        terminal.type("\x1b[H1")  # home: its tag; then what a prune would do, as P1 is not touched
        terminal.shows("Not saved yet")
        terminal.type("p")
        terminal.shows("Look at the file as it is")
        terminal.type("n")
        terminal.shows("nothing has been written")
        walk(terminal, len(TEXTS))
        terminal.type("d")
        terminal.shows("esc closes")
        terminal.type("\x1b[6~" * 6)
        terminal.read(0.3)
        terminal.type(ESCAPE)
        terminal.until(lambda: "esc closes" not in terminal.text)
        terminal.type("\r")
        terminal.shows("(y)")
        terminal.type("\x1b[6~" * 6)
        terminal.read(0.3)
        terminal.type("n")
        terminal.until(lambda: "(y)" not in terminal.text)
        terminal.type("c")
        terminal.shows("Comparison")
        walk(terminal, len(TEXTS))
        terminal.type("\x11")
        assert terminal.ended() == 0
        clean(terminal)


@pytest.mark.parametrize("size", [(120, 40), (80, 24)], ids=["wide", "narrow"])
def test_nothing_that_was_kept_or_suggested_reaches_it_raw(
    size: tuple[int, int], tmp_path: Path
) -> None:
    write_odd_memory(tmp_path)
    with scene(tmp_path, "odd-memory", size=size) as terminal:
        opened(terminal)
        terminal.type("t")
        terminal.shows("untagged entries")
        walk(terminal, len(TEXTS))
        terminal.type("a\r")
        terminal.shows("(y)")
        terminal.type("n")
        terminal.until(lambda: "(y)" not in terminal.text)
        terminal.type("a" + ESCAPE)
        terminal.shows("t tags b kept")
        terminal.type("b")
        terminal.shows("Archived entries")
        terminal.shows("gone")
        assert "P2" in terminal.text
        for _ in texts():  # what took their place is asked about, with its words
            terminal.type("\r")
            terminal.shows("took its place")
            terminal.type("n")
            terminal.until(lambda: "took its place" not in terminal.text)
            terminal.type(DOWN)
            terminal.read(0.02)
        terminal.type(TAB)
        terminal.shows("bytes  ")
        terminal.type("d")
        terminal.shows("esc closes")
        terminal.type("\x1b[6~" * 6)
        terminal.read(0.3)
        terminal.type(ESCAPE)
        terminal.until(lambda: "esc closes" not in terminal.text)
        terminal.type("\r")
        terminal.shows("(y)")
        terminal.type("y")  # it comes back, and says so
        terminal.shows("is as it was kept")
        terminal.type(ESCAPE)
        terminal.shows("t tags b kept")
        terminal.type(DOWN)
        terminal.shows("[P1] kept")
        terminal.type("\x11")
        assert terminal.ended() == 0
        clean(terminal)
