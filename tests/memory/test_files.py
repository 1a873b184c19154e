"""Reading a memory file: what is in it, and no trace of having looked."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from qterm.memory.errors import Unreadable
from qterm.memory.files import FILE_LIMIT, MemoryFolder
from qterm.memory.stores import StoreName
from tests.memory.homes import (
    MEMORY,
    USER,
    WORKING,
    give_to_nobody,
    listing,
    make_home,
    put,
    run_as_nobody,
)

CASES = Path(__file__).parents[1] / "data" / "memory"
EXPECTED = json.loads((CASES / "expected.json").read_text())


@pytest.mark.parametrize("name", [name for name in EXPECTED if name != "not-utf8.md"])
def test_the_measured_files(tmp_path: Path, name: str) -> None:
    data = (CASES / name).read_bytes()
    folder = make_home(tmp_path, data)
    found = folder.read(MEMORY)
    # hermes drops later doubles when it reads; qterm shows them.
    assert list(dict.fromkeys(found.entries)) == EXPECTED[name]["entries"]
    assert found.data == data
    assert found.sha256 == hashlib.sha256(data).hexdigest()
    assert (found.exists, found.is_text, found.store) == (True, True, MEMORY)
    assert found.path == tmp_path / "home" / "memories" / "MEMORY.md"


def test_what_is_not_utf8_is_only_for_showing(tmp_path: Path) -> None:
    data = b"caf\xe9\r\n\xc2\xa7\r\ntwo"
    found = make_home(tmp_path, data).read(MEMORY)
    assert found.text is None
    assert not found.is_text
    assert found.entries == ("caf\\xe9", "two")
    assert found.data == data


@pytest.mark.parametrize("there", ["home/memories", "home", "."])
@pytest.mark.parametrize("store", StoreName)
def test_what_is_missing_is_empty(tmp_path: Path, there: str, store: StoreName) -> None:
    (tmp_path / there).mkdir(parents=True, exist_ok=True)
    before = listing(tmp_path)
    found = MemoryFolder(tmp_path / "home").read(store)
    assert (found.data, found.sha256, found.exists, found.text) == (b"", "", False, "")
    assert found.entries == ()
    assert found.is_text
    assert listing(tmp_path) == before


def test_an_empty_file_is_there(tmp_path: Path) -> None:
    found = make_home(tmp_path, "").read(MEMORY)
    assert found.exists
    assert found.sha256 == hashlib.sha256(b"").hexdigest()


def test_a_relative_home_is_made_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_home(tmp_path)
    monkeypatch.chdir(tmp_path)
    folder = MemoryFolder(Path("home"))
    monkeypatch.chdir("/")
    assert folder.home == tmp_path / "home"
    assert folder.read(MEMORY).entries == ("one", "two", "three")


def test_looking_leaves_no_trace(tmp_path: Path) -> None:
    """Rule M6: bytes, times and listing of the whole home are as they were."""
    folder = make_home(tmp_path, "\ufeffa\r\n§\r\nb\n§\nb")
    put(folder.path(USER), "kim\n")
    (folder.folder / "MEMORY.md.lock").touch()
    (folder.home / "config.yaml").write_text("memory: {}\n")
    (folder.home / "linked.md").symlink_to(folder.path(USER))
    before = listing(tmp_path)
    for store in StoreName:
        folder.read(store)
    assert listing(tmp_path) == before
    assert not folder.path(WORKING).exists()


def make_pipe(path: Path) -> None:
    os.mkfifo(path)


def make_loop(path: Path) -> None:
    path.with_name("other").symlink_to(path.name)
    path.symlink_to("other")


def make_huge(path: Path) -> None:
    path.touch()
    os.truncate(path, FILE_LIMIT + 1)


ODD: dict[str, tuple[Callable[[Path], None], str]] = {
    "a folder": (lambda path: path.mkdir(), "MEMORY.md is a folder, where hermes keeps a file"),
    "a pipe": (make_pipe, "MEMORY.md is not a plain file: move it away"),
    "a device": (lambda path: path.symlink_to("/dev/zero"), "not a plain file"),
    "a broken link": (
        lambda path: path.symlink_to("gone/notes.md"),
        "MEMORY.md is a link to gone/notes.md, which is not there: mount or make that",
    ),
    "a loop": (make_loop, "MEMORY.md is a link that leads back to itself"),
    "too big": (make_huge, "MEMORY.md is larger than 64 MiB"),
}


@pytest.mark.parametrize("name", ODD)
def test_an_odd_thing_in_its_place_is_one_sentence(tmp_path: Path, name: str) -> None:
    make, words = ODD[name]
    folder = make_home(tmp_path, "")
    folder.path(MEMORY).unlink()
    make(folder.path(MEMORY))
    is_small = name != "too big"
    before = listing(folder.home) if is_small else {}
    started = time.monotonic()
    with pytest.raises(Unreadable, match=words) as raised:
        folder.read(MEMORY)
    assert time.monotonic() - started < 1.5, "it waited for something"
    assert str(raised.value).endswith(".")
    assert "\n" not in str(raised.value)
    assert not is_small or listing(folder.home) == before


def test_a_file_in_the_folders_place(tmp_path: Path) -> None:
    folder = make_home(tmp_path, None)
    put(folder.home / "memories", "notes")
    with pytest.raises(Unreadable, match=r"home/memories is no folder, so MEMORY\.md can't be in"):
        folder.read(MEMORY)


def test_a_file_in_the_homes_place(tmp_path: Path) -> None:
    put(tmp_path / "home", "x")
    with pytest.raises(Unreadable, match=r"/home is no folder"):
        MemoryFolder(tmp_path / "home").read(MEMORY)


@pytest.mark.parametrize("place", ["home", "home/memories"])
def test_a_broken_link_on_the_way(tmp_path: Path, place: str) -> None:
    (tmp_path / place).parent.mkdir(exist_ok=True)
    (tmp_path / place).symlink_to("/not/mounted")
    with pytest.raises(Unreadable, match=f"{place} is a link to /not/mounted"):
        MemoryFolder(tmp_path / "home").read(MEMORY)


def test_a_name_that_no_file_can_have() -> None:
    with pytest.raises(Unreadable, match="can't be the name of a file"):
        MemoryFolder(Path("/tmp/a\0b")).read(MEMORY)


@pytest.mark.parametrize("closed", ["home/memories/MEMORY.md", "home/memories", "home"])
def test_no_permission(tmp_path: Path, closed: str) -> None:
    folder = make_home(tmp_path)
    folder.folder.chmod(0o755)
    give_to_nobody(folder.home, folder.folder, folder.path(MEMORY))
    before = folder.path(MEMORY).read_bytes()
    (tmp_path / closed).chmod(0)
    code = "try: print(folder.read(StoreName.MEMORY))\nexcept MemoryFault as error: print(error)\n"
    lines = run_as_nobody(tmp_path, folder.home, code)
    (tmp_path / closed).chmod(0o700)
    assert len(lines) == 1
    assert "MEMORY.md can't be read (Permission denied): give your user the right" in lines[0]
    assert folder.path(MEMORY).read_bytes() == before


def test_ten_megabytes_and_fifty_thousand_entries(tmp_path: Path) -> None:
    entries = [f"[P2] entry {number:05} " + "words " * 31 + "." for number in range(50_000)]
    text = "\n§\n".join(entries)
    assert len(text) > 10_000_000
    found = make_home(tmp_path, text).read(MEMORY)
    assert found.entries == tuple(entries)
