from __future__ import annotations

import pytest

from qterm.feed.source import NewTurn, TurnChange
from qterm.feed.store import Store
from qterm.model import TurnState
from tests.feed.helpers import said


async def texts(store: Store, wanted: str, task_id: str | None = None) -> list[str]:
    return [turn.text for turn in await store.search(wanted, task_id=task_id)]


async def test_search_finds_pieces_newest_first(store: Store) -> None:
    await store.append(said("The deploy is green"))
    await store.append(said("Redeployed", task_id="7f3kq2ma"))
    await store.append(said("nothing here"))
    assert await texts(store, "DEPLOY") == ["Redeployed", "The deploy is green"]
    assert await texts(store, " deploy ") == ["Redeployed", "The deploy is green"]
    assert await texts(store, "deploy", "7f3kq2ma") == ["Redeployed"]
    assert await texts(store, "gr") == ["The deploy is green"]
    assert await texts(store, "re", "7f3kq2ma") == ["Redeployed"]
    assert len(await store.search("e", limit=1)) == 1


@pytest.mark.parametrize(
    "sign", ["%", "_", "\\", '"', "*", "'", "(", "^", "-", ":", "NEAR", "a OR b", '"" AND', "50%_"]
)
async def test_signs_of_a_query_language_are_only_signs(store: Store, sign: str) -> None:
    await store.append(said("plain words that hold nothing odd x5y"))
    await store.append(said(f"this one has <{sign}> in it"))
    assert await texts(store, sign) == [f"this one has <{sign}> in it"]


@pytest.mark.parametrize(
    "odd",
    [
        "",
        "   ",
        "\0",
        "\ud800",
        "a\0b",
        "👨‍👩‍👧‍👦",
        "日本",
        '"',
        '"""',
        pytest.param("x" * 70_000, id="long"),
    ],
)
async def test_odd_input_finds_nothing_and_raises_nothing(store: Store, odd: str) -> None:
    await store.append(said("words"))
    assert await texts(store, odd) == []


async def test_other_scripts_and_long_phrases_are_found(store: Store) -> None:
    long = "The quick brown fox. " * 40 + "END"
    for text in ("日本語とemoji 👨‍👩‍👧‍👦", "Übergrößen", long):
        await store.append(said(text))
    assert await texts(store, "日本") == ["日本語とemoji 👨‍👩‍👧‍👦"]
    assert await texts(store, "本語と") == ["日本語とemoji 👨‍👩‍👧‍👦"]
    assert await texts(store, "👨‍👩‍👧‍👦") == ["日本語とemoji 👨‍👩‍👧‍👦"]
    assert await texts(store, "ÜBERGRÖ") == ["Übergrößen"]
    assert await texts(store, long.strip()) == [long]
    assert await texts(store, long.replace("END", "AND")) == []


async def test_the_index_follows_every_change(store: Store) -> None:
    turn = await store.append(said("the first wording"))
    await store.update(turn.id, TurnChange(text="the second version"))
    assert await texts(store, "wording") == []
    assert await texts(store, "second") == ["the second version"]
    await store.delete(turn.id)
    assert await texts(store, "second") == []
    assert await texts(store, "th") == []


async def test_an_answer_is_found_once_it_has_ended(store: Store) -> None:
    reply = await store.append(NewTurn(None, "q", "beginn", TurnState.PENDING))
    await store.update(reply.id, TurnChange(text="beginning of an ans"))
    assert await texts(store, "beginning") == []
    await store.update(reply.id, TurnChange(text="beginning of an answer", state=TurnState.SENT))
    assert await texts(store, "beginning") == ["beginning of an answer"]
    await store.update(reply.id, TurnChange(text="again", state=TurnState.PENDING))
    assert await texts(store, "beginning") == []
    await store.delete(reply.id)
    assert await texts(store, "again") == []
