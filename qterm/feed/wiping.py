"""Making deleted words really go: from the search index, the write-ahead log and the copies.

SQLite overwrites what it deletes (`secure_delete`), but FTS5 of SQLite 3.40 keeps the trigrams of
deleted texts until its parts are merged, and the write-ahead log keeps pages until it is cut. Both
are done after the deletion, in small steps between other work. Until all is done a mark stays in
the store, so that the next start goes on where this one was ended.
"""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

from qterm.feed.opening import connect, copies
from qterm.feed.watching import revision

_PAGES = 64
"""Pages of the search index merged in one step: some 20 ms."""


def mark(connection: sqlite3.Connection) -> None:
    """Note that words have to be wiped; in the transaction that deletes them."""
    connection.execute(
        "INSERT INTO wiping (only, rev) VALUES (1, ?) "
        "ON CONFLICT (only) DO UPDATE SET rev = excluded.rev",
        (revision(connection),),
    )


def marked(connection: sqlite3.Connection) -> int | None:
    """The revision whose words have to be wiped; None when all is clean."""
    row = connection.execute("SELECT rev FROM wiping").fetchone()
    return None if row is None else int(row[0])


def unmark(connection: sqlite3.Connection, rev: int) -> None:
    """Note that all is clean, unless more was deleted since."""
    connection.execute("DELETE FROM wiping WHERE rev = ?", (rev,))


def merge(connection: sqlite3.Connection, *, first: bool) -> bool:
    """One step of merging the search index into one part; False when there is no more to do.

    A negative number of pages begins with all parts, as FTS5's `optimize` does; going on takes a
    positive one.
    """
    before = connection.total_changes
    connection.execute(
        "INSERT INTO turns_search (turns_search, rank) VALUES ('merge', ?)",
        (-_PAGES if first else _PAGES,),
    )
    return connection.total_changes - before >= 2  # FTS5's own sign that something was merged


def cut_log(connection: sqlite3.Connection) -> bool:
    """Move the write-ahead log into the file and cut it; False when another process is using it."""
    (patience,) = connection.execute("PRAGMA busy_timeout").fetchone()
    connection.execute("PRAGMA busy_timeout = 50")  # other work of this process is waiting
    try:
        (busy, *_) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    finally:
        connection.execute(f"PRAGMA busy_timeout = {patience:d}")
    return not busy


def wipe_copies(connection: sqlite3.Connection, path: Path) -> list[Path]:
    """Delete what was deleted from the copies as well; returns those in which that failed."""
    found = copies(path)
    if not found:
        return []
    ids = connection.execute("SELECT id FROM deleted_turns").fetchall()
    return [copy for copy in found if not _wipe_copy(copy, ids)]


def _wipe_copy(copy: Path, ids: list[tuple[int]]) -> bool:
    try:
        with contextlib.closing(connect(copy)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            before = connection.total_changes
            connection.executemany("DELETE FROM turns WHERE id = ?", ids)
            if connection.total_changes > before:
                connection.execute("INSERT INTO turns_search (turns_search) VALUES ('optimize')")
            connection.execute("COMMIT")
    except sqlite3.Error:
        return False
    return True
