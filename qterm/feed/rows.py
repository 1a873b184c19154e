"""Between the rows of the store and the nouns."""

from __future__ import annotations

import re
import sqlite3
from datetime import UTC, datetime, timedelta
from typing import Any

from qterm.feed.source import TurnGoneError
from qterm.model import Degraded, Owner, Turn, TurnState, utc

COLUMNS = (
    "id, task_id, persona, text, state, created_at, reply_to, hidden, degraded, reason, detail, "
    "elapsed, owner, again_of, run"
)
"""The columns that `turn_of` reads, in its order."""

MAX_NUMBER = 2**63 - 1
"""The greatest number that SQLite knows."""

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def storable(text: str) -> str:
    """The text with U+FFFD for NUL and each lone surrogate, which SQLite can't keep."""
    return _UNSTORABLE.sub("\ufffd", text)


def fitting(number: int) -> int:
    """The number, or the nearest one that SQLite knows: as a limit or a bound it means the same."""
    return max(-MAX_NUMBER, min(number, MAX_NUMBER))


def millis(moment: datetime) -> int:
    """A moment as milliseconds since 1970 in UTC."""
    return (utc(moment) - _EPOCH) // timedelta(milliseconds=1)


def moment(stored: int) -> datetime:
    """The moment, in UTC, that `millis` wrote."""
    return _EPOCH + timedelta(milliseconds=stored)


def turn_of(row: tuple[Any, ...]) -> Turn:
    """The turn in a row of `COLUMNS`."""
    return Turn(
        id=row[0],
        task_id=row[1],
        persona=row[2],
        text=row[3],
        state=TurnState(row[4]),
        created_at=moment(row[5]),
        reply_to=row[6],
        hidden=bool(row[7]),
        degraded=None if row[8] is None else Degraded(row[8]),
        reason=row[9],
        detail=row[10],
        elapsed=row[11],
        owner=None if row[12] is None else Owner.parse(row[12]),
        again_of=row[13],
        run=row[14],
    )


def next_rev(connection: sqlite3.Connection, *names: str) -> int:
    """The next revision of the feed; `names` (facts, mode) are marked as changed at it."""
    (rev,) = connection.execute(
        "UPDATE revisions SET rev = rev + 1 WHERE name = 'feed' RETURNING rev"
    ).fetchone()
    for name in names:
        connection.execute("UPDATE revisions SET rev = ? WHERE name = ?", (rev, name))
    return int(rev)


def no_turn(connection: sqlite3.Connection, turn_id: int) -> TurnGoneError:
    """Why a turn can't be found, as an error to raise."""
    gone = connection.execute("SELECT 1 FROM deleted_turns WHERE id = ?", (turn_id,)).fetchone()
    if gone:
        return TurnGoneError(f"Message {turn_id} was deleted: there is nothing left to change.")
    return TurnGoneError(
        f"There is no message {turn_id} in the feed: `qterm feed` shows their numbers."
    )
