"""Finding turns by a piece of their text: FTS5 with trigrams, LIKE where a trigram is too long.

Never raises on odd input: the text is a phrase, whatever signs it holds.
"""

# ruff: noqa: S608 -- only names and conditions written here are put into SQL, never a value.

from __future__ import annotations

import sqlite3

from qterm.feed.rows import COLUMNS, fitting, storable, turn_of
from qterm.model import Turn

_TRIGRAM = 3
_LONGEST_PHRASE = 256
"""Code points of a phrase that the index looks for; the rest is compared in the text itself."""


def search(
    connection: sqlite3.Connection, text: str, task_id: str | None, limit: int
) -> list[Turn]:
    """Turns that hold the text, newest first. Case does not matter (below three signs: ASCII's)."""
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
