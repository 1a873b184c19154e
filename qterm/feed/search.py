"""Finding turns by a piece of their text: FTS5 with trigrams, LIKE where a trigram is too long.

Never raises on odd input: the text is a phrase, whatever signs it holds. What no index helps with
is looked for in steps, so that nothing else has to wait for long.
"""

# ruff: noqa: S608 -- only names and conditions written here are put into SQL, never a value.

from __future__ import annotations

import sqlite3

from qterm.feed.rows import COLUMNS, fitting, storable, turn_of
from qterm.model import Turn

_TRIGRAM = 3
_LONGEST_PHRASE = 256
"""Code points of a phrase that the index looks for; the rest is compared in the text itself."""


STEP = 20_000
"""Ids in which one step of a search without an index looks."""


def is_indexed(text: str) -> bool:
    """Whether the index helps; without it, a search goes through the turns step by step."""
    return len(storable(text).strip()) >= _TRIGRAM


def newest(connection: sqlite3.Connection) -> int:
    """The newest turn's id; 0 for none."""
    (found,) = connection.execute("SELECT coalesce(max(id), 0) FROM turns").fetchone()
    return int(found)


def search(
    connection: sqlite3.Connection,
    text: str,
    task_id: str | None,
    limit: int,
    before: int | None = None,
    since: int = 0,
) -> list[Turn]:
    """Turns that hold the text, newest first. Case does not matter (below three signs: ASCII's).

    Only those with an id before `before`, and from `since` on.
    """
    wanted = storable(text).strip()
    if not wanted or limit < 1:
        return []
    columns = ", ".join(f"turns.{name}" for name in COLUMNS.split(", "))
    values: list[object]
    if len(wanted) < _TRIGRAM:
        origin, order = "turns", "turns.id"
        where = "turns.text LIKE ? ESCAPE '\\'"
        values = [f"%{_escaped(wanted)}%"]
    else:
        origin = "turns_search JOIN turns ON turns.id = turns_search.rowid"
        order = "turns_search.rowid"
        where = "turns_search MATCH ?"
        values = [_phrase(wanted[:_LONGEST_PHRASE])]
        if len(wanted) > _LONGEST_PHRASE:
            where += " AND instr(lower(turns.text), lower(?))"
            values.append(wanted)
    if before is not None:
        where += f" AND {order} < ?"
        values.append(fitting(before))
    if since:
        where += f" AND {order} >= ?"
        values.append(fitting(since))
    if task_id is not None:
        where += " AND turns.task_id = ?"
        values.append(storable(task_id))
    rows = connection.execute(
        f"SELECT {columns} FROM {origin} WHERE {where} ORDER BY {order} DESC LIMIT ?",
        (*values, fitting(limit)),
    ).fetchall()
    return [turn_of(row) for row in rows]


def _phrase(text: str) -> str:
    doubled = text.replace('"', '""')
    return f'"{doubled}"'


def _escaped(text: str) -> str:
    for sign in "\\%_":
        text = text.replace(sign, f"\\{sign}")
    return text
