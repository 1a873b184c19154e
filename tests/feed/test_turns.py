from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from qterm.feed.owner import current_owner
from qterm.feed.source import FeedError, FeedSource, NewTurn, TurnChange
from qterm.feed.store import Store
from qterm.model import Degraded, Owner, TurnState
from tests.cases import cases
from tests.feed.helpers import NOBODY, open_in, queued, said


def test_the_store_is_a_feed_source(store: Store) -> None:
    source: FeedSource = store
    assert source is store


async def test_append_returns_what_is_stored(store: Store) -> None:
    first = await store.append(said("one"))
    me = current_owner()
    new = NewTurn("7f3kq2ma", "you", "two", TurnState.QUEUED, owner=me, again_of=first.id)
    second = await store.append(new)
    assert second == await store.turn(second.id)
    assert (second.task_id, second.owner, second.again_of) == ("7f3kq2ma", me, first.id)
    assert second.id > first.id
    assert await store.turn(99) is None


async def test_times_are_utc_whatever_the_clock_says(tmp_path: Path) -> None:
    there = datetime(2025, 11, 30, 10, 30, 0, 123_999, timezone(timedelta(hours=9)))
    async with await open_in(tmp_path, now=lambda: there) as store:
        turn = await store.append(said("x"))
        assert turn.created_at == datetime(2025, 11, 30, 1, 30, 0, 123_000, UTC)
        assert await store.turn(turn.id) == turn


async def test_a_deleted_newest_id_is_not_used_again(tmp_path: Path) -> None:
    async with await open_in(tmp_path) as store:
        turn = await store.append(said("x"))
        await store.delete(turn.id)
    async with await open_in(tmp_path) as store:
        assert (await store.append(said("y"))).id > turn.id


async def test_pages_go_by_id_and_thread(store: Store) -> None:
    ids = [(await store.append(said(f"{n}"))).id for n in range(6)]
    await store.append(said("elsewhere", task_id="7f3kq2ma"))

    async def page(**options: int) -> list[int]:
        return [turn.id for turn in await store.page(None, **options)]

    assert await page() == ids
    assert await page(limit=2) == ids[-2:]
    assert await page(before=ids[3], limit=2) == ids[1:3]
    assert await page(after=ids[1], limit=2) == ids[2:4]
    assert await page(after=ids[1], before=ids[3]) == [ids[2]]
    assert await page(limit=0) == []
    assert [turn.text for turn in await store.page("7f3kq2ma")] == ["elsewhere"]


async def test_export_gives_everything_in_chunks(store: Store) -> None:
    ids = [(await store.append(said(f"{n}"))).id for n in range(5)]
    await store.hide(ids[0])
    chunks = [[turn.id for turn in chunk] async for chunk in store.export(None, chunk=2)]
    assert chunks == [ids[0:2], ids[2:4], ids[4:]]


async def test_rule_c5_a_transcript_holds_what_was_said_and_is_not_hidden(store: Store) -> None:
    ids: dict[TurnState, int] = {}
    for state in TurnState:
        ids[state] = (await store.append(NewTurn(None, "you", "a long text", state))).id
    hidden = await store.append(said("hidden"))
    await store.hide(hidden.id)
    current = await store.append(said("the message being sent", "you"))

    turns, older = await store.transcript(None, before=current.id, limit=16, chars=6)
    assert [turn.id for turn in turns] == [ids[TurnState.SENT], ids[TurnState.STOPPED]]
    assert ([turn.text for turn in turns], older) == (["a long"] * 2, 0)

    await store.hide(hidden.id, hidden=False)
    turns, older = await store.transcript(None, before=current.id, limit=1, chars=100)
    assert ([turn.text for turn in turns], older) == (["hidden"], 2)
    assert await store.transcript("other", limit=16, chars=9) == ([], 0)


async def test_update_leaves_the_rest_as_it_was(store: Store) -> None:
    me = current_owner()
    turn = await store.append(queued(me, "text"))
    changed = await store.update(
        turn.id, TurnChange(reason="because", detail="why", degraded=Degraded.NO_CONTEXT)
    )
    assert (changed.text, changed.state, changed.owner) == ("text", TurnState.QUEUED, me)
    changed = await store.update(turn.id, TurnChange(state=TurnState.PENDING))
    assert changed.owner == me
    changed = await store.update(turn.id, TurnChange(state=TurnState.SENT, owner=me, elapsed=2.5))
    assert changed == await store.turn(turn.id)
    assert (changed.owner, changed.elapsed, changed.reason) == (None, 2.5, "because")
    assert changed.degraded is Degraded.NO_CONTEXT
    assert (await store.update(turn.id, TurnChange(reason=""))).reason == ""


async def test_what_is_not_there_cannot_be_changed(store: Store) -> None:
    turn = await store.append(said("x"))
    await store.delete(turn.id)
    assert await store.turn(turn.id) is None
    with pytest.raises(FeedError, match=f"Message {turn.id} was deleted"):
        await store.update(turn.id, TurnChange(text="y"))
    with pytest.raises(FeedError, match="was deleted"):
        await store.delete(turn.id)
    with pytest.raises(FeedError, match="There is no message 77 in the feed"):
        await store.hide(77)
    with pytest.raises(FeedError, match="no message"):
        await store.delete(10**30)


async def test_a_claim_makes_an_own_queued_turn_pending_once(store: Store) -> None:
    me = current_owner()
    turn = await store.append(queued(me))
    assert not await store.claim(turn.id, NOBODY)
    assert await store.claim(turn.id, me)
    assert [(t.id, t.state, t.owner) for t in await store.open_turns(None)] == [
        (turn.id, TurnState.PENDING, me)
    ]
    assert not await store.claim(turn.id, me)
    assert not await store.claim(99, me)


async def test_deleting_a_question_leaves_its_answer_and_the_draft(store: Store) -> None:
    question = await store.append(said("why", "you"))
    answer = await store.append(NewTurn(None, "q", "so", TurnState.SENT, reply_to=question.id))
    await store.save_draft(None, "why not")
    await store.delete(question.id)
    assert await store.page(None) == [answer]
    assert await store.draft(None) == "why not"


async def test_interrupting_leaves_living_processes_alone(store: Store) -> None:
    me = current_owner()
    mine = await store.append(queued(me))
    mine_reply = await store.append(
        NewTurn(None, "q", "par", TurnState.PENDING, reply_to=mine.id)  # no owner of its own
    )
    waiting = await store.append(queued(NOBODY))
    unowned = await store.append(queued(None))
    asked = await store.append(NewTurn(None, "you", "?", TurnState.PENDING, owner=NOBODY))
    reply = await store.append(
        NewTurn("7f3kq2ma", "q", "half an ans", TurnState.PENDING, reply_to=asked.id)
    )
    reborn = await store.append(queued(Owner(me.pid, "an earlier start")))

    found = {turn.id: turn for turn in await store.interrupt_orphans()}
    assert set(found) == {waiting.id, unowned.id, asked.id, reply.id, reborn.id}
    assert {turn.state for turn in found.values()} == {TurnState.INTERRUPTED}
    assert {turn.owner for turn in found.values()} == {None}
    assert found[waiting.id].reason == "qterm ended before this was sent."
    assert found[asked.id].reason == "qterm ended before Q had answered."
    assert found[reply.id].text == "half an ans"
    assert [turn.id for turn in await store.open_turns(None)] == [mine.id, mine_reply.id]
    assert await store.interrupt_orphans() == []


async def test_nul_and_lone_surrogates_become_replacement_signs(store: Store) -> None:
    odd = "a\0b\ud800c\udfff"
    mended = "a\ufffdb\ufffdc\ufffd"
    turn = await store.append(NewTurn(None, "you", odd, TurnState.PENDING))
    assert turn.text == mended
    changed = await store.update(turn.id, TurnChange(text=odd + "!", reason=odd, detail=odd))
    assert (changed.text, changed.reason, changed.detail) == (mended + "!", mended, mended)
    assert await store.turn(turn.id) == changed
    await store.save_draft(None, odd)
    assert await store.draft(None) == mended
    assert (await store.add_fact(odd)).text == mended
    mode = await store.set_mode(odd)
    assert mode is not None
    assert mode.text == mended


async def test_the_texts_of_the_cases_come_back_as_they_were(store: Store) -> None:
    for case in cases("text.json"):
        text = case["text"].replace("\0", "\ufffd")
        turn = await store.append(said(case["text"]))
        assert turn.text == text
        assert turn == await store.turn(turn.id)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(text=st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=80))
async def test_any_text_comes_back_and_is_found(store: Store, text: str) -> None:
    turn = await store.append(said(text))
    found = await store.turn(turn.id)
    assert found is not None
    assert found.text == text
    hits = await store.search(text, limit=1)
    assert [hit.id for hit in hits] == ([turn.id] if text.strip() else [])


async def test_hidden_turns_are_found_from_an_id_on(store: Store) -> None:
    turns = [await store.append(said(f"turn {number}")) for number in range(6)]
    elsewhere = await store.append(said("in a task", task_id="7f3kq2ma"))
    open_one = await store.append(queued(NOBODY))
    for turn in (turns[0], turns[2], turns[4], elsewhere, open_one):
        await store.hide(turn.id)
    found = await store.hidden(None, since=turns[1].id, limit=5, chars=4)
    assert [(turn.id, turn.text) for turn in found] == [
        (turns[2].id, "turn"),
        (turns[4].id, "turn"),
    ]
    newest = await store.hidden(None, since=0, limit=1, chars=100)
    assert [turn.text for turn in newest] == ["turn 4"]
