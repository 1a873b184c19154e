"""Ends a writing process at each of its steps, and looks at what it left (a program of its own).

`python -m tests.memory.crash_runs KIND MODE FOLDER`: a child is forked for n = 1, 2, … and ended by
SIGKILL at its n-th call of an `os` function that touches the disk, until one gets through. MODE:
`before` the call, `after` it, or `half` through it (only writes count then). Prints one JSON
document: the steps of the run that got through, and what was wrong, a sentence each.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import signal
import sys
import traceback
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

from qterm.memory.errors import MemoryFault
from qterm.memory.files import MemoryFolder, Snapshot, sha256
from qterm.memory.keeping import Gone
from qterm.memory.writer import Change, write
from tests.memory.homes import (
    MEMORY,
    NOW,
    WORKING,
    adding,
    archive_in,
    leftovers,
    make_home,
    put,
    without,
)

STEPS = (
    "open", "write", "pwrite", "fsync", "replace", "rename", "link", "unlink", "remove", "truncate",
    "ftruncate", "chmod", "fchmod", "fchown", "mkdir",
)  # fmt: skip
WRITES = ("write", "pwrite")
OLD = {MEMORY: "[P1] one\n§\n[P3] two is done\n§\nthree".encode(), WORKING: b"old work"}
NEW = {MEMORY: "[P1] one\n§\nTHREE".encode(), WORKING: b"[P3] two is done"}
GONE = {MEMORY: ["[P3] two is done", "three"], WORKING: ["old work"]}


def change_of(folder: MemoryFolder, store: Any) -> Change:
    seen = folder.read(store)
    if not seen.exists:
        return Change(seen, tuple(NEW[store].decode().split("\n§\n")))
    if store is WORKING:
        return Change(seen, ("[P3] two is done",), (Gone(0, "old work", "old"),))
    change = without(seen, 1, 2)
    return Change(seen, ("[P1] one", "THREE"), change.gone)


def replacing_last(seen: Snapshot) -> Change:
    if not seen.entries:
        return adding(seen, "later")
    last = len(seen.entries) - 1
    return Change(seen, (*seen.entries[:-1], "later"), (Gone(last, seen.entries[-1], "later"),))


class OneFile:
    """An entry removed and one replaced."""

    stores: tuple[Any, ...] = (MEMORY,)
    is_new = False
    may_be_torn = False

    def prepare(self, base: Path) -> None:
        folder = make_home(base, None if self.is_new else OLD[MEMORY])
        if len(self.stores) > 1 and not self.is_new:
            put(folder.path(WORKING), OLD[WORKING])

    def act(self, base: Path) -> None:
        folder = MemoryFolder(base / "home")
        changes = [change_of(folder, store) for store in self.stores]
        write(folder, archive_in(base), changes, by="test", now=NOW)

    def look(self, base: Path, *, is_done: bool) -> list[str]:
        folder, archive = MemoryFolder(base / "home"), archive_in(base)
        wrong = []
        archived = [each.text for each in archive.removed()]
        written = {}
        for store in self.stores:
            found = folder.read(store)
            old = b"" if self.is_new else OLD[store]
            written[store] = found.data == NEW[store]
            is_whole = found.data == old or (written[store] and found.exists)
            if not is_whole and not self.may_be_torn:
                wrong.append(f"{store} is neither old nor new: {found.data!r}")
            if found.data != old and not self.is_new:
                wrong += [f"{text!r} is gone" for text in GONE[store] if text not in archived]
                if archive.read_backup(sha256(old)) != old:
                    wrong.append("the backup is another")
        if written[self.stores[-1]] and not all(written.values()):
            wrong.append("the second file was written before the first")
        if is_done and not all(written.values()):
            wrong.append("it got through and did not write")
        if archive.size().unreadable > 1:
            wrong.append("more than one torn line")
        return wrong + self.write_again(base, archived)

    def write_again(self, base: Path, archived: list[str]) -> list[str]:
        """Everything works as if nothing had happened, and nothing of the dead one stays."""
        folder, archive = MemoryFolder(base / "home"), archive_in(base)
        seen = [folder.read(store) for store in self.stores]
        changes = [replacing_last(snapshot) for snapshot in seen]
        write(folder, archive, changes, by="test", now=NOW, seconds=1)
        wrong = [f"left behind: {path}" for path in leftovers(base)]
        if not all(folder.read(store).entries[-1] == "later" for store in self.stores):
            wrong.append("the later write did not take")
        recorded = {(backup.sha256, backup.store) for backup in archive.backups()}
        wrong += [
            f"the later write's backup of {snapshot.store} is not as it should be"
            for snapshot in seen
            if snapshot.exists
            and (
                archive.read_backup(snapshot.sha256) != snapshot.data
                or (snapshot.sha256, snapshot.store) not in recorded
            )
        ]
        expected = archived + [gone.text for change in changes for gone in change.gone]
        now = [each.text for each in archive.removed()]
        return wrong + ([] if now == expected else [f"archived: {now}, not {expected}"])


class TwoFiles(OneFile):
    """As apply dual does: the one that takes goes first."""

    stores = (WORKING, MEMORY)


class NewFiles(TwoFiles):
    """In a home that has no memory yet."""

    is_new = True


class Copied(OneFile):
    """On a bind mount: a torn file can't be ruled out, but its bytes of before are kept."""

    may_be_torn = True

    def act(self, base: Path) -> None:
        real = os.replace

        def refuse(source: Any, target: Any) -> None:
            if Path(target).name == "MEMORY.md":
                raise OSError(16, "busy")
            real(source, target)

        os.replace = refuse  # type: ignore[assignment]
        super().act(base)


class Pruned(OneFile):
    """Letting go of what is old: what is young stays, whatever happens."""

    def prepare(self, base: Path) -> None:
        super().prepare(base)
        folder, archive = MemoryFolder(base / "home"), archive_in(base)
        for number in range(3):
            made = Change(folder.read(MEMORY), (f"{number}",), self.all_gone(folder))
            write(folder, archive, [made], by="test", now=NOW + timedelta(days=number))

    def all_gone(self, folder: MemoryFolder) -> tuple[Gone, ...]:
        entries = folder.read(MEMORY).entries
        return tuple(Gone(index, text, "") for index, text in enumerate(entries))

    def act(self, base: Path) -> None:
        archive_in(base).prune(NOW + timedelta(days=1, hours=12))

    def look(self, base: Path, *, is_done: bool) -> list[str]:
        archive = archive_in(base)
        archived = [each.text for each in archive.removed()]
        everything = ["[P1] one", "[P3] two is done", "three", "0", "1"]
        wrong = []
        if archived not in (everything, ["1"]) or (is_done and archived != ["1"]):
            wrong.append(f"archived: {archived}")
        if archive.read_backup(sha256(b"1")) != b"1":
            wrong.append("the young backup is gone")
        if is_done and len(archive.backups()) != 1:
            wrong.append("an old backup stays")
        return wrong + self.write_again(base, archived)


KINDS = {
    "one": OneFile(), "two": TwoFiles(), "new": NewFiles(), "copy": Copied(), "prune": Pruned(),
}  # fmt: skip


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def arm(mode: str, number: int, report: int) -> None:
    """From now on count the steps, say each one's name, and end this process at the n-th."""
    count = 0
    say = os.write

    def counted(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any, **named: Any) -> Any:
            nonlocal count
            count += mode != "half" or name in WRITES
            say(report, f"{name} ".encode())
            if count != number or (mode == "half" and name not in WRITES):
                return real(*given, **named)
            try:  # a step may fail by itself, such as opening what is not there
                if mode == "half":
                    handle, data, *rest = given
                    real(handle, bytes(data)[: len(data) // 2], *rest)
                elif mode == "after":
                    real(*given, **named)
            finally:
                die()

        return call

    for name in STEPS:
        setattr(os, name, counted(name, getattr(os, name)))
    fcntl.flock = counted("flock", fcntl.flock)


def run(kind: str, mode: str, number: int, base: Path) -> tuple[str, bool]:
    """One child: the steps it took, and whether it got through."""
    read, report = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        try:
            arm(mode, number, report)
            KINDS[kind].act(base)
        except BaseException:  # noqa: BLE001 - the child ends here, whatever it was
            traceback.print_exc()
            os._exit(3)
        os._exit(0)
    os.close(report)
    with os.fdopen(read, "rb") as said:
        steps = said.read().decode()
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status not in {0, -signal.SIGKILL}:
        raise RuntimeError(f"the child ended with {status} at step {number}")
    return steps, status == 0


def main(kind: str, mode: str, folder: Path) -> dict[str, object]:
    problems: list[str] = []
    for number in range(1, 1000):
        base = folder / f"{kind}-{mode}-{number}"
        base.mkdir()
        KINDS[kind].prepare(base)
        steps, is_done = run(kind, mode, number, base)
        try:
            found = KINDS[kind].look(base, is_done=is_done)
        except MemoryFault as error:
            found = [f"{type(error).__name__}: {error}"]
        problems += [f"{mode} step {number} ({steps.split()[-1]}): {each}" for each in found]
        shutil.rmtree(base)
        if is_done:
            return {"steps": steps.split(), "runs": number, "problems": problems}
    raise RuntimeError("it never got through")


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1], sys.argv[2], Path(sys.argv[3]))))
