from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from qterm.feed.migrations import Step, migrate, steps
from qterm.feed.source import FeedError
from tests.feed.helpers import open_in, said

NEWEST = steps()[-1].version
NEXT_STEP = Step(
    NEWEST + 1,
    "CREATE TABLE more (x); INSERT INTO more VALUES (1); -- with ; a comment",
)


def version(folder: Path) -> int:
    connection = sqlite3.connect(folder / "feed.sqlite3")
    (found,) = connection.execute("PRAGMA user_version").fetchone()
    connection.close()
    return int(found)


def test_the_steps_count_from_one() -> None:
    assert [step.version for step in steps()] == list(range(1, len(steps()) + 1))


def test_step_1_makes_the_first_shape() -> None:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    migrate(connection, steps()[:1])
    names = connection.execute(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE '%search%' "
        "AND name NOT LIKE 'sqlite%' ORDER BY name"
    )
    assert [name for (name,) in names] == [
        "deleted_turns",
        "drafts",
        "facts",
        "mode",
        "revisions",
        "turns",
        "wiping",
    ]
    connection.execute(
        "INSERT INTO turns (persona, text, state, created_at, rev) VALUES ('q', 'x', 'sent', 0, 1)"
    )
    with pytest.raises(sqlite3.IntegrityError):
        connection.execute("UPDATE turns SET state = 'lost'")
    connection.execute("INSERT INTO turns_search (turns_search) VALUES ('integrity-check')")


async def test_an_upgrade_keeps_everything_and_makes_a_copy_first(tmp_path: Path) -> None:
    async with await open_in(tmp_path) as store:
        turn = await store.append(said("x"))
        assert store.notices == ()
    assert list(tmp_path.glob("*before*")) == []  # nothing to copy for a new feed
    for _ in range(2):  # and the second time there is nothing to do
        async with await open_in(tmp_path, migrations=[*steps(), NEXT_STEP]) as store:
            assert await store.page(None) == [turn]
        assert len(list(tmp_path.glob(f"*before-v{NEWEST + 1}*"))) == 1
    assert version(tmp_path) == NEWEST + 1


async def test_a_step_that_fails_changes_nothing(tmp_path: Path) -> None:
    async with await open_in(tmp_path) as store:
        turn = await store.append(said("x"))
    broken = Step(NEWEST + 1, "CREATE TABLE more (x); INSERT INTO nowhere VALUES (1);")
    with pytest.raises(FeedError, match="nowhere"):
        await open_in(tmp_path, migrations=[*steps(), broken])
    assert version(tmp_path) == NEWEST
    async with await open_in(tmp_path, migrations=[*steps(), NEXT_STEP]) as store:
        assert await store.page(None) == [turn]


async def test_a_full_disk_stops_an_upgrade_before_it_begins(tmp_path: Path) -> None:
    async with await open_in(tmp_path) as store:
        turn = await store.append(said("x"))
    too_much = Step(
        NEWEST + 1, "PRAGMA max_page_count = 1; CREATE TABLE a (x); CREATE TABLE b (x);"
    )
    with pytest.raises(FeedError, match="disk is full"):
        await open_in(tmp_path, migrations=[*steps(), too_much])
    assert version(tmp_path) == NEWEST
    async with await open_in(tmp_path) as store:
        assert await store.page(None) == [turn]


async def test_tasks_come_to_a_feed_that_had_none(tmp_path: Path) -> None:
    """0002: what was said stays as it was, at home."""
    async with await open_in(tmp_path, migrations=steps()[:1]) as _:
        pass
    connection = sqlite3.connect(tmp_path / "feed.sqlite3")
    connection.execute(
        "INSERT INTO turns (persona, text, state, created_at, rev) VALUES ('q', 'x', 'sent', 0, 1)"
    )
    connection.commit()
    connection.close()
    async with await open_in(tmp_path) as store:
        (turn,) = (await store.transcript(None, limit=16, chars=9))[0]
        assert (turn.text, turn.run, turn.task_id) == ("x", 0, None)
        assert await store.tasks() == []
