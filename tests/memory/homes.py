"""Hermes homes for the tests of what touches the disk."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

from qterm.memory.archive import Archive
from qterm.memory.files import MemoryFolder, Snapshot
from qterm.memory.keeping import Gone
from qterm.memory.stores import StoreName
from qterm.memory.writer import Change

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
NOBODY = 65534
MEMORY, USER, WORKING = StoreName.MEMORY, StoreName.USER, StoreName.WORKING

# A program that ends as somebody who owns nothing here; root may read and write everything.
AS_NOBODY = """\
import os, sys
from datetime import datetime, UTC
from pathlib import Path
import encodings.idna
from qterm.memory.archive import Archive
from qterm.memory.errors import MemoryFault
from qterm.memory.files import MemoryFolder
from qterm.memory.keeping import Gone
from qterm.memory.stores import StoreName
from qterm.memory.writer import Change, write
if os.geteuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
home, data = Path(sys.argv[1]), Path(sys.argv[2])
folder, archive = MemoryFolder(home), Archive(data / "archive")
def drop(index, store=StoreName.MEMORY):
    seen = folder.read(store)
    left = seen.entries[:index] + seen.entries[index + 1:]
    change = Change(seen, left, (Gone(index, seen.entries[index], "old"),))
    return write(folder, archive, [change], by="test", now=datetime.now(UTC), seconds=0.2)
"""


def make_home(base: Path, text: str | bytes | None = "one\n§\ntwo\n§\nthree") -> MemoryFolder:
    """A home with a MEMORY.md of this text (none: without its folder)."""
    home = base / "home"
    home.mkdir()
    folder = MemoryFolder(home)
    if text is not None:
        folder.folder.mkdir(mode=0o700)
        put(folder.path(MEMORY), text)
    return folder


def put(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def without(snapshot: Snapshot, *indexes: int, reason: str = "old") -> Change:
    """The change that takes these entries out."""
    going = set(indexes)
    left = tuple(text for index, text in enumerate(snapshot.entries) if index not in going)
    gone = tuple(Gone(index, snapshot.entries[index], reason) for index in indexes)
    return Change(snapshot, left, gone)


def adding(snapshot: Snapshot, *texts: str) -> Change:
    return Change(snapshot, (*snapshot.entries, *texts))


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def listing(home: Path) -> dict[str, tuple[object, ...]]:
    """Everything that looking must leave as it is, of all that is under a folder."""
    found: dict[str, tuple[object, ...]] = {}
    for path in (home, *sorted(home.rglob("*"))):
        about = path.lstat()
        times = (about.st_mtime_ns, about.st_ctime_ns)
        is_file = stat.S_ISREG(about.st_mode)
        data = path.read_bytes() if is_file and os.access(path, os.R_OK) else None
        found[str(path)] = (about.st_mode, about.st_ino, about.st_size, *times, data)
    return found


def leftovers(*folders: Path) -> list[Path]:
    """Temporary files of ours."""
    return [path for folder in folders for path in folder.rglob("*") if ".qterm-" in path.name]


def archive_in(base: Path) -> Archive:
    return Archive(base / "data" / "memory" / "archive")


def give_to_nobody(*paths: Path) -> None:
    """What the other user owns; where the tests are not root, they are that user themselves."""
    if os.geteuid() == 0:
        for path in paths:
            os.chown(path, NOBODY, NOBODY, follow_symlinks=False)


def run_as_nobody(base: Path, home: Path, code: str) -> list[str]:
    """Run a piece of program as another user; the lines it prints."""
    for folder in (base, *base.parents):
        if folder.stat().st_mode & 0o005 != 0o005:
            folder.chmod(folder.stat().st_mode | 0o005)
    data = base / "nobody"
    if not data.exists():
        data.mkdir()
        give_to_nobody(data)
    result = subprocess.run(
        [sys.executable, "-c", AS_NOBODY + code, str(home), str(data)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert result.stderr == ""
    return result.stdout.splitlines()
