"""What a call costs must not grow with the feed: counted in SQLite's own steps, not in time."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from qterm.feed import tasks, turns, watching
from qterm.feed.migrations import migrate, steps
from qterm.model import TURNS_CAP

FEW, MANY = 2_000, 60_000


@pytest.fixture
def connection() -> Iterator[sqlite3.Connection]:
    opened = sqlite3.connect(":memory:", isolation_level=None)
    migrate(opened, steps())
    opened.execute("DROP TRIGGER turns_search_insert")  # filling it is not what is measured
    yield opened
    opened.close()


def grow(connection: sqlite3.Connection, until: int, *, state: str, task: str | None) -> None:
    (last,) = connection.execute("SELECT coalesce(max(id), 0) FROM turns").fetchone()
    connection.execute(
        "WITH RECURSIVE n (i) AS (SELECT ? UNION ALL SELECT i + 1 FROM n WHERE i < ?) "
        "INSERT INTO turns (id, task_id, persona, text, state, created_at, rev) "
        "SELECT i, ?, 'you', 'some words', ?, 0, i FROM n",
        (last + 1, until, task, state),
    )
    connection.execute("UPDATE revisions SET rev = ? WHERE name = 'feed'", (until,))


def cost(connection: sqlite3.Connection, call: Callable[[], object]) -> int:
    count = 0

    def step() -> int:
        nonlocal count
        count += 1
        return 0

    connection.set_progress_handler(step, 1)
    call()
    connection.set_progress_handler(None, 1)
    return count


CALLS: dict[str, Callable[[sqlite3.Connection], object]] = {
    "page": lambda c: turns.page(c, None, None, None, 50),
    "page before": lambda c: turns.page(c, None, 500, None, 50),
    "page after": lambda c: turns.page(c, None, None, 500, 50),
    "transcript": lambda c: turns.transcript(c, None, 0, None, 16, 1000),
    "hidden": lambda c: turns.hidden(c, None, 0, 16, 1000),
    "own message": lambda c: turns.own_message(c, None, None, None),
    "own message before": lambda c: turns.own_message(c, None, 500, None),
    "own message after": lambda c: turns.own_message(c, None, None, 500),
    "open turns": lambda c: turns.open_turns(c, None),
    "first in the queue": lambda c: turns.is_first(c, None, 10**9),
    "orphans": turns.interrupt_orphans,
    "a look for changes": lambda c: watching.look(c, watching.revision(c) - 1),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize(
    ("state", "task"), [("sent", None), ("failed", None), ("sent", "7f3kq2ma")]
)
def test_rule_c2_the_cost_of_a_call_does_not_grow(
    connection: sqlite3.Connection, name: str, state: str, task: str | None
) -> None:
    """More of the same, a long run of failures at the end, or a big neighbour thread."""
    grow(connection, FEW, state="sent", task=None)
    before = cost(connection, lambda: CALLS[name](connection))
    grow(connection, MANY, state=state, task=task)
    after = cost(connection, lambda: CALLS[name](connection))
    assert after <= before * 1.05 + 20


def test_what_was_left_out_is_counted_up_to_a_thousand(connection: sqlite3.Connection) -> None:
    grow(connection, 916, state="sent", task=None)
    assert turns.transcript(connection, None, 0, None, 16, 9)[1] == 900
    grow(connection, FEW, state="sent", task=None)
    assert turns.transcript(connection, None, 0, None, 16, 9)[1] == 1000


def test_a_store_is_opened_without_heavy_modules(tmp_path: Path) -> None:
    script = f"""
import asyncio, sys
from datetime import UTC, datetime
from pathlib import Path
from qterm.feed.store import open_store
folder = Path({str(tmp_path)!r})
async def main():
    async with await open_store(folder / "feed.sqlite3", locks_dir=folder / "locks") as store:
        await store.interrupt_orphans()
asyncio.run(main())
heavy = {{"textual", "rich", "httpx", "psutil", "msgspec", "click"}} & set(sys.modules)
print(sorted(heavy))
"""
    if sys.platform == "linux":
        out = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True)
        assert out.stdout.decode().strip() == "[]"


def test_reading_all_tasks_costs_no_more_with_long_threads(connection: sqlite3.Connection) -> None:
    """The last word and what is new are looks into an index; the count goes up to its cap."""
    for _ in range(40):
        tasks.add(connection, "a task", "/", datetime(2026, 11, 30, tzinfo=UTC))
    names = [task.id for task in tasks.tasks(connection)]

    def talk(count: int) -> None:
        for name in names:
            grow(connection, _last(connection) + count, state="sent", task=name)
            connection.execute("UPDATE turns SET persona = 'q' WHERE id = ?", (_last(connection),))
        connection.execute("UPDATE turns SET run = 1")

    talk(TURNS_CAP)
    before = cost(connection, lambda: tasks.tasks(connection))
    talk(2_000)
    assert cost(connection, lambda: tasks.tasks(connection)) <= before * 1.05 + 20
    plan = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {tasks.ALL}")]
    assert [line for line in plan if line.startswith("SCAN")] == ["SCAN tasks", "SCAN (subquery-1)"]


def test_the_turns_of_a_run_are_counted_up_to_a_cap(connection: sqlite3.Connection) -> None:
    task = tasks.add(connection, "a task", "/", datetime(2026, 11, 30, tzinfo=UTC))
    grow(connection, TURNS_CAP + 300, state="sent", task=task.id)
    connection.execute("UPDATE turns SET run = 1")
    assert tasks.tasks(connection)[0].turns == TURNS_CAP
    one = tasks.one(connection, task.id)
    assert one is not None
    assert one.turns == TURNS_CAP + 300


def _last(connection: sqlite3.Connection) -> int:
    return int(connection.execute("SELECT coalesce(max(id), 0) FROM turns").fetchone()[0])
