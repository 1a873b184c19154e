"""The turns in the store: plain functions on a connection, inside a transaction of the caller."""

# ruff: noqa: S608 -- only names and conditions written here are put into SQL, never a value.

from __future__ import annotations

import sqlite3
from datetime import datetime

from qterm.feed.owner import is_alive
from qterm.feed.rows import (
    COLUMNS,
    MAX_NUMBER,
    fitting,
    millis,
    next_rev,
    no_turn,
    storable,
    turn_of,
)
from qterm.feed.source import NewTurn, TurnChange
from qterm.feed.wiping import mark
from qterm.model import Owner, Turn, TurnState

OLDER_CAP = 1_000
"""How far the turns left out of a transcript are counted."""

HIDDEN_LOOK = 200
"""How many of the newest turns are looked at for hidden ones."""

_WORDS = "state IN ('sent', 'stopped') AND persona <> 'qterm'"
_SAID = f"hidden = 0 AND {_WORDS}"
_OWN = "persona = 'you' AND again_of IS NULL"
_OPEN = "state IN ('queued', 'pending')"

ENDED_PENDING = "qterm ended before Q had answered."
ENDED_QUEUED = "qterm ended before this was sent."


def page(
    connection: sqlite3.Connection,
    task_id: str | None,
    before: int | None,
    after: int | None,
    limit: int,
) -> list[Turn]:
    """Turns of a thread, oldest first: the newest, or those next to an id (exclusive)."""
    order = "DESC" if after is None else "ASC"
    rows = connection.execute(
        f"SELECT {COLUMNS} FROM turns INDEXED BY turns_thread "
        f"WHERE task_id IS ? AND id > ? AND id < ? ORDER BY id {order} LIMIT ?",
        (
            task_id,
            fitting(after or 0),
            MAX_NUMBER if before is None else fitting(before),
            fitting(max(limit, 0)),
        ),
    ).fetchall()
    found = [turn_of(row) for row in rows]
    return found[::-1] if after is None else found


def one(connection: sqlite3.Connection, turn_id: int) -> Turn | None:
    """One turn, or None."""
    row = connection.execute(f"SELECT {COLUMNS} FROM turns WHERE id = ?", (turn_id,)).fetchone()
    return None if row is None else turn_of(row)


def own_message(
    connection: sqlite3.Connection, task_id: str | None, before: int | None, after: int | None
) -> Turn | None:
    """The operator's message before an id, or the one after it; without one the newest."""
    order = "DESC" if after is None else "ASC"
    row = connection.execute(
        f"SELECT {COLUMNS} FROM turns INDEXED BY turns_own WHERE {_OWN} "
        f"AND task_id IS ? AND id > ? AND id < ? ORDER BY id {order} LIMIT 1",
        (task_id, fitting(after or 0), MAX_NUMBER if before is None else fitting(before)),
    ).fetchone()
    return None if row is None else turn_of(row)


def transcript(
    connection: sqlite3.Connection,
    task_id: str | None,
    run: int,
    before: int | None,
    limit: int,
    chars: int,
) -> tuple[list[Turn], int]:
    """The last said, unhidden turns of a run, oldest first, and how many older ones (rule C5)."""
    columns = COLUMNS.replace(" text,", f" substr(text, 1, {chars:d}),")
    until = MAX_NUMBER if before is None else before
    rows = connection.execute(
        f"SELECT {columns} FROM turns INDEXED BY turns_said "
        f"WHERE task_id IS ? AND run = ? AND id < ? AND {_SAID} ORDER BY id DESC LIMIT ?",
        (task_id, run, until, max(limit, 0)),
    ).fetchall()
    (older,) = connection.execute(
        "SELECT count(*) FROM (SELECT 1 FROM turns INDEXED BY turns_said "
        f"WHERE task_id IS ? AND run = ? AND id < ? AND {_SAID} LIMIT {OLDER_CAP})",
        (task_id, run, rows[-1][0] if rows else until),
    ).fetchone()
    return [turn_of(row) for row in reversed(rows)], older


def hidden(
    connection: sqlite3.Connection, task_id: str | None, since: int, limit: int, chars: int
) -> list[Turn]:
    """The last said turns from an id on that are hidden from Q, oldest first."""
    columns = COLUMNS.replace(" text,", f" substr(text, 1, {chars:d}),")
    rows = connection.execute(
        f"SELECT {columns} FROM turns WHERE id IN (SELECT id FROM turns INDEXED BY turns_thread "
        "WHERE task_id IS ? AND id >= ? ORDER BY id DESC LIMIT ?) "
        f"AND hidden = 1 AND {_WORDS} ORDER BY id DESC LIMIT ?",
        (task_id, fitting(since), HIDDEN_LOOK, fitting(max(limit, 0))),
    ).fetchall()
    return [turn_of(row) for row in reversed(rows)]


def append(connection: sqlite3.Connection, turn: NewTurn, now: datetime) -> Turn:
    """Store a turn; an owner is kept only with an open state."""
    task_id = None if turn.task_id is None else storable(turn.task_id)
    row = connection.execute(
        "INSERT INTO turns (run, task_id, persona, text, state, created_at, reply_to, owner, "
        "again_of, rev) VALUES (coalesce((SELECT run FROM tasks WHERE id = ?), 0), "
        f"?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING {COLUMNS}",
        (
            task_id,
            task_id,
            storable(turn.persona),
            storable(turn.text),
            turn.state,
            millis(now),
            turn.reply_to,
            str(turn.owner) if turn.owner and turn.state.is_open else None,
            turn.again_of,
            next_rev(connection),
        ),
    ).fetchone()
    return turn_of(row)


def update(connection: sqlite3.Connection, turn_id: int, change: TurnChange) -> Turn:
    """Change a turn; raises FeedError when there is none."""
    found = one(connection, turn_id)
    if found is None:
        raise no_turn(connection, turn_id)
    state = change.state or found.state
    values: dict[str, object] = {
        "state": change.state,
        "text": None if change.text is None else storable(change.text),
        "degraded": change.degraded,
        "reason": None if change.reason is None else storable(change.reason),
        "detail": None if change.detail is None else storable(change.detail),
        "elapsed": change.elapsed,
        "owner": str(change.owner) if change.owner and state.is_open else None,
    }
    return _set(
        connection,
        turn_id,
        {name: value for name, value in values.items() if value is not None}
        | ({} if state.is_open else {"owner": None}),
    )


def _set(connection: sqlite3.Connection, turn_id: int, values: dict[str, object]) -> Turn:
    values = values | {"rev": next_rev(connection)}
    row = connection.execute(
        f"UPDATE turns SET {', '.join(f'{name} = ?' for name in values)} WHERE id = ? "
        f"RETURNING {COLUMNS}",
        (*values.values(), turn_id),
    ).fetchone()
    if row is None:
        raise no_turn(connection, turn_id)
    return turn_of(row)


def claim(connection: sqlite3.Connection, turn_id: int, owner: Owner) -> bool:
    """Make a queued turn of this owner (or of nobody) pending; False when that can't be."""
    found = one(connection, turn_id)
    if found is None or found.state is not TurnState.QUEUED or found.owner not in {None, owner}:
        return False
    _set(connection, turn_id, {"state": TurnState.PENDING, "owner": str(owner)})
    return True


def open_turns(connection: sqlite3.Connection, task_id: str | None) -> list[Turn]:
    """Queued and pending turns of a thread, oldest first."""
    rows = connection.execute(
        f"SELECT {COLUMNS} FROM turns INDEXED BY turns_open "
        f"WHERE task_id IS ? AND {_OPEN} ORDER BY id",
        (task_id,),
    ).fetchall()
    return [turn_of(row) for row in rows]


def is_first(connection: sqlite3.Connection, task_id: str | None, turn_id: int) -> bool:
    """Whether no earlier turn of the thread is queued by a process that still runs (rule S7)."""
    rows = connection.execute(
        "SELECT DISTINCT owner FROM turns INDEXED BY turns_open "
        f"WHERE task_id IS ? AND {_OPEN} AND state = 'queued' AND id < ? AND owner IS NOT NULL",
        (task_id, turn_id),
    ).fetchall()
    owners = [Owner.parse(row[0]) for row in rows]
    return not any(owner is not None and is_alive(owner) for owner in owners)


def interrupt_orphans(connection: sqlite3.Connection) -> list[Turn]:
    """Interrupt every open turn whose owner is gone; a reply without one has its question's."""
    rows = connection.execute(
        f"SELECT {COLUMNS} FROM turns INDEXED BY turns_open WHERE {_OPEN} ORDER BY id"
    ).fetchall()
    found = [turn_of(row) for row in rows]
    owners = {turn.id: turn.owner for turn in found}
    orphans = []
    for turn in found:
        owner = turn.owner or owners.get(turn.reply_to or 0)
        if owner is None or not is_alive(owner):
            queued = turn.state is TurnState.QUEUED
            orphans.append(
                _set(
                    connection,
                    turn.id,
                    {
                        "state": TurnState.INTERRUPTED,
                        "reason": ENDED_QUEUED if queued else ENDED_PENDING,
                        "owner": None,
                    },
                )
            )
    return orphans


def hide(connection: sqlite3.Connection, turn_id: int, hidden: bool) -> Turn:
    """Hide a turn from Q, or show it again."""
    return _set(connection, turn_id, {"hidden": int(hidden)})


def delete(connection: sqlite3.Connection, turn_id: int) -> None:
    """Delete a turn's row and leave its id among the deleted; raises FeedError without one."""
    if connection.execute("DELETE FROM turns WHERE id = ?", (turn_id,)).rowcount == 0:
        raise no_turn(connection, turn_id)
    connection.execute(
        "INSERT INTO deleted_turns (id, rev) VALUES (?, ?)", (turn_id, next_rev(connection))
    )
    mark(connection)
