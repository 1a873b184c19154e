"""hermes's own lock, held between processes and threads."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from qterm.memory.errors import Busy, Unwritable
from qterm.memory.locking import lock_path, locked
from tests.memory.homes import (
    MEMORY,
    USER,
    WORKING,
    give_to_nobody,
    make_home,
    mode_of,
    run_as_nobody,
)

HOLDER = """\
import fcntl, sys
file = open(sys.argv[1], "a+")
fcntl.flock(file, fcntl.LOCK_EX)
print("held", flush=True)
sys.stdin.read()
"""


@contextmanager
def held_by_another(path: Path) -> Iterator[subprocess.Popen[str]]:
    """A process of its own that holds a lock the way hermes does, until the end of the block."""
    command = [sys.executable, "-c", HOLDER, str(path)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process
        process.communicate("")


def is_locked(path: Path) -> bool:
    """Whether somebody else could not take it now."""
    with path.open("a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def test_it_is_hermes_lock_and_it_excludes(tmp_path: Path) -> None:
    folder = make_home(tmp_path)
    path = folder.folder / "MEMORY.md.lock"
    with held_by_another(path) as holder:
        started = time.monotonic()
        with pytest.raises(Busy) as raised, locked(folder, [MEMORY], seconds=0.2):
            pytest.fail("locked twice")
        assert 0.2 <= time.monotonic() - started < 3
        assert str(raised.value).startswith("MEMORY.md is locked by another program")
        if "(process" in str(raised.value):  # where the file system lets us tell
            assert f"(process {holder.pid})" in str(raised.value)
        assert str(path) in str(raised.value)
        with locked(folder, [USER], seconds=0.2):
            assert is_locked(lock_path(folder.path(USER)))
    with locked(folder, [MEMORY], seconds=0.2):
        assert is_locked(path)
    assert not is_locked(path)
    assert mode_of(path) in {0o600, 0o644}


def test_it_waits_for_one_who_lets_go(tmp_path: Path) -> None:
    folder = make_home(tmp_path)
    got: list[bool] = []

    def wait() -> None:
        with locked(folder, [MEMORY], seconds=30):
            got.append(True)

    with locked(folder, [MEMORY]):
        thread = threading.Thread(target=wait)
        thread.start()
        assert not got
    thread.join(30)
    assert got == [True]


def test_the_lock_is_beside_a_link(tmp_path: Path) -> None:
    folder = make_home(tmp_path)
    (tmp_path / "elsewhere").mkdir()
    folder.path(MEMORY).rename(tmp_path / "elsewhere" / "notes.md")
    folder.path(MEMORY).symlink_to(tmp_path / "elsewhere" / "notes.md")
    with locked(folder, [MEMORY]):
        assert is_locked(folder.folder / "MEMORY.md.lock")
    assert [path.name for path in (tmp_path / "elsewhere").iterdir()] == ["notes.md"]


def test_all_are_let_go_of_where_one_is_taken(tmp_path: Path) -> None:
    folder = make_home(tmp_path)
    with held_by_another(lock_path(folder.path(WORKING))):
        started = time.monotonic()
        with (
            pytest.raises(Busy, match=r"^WORKING\.md"),
            locked(folder, [WORKING, MEMORY, USER], seconds=0.2),
        ):
            pytest.fail("locked twice")
        assert time.monotonic() - started < 3
        for store in (MEMORY, USER):
            assert not is_locked(lock_path(folder.path(store)))


def test_a_fault_inside_lets_go(tmp_path: Path) -> None:
    folder = make_home(tmp_path)
    with pytest.raises(KeyboardInterrupt), locked(folder, [MEMORY, WORKING]):
        raise KeyboardInterrupt
    with locked(folder, [MEMORY, WORKING], seconds=0):
        pass


def test_two_that_name_them_the_other_way_round(tmp_path: Path) -> None:
    """In the order MEMORY, USER, WORKING whoever asks: else they would wait for each other."""
    folder = make_home(tmp_path)
    inside: list[str] = []
    overlaps: list[str] = []

    def work(name: str, order: list[object]) -> None:
        for _ in range(60):
            with locked(folder, order, seconds=30):  # type: ignore[arg-type]
                overlaps.extend(inside)
                inside.append(name)
                inside.remove(name)

    threads = [
        threading.Thread(target=work, args=("one", [MEMORY, WORKING])),
        threading.Thread(target=work, args=("two", [WORKING, MEMORY])),
    ]
    started = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert overlaps == []
    assert time.monotonic() - started < 25


def test_the_folder_is_made_private_and_one_that_is_there_is_left(tmp_path: Path) -> None:
    folder = make_home(tmp_path, None)
    folder.home.chmod(0o755)
    old = os.umask(0)
    try:
        with locked(folder, [MEMORY]):
            assert mode_of(folder.folder) == 0o700
            assert mode_of(folder.folder / "MEMORY.md.lock") == 0o600
    finally:
        os.umask(old)
    assert mode_of(folder.home) == 0o755
    folder.folder.chmod(0o755)
    with locked(folder, [MEMORY]):
        assert mode_of(folder.folder) == 0o755


def test_a_lock_that_somebody_removes_is_not_taken_for_held(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = make_home(tmp_path)
    path = lock_path(folder.path(MEMORY))
    real = fcntl.flock
    removed: list[Path] = []

    def flock(handle: int, operation: int) -> None:
        if not removed:  # between the opening and the locking, as if by hand
            path.unlink()
            removed.append(path)
        real(handle, operation)

    monkeypatch.setattr("fcntl.flock", flock)
    with locked(folder, [MEMORY]):
        assert removed
        assert is_locked(path)


ODD: dict[str, tuple[Callable[[Path], None], str]] = {
    "a folder": (lambda path: path.mkdir(), "can't be opened .Is a directory.: a folder is in"),
    "a link": (lambda path: path.symlink_to("MEMORY.md"), "MEMORY.md.lock is a link: remove it"),
    "a pipe": (os.mkfifo, "is not a plain file: remove it"),
}


@pytest.mark.parametrize("name", ODD)
def test_an_odd_thing_in_the_locks_place(tmp_path: Path, name: str) -> None:
    make, words = ODD[name]
    folder = make_home(tmp_path)
    make(folder.folder / "MEMORY.md.lock")
    before = folder.path(MEMORY).read_bytes()
    with pytest.raises(Unwritable, match=words), locked(folder, [MEMORY], seconds=1):
        pytest.fail("locked")
    assert folder.path(MEMORY).read_bytes() == before


def test_a_file_in_the_folders_place(tmp_path: Path) -> None:
    folder = make_home(tmp_path, None)
    folder.folder.touch()
    with (
        pytest.raises(Unwritable, match=r"memories can't be made \(not a folder|Not a directory"),
        locked(folder, [MEMORY]),
    ):
        pytest.fail("locked")


@pytest.mark.parametrize("what", ["folder", "lock"])
def test_no_permission(tmp_path: Path, what: str) -> None:
    folder = make_home(tmp_path)
    lock = folder.folder / "MEMORY.md.lock"
    if what == "lock":
        lock.touch()
        lock.chmod(0o400)
    folder.folder.chmod(0o555)
    give_to_nobody(folder.home, folder.folder, folder.path(MEMORY))
    code = "try: print(drop(0))\nexcept MemoryFault as error: print(type(error).__name__, error)\n"
    lines = run_as_nobody(tmp_path, folder.home, code)
    assert len(lines) == 1
    assert lines[0].startswith(f"Unwritable The lock {lock} can't be opened (Permission denied)")
    assert folder.path(MEMORY).read_text() == "one\n§\ntwo\n§\nthree"
