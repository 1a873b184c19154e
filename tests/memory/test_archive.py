"""What was removed, and what the files were: kept, found again, and let go of by hand only."""

from __future__ import annotations

import errno
import os
import threading
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from qterm.memory.archive import Archive, archive_folder
from qterm.memory.entries import decode, parse
from qterm.memory.errors import Busy, Refused, Unreadable, Unwritable
from qterm.memory.files import sha256
from qterm.memory.keeping import Gone, Kept, Planned
from qterm.memory.locking import held
from qterm.memory.stores import StoreName
from tests.memory.homes import MEMORY, NOW, USER, WORKING, archive_in, listing, mode_of

OLD, NEW = "one\n§\ntwo".encode(), b"one"


def planned(
    text: str = "two", *, store: StoreName = MEMORY, before: bytes | None = OLD, reason: str = "r"
) -> Planned:
    path = Path("/home/alex/.hermes/memories") / store.file_name
    return Planned(store, path, before, 2, NEW, (Gone(1, text, reason),))


def keep(archive: Archive, *all_planned: Planned, now: datetime = NOW) -> list[Kept]:
    return archive.keep(all_planned, home=Path("/home/alex/.hermes"), by="apply tags", now=now)


@pytest.fixture
def archive(tmp_path: Path) -> Archive:
    return archive_in(tmp_path)


def test_what_goes_and_the_whole_file_are_kept(archive: Archive) -> None:
    there = timezone(timedelta(hours=5))
    [kept] = keep(archive, planned(), now=NOW.astimezone(there))
    [removed] = archive.removed()
    assert (removed.text, removed.reason, removed.index, removed.by) == (
        "two",
        "r",
        1,
        "apply tags",
    )
    assert (removed.time, removed.store, removed.write) == (NOW, MEMORY, kept.write)
    assert kept.removed == (removed.id,)
    assert len(removed.id) == 10
    assert set(removed.id) <= set("abcdefghijklmnopqrstuvwxyz234567")
    assert kept.backup == archive.folder / "backups" / f"{sha256(OLD)}.md"
    assert archive.read_backup(sha256(OLD)[:6].upper()) == OLD
    lines = [msgspec.json.decode(line) for line in archive.log.read_bytes().splitlines()]
    assert lines[0] == {
        "kind": "write",
        "id": kept.write,
        "time": "2026-11-30T12:00:00Z",
        "store": "memory",
        "path": "/home/alex/.hermes/memories/MEMORY.md",
        "by": "apply tags",
        "before": sha256(OLD),
        "after": sha256(NEW),
        "bytes_before": len(OLD),
        "bytes_after": len(NEW),
        "entries_before": 2,
    }
    assert lines[1]["kind"] == "removed"


def test_everything_is_private_and_the_home_is_named(archive: Archive) -> None:
    old = os.umask(0)
    try:
        keep(archive, planned())
    finally:
        os.umask(old)
    for path in (archive.folder, *archive.folder.rglob("*")):
        assert mode_of(path) == (0o700 if path.is_dir() else 0o600), path
    assert (archive.folder / "home").read_text() == "/home/alex/.hermes\n"
    archive.log.chmod(0o644)
    keep(archive, planned())
    assert mode_of(archive.log) == 0o600


def test_the_same_bytes_are_kept_once(archive: Archive) -> None:
    keep(archive, planned(), planned(store=USER))
    before = listing(archive.backups_folder)
    keep(archive, planned(), now=NOW + timedelta(days=1))
    assert listing(archive.backups_folder) == before
    assert [(each.store, each.time.day) for each in archive.backups()] == [(MEMORY, 1), (USER, 30)]


def test_a_damaged_backup_is_kept_anew_and_never_handed_out(archive: Archive) -> None:
    [kept] = keep(archive, planned())
    assert kept.backup is not None
    kept.backup.write_bytes(b"one")
    with pytest.raises(Unreadable, match="is not what was kept"):
        archive.read_backup(kept.backup.stem)
    keep(archive, planned())
    assert archive.read_backup(kept.backup.stem) == OLD


def test_a_file_that_was_not_there_has_no_backup(archive: Archive) -> None:
    [kept] = keep(archive, Planned(WORKING, Path("/w"), None, 0, NEW, ()))
    assert kept.backup is None
    assert archive.backups() == []
    assert archive.removed() == []


def test_looking_makes_nothing(archive: Archive, tmp_path: Path) -> None:
    before = listing(tmp_path)
    assert archive.removed() == []
    assert archive.backups() == []
    found = archive.size()
    assert (found.bytes, found.entries, found.backups, found.unreadable) == (0, 0, 0, 0)
    for look in (archive.find, archive.read_backup):
        with pytest.raises(Refused):
            look("a")
    assert listing(tmp_path) == before
    keep(archive, planned())
    before = listing(tmp_path)
    archive.removed(MEMORY)
    archive.backups()
    archive.size()
    archive.read_backup(sha256(OLD))
    assert listing(tmp_path) == before


texts = st.binary(max_size=60).map(lambda data: data.decode("utf-8", "ignore")) | st.text(
    st.characters(exclude_categories=["Cs"])
    | st.sampled_from('\0\n\u2028\u2029\x85\x1b\ufeff§"\\'),
    max_size=60,
)


@given(st.lists(texts, max_size=8))
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_entry_survives(archive: Archive, found: list[str]) -> None:
    """Whatever `parse` can give, and so whatever a file can hold."""
    entries = parse(decode("\n§\n".join(found).encode()))
    before = len(archive.removed())
    keep(archive, *[planned(text, reason=text) for text in entries])
    assert [each.text for each in archive.removed()[before:]] == list(entries)
    assert [each.reason for each in archive.removed()[before:]] == list(entries)


def test_a_path_that_is_no_utf8(archive: Archive) -> None:
    odd = Path(os.fsdecode(b"/caf\xe9/MEMORY.md"))
    archive.keep([Planned(MEMORY, odd, OLD, 2, NEW, ())], home=odd, by="a\udcffb", now=NOW)
    assert archive.size().unreadable == 0
    assert archive.backups()[0].sha256 == sha256(OLD)


def test_torn_and_unknown_lines_are_skipped_and_counted(archive: Archive) -> None:
    keep(archive, planned("first"))
    whole = archive.log.read_bytes()
    archive.log.write_bytes(whole + b'{"kind":"removed","id":"abcd')
    assert [each.text for each in archive.removed()] == ["first"]
    keep(archive, planned("second", before=b"two"))
    assert [each.text for each in archive.removed()] == ["first", "second"]
    assert {each.store for each in archive.backups()} == {MEMORY}, "a record stuck to a torn line"
    with archive.log.open("ab") as log:
        log.write(b'{"kind":"of-tomorrow","id":"zzzzzzzz"}\n\n\xff\xfe\n[]\n')
        log.write(b'{"kind":"undone","write":"w","time":"2020-01-01T00:00:00"}\n')  # no zone
    keep(archive, planned("third"))
    assert [each.text for each in archive.removed()] == ["first", "second", "third"]
    found = archive.size()
    assert (found.entries, found.unreadable) == (3, 5)
    assert archive.prune(datetime(2021, 1, 1, tzinfo=UTC)) == (0, 0, 0)
    assert archive.log.read_bytes().startswith(whole)


def test_fields_added_later_do_no_harm(archive: Archive) -> None:
    keep(archive, planned("first"))
    data = archive.log.read_bytes().replace(b'"kind":', b'"mood":{"of":[1]},"kind":')
    archive.log.write_bytes(data)
    assert [each.text for each in archive.removed()] == ["first"]


def give_ids(monkeypatch: pytest.MonkeyPatch, *numbers: int) -> None:
    """The next ids that are drawn; file names are drawn as ever."""
    left = [(number << 6).to_bytes(7) for number in numbers]
    monkeypatch.setattr(
        "secrets.token_bytes", lambda size: left.pop(0) if size == 7 else os.urandom(size)
    )


def test_finding_by_the_beginning_of_an_id(
    archive: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    give_ids(monkeypatch, 0, 1, 2)
    keep(
        archive, Planned(MEMORY, Path("/m"), OLD, 2, NEW, (Gone(0, "one", ""), Gone(1, "two", "")))
    )
    assert [each.id for each in archive.removed()] == ["aaaaaaaaab", "aaaaaaaaac"]
    assert archive.find("aaaaaaaaab").text == "one"
    assert archive.find(" AAAAAAAAAC ").text == "two"
    with pytest.raises(Refused, match="2 archived ids begin with 'aaaa'"):
        archive.find("aaaa")
    for nothing in ("b", "", " "):
        with pytest.raises(Refused, match="Nothing in the archive"):
            archive.find(nothing)


def test_by_store(archive: Archive) -> None:
    keep(archive, planned("a"), planned("b", store=WORKING))
    assert [each.text for each in archive.removed(WORKING)] == ["b"]
    assert [each.text for each in archive.removed(USER)] == []


def test_a_write_that_came_to_nothing_removed_nothing(archive: Archive) -> None:
    first, second = keep(archive, planned("a"), planned("b", store=WORKING))
    archive.undo([second.write], now=NOW)
    assert [each.text for each in archive.removed()] == ["a"]
    assert archive.size().entries == 1
    with pytest.raises(Refused):
        archive.find(second.removed[0])
    assert archive.find(first.removed[0]).text == "a"


def test_backups_whose_record_is_lost_are_still_there(archive: Archive) -> None:
    keep(archive, planned())
    archive.log.unlink()
    (archive.backups_folder / "note.md").touch()
    [found] = archive.backups()
    assert (found.sha256, found.store, found.entries) == (sha256(OLD), None, None)
    assert found.size == len(OLD)
    assert archive.read_backup(found.sha256[:8]) == OLD


def test_pruning_keeps_what_newer_writes_refer_to(archive: Archive) -> None:
    day = timedelta(days=1)
    oldest, between = b"oldest", b"between"
    keep(archive, planned("gone", before=oldest), now=NOW - 9 * day)
    keep(archive, planned("gone too", before=OLD), now=NOW - 8 * day)
    undone = keep(archive, planned("never", before=between), now=NOW - 8 * day)
    archive.undo([undone[0].write], now=NOW - 8 * day)
    keep(archive, planned("stays", before=OLD), now=NOW - day)
    archive.log.write_bytes(archive.log.read_bytes() + b"torn\n")
    before = archive.size()
    entries, backups, freed = archive.prune(NOW - 2 * day)
    assert (entries, backups) == (3, 2)
    after = archive.size()
    assert before.bytes - after.bytes == freed > 0
    assert (after.entries, after.backups, after.unreadable) == (1, 1, 1)
    assert [each.text for each in archive.removed()] == ["stays"]
    assert archive.read_backup(sha256(OLD)) == OLD
    assert mode_of(archive.log) == 0o600
    assert archive.prune(NOW - 2 * day) == (0, 0, 0)


def test_pruning_leaves_a_young_backup_without_a_record(archive: Archive) -> None:
    keep(archive, planned())
    archive.log.unlink()
    assert archive.prune(datetime.now(UTC) - timedelta(days=1)) == (0, 0, 0)
    assert archive.prune(datetime.now(UTC) + timedelta(days=1)) == (0, 1, len(OLD))


def test_many_at_once_lose_nothing(tmp_path: Path) -> None:
    """Each thread has an archive of its own, as each process has."""
    folder = archive_in(tmp_path).folder

    def work(name: int) -> None:
        for number in range(20):
            keep(Archive(folder), planned(f"{name}-{number}"))

    threads = [threading.Thread(target=work, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = Archive(folder).removed()
    assert len(found) == len({each.id for each in found}) == 80
    for name in range(4):
        mine = [each.text for each in found if each.text.startswith(f"{name}-")]
        assert mine == [f"{name}-{number}" for number in range(20)]


def test_somebody_else_who_writes_is_waited_for_only_so_long(archive: Archive) -> None:
    keep(archive, planned())
    with (
        held(archive.folder / "archive.lock", 0, what=""),
        pytest.raises(Busy, match=r"^The memory archive is locked by another program"),
    ):
        archive.keep([planned()], home=Path("/h"), by="x", now=NOW, give_up=0)
    assert archive.size().entries == 1


def fill_the_disk(monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    """A disk that is full by the time the records are written, halfway through."""
    real_open, real = os.open, getattr(os, step)
    logs: list[int] = []

    def opened(path: Path, *rest: int) -> int:
        handle = real_open(path, *rest)
        if Path(path).name == "archive.jsonl" and rest[0] & os.O_APPEND:
            logs.append(handle)
        return handle

    def full(handle: int, *rest: bytes) -> object:
        if handle not in logs:
            return real(handle, *rest)
        if rest:
            real(handle, bytes(rest[0])[:20])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("os.open", opened)
    monkeypatch.setattr(f"os.{step}", full)


@pytest.mark.parametrize("step", ["write", "fsync"])
def test_a_full_disk_adds_nothing_by_halves(
    archive: Archive, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    keep(archive, planned("first"))
    before = archive.log.read_bytes()
    fill_the_disk(monkeypatch, step)
    with pytest.raises(
        Unwritable, match=r"No space left on device.: free some space.* nothing was"
    ):
        keep(archive, planned("second"))
    assert archive.log.read_bytes() == before


def test_a_data_folder_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "data").touch()
    with pytest.raises(Unwritable, match="can't be written"):
        keep(archive_in(tmp_path), planned())


def test_a_folder_in_the_records_place(archive: Archive) -> None:
    archive.log.mkdir(parents=True)
    for look in (archive.removed, archive.backups, archive.size):
        with pytest.raises(Unreadable, match=r"can't be read \(Is a directory\): a folder is in"):
            look()
    with pytest.raises(Unwritable, match=r"can't be written \(Is a directory\): a folder is in"):
        keep(archive, planned())


def test_one_folder_a_home(tmp_path: Path) -> None:
    home = tmp_path / "alex" / ".hermes"
    home.mkdir(parents=True)
    (tmp_path / "link").symlink_to(home)
    folder = archive_folder(tmp_path / "data", home)
    assert folder == archive_folder(tmp_path / "data", tmp_path / "link")
    assert folder != archive_folder(tmp_path / "data", tmp_path / "alex" / "hermes")
    assert folder.parent == tmp_path / "data" / "memory"
    assert "alex-hermes-" in folder.name
    assert not (tmp_path / "data").exists()
    long = archive_folder(tmp_path, Path("/" + "x" * 250 + "/" + "é" * 100))
    assert len(long.name) < 100


def test_keeping_costs_the_same_however_long_the_archive_is(archive: Archive) -> None:
    keep(archive, planned())
    os.truncate(archive.log, 50_000_000)

    def characters_read() -> int:
        return int(Path("/proc/self/io").read_text().split()[1])

    before = characters_read()
    keep(archive, planned())
    assert characters_read() - before < 1_000_000
