"""Tasks in the store: rules S1, S2, S3 and S5 as far as they are about what is kept."""

from __future__ import annotations

import re

import pytest

from qterm.feed import tasks
from qterm.feed.source import FeedError, NewTurn, TurnChange
from qterm.feed.store import Store
from qterm.model import QTERM, Session, TaskState, TurnState

SESSION = Session("20261130_155841_cae3a2", "here:/home/alex/.hermes", "q-task-x")


async def test_a_task(store: Store) -> None:
    task = await store.add_task("  Ship the\nimporter ", "/srv")
    assert re.fullmatch(r"[a-z2-7]{8}", task.id), "rule S1"
    assert (task.title, task.state, task.cwd) == ("Ship the importer", TaskState.OPEN, "/srv")
    assert (task.run, task.session, task.session_name) == (1, None, f"q-task-{task.id}")
    assert await store.task(task.id) == task
    assert await store.tasks() == [task]
    assert await store.task("unknown1") is None


async def test_an_id_is_never_used_twice(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    ids = iter(["aaaaaaaa", "aaaaaaaa", "aaaaaaaa", "bbbbbbbb"])
    monkeypatch.setattr(tasks, "new_id", lambda: next(ids))
    assert [(await store.add_task(title, "/")).id for title in ("one", "two")] == [
        "aaaaaaaa",
        "bbbbbbbb",
    ]


@pytest.mark.parametrize("title", ["", " \n", "\u200b \u202e"])
async def test_a_task_needs_a_title(store: Store, title: str) -> None:
    with pytest.raises(FeedError, match="title"):
        await store.add_task(title, "/")
    task = await store.add_task("x", "/")
    with pytest.raises(FeedError, match="title"):
        await store.rename_task(task.id, title)


async def test_a_run_ends_only_with_reopening(store: Store) -> None:
    """S2: another run, another name, no session."""
    task = await store.add_task("x", "/")
    await store.bind(task.id, 1, SESSION)
    with pytest.raises(FeedError, match="open"):
        await store.reopen_task(task.id)
    done = await store.end_task(task.id, TaskState.DONE)
    assert (done.run, done.session) == (1, SESSION), "finishing keeps the session"
    with pytest.raises(FeedError, match="done already"):
        await store.end_task(task.id, TaskState.CANCELLED)
    again = await store.reopen_task(task.id)
    assert (again.state, again.run, again.session) == (TaskState.OPEN, 2, None)
    assert again.session_name == f"q-task-{task.id}-r2"


async def test_a_binding_belongs_to_its_run(store: Store) -> None:
    """An answer that comes late does not bind the next run to the old session."""
    task = await store.add_task("x", "/")
    await store.end_task(task.id, TaskState.CANCELLED)
    await store.reopen_task(task.id)
    assert (await store.bind(task.id, 1, SESSION)).session is None
    assert (await store.bind(task.id, 2, SESSION)).session == SESSION


async def test_a_lost_session(store: Store) -> None:
    """S5: the binding goes, the run's number stays, and the loss is counted."""
    task = await store.add_task("x", "/")
    await store.bind(task.id, 1, SESSION)
    assert (await store.unbind(task.id, 1, "another")).session == SESSION
    lost = await store.unbind(task.id, 1, SESSION.id)
    assert (lost.session, lost.lost, lost.run) == (None, 1, 1)


async def test_turns_belong_to_a_run(store: Store) -> None:
    task = await store.add_task("x", "/")

    async def say(text: str, persona: str = "you") -> int:
        return (await store.append(NewTurn(task.id, persona, text, TurnState.SENT))).run

    assert await say("one") == 1
    assert await say("two") == 1
    assert await say("a line of qterm's", QTERM) == 1
    await store.end_task(task.id, TaskState.DONE)
    await store.reopen_task(task.id)
    assert await say("three") == 2
    home = await store.append(NewTurn(None, "you", "at home", TurnState.SENT))
    assert home.run == 0
    for run, texts in [(1, ["one", "two"]), (2, ["three"])]:
        said, older = await store.transcript(task.id, run=run, limit=16, chars=100)
        assert ([turn.text for turn in said], older) == (texts, 0)
    assert [turn.text for turn in (await store.transcript(None, limit=16, chars=100))[0]] == [
        "at home"
    ]
    found = await store.task(task.id)
    assert found is not None
    assert found.turns == 1, "the turns of this run, without qterm's own lines"


async def test_the_order_of_the_list_and_what_is_unread(store: Store) -> None:
    first, second, done = [await store.add_task(title, "/") for title in ("a", "b", "c")]
    turn = await store.append(NewTurn(first.id, "q", "hello", TurnState.SENT))
    await store.end_task(done.id, TaskState.DONE)
    assert [task.id for task in await store.tasks()] == [first.id, second.id, done.id]
    assert [task.is_unread for task in await store.tasks()] == [True, False, False]
    await store.append(NewTurn(second.id, "you", "mine", TurnState.SENT))
    assert not any(task.is_unread for task in await store.tasks() if task.id == second.id)
    await store.mark_seen(first.id, turn.id)
    await store.mark_seen(first.id, 0)
    assert not any(task.is_unread for task in await store.tasks())


async def test_watchers_see_tasks(store: Store) -> None:
    changes = store.watch()
    await store.add_task("x", "/")
    assert (await anext(changes)).tasks


async def test_an_unknown_task(store: Store) -> None:
    for call in (
        store.rename_task("nothere1", "x"),
        store.end_task("nothere1", TaskState.DONE),
        store.reopen_task("nothere1"),
        store.bind("nothere1", 1, SESSION),
    ):
        with pytest.raises(FeedError, match="no task “nothere1”"):
            await call


async def test_the_last_word(store: Store) -> None:
    """Who said the newest thing; not a note of qterm's, nor an answer that has no words yet."""
    task = await store.add_task("x", "/")
    assert task.last is None
    await store.append(NewTurn(task.id, "you", "w" * 1_000, TurnState.SENT))
    (found,) = await store.tasks()
    assert found.last is not None
    assert (found.last.persona, found.last.text) == ("you", "w" * tasks.WORD_CHARS)
    await store.append(NewTurn(task.id, QTERM, "a note", TurnState.SENT))
    reply = await store.append(NewTurn(task.id, "q", "", TurnState.PENDING))
    (found,) = await store.tasks()
    assert found.last is not None
    assert found.last.persona == "you"
    await store.update(reply.id, TurnChange(text="Yes.", state=TurnState.SENT))
    (found,) = await store.tasks()
    assert found.last is not None
    assert (found.last.persona, found.last.text) == ("q", "Yes.")
    assert found.last.said_at == reply.created_at
