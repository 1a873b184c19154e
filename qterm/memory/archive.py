"""What was removed, and what the files were before: the archive and the backups of one hermes home.

In the archive's folder (0700, in qterm's data folder): `archive.jsonl` with one record a line
(`records.py`), `backups/<sha256>.md` with whole files by their content, `home` with the home's
path, and `archive.lock`. Files are 0600. Looking makes nothing; nothing is pruned by itself.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import re
import stat
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from qterm.memory.disk import remove_stale, staged, sync_folder, trouble, write_all
from qterm.memory.errors import Refused, Unreadable, Unwritable
from qterm.memory.files import FILE_LIMIT, sha256
from qterm.memory.keeping import ArchiveSize, Backup, Kept, Planned
from qterm.memory.locking import LOCK_SECONDS, held
from qterm.memory.records import (
    Record,
    Removed,
    Undone,
    Write,
    decode_line,
    encode,
    new_ids,
    plain,
)
from qterm.memory.stores import StoreName
from qterm.private import FILE_MODE, private_folder, read_bounded

__all__ = [
    "Archive",
    "ArchiveSize",
    "Backup",
    "Removed",
    "Write",
    "archive_folder",
]


def archive_folder(data_dir: Path, home: Path) -> Path:
    """Where the archive of a hermes home lies in qterm's data folder; makes nothing.

    One folder a home, whatever link leads there: its name is readable, with a hash of the path.
    """
    real = os.path.realpath(home)
    words = re.findall(r"[a-z0-9]+", real.lower())[-3:]
    digest = hashlib.sha256(os.fsencode(real)).hexdigest()[:10]
    return data_dir / "memory" / "-".join([*(word[:20] for word in words), digest])


@dataclass(frozen=True)
class Archive:
    """The archive in `folder`, which is made by the first write."""

    folder: Path

    @property
    def log(self) -> Path:
        """The file with the records."""
        return self.folder / "archive.jsonl"

    @property
    def backups_folder(self) -> Path:
        """The folder with the whole files."""
        return self.folder / "backups"

    # Keeping. Everything is on the disk when these return.

    def keep(
        self,
        planned: Sequence[Planned],
        *,
        home: Path,
        by: str,
        now: datetime,
        give_up: float | None = None,
    ) -> list[Kept]:
        """Keep whole files and the entries that go, before anything is written; one flush a file.

        `now` needs a zone; `give_up` is a time of `time.monotonic` (5 s from now unless given).
        Raises Unwritable, and Busy while another qterm writes here; then nothing may be changed.
        """
        moment = now.astimezone(UTC)
        with self._writing(give_up):
            self._name_home(home)
            ids = new_ids()
            kept: list[Kept] = []
            records: list[Record] = []
            for each in planned:
                backup = None if each.before is None else self._keep_backup(each.before)
                write = Write(
                    id=next(ids),
                    time=moment,
                    store=each.store,
                    path=plain(str(each.path)),
                    by=plain(by),
                    before="" if each.before is None else sha256(each.before),
                    after=sha256(each.after),
                    bytes_before=len(each.before or b""),
                    bytes_after=len(each.after),
                    entries_before=each.entries_before,
                )
                removed = [
                    Removed(
                        id=next(ids),
                        time=moment,
                        store=each.store,
                        by=plain(by),
                        reason=plain(gone.reason),
                        text=gone.text,
                        index=gone.index,
                        write=write.id,
                        replaced_by=gone.replaced_by,
                    )
                    for gone in each.gone
                ]
                records += [write, *removed]
                kept.append(Kept(write.id, backup, tuple(entry.id for entry in removed)))
            self._append(encode(records))
        return kept

    def undo(self, writes: Sequence[str], *, now: datetime, give_up: float | None = None) -> None:
        """Note that these writes failed and changed nothing, so that nothing counts as removed.

        Raises Unwritable and Busy; the entries are then in their file and in the archive.
        """
        with self._writing(give_up):
            self._append(encode(Undone(write=each, time=now.astimezone(UTC)) for each in writes))

    @contextlib.contextmanager
    def _writing(self, give_up: float | None) -> Iterator[None]:
        try:
            private_folder(self.folder)
            private_folder(self.backups_folder)
        except OSError as error:
            raise Unwritable(self._sentence(error)) from error
        give_up = time.monotonic() + LOCK_SECONDS if give_up is None else give_up
        with held(self.folder / "archive.lock", give_up, what="The memory archive"):
            remove_stale(self.folder)
            remove_stale(self.backups_folder)
            try:
                yield
            except OSError as error:
                raise Unwritable(self._sentence(error)) from error

    def _sentence(self, error: OSError) -> str:
        return (
            f"The archive in {self.folder} can't be written {trouble(error)}; nothing was changed."
        )

    def _name_home(self, home: Path) -> None:
        path = self.folder / "home"
        if not path.exists():
            _put(path, os.fsencode(os.path.realpath(home)) + b"\n")
            for folder in (self.folder, self.folder.parent, self.folder.parent.parent):
                sync_folder(folder)  # all of them may be new

    def _keep_backup(self, data: bytes) -> Path:
        path = self.backups_folder / f"{sha256(data)}.md"
        try:
            is_there = read_bounded(path, limit=FILE_LIMIT) == data
        except OSError:
            is_there = False
        if not is_there:
            _put(path, data)
        sync_folder(self.backups_folder)
        return path

    def _append(self, lines: bytes) -> None:
        """Add lines behind what is there: on the disk, or not at all as far as the disk lets us."""
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NONBLOCK | os.O_CLOEXEC
        handle = os.open(self.log, flags, FILE_MODE)
        try:
            found = os.fstat(handle)
            if not stat.S_ISREG(found.st_mode):
                raise OSError(errno.EINVAL, os.strerror(errno.EINVAL), str(self.log))
            if stat.S_IMODE(found.st_mode) != FILE_MODE:
                os.fchmod(handle, FILE_MODE)
            if found.st_size and os.pread(handle, 1, found.st_size - 1) != b"\n":
                lines = b"\n" + lines  # a line was torn by a crash: it is left as it is
            try:
                write_all(handle, lines)
                os.fsync(handle)
            except BaseException:
                with contextlib.suppress(OSError):
                    os.ftruncate(handle, found.st_size)
                raise
        finally:
            os.close(handle)
        sync_folder(self.folder)

    # Looking.

    def _lines(self) -> Iterator[bytes]:
        """The lines as they are, one at a time. Raises Unreadable."""
        try:
            with open(self.log, "rb", opener=_open_at_once) as file:
                if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                    raise Unreadable(
                        f"The archive {self.log} is no plain file: move what is there away."
                    )
                yield from file
        except FileNotFoundError:
            return
        except OSError as error:
            raise Unreadable(f"The archive {self.log} can't be read {trouble(error)}.") from error

    def _records(self) -> Iterator[Record | None]:
        return (decode_line(line) for line in self._lines() if line.strip())

    def removed(self, store: StoreName | None = None) -> list[Removed]:
        """What was removed or replaced, of one store or of all, oldest first. Raises Unreadable."""
        found: list[Removed] = []
        undone: set[str] = set()
        for record in self._records():
            if isinstance(record, Removed) and store in {None, record.store}:
                found.append(record)
            elif isinstance(record, Undone):
                undone.add(record.write)
        return [record for record in found if record.write not in undone]

    def find(self, name: str) -> Removed:
        """The archived entry with this id, or the only one whose id begins so.

        Raises Refused where there is none or several, and Unreadable.
        """
        wanted = name.strip().lower()
        found = [each for each in self.removed() if wanted and each.id.startswith(wanted)]
        if not found:
            raise Refused(f"Nothing in the archive has the id {name!r}: see qterm memory archive.")
        if len(found) > 1:
            raise Refused(f"{len(found)} archived ids begin with {name!r}: give more of it.")
        return found[0]

    def backups(self) -> list[Backup]:
        """The whole files that are kept, newest first, each once a store. Raises Unreadable."""
        files = {path.stem: path for path in self._backup_files()}
        newest: dict[tuple[str, StoreName], Write] = {}
        for record in self._records():
            if isinstance(record, Write) and record.before in files:
                newest[record.before, record.store] = record
        found = [
            Backup(
                sha256=record.before,
                time=record.time,
                store=record.store,
                size=record.bytes_before,
                entries=record.entries_before,
                path=str(files[record.before]),
            )
            for record in newest.values()
        ]
        for digest in files.keys() - {digest for digest, _ in newest}:
            with contextlib.suppress(FileNotFoundError):
                on_disk = files[digest].stat()
                made = datetime.fromtimestamp(on_disk.st_mtime, UTC)
                found.append(
                    Backup(
                        sha256=digest,
                        time=made,
                        store=None,
                        size=on_disk.st_size,
                        entries=None,
                        path=str(files[digest]),
                    )
                )
        return sorted(found, key=lambda backup: (backup.time, backup.sha256), reverse=True)

    def read_backup(self, name: str) -> bytes:
        """A kept file's bytes, by its hash or the beginning of it; the bytes are checked.

        Raises Refused where there is none or several, Unreadable where it is damaged.
        """
        wanted = name.strip().lower()
        found = [path for path in self._backup_files() if wanted and path.stem.startswith(wanted)]
        if not found:
            raise Refused(f"There is no backup {name!r}: see qterm memory archive backups.")
        if len(found) > 1:
            raise Refused(f"{len(found)} backups begin with {name!r}: give more of the hash.")
        try:
            data = read_bounded(found[0], limit=FILE_LIMIT)
        except OSError as error:
            raise Unreadable(f"{found[0]} can't be read {trouble(error)}.") from error
        if sha256(data) != found[0].stem:
            raise Unreadable(
                f"{found[0]} is not what was kept (its hash differs): look at it before you use it."
            )
        return data

    def _backup_files(self) -> list[Path]:
        try:
            return [path for path in self.backups_folder.iterdir() if _is_backup(path)]
        except FileNotFoundError:
            return []
        except OSError as error:
            raise Unreadable(f"{self.backups_folder} can't be read {trouble(error)}.") from error

    def size(self) -> ArchiveSize:
        """How much is kept, read line by line. Raises Unreadable."""
        entries: Counter[str] = Counter()
        unreadable = 0
        for record in self._records():
            if isinstance(record, Removed):
                entries[record.write] += 1
            elif isinstance(record, Undone):
                entries.pop(record.write, None)
            unreadable += record is None
        sizes = [_size_of(path) for path in self._backup_files()]
        return ArchiveSize(
            bytes=_size_of(self.log) + sum(sizes),
            entries=entries.total(),
            backups=len(sizes),
            unreadable=unreadable,
        )

    # Letting go, by hand only.

    def older(self, than: datetime) -> tuple[int, int, int]:
        """What `prune` would delete now: (entries, backups, bytes). Raises Unreadable."""
        found = self._older(than)
        return found.entries, len(found.backups), found.size

    def prune(self, older_than: datetime) -> tuple[int, int, int]:
        """Delete what was archived before a moment, for good: (entries, backups, bytes freed).

        `older_than` needs a zone.
        Keeps the backups that newer writes refer to, and lines that can't be read. The records go
        in one step, then the backups. Raises Unwritable, Unreadable and Busy.
        """
        with self._writing(None):
            found = self._older(older_than)
            if found.is_shorter:
                _put(Path(os.path.realpath(self.log)), b"".join(found.kept))
                sync_folder(self.folder)
            for path in found.backups:
                os.unlink(path)  # noqa: PTH108 - plain os calls, see disk.py
            sync_folder(self.backups_folder)
        return found.entries, len(found.backups), found.size

    def _older(self, than: datetime) -> _Older:
        kept: list[bytes] = []
        wanted: set[str] = set()
        let_go: set[str] = set()
        entries = size = 0
        for line in self._lines():
            record = decode_line(line)
            is_old = record is not None and record.time < than
            if isinstance(record, Write):
                (let_go if is_old else wanted).update((record.before, record.after))
            if is_old:
                size += len(line)
            else:
                kept.append(line)
            entries += is_old and isinstance(record, Removed)
        is_shorter = size > 0
        backups = []
        for path in self._backup_files():
            made = datetime.fromtimestamp(path.stat().st_mtime, UTC)
            if path.stem not in wanted and (path.stem in let_go or made < than):
                size += _size_of(path)
                backups.append(path)
        return _Older(kept, entries, backups, size, is_shorter)


@dataclass(frozen=True, slots=True)
class _Older:
    """What was archived before a moment; `kept` are the lines that were not."""

    kept: list[bytes]
    entries: int
    backups: list[Path]
    size: int
    is_shorter: bool


def _open_at_once(path: str, flags: int) -> int:
    """Never waits, whatever lies there."""
    return os.open(path, flags | os.O_NONBLOCK)


def _put(path: Path, data: bytes) -> None:
    """A private file in one step, flushed; the caller flushes the folder."""
    with staged(path, data) as temporary:
        os.replace(temporary, path)  # noqa: PTH105 - plain os calls, see disk.py


def _is_backup(path: Path) -> bool:
    return path.suffix == ".md" and re.fullmatch(r"[0-9a-f]{64}", path.stem) is not None


def _size_of(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
