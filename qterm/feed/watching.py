"""What has changed since a revision: the store's half of `watch`."""

# ruff: noqa: S608 -- only names and conditions written here are put into SQL, never a value.

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from qterm.feed.rows import COLUMNS, turn_of
from qterm.feed.source import FeedChange

BATCH = 500
"""At most so many turns come at once."""


@dataclass(frozen=True, slots=True)
class Look:
    """What a look found, and the revision to look from next time."""

    change: FeedChange | None
    rev: int
    more: bool = False


def revision(connection: sqlite3.Connection) -> int:
    """The newest revision of the feed."""
    (rev,) = connection.execute("SELECT rev FROM revisions WHERE name = 'feed'").fetchone()
    return int(rev)


def look(connection: sqlite3.Connection, since: int) -> Look:
    """What has changed after a revision, at most a batch; every turn's change has its own."""
    newest = revision(connection)
    if newest == since:
        return Look(None, since)
    revs = connection.execute(
        "SELECT rev FROM turns WHERE rev > ? UNION ALL SELECT rev FROM deleted_turns WHERE rev > ? "
        "ORDER BY rev LIMIT ?",
        (since, since, BATCH),
    ).fetchall()
    more = len(revs) == BATCH
    until = revs[-1][0] if more else newest
    turns = connection.execute(
        f"SELECT {COLUMNS} FROM turns WHERE rev > ? AND rev <= ? ORDER BY id", (since, until)
    ).fetchall()
    deleted = connection.execute(
        "SELECT id FROM deleted_turns WHERE rev > ? AND rev <= ? ORDER BY id", (since, until)
    ).fetchall()
    others = dict(
        connection.execute(
            "SELECT name, rev > ? AND rev <= ? FROM revisions", (since, until)
        ).fetchall()
    )
    change = FeedChange(
        turns=tuple(turn_of(row) for row in turns),
        deleted=tuple(row[0] for row in deleted),
        facts=bool(others["facts"]),
        mode=bool(others["mode"]),
        tasks=bool(others["tasks"]),
    )
    return Look(change if change != FeedChange() else None, until, more)
