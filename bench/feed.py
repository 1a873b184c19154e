"""The context block and a page of the feed: 100 turns against 1,000,000."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from bench.ratio import Ratio, measure
from qterm.conversation import Conversation
from qterm.feed.owner import current_owner
from qterm.feed.store import Store, open_store
from qterm.hermes.spawn import SpawnWay
from qterm.settings.schema import Settings

FILL = """
WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
INSERT INTO turns (task_id, persona, text, state, created_at, rev)
SELECT NULL,
       CASE i % 4 WHEN 0 THEN 'you' WHEN 1 THEN 'q' WHEN 2 THEN 'mallory' ELSE 'moneypenny' END,
       'Turn ' || i || ': the deploy of build ' || (i * 7919 % 100003) || ' is green.',
       'sent', ? + i * 1000, i
FROM n
"""


async def fill(data: Path, turns: int, answer: str | None = None) -> None:
    """Make a feed of so many turns in a data folder, in one statement, as appending would take an
    hour; `answer` is what Q says in it."""
    path = data / "feed.db"
    store = await open_store(path, locks_dir=data / "locks")
    await store.close()
    with sqlite3.connect(path) as connection:
        if turns:
            connection.execute(FILL, (turns, int((time.time() - turns) * 1000)))
            connection.execute("UPDATE revisions SET rev = ? WHERE name = 'feed'", (turns,))
        if answer is not None:
            connection.execute("UPDATE turns SET text = ? WHERE persona = 'q'", (answer,))
    connection.close()


@asynccontextmanager
async def filled(folder: Path, turns: int) -> AsyncIterator[Store]:
    """A store with so many turns."""
    await fill(folder / str(turns), turns)
    store = await open_store(
        folder / str(turns) / "feed.db", locks_dir=folder / str(turns) / "locks"
    )
    try:
        for number in range(12):
            await store.add_fact(f"fact {number}")
        yield store
    finally:
        await store.close()


def _conversation(store: Store, folder: Path) -> Conversation:
    def nowhere() -> object:
        raise FileNotFoundError

    way = SpawnWay(nowhere, approvals=Settings().hermes.approvals, cache_dir=folder, environ={})  # type: ignore[arg-type]
    return Conversation(store, way, Settings(), current_owner(), folder)


async def ratios(folder: Path, *, large: int = 1_000_000, runs: int = 200) -> list[Ratio]:
    """The ratios; `folder` is a scratch folder."""
    async with filled(folder, large) as many, filled(folder, 100) as few:
        of_many, of_few = _conversation(many, folder), _conversation(few, folder)
        return [
            await measure(
                f"context block, {large:,} turns : 100",
                1.2,
                of_many.context,
                of_few.context,
                runs=runs,
            ),
            await measure(
                f"newest page of the feed, {large:,} turns : 100",
                1.2,
                lambda: many.page(None, limit=50),
                lambda: few.page(None, limit=50),
                runs=runs,
            ),
            await measure(
                f"a page in the middle, {large:,} turns : 100",
                1.2,
                lambda: many.page(None, before=large // 2, limit=50),
                lambda: few.page(None, before=75, limit=50),
                runs=runs,
            ),
        ]
