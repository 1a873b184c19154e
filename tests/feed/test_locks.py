from __future__ import annotations

import asyncio
import stat
from pathlib import Path

import pytest

from qterm.feed.locks import lock_file
from qterm.feed.owner import current_owner
from qterm.feed.source import FeedError, TurnChange
from qterm.feed.store import Store
from qterm.model import TurnState
from tests.feed.helpers import NOBODY, PATIENCE, open_in, other, queued, said, until

HOLD = """
store = await open_here()
turn = await store.append(
    NewTurn(None, "you", "theirs", TurnState.QUEUED, owner=current_owner())
)
tell("queued", turn.id)
await heard()
async with store.lock(None, turn.id):
    await store.claim(turn.id, current_owner())
    tell("held")
    await heard()
    await store.update(turn.id, TurnChange(state=TurnState.SENT))
tell("released")
await heard()
"""


class Waiter:
    """Somebody of this process who wants a thread's lock, and tells when it is held."""

    def __init__(self, store: Store, turn_id: int, task_id: str | None = None) -> None:
        self.held = asyncio.Event()
        self.release = asyncio.Event()
        self.turn_id = turn_id
        self.task = asyncio.create_task(self._run(store, task_id))

    async def _run(self, store: Store, task_id: str | None) -> None:
        async with store.lock(task_id, self.turn_id):
            await store.claim(self.turn_id, current_owner())
            self.held.set()
            await self.release.wait()
            await store.update(self.turn_id, TurnChange(state=TurnState.SENT))

    async def end(self) -> None:
        async with asyncio.timeout(PATIENCE):
            await self.held.wait()
            self.release.set()
            await self.task


async def looks(store: Store, times: int = 12) -> None:
    """Give waiters the occasion to take a lock they must not take: some rounds of polling."""
    for _ in range(times):
        await store.page(None)
        await asyncio.sleep(0.02)


async def test_rule_s7_turns_of_a_thread_go_one_by_one_in_the_order_of_their_ids(
    store: Store,
) -> None:
    me = current_owner()
    ids = [(await store.append(queued(me))).id for _ in range(3)]
    waiters = {turn_id: Waiter(store, turn_id) for turn_id in reversed(ids)}
    for turn_id in ids:
        async with asyncio.timeout(PATIENCE):
            await waiters[turn_id].held.wait()
        await looks(store)
        assert [w.turn_id for w in waiters.values() if w.held.is_set()] == sorted(
            ids[: ids.index(turn_id) + 1], reverse=True
        )
        await waiters[turn_id].end()


async def test_rule_s7_threads_run_side_by_side(store: Store) -> None:
    me = current_owner()
    waiters = [
        Waiter(store, (await store.append(queued(me, task_id=task_id))).id, task_id)
        for task_id in (None, "7f3kq2ma", "home", "../x")
    ]
    for waiter in waiters:
        async with asyncio.timeout(PATIENCE):
            await waiter.held.wait()
    for waiter in waiters:
        await waiter.end()


async def test_rule_s7_two_processes_take_turns(store: Store) -> None:
    folder = store.path.parent
    async with other(folder, HOLD) as process:
        assert (await process.line()).startswith("queued")
        mine = Waiter(store, (await store.append(queued(current_owner()))).id)
        await looks(store)
        assert not mine.held.is_set()  # theirs was queued first, and they live
        process.say("take it")
        assert await process.line() == "held"
        await looks(store)
        assert not mine.held.is_set()
        process.say("let go")
        assert await process.line() == "released"
        await mine.end()


async def test_rule_s7_a_killed_holder_and_a_killed_waiter_let_go(store: Store) -> None:
    folder = store.path.parent
    async with other(folder, HOLD) as holder:
        assert (await holder.line()).startswith("queued")
        holder.say("take it")
        assert await holder.line() == "held"
        async with other(folder, HOLD) as waiter:
            assert (await waiter.line()).startswith("queued")
            waiter.say("wait for it")
            mine = Waiter(store, (await store.append(queued(current_owner()))).id)
            await looks(store)
            assert not mine.held.is_set()
            waiter.process.kill()
            await waiter.ended()
        await looks(store)
        assert not mine.held.is_set()  # the first one still holds it
        holder.process.kill()
        await mine.end()
    interrupted = await store.interrupt_orphans()
    assert [turn.text for turn in interrupted] == ["theirs", "theirs"]


async def test_the_dead_are_not_waited_for(store: Store) -> None:
    await store.append(queued(NOBODY))
    await store.append(queued(None))
    await store.append(said("not queued at all"))
    await Waiter(store, (await store.append(queued(current_owner()))).id).end()


async def test_giving_up_waiting_leaves_nothing_behind(store: Store) -> None:
    me = current_owner()
    first, second, third = [(await store.append(queued(me))).id for _ in range(3)]
    holder = Waiter(store, first)
    async with asyncio.timeout(PATIENCE):
        await holder.held.wait()
    impatient = Waiter(store, second)
    await looks(store)
    impatient.task.cancel()
    await asyncio.wait({impatient.task})
    assert impatient.task.cancelled()
    await store.update(second, TurnChange(state=TurnState.STOPPED))
    last = Waiter(store, third)
    await holder.end()
    await last.end()


async def test_a_holder_that_fails_lets_go(store: Store) -> None:
    turn = await store.append(queued(current_owner()))
    with pytest.raises(ZeroDivisionError):
        async with store.lock(None, turn.id):
            raise ZeroDivisionError
    await Waiter(store, turn.id).end()


def test_lock_files_have_safe_and_different_names(tmp_path: Path) -> None:
    tasks = [None, "home", "7f3kq2ma", "7F3KQ2MA", "", "..", "a/b", "x" * 500, "\ud800", "a\0b"]
    files = [lock_file(tmp_path, task) for task in tasks]
    assert len({file.name.casefold() for file in files}) == len(tasks)
    assert all(file.parent == tmp_path and len(file.name) < 100 for file in files)


async def test_the_lock_file_is_private(store: Store) -> None:
    turn = await store.append(queued(current_owner()))
    async with store.lock(None, turn.id):
        file = lock_file(store.path.parent / "locks", None)
        assert stat.S_IMODE(file.stat().st_mode) == 0o600


async def test_a_lock_that_cannot_be_made_is_said_so(tmp_path: Path) -> None:
    async with await open_in(tmp_path) as store:
        turn = await store.append(queued(current_owner()))
        lock_file(tmp_path / "locks", None).mkdir()  # in the way, for root as well
        with pytest.raises(FeedError, match=r"lock file .* can't be opened"):
            async with store.lock(None, turn.id):
                pass


async def test_the_queue_of_a_thread_empties_as_its_turns_end(store: Store) -> None:
    turn = await store.append(queued(current_owner()))
    waiter = Waiter(store, turn.id)

    async def is_pending() -> bool:
        return [t.state for t in await store.open_turns(None)] == [TurnState.PENDING]

    await until(is_pending)
    await waiter.end()
    assert await store.open_turns(None) == []
