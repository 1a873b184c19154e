"""Drafts of two qterms on one feed: whatever happens, no words are lost."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

import pytest

from qterm.feed.drafts import Drafts
from qterm.feed.migrations import migrate, steps
from qterm.model import Owner


@pytest.fixture
def connection() -> Iterator[sqlite3.Connection]:
    opened = sqlite3.connect(":memory:", isolation_level=None)
    migrate(opened, steps())
    yield opened
    opened.close()


LIVING: set[int] = set()


def a_qterm(pid: int) -> Drafts:
    LIVING.add(pid)
    return Drafts(lambda: Owner(pid, "boot/1"), lambda owner: owner.pid in LIVING)


def read(drafts: Drafts, connection: sqlite3.Connection, task_id: str | None = None) -> str:
    found = drafts.look(connection, task_id)
    return drafts.join(connection, task_id) if found is None else found


@pytest.fixture(params=[None, "7f3kq2ma"])
def thread(request: pytest.FixtureRequest) -> str | None:
    LIVING.clear()
    return request.param  # type: ignore[no-any-return]


def test_one_qterm_keeps_its_draft(connection: sqlite3.Connection, thread: str | None) -> None:
    one = a_qterm(1)
    assert read(one, connection, thread) == ""
    for text in ("a", "ab", "", "x\x00"):
        one.save(connection, thread, text)
    assert read(one, connection, thread) == "x\ufffd"
    assert connection.execute("SELECT count(*) FROM drafts").fetchone() == (1,)
    assert read(one, connection, "another1") == ""


def test_who_changed_nothing_writes_over_nothing(
    connection: sqlite3.Connection, thread: str | None
) -> None:
    one, two = a_qterm(1), a_qterm(2)
    one.save(connection, thread, "old")
    assert read(two, connection, thread) == "old"
    one.save(connection, thread, "old and new")
    two.save(connection, thread, "old")  # as it does when it leaves
    assert read(a_qterm(3), connection, thread) == "old and new"
    one.save(connection, thread, "")  # sent
    two.save(connection, thread, "old")
    assert read(a_qterm(3), connection, thread) == "", "what was sent is no draft again"


def test_both_write_and_both_are_kept(connection: sqlite3.Connection, thread: str | None) -> None:
    one, two = a_qterm(1), a_qterm(2)
    read(one, connection, thread)
    read(two, connection, thread)
    for length in range(1, 6):
        one.save(connection, thread, "hello"[:length])
        two.save(connection, thread, "world"[:length])
    assert read(one, connection, thread) == "hello"
    assert read(two, connection, thread) == "world"
    assert read(a_qterm(3), connection, thread) == "hello", "the other one still runs"
    LIVING.discard(2)
    assert read(a_qterm(4), connection, thread) == "hello\nworld"
    assert read(a_qterm(5), connection, thread) == "hello\nworld", "once"
    assert connection.execute("SELECT count(*) FROM drafts").fetchone() == (1,)


def test_sending_takes_only_ones_own(connection: sqlite3.Connection, thread: str | None) -> None:
    one, two = a_qterm(1), a_qterm(2)
    read(two, connection, thread)
    one.save(connection, thread, "one")
    two.save(connection, thread, "two")
    two.save(connection, thread, "")
    assert read(a_qterm(3), connection, thread) == "one"
    two.save(connection, thread, "again")
    one.save(connection, thread, "")
    LIVING.discard(2)
    assert read(a_qterm(4), connection, thread) == "again"


def test_threads_are_kept_apart(connection: sqlite3.Connection) -> None:
    LIVING.clear()
    one, two = a_qterm(1), a_qterm(2)
    for thread in (None, "aaaaaaaa", "aaaaaaab"):
        read(two, connection, thread)
        one.save(connection, thread, f"one {thread}")
        two.save(connection, thread, f"two {thread}")
    LIVING.discard(2)
    three = a_qterm(3)
    for thread in (None, "aaaaaaaa", "aaaaaaab"):
        assert read(three, connection, thread) == f"one {thread}\ntwo {thread}"


def test_a_change_that_was_not_stored_is_stored_with_the_next(
    connection: sqlite3.Connection,
) -> None:
    one = a_qterm(1)
    connection.execute("BEGIN")
    one.save(connection, None, "words")
    connection.execute("ROLLBACK")
    one.forget(None)
    one.save(connection, None, "words")
    assert read(a_qterm(2), connection) == "words"
