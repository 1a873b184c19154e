"""The real MemoryStore of hermes-agent and qterm edit the same MEMORY.md at once (both lines)."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import time
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pytest

from qterm.memory.archive import Archive
from qterm.memory.errors import ChangedMeanwhile
from qterm.memory.files import MemoryFolder, Snapshot
from qterm.memory.keeping import Gone
from qterm.memory.stores import StoreName
from qterm.memory.writer import Change, write
from tests.e2e.conftest import PROGRAMS

EDITS = 260
"""A side."""
SHARED = [f"[P1] rule {number}: nobody touches this" for number in range(20)]


class QtermSide:
    """Adds, replaces and removes entries of its own, wherever they are by now."""

    def __init__(self, home: Path, archive: Archive) -> None:
        self.folder = MemoryFolder(home)
        self.archive = archive
        self.mine: list[str] = []
        self.removed: list[str] = []
        self.times: list[float] = []
        self.retries = 0

    def edit(self, number: int) -> None:
        old: str | None = None
        new: str | None = None
        if number % 5 in {1, 3}:
            old, new = self.mine[-1], f"{self.mine[-1]}, edited {number}"
            self.mine[-1] = new
        elif number % 5 == 4:
            old = self.mine.pop(-2)
        else:
            new = f"qterm's <{number:04}> entry\n  § with a sign"
            self.mine.append(new)
        while True:
            change = self.change(self.folder.read(StoreName.MEMORY), old, new)
            now = datetime.now(UTC)
            try:
                write(self.folder, self.archive, [change], by="test", now=now, seconds=30)
                break
            except ChangedMeanwhile:
                self.retries += 1
        self.times.append(time.monotonic())
        self.removed += [old] if old is not None else []

    @staticmethod
    def change(seen: Snapshot, old: str | None, new: str | None) -> Change:
        entries = list(seen.entries)
        if old is None:
            assert new is not None
            return Change(seen, (*entries, new))
        index = entries.index(old)
        entries[index : index + 1] = [new] if new is not None else []
        return Change(seen, tuple(entries), (Gone(index, old, "test"),))


@pytest.mark.parametrize("line", PROGRAMS)
def test_nothing_is_lost_or_doubled(tmp_path: Path, line: str) -> None:
    home = tmp_path / "home"
    (home / "memories").mkdir(parents=True)
    (home / "memories" / "MEMORY.md").write_text("\n§\n".join(SHARED))
    qterm = QtermSide(home, Archive(tmp_path / "archive"))
    script = Path(__file__).with_name("memory_hermes_side.py")
    environ = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "HERMES_HOME": str(home)}
    with subprocess.Popen(
        [str(PROGRAMS[line].parent / "python"), str(script), str(EDITS)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environ,
        cwd=tmp_path,
    ) as hermes:
        assert hermes.stdin is not None
        assert hermes.stdout is not None
        try:
            assert hermes.stdout.readline() == "ready\n"
            hermes.stdin.write("go\n")
            hermes.stdin.flush()
            for number in range(EDITS):
                qterm.edit(number)
                hermes.stdin.write("another\n")
                hermes.stdin.flush()
            said = json.loads(hermes.stdout.readline())
            found = qterm.folder.read(StoreName.MEMORY).entries
            hermes.stdin.write("the last word\n")
            hermes.stdin.flush()
            last = json.loads(hermes.stdout.readline())
        finally:
            hermes.kill()
    assert said["faults"] == []
    assert Counter(found) == Counter(SHARED + qterm.mine + said["mine"])
    assert [text for text in found if text in SHARED] == SHARED, "in their old order"
    assert [each.text for each in qterm.archive.removed()] == qterm.removed
    assert last["success"], last
    assert "hermes had the last word" in qterm.folder.read(StoreName.MEMORY).entries
    marked = sorted([(at, "q") for at in qterm.times] + [(at, "h") for at in said["times"]])
    turns = sum(one[1] != two[1] for one, two in itertools.pairwise(marked))
    print(f"{len(marked)} edits, {turns} turns, {qterm.retries} repeated by qterm")
    assert len(qterm.times) == len(said["times"]) == EDITS
    assert turns > 100, "they did not work at the same time"
