"""The tasks in the store: plain functions, inside a transaction of the caller."""

# ruff: noqa: S608 -- only names and conditions written here are put into SQL, never a value.

from __future__ import annotations

import base64
import secrets
import sqlite3
from datetime import datetime
from typing import Any

from qterm.feed.rows import millis, moment, next_rev, storable
from qterm.feed.source import FeedError
from qterm.model import TURNS_CAP, LastWord, Session, Task, TaskState

WORD_CHARS = 200
"""The most code points that are read of a task's last word."""

_RUN_TURNS = (
    "FROM turns INDEXED BY turns_said WHERE turns.task_id = tasks.id AND turns.run = tasks.run "
    "AND hidden = 0 AND turns.state IN ('sent', 'stopped') AND persona <> 'qterm'"
)
_THREAD = "FROM turns INDEXED BY turns_thread WHERE turns.task_id = tasks.id"
_SAID = "persona <> 'qterm' AND turns.text <> ''"

# Each part is a look into an index, from its end: nothing here grows with the length of a thread.
_SELECT = (
    "SELECT tasks.id, title, tasks.state, cwd, tasks.run, tasks.created_at, session, "
    "session_hermes, session_name, lost, {turns}, seen, "
    f"coalesce((SELECT max(turns.id) {_THREAD}), 0) AS newest, "
    f"coalesce((SELECT turns.id {_THREAD} AND persona <> 'you' ORDER BY turns.id DESC LIMIT 1), 0),"
    f" word.persona, substr(word.text, 1, {WORD_CHARS}), word.created_at "
    "FROM tasks LEFT JOIN turns AS word ON word.id = "
    f"(SELECT turns.id {_THREAD} AND {_SAID} ORDER BY turns.id DESC LIMIT 1)"
)
ALL = _SELECT.format(turns=f"(SELECT count(*) FROM (SELECT 1 {_RUN_TURNS} LIMIT {TURNS_CAP}))")
_ONE = _SELECT.format(turns=f"(SELECT count(*) {_RUN_TURNS})")


def task_of(row: tuple[Any, ...]) -> Task:
    """The task in a row of the columns above."""
    session = None if row[6] is None else Session(row[6], row[7], row[8])
    last = None if row[14] is None else LastWord(row[14], row[15], moment(row[16]))
    return Task(
        id=row[0],
        title=row[1],
        state=TaskState(row[2]),
        cwd=row[3],
        run=row[4],
        created_at=moment(row[5]),
        session=session,
        lost=row[9],
        turns=row[10],
        seen=row[11],
        newest=row[12],
        heard=row[13],
        last=last,
    )


def new_id() -> str:
    """8 random lower-case base32 characters (rule S1)."""
    return base64.b32encode(secrets.token_bytes(5)).decode().lower()


def tasks(connection: sqlite3.Connection) -> list[Task]:
    """All tasks: the open ones first, each part with the newest words first."""
    rows = connection.execute(
        f"{ALL} ORDER BY tasks.state <> 'open', newest DESC, tasks.created_at DESC"
    ).fetchall()
    return [task_of(row) for row in rows]


def one(connection: sqlite3.Connection, task_id: str) -> Task | None:
    """One task, or None."""
    row = connection.execute(f"{_ONE} WHERE tasks.id = ?", (storable(task_id),)).fetchone()
    return None if row is None else task_of(row)


def add(connection: sqlite3.Connection, title: str, cwd: str, now: datetime) -> Task:
    """Begin a task; raises FeedError for one without a title."""
    task_id = new_id()
    while one(connection, task_id) is not None:
        task_id = new_id()
    connection.execute(
        "INSERT INTO tasks (id, title, state, cwd, created_at) VALUES (?, ?, 'open', ?, ?)",
        (task_id, _title(title), storable(cwd), millis(now)),
    )
    next_rev(connection, "tasks")
    return _there(connection, task_id)


def rename(connection: sqlite3.Connection, task_id: str, title: str) -> Task:
    """Give a task another title."""
    return _set(connection, task_id, {"title": _title(title)})


def end(connection: sqlite3.Connection, task_id: str, state: TaskState) -> Task:
    """Make an open task done or cancelled; raises FeedError when it is not open."""
    found = _there(connection, task_id)
    if found.state is not TaskState.OPEN:
        raise FeedError(f"The task is {found.state.value} already: reopen it first.")
    return _set(connection, task_id, {"state": state.value})


def reopen(connection: sqlite3.Connection, task_id: str) -> Task:
    """Open it again: the next run, without a session (rule S2); FeedError when it is open."""
    found = _there(connection, task_id)
    if found.state is TaskState.OPEN:
        raise FeedError("The task is open: only a done or cancelled one can be reopened.")
    values = {"state": TaskState.OPEN.value, "run": found.run + 1, "lost": 0}
    return _set(connection, task_id, values | _session(None))


def bind(connection: sqlite3.Connection, task_id: str, run: int, session: Session) -> Task:
    """Bind a run to a session (rule S3), unless the task has gone on to another run."""
    found = _there(connection, task_id)
    if found.run != run or found.session == session:
        return found
    return _set(connection, task_id, _session(session))


def unbind(
    connection: sqlite3.Connection, task_id: str, run: int, session_id: str, lost: bool
) -> Task:
    """Let go of a lost session (rule S5), if it still is the one."""
    found = _there(connection, task_id)
    if found.run != run or found.session is None or found.session.id != session_id:
        return found
    return _set(connection, task_id, {"lost": found.lost + lost} | _session(None))


def mark_seen(connection: sqlite3.Connection, task_id: str, turn_id: int) -> None:
    """Note that turns up to this one were on the screen; never goes back."""
    changed = connection.execute(
        "UPDATE tasks SET seen = ? WHERE id = ? AND seen < ?",
        (turn_id, storable(task_id), turn_id),
    ).rowcount
    if changed:
        next_rev(connection, "tasks")


def _session(session: Session | None) -> dict[str, object]:
    return {
        "session": session.id if session else None,
        "session_hermes": session.hermes if session else "",
        "session_name": session.name if session else "",
    }


def _set(connection: sqlite3.Connection, task_id: str, values: dict[str, Any]) -> Task:
    _there(connection, task_id)
    connection.execute(
        f"UPDATE tasks SET {', '.join(f'{name} = ?' for name in values)} WHERE id = ?",
        (*values.values(), task_id),
    )
    next_rev(connection, "tasks")
    return _there(connection, task_id)


def _there(connection: sqlite3.Connection, task_id: str) -> Task:
    found = one(connection, task_id)
    if found is None:
        raise FeedError(f"There is no task “{task_id}”: `qterm task list` shows them.")
    return found


def _title(title: str) -> str:
    line = " ".join(storable(title).split())
    if not any(sign.isprintable() and sign != " " for sign in line):  # nor unseen signs alone
        raise FeedError("A task needs a title: say in a few words what it is about.")
    return line
