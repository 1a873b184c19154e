from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from qterm.feed import wiping
from qterm.feed.migrations import Step, steps
from qterm.feed.source import NewTurn, TurnChange
from qterm.feed.store import Store
from qterm.model import TurnState
from tests.feed.helpers import open_in, other, said, until

SECRET = "ZQXWVYKJ"
TRACES = [SECRET.encode()] + [SECRET[n : n + 3].lower().encode() for n in range(6)]
"""The word, and its trigrams as the search index keeps them."""

NEXT_STEP = Step(
    steps()[-1].version + 1,
    "ALTER TABLE turns ADD COLUMN colour TEXT NOT NULL DEFAULT '';",
)


def traces(folder: Path) -> list[str]:
    """Where something of the secret is, in the bytes of every file."""
    return [
        f"{file.name}: {trace.decode()}"
        for file in sorted(folder.glob("feed*"))
        for trace in TRACES
        if trace in file.read_bytes()
    ]


async def fill(store: Store, turns: int) -> None:
    words = random.Random(7)
    for _ in range(turns):
        await store.append(said(" ".join(words.choices(["deploy", "green", "invoice"], k=12))))


@pytest.mark.parametrize("around", [0, 60])
async def test_a_deleted_turn_leaves_no_trace_on_the_disk(tmp_path: Path, around: int) -> None:
    async with await open_in(tmp_path) as store:
        await fill(store, around)
        turn = await store.append(said(f"the password is {SECRET}, keep it"))
        await fill(store, around)
    assert traces(tmp_path)
    async with await open_in(tmp_path) as store:
        await store.delete(turn.id)
    assert traces(tmp_path) == []
    async with await open_in(tmp_path) as store:
        kept = [turn for turn in await store.page(None, limit=1000) if "deploy" in turn.text]
        assert await store.search("deploy", limit=1000) == kept[::-1]


async def test_a_streamed_answer_and_a_removed_fact_leave_none_either(tmp_path: Path) -> None:
    async with await open_in(tmp_path) as store:
        reply = await store.append(NewTurn(None, "q", "", TurnState.PENDING))
        for part in range(5):
            text = f"{SECRET} " * (part * 300)
            await store.update(reply.id, TurnChange(text=text))
        await store.update(reply.id, TurnChange(state=TurnState.SENT, detail=SECRET))
        await store.delete(reply.id)
        fact = await store.add_fact(SECRET)
        await store.remove_fact(fact.id)
    assert traces(tmp_path) == []


@pytest.mark.parametrize("what", ["turn", "fact"])
async def test_the_words_go_while_the_store_stays_open(tmp_path: Path, what: str) -> None:
    """Looked at from another process: reading the file in this one would drop SQLite's locks."""
    look = """
await heard()
from tests.feed.test_wiping import traces
while traces(folder):
    await asyncio.sleep(0.02)
tell("clean")
"""
    async with await open_in(tmp_path) as store, other(tmp_path, look) as process:
        if what == "turn":
            await store.delete((await store.append(said(SECRET))).id)
        else:
            await store.remove_fact((await store.add_fact(SECRET)).id)
        process.say("look")
        assert await process.line() == "clean"
        assert (await store.append(said("goes on"))).text == "goes on"


async def test_the_copy_made_before_an_upgrade_is_wiped_as_well(tmp_path: Path) -> None:
    async with await open_in(tmp_path) as store:
        await fill(store, 20)
        turn = await store.append(said(f"the password is {SECRET}"))
        kept = await store.append(said("this stays"))
    async with await open_in(tmp_path, migrations=[*steps(), NEXT_STEP]) as store:
        assert await store.turn(turn.id) == turn
        (copy,) = tmp_path.glob("*before*")
        assert str(copy) in store.notices[0]
        assert copy.stat().st_mode & 0o777 == 0o600
        assert SECRET.encode() in copy.read_bytes()
        await store.delete(turn.id)
    assert traces(tmp_path) == []
    connection = sqlite3.connect(copy)
    assert connection.execute("SELECT max(id), count(*) FROM turns").fetchone() == (kept.id, 21)
    assert connection.execute("PRAGMA user_version").fetchone() == (NEXT_STEP.version - 1,)
    connection.close()


async def test_wiping_that_was_cut_short_goes_on_at_the_next_start(tmp_path: Path) -> None:
    script = f"""
import os
from qterm.feed import turns
store = await open_here()
turn = await store.append(NewTurn(None, "you", {SECRET!r}, TurnState.SENT))
await store._database.write(turns.delete, turn.id)  # killed before a step was made
os.kill(os.getpid(), 9)
"""
    async with other(tmp_path, script) as process:
        assert await process.ended() == -9
    assert traces(tmp_path)
    async with await open_in(tmp_path) as store:
        assert await store.page(None) == []
    assert traces(tmp_path) == []


async def test_another_process_that_reads_only_delays_the_wiping(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries = 0
    cut_log: Callable[..., bool] = wiping.cut_log

    def counted(connection: sqlite3.Connection) -> bool:
        nonlocal tries
        tries += 1
        return cut_log(connection)

    async def tried_twice() -> bool:
        return tries >= 2

    monkeypatch.setattr(wiping, "cut_log", counted)
    async with await open_in(tmp_path) as store:
        turn = await store.append(said(SECRET))
        reader = sqlite3.connect(tmp_path / "feed.sqlite3", isolation_level=None)
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM turns").fetchone()
        await store.delete(turn.id)
        await until(tried_twice)  # so no try keeps the store's thread for long
        await store.append(said("other work goes on"))
        reader.execute("COMMIT")
        reader.close()
    assert traces(tmp_path) == []


async def test_long_wiping_lets_other_work_through(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wiping, "_PAGES", 1)
    merges = 0
    merge: Callable[..., bool] = wiping.merge

    def counted(connection: sqlite3.Connection, *, first: bool) -> bool:
        nonlocal merges
        merges += 1
        return merge(connection, first=first)

    monkeypatch.setattr(wiping, "merge", counted)
    async with await open_in(tmp_path) as store:
        await fill(store, 60)
        turn = await store.append(said(SECRET))
        await store.delete(turn.id)
        await store.page(None)
        then = merges
    assert then < merges  # the page did not have to wait for all of it
    assert traces(tmp_path) == []
