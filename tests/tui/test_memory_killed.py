"""A memory pane killed on a real terminal: what was not saved is there at the next start."""

from __future__ import annotations

import signal
from pathlib import Path

from qterm.memory.stores import StoreName
from tests.tui.memory_stage import write_store
from tests.tui.test_memory_terminal import DOWN, F4
from tests.tui.test_terminal import scene

ENTRIES = ["[P1] Core runs Debian 13.", "[P3] Waiting for the parcel."]


def on_disk(folder: Path) -> str:
    """What is kept of edits that were not saved."""
    return "".join(path.read_text("utf-8") for path in (folder / "data").rglob("unsaved/*.json"))


def test_edits_and_what_is_being_written_survive_a_kill(tmp_path: Path) -> None:
    file = write_store(tmp_path, ENTRIES, StoreName.MEMORY)
    was = file.read_bytes()
    with scene(tmp_path, "odd-memory") as terminal:
        terminal.shows("ctrl+p")
        terminal.type(F4)
        terminal.shows("t tags b kept")  # the entries are there
        terminal.type(DOWN + "2")
        terminal.shows("Not saved yet")
        terminal.type("a")
        terminal.shows("esc done")
        terminal.type("[P2] half a thought")
        terminal.until(lambda: "half a thought" in on_disk(tmp_path))
        terminal.signal(signal.SIGKILL)
        terminal.ended()
    assert file.read_bytes() == was
    with scene(tmp_path, "odd-memory") as terminal:
        terminal.shows("ctrl+p")
        terminal.type(F4)
        terminal.shows("has edits that were not saved")
        terminal.shows("half a thought")
        assert "unsaved" in terminal.text
        terminal.type("\x13")
        terminal.shows("is written")
    assert file.read_text("utf-8").split("\n§\n") == [
        ENTRIES[0],
        "[P2] Waiting for the parcel.",
        "[P2] half a thought",
    ]
