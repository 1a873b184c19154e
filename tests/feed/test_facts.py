from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from qterm.feed.source import FeedError
from qterm.feed.store import Store
from qterm.model import Fact, Mode
from tests.feed.helpers import open_in


async def shown(store: Store) -> list[str]:
    return [f"{'*' if f.pinned else '-'}{f.position} {f.text}" for f in await store.facts()]


async def test_facts_keep_the_operators_order_with_the_pinned_first(store: Store) -> None:
    loose = await store.add_fact("loose", pinned=False)
    assert loose == Fact(loose.id, "loose", pinned=False, position=1)
    a, b, c = [await store.add_fact(text) for text in "abc"]
    assert await shown(store) == ["*1 a", "*2 b", "*3 c", "-1 loose"]

    assert await store.move_fact(c.id, 1) == await store.facts()
    assert await shown(store) == ["*1 c", "*2 a", "*3 b", "-1 loose"]
    await store.move_fact(c.id, 99)
    await store.move_fact(b.id, -5)
    assert await shown(store) == ["*1 b", "*2 a", "*3 c", "-1 loose"]

    await store.move_fact(a.id, 0)
    assert await shown(store) == ["*1 a", "*2 b", "*3 c", "-1 loose"]
    await store.move_fact(a.id, 2)

    assert (await store.pin_fact(a.id, pinned=False)).position == 2
    assert await shown(store) == ["*1 b", "*2 c", "-1 loose", "-2 a"]
    assert (await store.pin_fact(b.id)).position == 1  # pinned already: it stays where it is
    assert (await store.pin_fact(loose.id)).position == 3

    assert (await store.edit_fact(c.id, "see")).text == "see"
    removed = await store.remove_fact(b.id)
    assert (removed.text, removed.position) == ("b", 1)
    assert await shown(store) == ["*1 see", "*2 loose", "-1 a"]


async def test_a_fact_that_is_not_there_is_said_so(store: Store) -> None:
    for call in (
        store.edit_fact(5, "x"),
        store.pin_fact(5),
        store.move_fact(5, 1),
        store.remove_fact(5),
    ):
        with pytest.raises(FeedError, match="There is no fact 5"):
            await call
    with pytest.raises(FeedError, match="needs some words"):
        await store.add_fact(" \n")


async def test_the_mode_keeps_its_time_in_utc(store: Store) -> None:
    assert await store.mode() is None
    until = datetime(2025, 11, 30, 15, 0, tzinfo=timezone(timedelta(hours=1)))
    mode = await store.set_mode("Deep work", until)
    assert mode == Mode("Deep work", datetime(2025, 11, 30, 14, 0, tzinfo=UTC))
    assert await store.mode() == mode
    assert await store.set_mode("Lunch") == Mode("Lunch")
    assert await store.set_mode(None) is None
    assert await store.mode() is None


async def test_a_draft_belongs_to_its_thread_and_lasts(tmp_path: Path) -> None:
    async with await open_in(tmp_path) as store:
        await store.save_draft(None, "home")
        await store.save_draft("7f3kq2ma", "first")
        await store.save_draft("7f3kq2ma", "task")
    async with await open_in(tmp_path) as store:
        assert await store.draft(None) == "home"
        assert await store.draft("7f3kq2ma") == "task"
        await store.save_draft(None, "")
        assert await store.draft(None) == ""
        assert await store.draft("other") == ""
