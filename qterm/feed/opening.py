"""Opening the feed's file: making it, refusing a newer one, setting a damaged one aside.

Everything here runs in the store's worker thread, under a lock that all qterms on this data share,
so that two that start at once never set each other's new file aside.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from qterm.feed import locks
from qterm.feed.database import is_damage, sentence
from qterm.feed.migrations import Step, migrate
from qterm.feed.source import FeedError
from qterm.private import private_folder, touch_private

APPLICATION_ID = 0x7174726D
"""`qtrm`, in the file's header: whose file this is."""

BUSY_SECONDS = 10.0
"""How long a call waits for another process that is writing."""

_SIDE_FILES = ("-wal", "-shm")


@dataclass(frozen=True, slots=True)
class Opened:
    """An open file, and what the operator should be told about it."""

    connection: sqlite3.Connection
    notices: tuple[str, ...]


def open_file(
    path: Path, *, locks_dir: Path, steps: Sequence[Step], max_pages: int | None = None
) -> Opened:
    """Open the feed's file, or make it. `max_pages` limits its size, for tests of a full disk.

    Raises FeedError, one sentence with what to do.
    """
    for folder in (path.parent, locks_dir):
        _make_folder(folder)
    try:
        with locks.held(locks_dir / "open.lock", timeout=BUSY_SECONDS):
            opened = _open(path, steps)
            if max_pages is not None:
                opened.connection.execute(f"PRAGMA max_page_count = {max_pages:d}")
            return opened
    except sqlite3.Error as error:
        raise FeedError(sentence(error, path)) from error
    except OSError as error:
        raise FeedError(
            f"The feed's file {path} can't be opened ({error.strerror}): check its owner and mode, "
            "or choose another folder with --data-dir."
        ) from error


def copies(path: Path) -> tuple[Path, ...]:
    """The copies of the feed that were made before an upgrade, oldest first."""
    return tuple(sorted(path.parent.glob(f"{path.stem}.before-*{path.suffix}")))


def set_aside(path: Path) -> tuple[Path, ...]:
    """Damaged files that were set aside, oldest first, without their side files."""
    found = path.parent.glob(f"{path.stem}.damaged-*{path.suffix}")
    return tuple(sorted(found))


def connect(path: Path) -> sqlite3.Connection:
    """A connection that overwrites what it deletes, and waits for other writers."""
    connection = sqlite3.connect(
        path, timeout=BUSY_SECONDS, isolation_level=None, cached_statements=256
    )
    try:
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA secure_delete = ON")
        connection.execute("PRAGMA synchronous = FULL")
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _make_folder(folder: Path) -> None:
    try:
        private_folder(folder)
    except OSError as error:
        raise FeedError(
            f"The data folder {folder} can't be made ({error.strerror}): "
            "choose another with --data-dir."
        ) from error


def _open(path: Path, steps: Sequence[Step]) -> Opened:
    notices: tuple[str, ...] = ()
    try:
        _refuse_foreign(path, known=len(steps))
        touch_private(path)
        return _prepare(path, steps)
    except sqlite3.DatabaseError as error:
        if not is_damage(error):
            raise
        moved = _set_aside(path)
        notices = (
            f"The feed's file was damaged ({error}). It now lies at {moved}, "
            "and a new feed has begun.",
        )
    touch_private(path)
    opened = _prepare(path, steps)
    return Opened(opened.connection, notices + opened.notices)


def _refuse_foreign(path: Path, *, known: int) -> None:
    """Raise FeedError for a newer feed or another program's file, without touching it."""
    if not path.exists():
        return
    if not path.is_file():
        raise FeedError(
            f"The feed's file {path} is not a file: move it away, "
            "or choose another folder with --data-dir."
        )
    # Immutable leaves no trace, but does not see a write-ahead log: look again if there is one.
    looks = ["mode=ro&immutable=1"]
    wal = path.with_name(path.name + "-wal")
    if wal.exists() and wal.stat().st_size:
        looks.append("mode=ro")
    for look in looks:
        uri = f"{path.resolve().as_uri()}?{look}"
        with contextlib.closing(sqlite3.connect(uri, uri=True, timeout=BUSY_SECONDS)) as connection:
            (version,) = connection.execute("PRAGMA user_version").fetchone()
            (program,) = connection.execute("PRAGMA application_id").fetchone()
            (tables,) = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        if program != APPLICATION_ID and (program or version or tables):
            raise FeedError(
                f"The file {path} is another program's database: "
                "choose another folder with --data-dir."
            )
        if version > known:
            raise FeedError(
                f"The feed {path} was written by a newer qterm (its version is {version}, this "
                f"qterm knows {known}) and was not touched: update qterm, or choose another "
                "folder with --data-dir."
            )


def _prepare(path: Path, steps: Sequence[Step]) -> Opened:
    connection = connect(path)
    notices: tuple[str, ...] = ()
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version == 0:
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID:d}")
        elif version < len(steps):
            copy = _copy(connection, path, version)
            notices = (f"The feed was upgraded. A copy of it as it was lies at {copy}.",)
        migrate(connection, steps)
        # A first look at what every call reads: damage there shows now.
        connection.execute("SELECT max(id) FROM turns").fetchone()
        connection.execute("SELECT rev FROM revisions").fetchall()
        for side in _SIDE_FILES:
            file = path.with_name(path.name + side)
            if file.exists():
                touch_private(file)
    except BaseException:
        connection.close()
        raise
    return Opened(connection, notices)


def _copy(connection: sqlite3.Connection, path: Path, version: int) -> Path:
    """Copy the feed before it is upgraded; returns where the copy lies."""
    copy = _free_name(path, f"before-v{version + 1}")
    touch_private(copy)  # SQLite fills a file that is empty
    try:
        connection.execute("VACUUM INTO ?", (str(copy),))
    except sqlite3.Error:
        copy.unlink(missing_ok=True)
        raise
    return copy


def _set_aside(path: Path) -> Path:
    """Move a damaged file away, together with its side files; returns where it lies now."""
    moved = _free_name(path, "damaged")
    path.rename(moved)
    for side in _SIDE_FILES:
        with contextlib.suppress(FileNotFoundError):
            path.with_name(path.name + side).rename(moved.with_name(moved.name + side))
    for file in (moved, *(moved.with_name(moved.name + side) for side in _SIDE_FILES)):
        if file.exists():
            touch_private(file)
    return moved


def _free_name(path: Path, why: str) -> Path:
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S")
    name = path.with_name(f"{path.stem}.{why}-{stamp}{path.suffix}")
    number = 2
    while name.exists():
        name = path.with_name(f"{path.stem}.{why}-{stamp}-{number}{path.suffix}")
        number += 1
    return name
