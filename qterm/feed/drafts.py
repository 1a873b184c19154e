"""Drafts in the store, shared with other qterms: no one writes over another's words.

A thread has one draft. A qterm that finds another one's words there, put since it last looked,
keeps its own apart, under its process's name; they are joined to the draft when it is read and
that process has gone.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass, field

from qterm.feed.owner import current_owner, is_alive
from qterm.feed.rows import storable
from qterm.model import Owner


@dataclass(slots=True)
class Drafts:
    """What this process knows of the drafts. Its functions work inside a transaction.

    `owner` gives the name of this process, `lives` says whether another one still runs.
    """

    owner: Callable[[], Owner] = current_owner
    lives: Callable[[Owner], bool] = is_alive
    _known: dict[str, str] = field(default_factory=dict)
    _apart: set[str] = field(default_factory=set)

    def look(self, connection: sqlite3.Connection, task_id: str | None) -> str | None:
        """The draft of a thread, empty when there is none; None where words have to be joined."""
        thread = storable(task_id or "")
        if self._left(connection, thread):
            return None
        self._known[thread] = found = _get(connection, self._place(thread))
        return found

    def join(self, connection: sqlite3.Connection, task_id: str | None) -> str:
        """The draft of a thread, with the words of qterms that have gone; this one writes."""
        thread = storable(task_id or "")
        texts = [_get(connection, self._place(thread))]
        for name, text in self._left(connection, thread):
            _put(connection, name, "")
            texts.append(text)
        joined = "\n".join(dict.fromkeys(text for text in texts if text))
        _put(connection, self._place(thread), joined)
        self._known[thread] = joined
        return joined

    def save(self, connection: sqlite3.Connection, task_id: str | None, text: str) -> None:
        """Keep the draft of a thread; an empty one is removed. What nobody changed stays."""
        thread, text = storable(task_id or ""), storable(text)
        known, self._known[thread] = self._known.get(thread), text
        if text == known:
            return
        if thread not in self._apart and not _is_free(connection, thread, known, text):
            self._apart.add(thread)
        _put(connection, self._place(thread), text)
        if not text:
            self._apart.discard(thread)

    def forget(self, task_id: str | None) -> None:
        """A change was not stored: the next one is, whatever it is."""
        self._known.pop(storable(task_id or ""), None)

    def _place(self, thread: str) -> str:
        return f"{thread}@{self.owner()}" if thread in self._apart else thread

    def _left(self, connection: sqlite3.Connection, thread: str) -> list[tuple[str, str]]:
        """What qterms that have gone had kept apart."""
        rows = connection.execute(
            "SELECT thread, text FROM drafts WHERE thread > ? AND thread < ? ORDER BY thread",
            (f"{thread}@", f"{thread}A"),  # A follows @
        ).fetchall()
        return [row for row in rows if self._has_gone(Owner.parse(row[0].partition("@")[2]))]

    def _has_gone(self, owner: Owner | None) -> bool:
        return owner is None or not self.lives(owner)


def _is_free(connection: sqlite3.Connection, thread: str, known: str | None, text: str) -> bool:
    """Whether nothing would be lost by writing over what stands there."""
    return known is None or _get(connection, thread) in {known, text, ""}


def _get(connection: sqlite3.Connection, thread: str) -> str:
    row = connection.execute("SELECT text FROM drafts WHERE thread = ?", (thread,)).fetchone()
    return "" if row is None else str(row[0])


def _put(connection: sqlite3.Connection, thread: str, text: str) -> None:
    if text:
        connection.execute(
            "INSERT INTO drafts (thread, text) VALUES (?, ?) "
            "ON CONFLICT (thread) DO UPDATE SET text = excluded.text",
            (thread, text),
        )
    else:
        connection.execute("DELETE FROM drafts WHERE thread = ?", (thread,))
