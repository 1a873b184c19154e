from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from qterm.feed import store as store_module
from qterm.feed import watching
from qterm.feed.source import FeedChange, FeedError, TurnChange
from qterm.feed.store import Store
from tests.feed.helpers import PATIENCE, open_in, other, said


async def following(watcher: AsyncIterator[FeedChange]) -> FeedChange:
    async with asyncio.timeout(PATIENCE):
        return await anext(watcher)


async def test_a_watcher_sees_only_what_comes_after_it(store: Store) -> None:
    old = await store.append(said("before"))
    await store.add_fact("before")
    await store.set_mode("before")
    watcher = store.watch()
    new = await store.append(said("after"))
    assert await following(watcher) == FeedChange(turns=(new,))
    old = await store.hide(old.id)
    assert await following(watcher) == FeedChange(turns=(old,))


async def test_every_kind_of_change_is_told(store: Store) -> None:
    turn = await store.append(said("x"))
    gone = await store.append(said("y"))
    watcher = store.watch()
    changed = await store.update(turn.id, TurnChange(text="z"))
    await store.delete(gone.id)
    assert await following(watcher) == FeedChange(turns=(changed,), deleted=(gone.id,))
    await store.add_fact("likes tea")
    assert await following(watcher) == FeedChange(facts=True)
    await store.set_mode("Deep work")
    assert await following(watcher) == FeedChange(mode=True)


async def test_several_watchers_each_get_everything(store: Store) -> None:
    watchers = [store.watch() for _ in range(3)]
    turns = [await store.append(said(f"{n}")) for n in range(3)]
    for watcher in watchers:
        seen: list[int] = []
        while len(seen) < 3:
            seen += [turn.id for turn in (await following(watcher)).turns]
        assert seen == [turn.id for turn in turns]


async def test_own_changes_do_not_wait_for_the_next_look(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_module, "WATCH_SECONDS", PATIENCE * 10)
    watcher = store.watch()
    following_it = asyncio.create_task(following(watcher))
    await store.page(None)
    turn = await store.append(said("x"))
    assert await following_it == FeedChange(turns=(turn,))
    fact = await store.add_fact("y")
    assert await following(watcher) == FeedChange(facts=True)
    await store.remove_fact(fact.id)
    assert await following(watcher) == FeedChange(facts=True)


async def test_many_changes_come_in_batches_without_loss(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watching, "BATCH", 3)
    watcher = store.watch()
    turns = [await store.append(said(f"{n}")) for n in range(7)]
    await store.delete(turns[0].id)
    await store.add_fact("at the end")
    seen: list[int] = []
    deleted: list[int] = []
    facts = 0
    while not facts:
        change = await following(watcher)
        assert len(change.turns) + len(change.deleted) <= 3
        seen += [turn.id for turn in change.turns]
        deleted += change.deleted
        facts += change.facts
    assert sorted(seen) == [turn.id for turn in turns[1:]]
    assert deleted == [turns[0].id]


async def test_another_process_is_seen_too(store: Store) -> None:
    assert isinstance(store.path, Path)
    watcher = store.watch()
    script = """
store = await open_here()
turn = await store.append(NewTurn(None, "moneypenny", "from afar", TurnState.SENT))
await heard()
await store.delete(turn.id)
await store.close()
"""
    async with other(store.path.parent, script) as process:
        (turn,) = (await following(watcher)).turns
        assert turn.text == "from afar"
        process.say("go on")
        assert await following(watcher) == FeedChange(deleted=(turn.id,))
        assert await process.ended() == 0


async def test_a_change_whose_caller_gave_up_is_told_all_the_same(store: Store) -> None:
    watcher = store.watch()
    writing = asyncio.create_task(store.append(said("x")))
    await asyncio.sleep(0)  # handed in, not done
    writing.cancel()
    await asyncio.wait({writing})
    turn = await store.append(said("y"))
    seen: list[str] = []
    while "y" not in seen:
        seen += [found.text for found in (await following(watcher)).turns]
    stored = [found.text for found in await store.page(None)]
    assert seen == stored
    assert turn.text == "y"


async def test_closing_ends_the_watchers_and_every_later_call_says_so(tmp_path: Path) -> None:
    store = await open_in(tmp_path)
    watcher = store.watch()
    ending = asyncio.create_task(following(watcher))
    never_begun = store.watch()
    await store.close()
    with pytest.raises(StopAsyncIteration):
        await ending
    with pytest.raises(StopAsyncIteration):
        await following(never_begun)
    await store.close()
    with pytest.raises(FeedError, match="closed"):
        await store.page(None)
    with pytest.raises(FeedError, match="closed"):
        store.watch()
