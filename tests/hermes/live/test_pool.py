"""Which process serves a turn, and how many there are."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from qterm.hermes.live.peer import CannotStart, Held, Peer, start_peer
from qterm.hermes.live.pool import KEPT, Pool
from tests.hermes.fakes import environ, is_gone
from tests.hermes.live.stage import Stage, until


@pytest.fixture
async def pool(stage: Stage) -> AsyncIterator[Pool]:
    stage.open()
    known = await stage.spawn.probe()

    async def start(folder: Path) -> Peer:
        return await start_peer(stage.fake.place, known, environ(stage.folder), folder, None)

    made = Pool(start, lambda: Path(tempfile.mkdtemp(dir=stage.folder)), idle=0.3)
    yield made
    await made.close()


async def test_the_one_that_holds_a_session_is_preferred(pool: Pool) -> None:
    first, second = await pool.take(), await pool.take()
    first.held["s"] = Held("s")
    for peer in (first, second):
        pool.give_back(peer)
    assert await pool.take(session="s", begins=False) is first
    pool.give_back(first)
    first.spoil("s")
    assert await pool.take(session="s", begins=False) is second
    assert await pool.take(session="s", begins=False) not in {first, second}


async def test_a_session_begins_where_its_folder_is(pool: Pool, tmp_path: Path) -> None:
    home = await pool.take()
    pool.give_back(home)
    there = await pool.take(folder=tmp_path)
    assert there is not home and there.folder == tmp_path
    pool.give_back(there)
    assert await pool.take() is home
    (home.folder / "AGENTS.md").write_text("what a session left there")
    pool.give_back(home)
    assert await pool.take() not in {home, there}
    assert await pool.take(session="any", begins=False) in {home, there}


async def test_idle_ones_are_ended_but_for_a_few(pool: Pool) -> None:
    peers = [await pool.take() for _ in range(4)]
    for peer in peers:
        pool.give_back(peer)
    await until(lambda: sum(is_gone(peer.child.pid) for peer in peers) == 4 - KEPT)
    assert len(pool.peers) == KEPT
    await until(lambda: sum(peer.folder.exists() for peer in peers) == KEPT)


async def test_one_that_is_started_ahead_is_waited_for(pool: Pool) -> None:
    starting = asyncio.create_task(pool.start_spare())
    await asyncio.sleep(0)
    taken = await pool.take(session="s", begins=False)
    assert taken is await starting


async def test_what_was_left_in_its_folder_is_kept(pool: Pool) -> None:
    peer = await pool.take()
    kept = peer.folder / "report.txt"
    kept.write_text("words")
    await pool.let_go(peer)
    assert kept.read_text() == "words"


async def test_a_closed_pool_gives_none(pool: Pool) -> None:
    peer = await pool.take()
    await pool.close()
    assert is_gone(peer.child.pid)
    with pytest.raises(CannotStart):
        await pool.take()
