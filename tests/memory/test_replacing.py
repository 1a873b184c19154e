"""Putting bytes in place of a file: links, modes, odd disks, and nothing left behind."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from qterm.memory import replacing
from qterm.memory.locking import lock_path, locked
from tests.memory.homes import (
    MEMORY,
    NOBODY,
    give_to_nobody,
    leftovers,
    listing,
    make_home,
    mode_of,
    put,
    run_as_nobody,
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return make_home(tmp_path, "old").path(MEMORY)


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o660, 0o640, 0o1604])
def test_the_mode_stays(file: Path, mode: int) -> None:
    file.chmod(mode)
    replacing.put(file, b"new")
    assert file.read_bytes() == b"new"
    assert mode_of(file) == mode
    assert leftovers(file.parent) == []


def test_a_new_file_is_private(file: Path) -> None:
    file.unlink()
    old = os.umask(0)
    try:
        replacing.put(file, b"new")
    finally:
        os.umask(old)
    assert mode_of(file) == 0o600
    old = os.umask(0o777)
    try:
        replacing.put(file.with_name("USER.md"), b"new")
    finally:
        os.umask(old)
    assert mode_of(file.with_name("USER.md")) == 0o600


def test_file_and_folder_are_flushed_the_folder_last(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a power cut could bring the old file back, or none."""
    steps: list[str] = []
    fsync, move = os.fsync, os.replace

    def flushed(handle: int) -> None:
        steps.append("folder" if stat.S_ISDIR(os.fstat(handle).st_mode) else "file")
        fsync(handle)

    def moved(old: Path, new: Path) -> None:
        steps.append("move")
        move(old, new)

    monkeypatch.setattr(os, "fsync", flushed)
    monkeypatch.setattr(os, "replace", moved)
    replacing.put(file, b"new")
    assert steps == ["file", "move", "folder"]


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to own a file as another user")
def test_owner_and_group_stay(file: Path) -> None:
    os.chown(file, NOBODY, NOBODY)
    file.chmod(0o640)
    replacing.put(file, b"new")
    found = file.stat()
    assert (found.st_uid, found.st_gid, mode_of(file)) == (NOBODY, NOBODY, 0o640)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to own a folder as another user")
def test_what_root_makes_in_somebodys_home_is_theirs(tmp_path: Path) -> None:
    folder = make_home(tmp_path, None)
    os.chown(folder.home, NOBODY, NOBODY)
    with locked(folder, [MEMORY]):
        replacing.put(folder.path(MEMORY), b"new")
    made = [folder.folder, folder.path(MEMORY), lock_path(folder.path(MEMORY))]
    assert {path.stat().st_uid for path in made} == {NOBODY}


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to own a file as another user")
def test_a_group_that_may_not_be_given_gets_no_more_than_anybody(
    tmp_path: Path, file: Path
) -> None:
    file.chmod(0o676)
    give_to_nobody(file.parent, file.parent.parent)
    code = (
        "from qterm.memory import replacing\nreplacing.put(folder.path(StoreName.MEMORY), b'new')"
    )
    assert run_as_nobody(tmp_path, file.parent.parent, code) == []
    assert file.read_bytes() == b"new"
    assert (file.stat().st_gid, mode_of(file)) == (NOBODY, 0o666)


def absolute(file: Path, target: Path) -> None:
    file.symlink_to(target)


def relative(file: Path, target: Path) -> None:
    file.symlink_to(os.path.relpath(target, file.parent))


def chain(file: Path, target: Path) -> None:
    file.with_name("second").symlink_to(os.path.relpath(target, file.parent))
    file.symlink_to("second")


@pytest.fixture(params=[absolute, relative, chain])
def linked(request: pytest.FixtureRequest, tmp_path: Path, file: Path) -> tuple[Path, Path]:
    """A link as MEMORY.md, and the file it leads to, in another folder."""
    (tmp_path / "dotfiles").mkdir()
    target = tmp_path / "dotfiles" / "notes.md"
    file.rename(target)
    request.param(file, target)
    return file, target


def test_a_link_stays_and_is_followed(linked: tuple[Path, Path]) -> None:
    link, target = linked
    to = link.readlink()
    replacing.put(link, b"new")
    assert link.readlink() == to
    assert target.read_bytes() == b"new"
    assert not target.is_symlink()
    assert leftovers(link.parent, target.parent) == []


def test_a_link_that_leads_nowhere_yet(linked: tuple[Path, Path]) -> None:
    link, target = linked
    target.unlink()
    replacing.check(link)
    replacing.put(link, b"new")
    assert target.read_bytes() == b"new"
    assert link.is_symlink()
    target.unlink()
    target.parent.rmdir()
    with pytest.raises(FileNotFoundError):
        replacing.check(link)
    with pytest.raises(FileNotFoundError) as raised:
        replacing.put(link, b"new")
    said = replacing.sentence(link, raised.value)
    assert f"{link} (a link to {target}) can't be written" in said
    assert "its folder is missing, so make it, or let the link" in said


@pytest.mark.skipif(not Path("/dev/shm").is_dir(), reason="needs a second file system")
def test_a_link_to_another_disk_is_replaced_there(file: Path, tmp_path: Path) -> None:
    target = Path("/dev/shm") / f"qterm-test-{os.getpid()}-{tmp_path.name}.md"
    try:
        put(target, "old")
        inode = target.stat().st_ino
        file.unlink()
        file.symlink_to(target)
        replacing.put(file, b"new")
        assert target.read_bytes() == b"new"
        assert target.stat().st_ino != inode, "it was copied, which is not one step"
        assert file.is_symlink()
        assert [path for path in target.parent.iterdir() if target.name in path.name] == [target]
    finally:
        target.unlink()


def test_a_hard_link_parts_and_its_other_name_keeps_the_old(file: Path) -> None:
    other = file.with_name("other")
    other.hardlink_to(file)
    replacing.put(file, b"new")
    assert (file.read_bytes(), other.read_bytes()) == (b"new", b"old")


def test_what_a_killed_qterm_left_goes_and_what_another_writes_stays(file: Path) -> None:
    stale = put(file.with_name(".MEMORY.md.qterm-0123abcd.tmp"), "half")
    alive = put(file.with_name(".MEMORY.md.qterm-4567cdef.tmp"), "half")
    others = [
        put(file.with_name(name), "x")
        for name in (".mem_abc.tmp", ".USER.md.qterm-89ab0123.tmp", "MEMORY.md.bak.1")
    ]
    with alive.open() as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        replacing.put(file, b"new")
    assert not stale.exists()
    assert all(path.exists() for path in (alive, *others))


@pytest.fixture(params=[errno.EXDEV, errno.EBUSY, errno.EPERM])
def no_moving(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What a bind mount says to a move; a real one is tested with `make test-system`."""

    def refuse(*_: object) -> None:
        raise OSError(request.param, os.strerror(request.param))

    with monkeypatch.context() as patched:
        patched.setattr("os.replace", refuse)
        yield


@pytest.mark.usefixtures("no_moving")
@pytest.mark.parametrize("new", [b"", b"n", b"new and longer"])
def test_where_nothing_can_be_moved_it_is_copied(file: Path, new: bytes) -> None:
    file.chmod(0o640)
    inode = file.stat().st_ino
    replacing.put(file, new)
    assert file.read_bytes() == new
    assert (file.stat().st_ino, mode_of(file)) == (inode, 0o640)
    assert leftovers(file.parent) == []


@pytest.mark.usefixtures("no_moving")
def test_a_new_file_that_cannot_be_moved_leaves_nothing(file: Path) -> None:
    file.unlink()
    with pytest.raises(OSError, match=r"cross-device|busy|not permitted"):
        replacing.put(file, b"new")
    assert list(file.parent.iterdir()) == []


@pytest.mark.parametrize("step", ["fsync", "pwrite", "ftruncate"])
def test_a_copy_that_fails_puts_the_old_bytes_back(
    file: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    put(file, "the old bytes")
    real: Callable[..., object] = getattr(os, step)
    moves: list[int] = []
    failed: list[int] = []

    def refuse(*_: object) -> None:
        moves.append(1)
        raise OSError(errno.EBUSY, os.strerror(errno.EBUSY))

    def fail_once(*given: object) -> object:
        if not moves or failed:
            return real(*given)
        if step == "pwrite":
            handle, data, offset = given
            real(handle, bytes(data)[:2], offset)  # type: ignore[call-overload]
        failed.append(1)
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr("os.replace", refuse)
    monkeypatch.setattr(f"os.{step}", fail_once)
    with pytest.raises(OSError, match="Input/output error"):
        replacing.put(file, b"new")
    assert failed
    assert file.read_bytes() == b"the old bytes"
    assert leftovers(file.parent) == []


FULL = """\
import os, resource, signal, sys
from pathlib import Path
from qterm.memory import replacing
from qterm.memory.locking import lock_path, locked
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
if sys.argv[2] == "copy":
    def refuse(*_):
        raise OSError(16, "busy")
    os.replace = refuse
    real = replacing.staged.__wrapped__
    import contextlib
    replacing.staged = contextlib.contextmanager(lambda target, data, *, like: real(target, b"", like=like))
try:
    replacing.put(Path(sys.argv[1]), b"n" * 5000)
except OSError as error:
    print(error.errno)
"""  # noqa: E501


@pytest.mark.parametrize("way", ["replace", "copy"])
def test_a_disk_that_takes_no_more_keeps_the_old_file(file: Path, way: str) -> None:
    """The system itself cuts the write short, in a process whose files may not grow."""
    put(file, "old " * 100)
    said = subprocess.run(
        [sys.executable, "-c", FULL, str(file), way], capture_output=True, text=True, check=False
    )
    assert (said.stderr, said.stdout) == ("", f"{errno.EFBIG}\n")
    assert file.read_text() == "old " * 100
    assert leftovers(file.parent) == []


PUT = """\
from qterm.memory import replacing
from qterm.memory.locking import lock_path, locked
path = folder.path(StoreName.MEMORY)
try:
    replacing.check(path)
    replacing.put(path, b'new')
    print("put")
except OSError as error:
    print(replacing.sentence(path, error))
"""


def test_a_folder_that_cannot_be_written_though_its_file_can(tmp_path: Path, file: Path) -> None:
    give_to_nobody(file)
    file.parent.chmod(0o555)
    assert run_as_nobody(tmp_path, file.parent.parent, PUT) == ["put"]
    assert file.read_bytes() == b"new"
    assert leftovers(file.parent) == []


def test_a_read_only_file_is_left_alone(tmp_path: Path, file: Path) -> None:
    """Its folder would let us replace it; but somebody has closed it on purpose."""
    give_to_nobody(file, file.parent)
    file.chmod(0o444)
    before = listing(file.parent)
    lines = run_as_nobody(tmp_path, file.parent.parent, PUT)
    assert lines == [f"{file} is read-only: make it writable (chmod u+w)"]
    with pytest.raises(PermissionError):
        replacing.check(file)  # as root too
    assert listing(file.parent) == before


def test_neither_file_nor_folder_can_be_written(tmp_path: Path, file: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("needs root, to own a file as another user")
    file.chmod(0o644)
    file.parent.chmod(0o755)
    before = listing(file.parent)
    lines = run_as_nobody(tmp_path, file.parent.parent, PUT)
    assert lines == [
        f"{file} can't be written (Permission denied): check who owns it and its folder, and their "
        "modes"
    ]
    file.unlink()
    assert (
        "can't be written (Permission denied)"
        in run_as_nobody(tmp_path, file.parent.parent, PUT)[0]
    )
    assert list(file.parent.iterdir()) == []
    assert len(before) == 2


def mount(*arguments: str) -> None:
    done = subprocess.run(["mount", *arguments], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip(f"can't mount here: {done.stderr.strip()}")


@pytest.mark.system
def test_a_real_bind_mount(tmp_path: Path, file: Path) -> None:
    outside = put(tmp_path / "outside.md", "old")
    mount("--bind", str(outside), str(file))
    try:
        replacing.put(file, b"new")
        assert (file.read_bytes(), outside.read_bytes()) == (b"new", b"new")
        assert leftovers(file.parent) == []
    finally:
        subprocess.run(["umount", str(file)], check=True)


@pytest.mark.system
@pytest.mark.parametrize("kind", ["full", "read-only"])
def test_a_real_disk_that_is_full_or_read_only(tmp_path: Path, file: Path, kind: str) -> None:
    mount("-t", "tmpfs", "-o", "size=64k", "tmpfs", str(file.parent))
    try:
        put(file, "old")
        if kind == "full":
            with pytest.raises(OSError, match="No space left"):
                put(file.with_name("filler"), b"x" * 100_000)
        else:
            mount("-o", "remount,ro", str(file.parent))
        with pytest.raises(OSError) as raised:
            replacing.put(file, b"n" * 10_000)
        said = replacing.sentence(file, raised.value)
        assert ("free some space" if kind == "full" else "mounted read-only") in said
        assert file.read_text() == "old"
        assert leftovers(file.parent) == []
    finally:
        subprocess.run(["umount", str(file.parent)], check=True)
