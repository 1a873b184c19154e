"""Folders 0700 and files 0600, whatever the umask; whole files or none."""

from __future__ import annotations

import contextlib
import os
import stat
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from qterm.private import private_folder, read_bounded, touch_private, write_private


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture(params=[0o000, 0o022, 0o077, 0o777], ids=oct)
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def test_folder_and_the_parents_it_needs_are_private(tmp_path: Path, umask: int) -> None:
    folder = private_folder(tmp_path / "a" / "b")
    assert folder == tmp_path / "a" / "b"
    assert mode(folder) == mode(tmp_path / "a") == 0o700


def test_a_folder_that_was_open_is_closed_but_its_parent_stays(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a").chmod(0o755)
    (tmp_path / "a" / "b").chmod(0o777)
    private_folder(tmp_path / "a" / "b")
    assert mode(tmp_path / "a" / "b") == 0o700
    assert mode(tmp_path / "a") == 0o755


def test_a_folder_shared_on_purpose_stays_shared(tmp_path: Path) -> None:
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared").chmod(0o1777)
    private_folder(tmp_path / "shared")
    assert mode(tmp_path / "shared") == 0o1777


def test_a_file_in_the_way_of_a_folder_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("kept")
    for path in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(OSError, match=r"."):
            private_folder(path)
    assert (tmp_path / "file").read_text() == "kept"


def test_touch_makes_a_private_file_and_keeps_words(tmp_path: Path, umask: int) -> None:
    path = touch_private(tmp_path / "f")
    assert mode(path) == 0o600
    path.write_text("words")
    path.chmod(0o644)
    touch_private(path)
    assert mode(path) == 0o600
    assert path.read_text() == "words"


def test_written_file_is_private(tmp_path: Path, umask: int) -> None:
    path = tmp_path / "f"
    write_private(path, b"one")
    write_private(path, b"two\x00\r\n")
    assert path.read_bytes() == b"two\x00\r\n"
    assert mode(path) == 0o600
    assert [entry.name for entry in tmp_path.iterdir()] == ["f"]


def test_a_failed_write_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "f"
    write_private(path, b"old")

    def fail(_handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="No space"):
        write_private(path, b"new")
    assert path.read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["f"]


def test_a_linked_file_stays_linked(tmp_path: Path) -> None:
    (tmp_path / "dotfiles").mkdir()
    (tmp_path / "dotfiles" / "real").write_text("old")
    (tmp_path / "link").symlink_to(tmp_path / "dotfiles" / "real")
    write_private(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "dotfiles" / "real").read_bytes() == b"new"


def test_reading_never_waits_for_ever_and_has_a_bound(tmp_path: Path) -> None:
    pipe, file = tmp_path / "pipe", tmp_path / "file"
    os.mkfifo(pipe)
    with contextlib.suppress(TimeoutError):
        assert read_bounded(pipe, seconds=0.05) == b""
    file.write_bytes(b"x" * 1000)
    assert read_bounded(file, limit=1000) == b"x" * 1000
    with pytest.raises(OSError, match="too large"):
        read_bounded(file, limit=999)
    with pytest.raises(OSError, match="too large"):
        read_bounded(Path("/dev/zero"))
    with pytest.raises(IsADirectoryError):
        read_bounded(tmp_path)


def test_a_pipe_that_is_written_late_is_read_whole() -> None:
    near, far = os.pipe()

    def write_late() -> None:
        with os.fdopen(far, "wb") as pipe:
            pipe.write(b"late")

    late = threading.Timer(0.2, write_late)
    late.start()
    try:
        assert read_bounded(Path(f"/dev/fd/{near}"), seconds=20) == b"late"
    finally:
        late.join()
        os.close(near)
