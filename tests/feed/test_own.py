"""The operator's own messages, one after the other: what up and down walk through."""

from __future__ import annotations

import pytest

from qterm.feed.source import NewTurn, TurnChange
from qterm.feed.store import Store
from qterm.model import TaskState, TurnState
from tests.feed.helpers import said


async def walk(store: Store, task_id: str | None) -> list[str]:
    """From the newest to the oldest and back; what was met on the way up."""
    met: list[tuple[int, str]] = []
    before = None
    while (turn := await store.own_message(task_id, before=before)) is not None:
        met.append((turn.id, turn.text))
        before = turn.id
    back = met[-1:]
    while back and (turn := await store.own_message(task_id, after=back[-1][0])) is not None:
        back.append((turn.id, turn.text))
    assert back == met[::-1]
    return [text for _, text in met]


async def test_only_the_operators_messages_of_this_thread_are_met(store: Store) -> None:
    task = await store.add_task("a task", "/")
    assert await walk(store, None) == []
    await store.append(said("one", "you"))
    await store.append(said("an answer", "q"))
    await store.append(said("elsewhere", "you", task.id))
    await store.append(said("from afar", "mallory"))
    await store.append(said("two", "you"))
    assert await walk(store, None) == ["two", "one"]
    assert await walk(store, task.id) == ["elsewhere"]


async def test_the_earlier_runs_of_a_task_are_part_of_its_thread(store: Store) -> None:
    task = await store.add_task("a task", "/")
    await store.append(said("first run", "you", task.id))
    await store.end_task(task.id, TaskState.DONE)
    await store.reopen_task(task.id)
    await store.append(said("second run", "you", task.id))
    assert await walk(store, task.id) == ["second run", "first run"]


@pytest.mark.parametrize("state", TurnState)
async def test_a_message_is_met_whatever_became_of_it(store: Store, state: TurnState) -> None:
    turn = await store.append(NewTurn(None, "you", "words", TurnState.QUEUED))
    await store.update(turn.id, TurnChange(state=state))
    await store.hide(turn.id)
    assert await walk(store, None) == ["words"]


async def test_a_deleted_one_is_gone_and_one_sent_again_counts_once(store: Store) -> None:
    first = await store.append(said("first", "you"))
    await store.append(NewTurn(None, "you", "first", TurnState.SENT, again_of=first.id))
    gone = await store.append(said("a secret", "you"))
    await store.delete(gone.id)
    assert await walk(store, None) == ["first"]
    beside = await store.own_message(None, before=gone.id)
    assert beside is not None
    assert beside.id == first.id
