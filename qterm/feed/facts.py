"""Facts and mode in the store: plain functions, inside a transaction of the caller."""

from __future__ import annotations

import sqlite3
from datetime import datetime

from qterm.feed.rows import millis, moment, next_rev, storable
from qterm.feed.source import FeedError
from qterm.feed.wiping import mark
from qterm.model import Fact, Mode


def facts(connection: sqlite3.Connection) -> list[Fact]:
    """All facts, the pinned ones first; positions count from 1 within each part."""
    rows = connection.execute(
        "SELECT id, text, pinned, row_number() OVER (PARTITION BY pinned ORDER BY place, id) "
        "FROM facts ORDER BY pinned DESC, place, id"
    ).fetchall()
    return [Fact(row[0], row[1], bool(row[2]), row[3]) for row in rows]


def fact(connection: sqlite3.Connection, fact_id: int) -> Fact:
    """One fact; raises FeedError when there is none."""
    for found in facts(connection):
        if found.id == fact_id:
            return found
    raise FeedError(f"There is no fact {fact_id}: `qterm facts list` shows their numbers.")


def add(connection: sqlite3.Connection, text: str, pinned: bool) -> Fact:
    """Add a fact at the end of its part; raises FeedError for one without words."""
    row = connection.execute(
        "INSERT INTO facts (text, pinned, place) VALUES (?, ?, ?) RETURNING id",
        (_words(text), int(pinned), _end(connection, pinned)),
    ).fetchone()
    next_rev(connection, "facts")
    return fact(connection, row[0])


def edit(connection: sqlite3.Connection, fact_id: int, text: str) -> Fact:
    """Change a fact's words."""
    fact(connection, fact_id)
    connection.execute("UPDATE facts SET text = ? WHERE id = ?", (_words(text), fact_id))
    next_rev(connection, "facts")
    return fact(connection, fact_id)


def pin(connection: sqlite3.Connection, fact_id: int, pinned: bool) -> Fact:
    """Move a fact to the end of the other part; nothing when it is in this one already."""
    if fact(connection, fact_id).pinned != pinned:
        connection.execute(
            "UPDATE facts SET pinned = ?, place = ? WHERE id = ?",
            (int(pinned), _end(connection, pinned), fact_id),
        )
        next_rev(connection, "facts")
    return fact(connection, fact_id)


def move(connection: sqlite3.Connection, fact_id: int, position: int) -> list[Fact]:
    """Put a fact at a position of its part, the nearest there is."""
    moved = fact(connection, fact_id)
    part = [f.id for f in facts(connection) if f.pinned == moved.pinned and f.id != fact_id]
    part.insert(min(max(position, 1), len(part) + 1) - 1, fact_id)
    connection.executemany(
        "UPDATE facts SET place = ? WHERE id = ?", list(enumerate(part, start=1))
    )
    next_rev(connection, "facts")
    return facts(connection)


def remove(connection: sqlite3.Connection, fact_id: int) -> Fact:
    """Remove a fact; returns what it was."""
    removed = fact(connection, fact_id)
    connection.execute("DELETE FROM facts WHERE id = ?", (fact_id,))
    next_rev(connection, "facts")
    mark(connection)
    return removed


def _words(text: str) -> str:
    if not text.strip():
        raise FeedError("A fact needs some words: write what Q should know about you.")
    return storable(text)


def _end(connection: sqlite3.Connection, pinned: bool) -> int:
    (last,) = connection.execute(
        "SELECT coalesce(max(place), 0) FROM facts WHERE pinned = ?", (int(pinned),)
    ).fetchone()
    return int(last) + 1


def mode(connection: sqlite3.Connection) -> Mode | None:
    """The mode as it was set."""
    row = connection.execute("SELECT text, until FROM mode").fetchone()
    return None if row is None else Mode(row[0], None if row[1] is None else moment(row[1]))


def set_mode(
    connection: sqlite3.Connection, text: str | None, until: datetime | None
) -> Mode | None:
    """Set the mode; None or a blank text clears it."""
    connection.execute("DELETE FROM mode")
    if text is not None and text.strip():
        connection.execute(
            "INSERT INTO mode (only, text, until) VALUES (1, ?, ?)",
            (storable(text), None if until is None else millis(until)),
        )
    next_rev(connection, "mode")
    return mode(connection)
