"""The one way to write (rule M6): what it refuses and keeps, and what it says when it fails."""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from qterm.memory import replacing
from qterm.memory.archive import Archive
from qterm.memory.errors import Busy, ChangedMeanwhile, MemoryFault, Refused, Unwritable
from qterm.memory.files import FILE_LIMIT, MemoryFolder, sha256
from qterm.memory.keeping import Gone, Kept
from qterm.memory.locking import lock_path
from qterm.memory.writer import Change, Written, write
from tests.memory.homes import (
    MEMORY,
    NOW,
    USER,
    WORKING,
    adding,
    archive_in,
    give_to_nobody,
    leftovers,
    listing,
    make_home,
    mode_of,
    put,
    run_as_nobody,
    without,
)
from tests.memory.test_locking import held_by_another


class Place:
    """A home, its archive, and the way to write to them."""

    def __init__(self, base: Path, text: str | bytes | None = "one\n§\ntwo\n§\nthree") -> None:
        self.base = base
        self.folder = make_home(base, text)
        self.archive = archive_in(base)
        self.memory = self.folder.path(MEMORY)

    def write(self, *changes: Change, seconds: float = 5.0) -> tuple[Written, ...]:
        return write(self.folder, self.archive, changes, by="test", now=NOW, seconds=seconds)

    def archived(self) -> list[str]:
        return [each.text for each in self.archive.removed()]


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_an_entry_goes_and_is_kept(place: Place) -> None:
    before = place.memory.read_bytes()
    place.memory.chmod(0o640)
    [written] = place.write(without(place.folder.read(MEMORY), 1, reason="finished"))
    assert place.memory.read_text() == "one\n§\nthree"
    assert mode_of(place.memory) == 0o640
    assert (written.store, written.path) == (MEMORY, place.memory)
    assert (written.before, written.after) == (sha256(before), sha256(place.memory.read_bytes()))
    assert written.backup is not None
    assert written.backup.read_bytes() == before
    [removed] = place.archive.removed()
    assert written.removed == (removed.id,)
    assert (removed.text, removed.reason, removed.by) == ("two", "finished", "test")
    assert leftovers(place.base) == []


def test_the_first_entry_of_a_home_that_is_not_there(tmp_path: Path) -> None:
    folder = MemoryFolder(tmp_path / "new" / "home")
    archive = archive_in(tmp_path)
    [written] = write(folder, archive, [adding(folder.read(USER), "kim")], by="add", now=NOW)
    assert folder.read(USER).entries == ("kim",)
    assert (written.before, written.backup, written.removed) == ("", None, ())
    assert mode_of(folder.path(USER)) == 0o600
    assert mode_of(folder.folder) == 0o700


def test_taking_the_last_entry_out_leaves_an_empty_file(place: Place) -> None:
    place.write(without(place.folder.read(MEMORY), 0, 1, 2))
    assert place.memory.read_bytes() == b""
    assert place.archived() == ["one", "two", "three"]


@pytest.mark.parametrize("text", ["one\n§\ntwo", "", None])
def test_the_same_bytes_are_not_written(tmp_path: Path, text: str | None) -> None:
    place = Place(tmp_path, text)
    seen = place.folder.read(MEMORY)
    before = listing(tmp_path)
    assert place.write(Change(seen, seen.entries)) == ()
    assert listing(tmp_path) == before


def test_cleaning_changes_the_bytes_alone(tmp_path: Path) -> None:
    place = Place(tmp_path, "one\r\n§\r\n\n§\ntwo\n§\n")
    seen = place.folder.read(MEMORY)
    [written] = place.write(Change(seen, seen.entries))
    assert place.memory.read_text() == "one\n§\ntwo"
    assert written.removed == ()
    assert written.backup is not None
    assert written.backup.read_bytes() == "one\r\n§\r\n\n§\ntwo\n§\n".encode()


def test_a_whole_file_comes_back_byte_for_byte(place: Place) -> None:
    data = "one\r\n§\r\n\n§\nfour\n".encode()
    change = without(place.folder.read(MEMORY), 1, 2)
    place.write(replace(change, entries=("one", "four"), data=data))
    assert place.memory.read_bytes() == data
    seen = place.folder.read(MEMORY)
    for wrong in (data, b"caf\xe9"):
        with pytest.raises(Refused, match="would hold other entries than were meant"):
            place.write(replace(Change(seen, ("one", "five"), (Gone(1, "four", ""),)), data=wrong))


def test_two_files(place: Place) -> None:
    memory, working = place.folder.read(MEMORY), place.folder.read(WORKING)
    first, second = place.write(adding(working, "two"), without(memory, 1))
    assert (first.store, second.store) == (WORKING, MEMORY)
    assert place.folder.read(WORKING).entries == ("two",)
    assert place.folder.read(MEMORY).entries == ("one", "three")
    assert place.archived() == ["two"]


def changed_text(place: Place) -> None:
    put(place.memory, "one\n§\ntwo\n§\nthree\n§\nfour")


def gone(place: Place) -> None:
    place.memory.unlink()


def made(place: Place) -> None:
    put(place.folder.path(WORKING), "")


@pytest.mark.parametrize("happens", [changed_text, gone, made])
def test_what_has_changed_meanwhile_is_not_overwritten(
    place: Place, happens: Callable[[Place], None]
) -> None:
    """Also where the file that changed is not the one whose bytes would."""
    changes = [
        adding(place.folder.read(WORKING), "two"),
        without(place.folder.read(MEMORY), 1),
        Change(place.folder.read(USER), ()),
    ]
    happens(place)
    before = {path: path.read_bytes() for path in place.folder.folder.glob("*.md")}
    with pytest.raises(ChangedMeanwhile, match="has changed since it was looked at, so nothing"):
        place.write(*changes)
    assert {path: path.read_bytes() for path in place.folder.folder.glob("*.md")} == before
    assert place.archived() == []


def test_a_file_whose_bytes_stay_has_to_be_as_it_was_too(place: Place) -> None:
    memory, user = place.folder.read(MEMORY), place.folder.read(USER)
    put(place.folder.path(USER), "kim")
    with pytest.raises(ChangedMeanwhile, match=r"USER\.md has changed"):
        place.write(Change(user, ()), without(memory, 1))
    assert place.folder.read(MEMORY).entries == ("one", "two", "three")


@pytest.mark.parametrize("text", ["a\n§\nb", "a\rb", " a", "", "a\ud800b"])
def test_what_would_not_read_back_is_refused_before_anything(place: Place, text: str) -> None:
    seen = place.folder.read(MEMORY)
    before = listing(place.base)
    with pytest.raises(Refused, match=r"^MEMORY\.md can't hold that\. "):
        place.write(Change(seen, ("one", text, "three"), (Gone(1, "two", ""),)))
    assert listing(place.base) == before


def test_what_is_not_utf8_is_refused(tmp_path: Path) -> None:
    place = Place(tmp_path, b"caf\xe9")
    seen = place.folder.read(MEMORY)
    before = listing(tmp_path)
    for entries in (seen.entries, ("new",)):
        with pytest.raises(Refused, match=r"MEMORY\.md is not UTF-8, so qterm only shows it"):
            place.write(Change(seen, entries, (Gone(0, seen.entries[0], ""),)))
    assert listing(tmp_path) == before


@pytest.mark.parametrize(
    ("entries", "what_goes"),
    [
        (("one", "three"), ()),
        (("one", "TWO", "three"), ()),
        (("one",), (Gone(1, "two", ""),)),
        ((), (Gone(0, "one", ""), Gone(1, "two", ""))),
        (("one", "three"), (Gone(1, "TWO", ""),)),
        (("one", "three"), (Gone(2, "two", ""),)),
        (("one", "three"), (Gone(3, "two", ""),)),
        (("one", "three"), (Gone(-2, "two", ""),)),
    ],
)
def test_a_callers_mistake_loses_no_words(
    place: Place, entries: tuple[str, ...], what_goes: tuple[Gone, ...]
) -> None:
    seen = place.folder.read(MEMORY)
    before = listing(place.base)
    with pytest.raises(Refused, match="a fault of qterm's, please report it"):
        place.write(Change(seen, entries, what_goes))
    assert listing(place.base) == before


def test_of_two_that_are_the_same_each_has_to_be_kept(tmp_path: Path) -> None:
    place = Place(tmp_path, "a\n§\na\n§\na")
    seen = place.folder.read(MEMORY)
    with pytest.raises(Refused, match="would be lost"):
        place.write(Change(seen, ("a",), (Gone(1, "a", ""),)))
    place.write(Change(seen, ("a",), (Gone(1, "a", ""), Gone(2, "a", ""))))
    assert place.archived() == ["a", "a"]


def test_two_names_of_one_file_are_refused(place: Place) -> None:
    place.folder.path(WORKING).symlink_to(place.memory)
    with pytest.raises(Refused, match="are links to the same file"):
        place.write(adding(place.folder.read(WORKING), "x"), without(place.folder.read(MEMORY), 0))
    assert place.folder.read(MEMORY).entries == ("one", "two", "three")


def test_what_no_caller_should_do(place: Place) -> None:
    seen = place.folder.read(MEMORY)
    with pytest.raises(ValueError, match="two changes for one store"):
        place.write(without(seen, 0), without(seen, 1))
    with pytest.raises(ValueError, match="needs a zone"):
        write(place.folder, place.archive, [], by="x", now=NOW.replace(tzinfo=None))
    with pytest.raises(ValueError, match="is not in"):
        write(MemoryFolder(Path("/h")), place.archive, [without(seen, 0)], by="x", now=NOW)


def test_a_file_that_could_not_be_read_again_is_refused(place: Place) -> None:
    with pytest.raises(Refused, match="would be larger than 64 MiB"):
        place.write(adding(place.folder.read(MEMORY), "x" * FILE_LIMIT))


def test_a_lock_that_is_held_for_ever(place: Place) -> None:
    seen = place.folder.read(MEMORY)
    with held_by_another(lock_path(place.memory)):
        with pytest.raises(Busy, match=r"^MEMORY\.md is locked by another program"):
            place.write(without(seen, 1), seconds=0.2)
        assert place.folder.read(MEMORY) == seen
        assert not place.archive.folder.exists()
    place.write(without(seen, 1))


def test_an_archive_that_cannot_be_written_changes_nothing(place: Place) -> None:
    put(place.base / "data", "a file in the data folder's place")
    before = place.memory.read_bytes()
    with pytest.raises(Unwritable, match=r"The archive in .* can't be written .* nothing was"):
        place.write(without(place.folder.read(MEMORY), 1))
    assert place.memory.read_bytes() == before
    assert leftovers(place.base) == []


def test_the_archive_is_on_the_disk_before_the_file_is_touched(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = replacing.put

    def put_later(path: Path, data: bytes, **more: Any) -> None:
        assert place.archived() == ["two"]
        assert place.archive.read_backup(sha256(path.read_bytes())) == path.read_bytes()
        real(path, data, **more)

    monkeypatch.setattr(replacing, "put", put_later)
    place.write(without(place.folder.read(MEMORY), 1))


class EditedMeanwhile(Archive):
    """While the archive is flushed an editor, which knows no lock, saves the file."""

    def keep(self, *planned: Any, **more: Any) -> list[Kept]:
        kept = super().keep(*planned, **more)
        put(MemoryFolder(more["home"]).path(MEMORY), "the editor's words")
        return kept


@pytest.mark.parametrize("way", ["moved", "copied"])
def test_an_editor_that_saves_at_the_last_moment_keeps_its_words(
    place: Place, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    place.archive = EditedMeanwhile(place.archive.folder)
    if way == "copied":

        def no_staging(*_: object, **__: object) -> object:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

        monkeypatch.setattr(replacing, "staged", no_staging)
    with pytest.raises(ChangedMeanwhile) as raised:
        place.write(without(place.folder.read(MEMORY), 1))
    assert str(raised.value) == (
        f"{place.memory} was changed by another program just now, so it was left as it is: look "
        "again, then repeat the change."
    )
    assert place.memory.read_text() == "the editor's words"
    assert place.archived() == []
    assert leftovers(place.base) == []


def test_an_editor_that_saves_between_two_files(place: Place) -> None:
    place.archive = EditedMeanwhile(place.archive.folder)
    working = place.folder.read(WORKING)
    with pytest.raises(ChangedMeanwhile, match=r"WORKING\.md had been written before\.$"):
        place.write(adding(working, "two"), without(place.folder.read(MEMORY), 1))
    assert place.memory.read_text() == "the editor's words"
    assert place.folder.read(WORKING).entries == ("two",)


def full(path: Path, data: bytes, **_: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def half(path: Path, data: bytes, **_: object) -> None:
    path.write_bytes(data[:3])
    raise OSError(errno.EIO, os.strerror(errno.EIO))


def unsure(path: Path, data: bytes, **_: object) -> None:
    path.write_bytes(data)
    raise OSError(errno.EIO, os.strerror(errno.EIO))


def lying(path: Path, data: bytes, **_: object) -> None:
    """A disk that says all is well."""
    path.write_bytes(data[:3])


def test_a_write_that_fails_removed_nothing(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    before = place.memory.read_bytes()
    monkeypatch.setattr(replacing, "put", full)
    with pytest.raises(Unwritable) as raised:
        place.write(without(place.folder.read(MEMORY), 1))
    assert str(raised.value) == (
        f"{place.memory} can't be written (No space left on device): free some space on that disk; "
        "it is as it was, and all else is unchanged."
    )
    assert place.memory.read_bytes() == before
    assert place.archived() == []


@pytest.mark.parametrize(
    ("way", "words"),
    [
        (half, "may be damaged"),
        (lying, "holds something else than was written"),
        (unsure, "not yet on"),
    ],
)
def test_a_file_that_may_be_damaged_names_its_backup(
    place: Place, monkeypatch: pytest.MonkeyPatch, way: Callable[..., None], words: str
) -> None:
    before = place.memory.read_bytes()
    monkeypatch.setattr(replacing, "put", way)
    with pytest.raises(Unwritable, match=words) as raised:
        place.write(without(place.folder.read(MEMORY), 1))
    backup = place.archive.folder / "backups" / f"{sha256(before)}.md"
    assert f"its bytes of before are kept in {backup}" in str(raised.value)
    assert backup.read_bytes() == before
    assert place.archived() == ["two"]


def test_the_second_of_two_files_fails(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first one stays, and the sentence says which is which."""
    real = replacing.put
    put(place.folder.path(WORKING), "old work")
    monkeypatch.setattr(
        replacing,
        "put",
        lambda path, data, **more: (full if path == place.memory else real)(path, data, **more),
    )
    with pytest.raises(Unwritable) as raised:
        place.write(
            Change(
                place.folder.read(WORKING),
                ("two",),
                (Gone(0, "old work", ""),),
            ),
            without(place.folder.read(MEMORY), 1),
        )
    said = str(raised.value)
    assert said.startswith(f"{place.memory} can't be written (No space left on device)")
    assert f"it is as it was; {place.folder.path(WORKING)} had been written before" in said
    assert place.folder.read(WORKING).entries == ("two",)
    assert place.folder.read(MEMORY).entries == ("one", "two", "three")
    assert place.archived() == ["old work"]


def test_the_second_of_two_files_cannot_be_written_and_that_is_seen_before(place: Place) -> None:
    place.memory.chmod(0o444)
    with pytest.raises(Unwritable, match=r"MEMORY\.md is read-only: make it writable .*; nothing"):
        place.write(
            adding(place.folder.read(WORKING), "two"), without(place.folder.read(MEMORY), 1)
        )
    assert not place.folder.path(WORKING).exists()
    assert not place.archive.folder.exists()


TRY = "try: print(*drop(0))\nexcept MemoryFault as error: print(type(error).__name__, error)\n"


@pytest.mark.parametrize("closed", ["file", "folder", "archive"])
def test_no_permission_to_write(place: Place, closed: str) -> None:
    folder = place.folder.folder
    give_to_nobody(place.folder.home, folder, place.memory)
    (folder / "MEMORY.md.lock").touch(0o666)
    (folder / "MEMORY.md.lock").chmod(0o666)
    if closed == "file":
        place.memory.chmod(0o444)
    elif closed == "folder":
        place.memory.chmod(0o400)
        folder.chmod(0o555)
    else:
        (place.base / "nobody").mkdir(0o555)
    before = place.memory.read_bytes()
    lines = run_as_nobody(place.base, place.folder.home, TRY)
    assert len(lines) == 1
    assert lines[0].startswith("Unwritable ")
    assert lines[0].endswith("nothing was changed.")
    assert place.memory.read_bytes() == before
    assert leftovers(place.base) == []


def test_a_folder_that_cannot_be_written_is_written_into_the_file(place: Place) -> None:
    folder = place.folder.folder
    (folder / "MEMORY.md.lock").touch()
    give_to_nobody(place.folder.home, folder, place.memory, folder / "MEMORY.md.lock")
    folder.chmod(0o555)
    lines = run_as_nobody(place.base, place.folder.home, TRY)
    assert len(lines) == 1
    assert lines[0].startswith("Written(")
    assert place.folder.read(MEMORY).entries == ("two", "three")


def test_links_are_followed_and_locked_beside_the_link(place: Place) -> None:
    (place.base / "dotfiles").mkdir()
    target = place.base / "dotfiles" / "notes.md"
    place.memory.rename(target)
    place.memory.symlink_to("../../dotfiles/notes.md")
    place.write(without(place.folder.read(MEMORY), 1))
    assert place.memory.is_symlink()
    assert target.read_text() == "one\n§\nthree"
    assert (place.folder.folder / "MEMORY.md.lock").exists()
    assert [path.name for path in target.parent.iterdir()] == ["notes.md"]


def test_ten_megabytes_and_fifty_thousand_entries(tmp_path: Path) -> None:
    entries = [f"[P3] entry {number:05} " + "words " * 31 + "." for number in range(50_000)]
    place = Place(tmp_path, "\n§\n".join(entries))
    seen = place.folder.read(MEMORY)
    change = without(seen, *range(0, 50_000, 2))
    [written] = place.write(change)
    assert place.folder.read(MEMORY).entries == tuple(entries[1::2])
    assert len(written.removed) == len(set(written.removed)) == 25_000
    assert place.archived() == entries[::2]
    assert place.archive.size().entries == 25_000


def test_threads_that_edit_at_once_lose_nothing(place: Place) -> None:
    faults: list[MemoryFault] = []

    def work(name: str) -> None:
        archive = Archive(place.archive.folder)
        for number in range(15):
            while True:
                seen = place.folder.read(MEMORY)
                change = adding(seen, f"{name} {number}")
                try:
                    write(place.folder, archive, [change], by="x", now=NOW, seconds=30)
                    break
                except ChangedMeanwhile:
                    continue
                except MemoryFault as error:
                    faults.append(error)
                    return

    threads = [threading.Thread(target=work, args=(name,)) for name in ("a", "b", "c")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
    expected = {f"{name} {number}" for name in "abc" for number in range(15)}
    found = place.folder.read(MEMORY).entries
    assert len(found) == 48
    assert set(found) == expected | {"one", "two", "three"}
