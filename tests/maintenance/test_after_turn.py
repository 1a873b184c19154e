"""A turn and the gate: when it is asked, and that neither waits for nor harms the other."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
import pytest_asyncio

from qterm.conversation import Conversation
from qterm.events import Event, Finished
from qterm.feed.owner import current_owner
from qterm.feed.source import FeedError, TurnChange
from qterm.feed.store import Store, open_store
from qterm.frame import ChatFrame
from qterm.hermes.way import Failed, FailureKind, Replied, Stopped, TextDelta
from qterm.maintenance.after_turn import InThread
from qterm.maintenance.report import Outcome, Report, Step, StepState
from qterm.maintenance.run import Maintenance
from qterm.model import Turn, TurnState
from qterm.services import open_services
from qterm.settings.schema import Settings
from tests.maintenance.homes import Stage, tree
from tests.test_imports import loaded_by
from tests.ways import ScriptedWay

BOUND = 20.0


@pytest_asyncio.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    opened = await open_store(tmp_path / "feed.db", locks_dir=tmp_path / "locks")
    yield opened
    await opened.close()


def make(store: Store, way: ScriptedWay, tmp_path: Path) -> Conversation:
    return Conversation(store, way, Settings(), current_owner(), tmp_path)


async def say(conversation: Conversation, text: str) -> list[Event]:
    return [event async for event in conversation.send(ChatFrame(text=text))]


async def until(reached: Callable[[], object]) -> None:
    end = time.monotonic() + BOUND
    while not reached():
        assert time.monotonic() < end, "it did not come about"
        await asyncio.sleep(0.01)


def end_of(events: list[Event]) -> Turn:
    last = events[-1]
    assert isinstance(last, Finished)
    return last.turn


class Watched:
    """A gate over a stage, told of what its passes did."""

    def __init__(self, stage: Stage, conversation: Conversation) -> None:
        self.reports: list[Report] = []
        gate = stage.gate()
        self.after = InThread(lambda: gate, self.reports.append)
        conversation.after_turn = self.after.begin


async def test_case_9_off_a_turn_is_as_without_the_gate(store: Store, tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    stage = Stage(tmp_path / "there", on=False)
    conversation = make(store, ScriptedWay(), tmp_path)
    plain = [type(event) for event in await say(conversation, "without")]
    before = tree(tmp_path / "there")
    watched = Watched(stage, conversation)
    events = await say(conversation, "with")
    await until(lambda: not watched.after.is_running)
    assert [type(event) for event in events] == plain
    assert tree(tmp_path / "there") == before
    assert watched.reports == []


async def test_case_10_the_reply_is_stored_and_told_before_the_pass_starts(
    store: Store, tmp_path: Path
) -> None:
    stage = Stage(tmp_path)
    conversation = make(store, ScriptedWay(), tmp_path)
    order: list[str] = []
    found: list[Turn] = []
    loop = asyncio.get_running_loop()

    def steps(stopping: threading.Event) -> tuple[Step, ...]:
        order.append("pass")
        page = asyncio.run_coroutine_threadsafe(store.page(None, limit=10), loop).result(BOUND)
        found.extend(page)
        return stage.run_pass(stopping)

    reports: list[Report] = []
    gate = Maintenance(stage.loaded, stage.environ, now=lambda: stage.moment, steps=steps)
    after = InThread(lambda: gate, reports.append)

    def begin() -> None:
        after.begin()
        time.sleep(0.1)  # a pass that had begun by now would come first

    conversation.after_turn = begin
    async for event in conversation.send(ChatFrame(text="hello")):
        order += ["told"] if isinstance(event, Finished) else []
    await until(lambda: reports)
    assert order == ["told", "pass"]
    assert [(turn.text, turn.state) for turn in found] == [
        ("hello", TurnState.SENT),
        ("Hi.", TurnState.SENT),
    ]


async def test_case_11_a_pass_that_fails_does_not_touch_the_turn(
    store: Store, tmp_path: Path
) -> None:
    stage = Stage(tmp_path, steps=(Step("hive-mind", StepState.FAILED, "It is locked."),))
    conversation = make(store, ScriptedWay(), tmp_path)
    watched = Watched(stage, conversation)
    assert end_of(await say(conversation, "hello")).state is TurnState.SENT
    await until(lambda: watched.reports)
    assert watched.reports[0].outcome is Outcome.FAILED
    assert [turn.text for turn in await store.page(None, limit=10)] == ["hello", "Hi."]


async def test_a_gate_that_breaks_does_not_touch_the_turn(store: Store, tmp_path: Path) -> None:
    conversation = make(store, ScriptedWay(), tmp_path)

    def broken() -> None:
        raise RuntimeError("[/] boom")

    conversation.after_turn = broken
    assert end_of(await say(conversation, "hello")).state is TurnState.SENT


@pytest.mark.parametrize(
    ("script", "state"),
    [
        ([Replied("")], TurnState.SENT),
        ([TextDelta("x"), Failed(FailureKind.CRASHED, "It broke.")], TurnState.FAILED),
        ([Failed(FailureKind.CRASHED, "It broke.")], TurnState.FAILED),
        ([Stopped("half")], TurnState.STOPPED),
    ],
)
async def test_case_12_every_turn_that_ended_asks_the_gate(
    store: Store, tmp_path: Path, script: list[object], state: TurnState
) -> None:
    stage = Stage(tmp_path)
    conversation = make(store, ScriptedWay(lambda _request: list(script)), tmp_path)  # type: ignore[arg-type]
    watched = Watched(stage, conversation)
    assert end_of(await say(conversation, "hello")).state is state
    await until(lambda: watched.reports)
    assert len(stage.passes) == 1


async def test_case_13_where_saving_failed_the_gate_is_not_asked(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    conversation = make(store, ScriptedWay(), tmp_path)
    asked: list[int] = []
    conversation.after_turn = lambda: asked.append(1)
    real = Store.update
    failing = True
    monkeypatch.setattr("qterm.exchange.STORE_AGAIN", 0.01)

    async def full(self: Store, turn_id: int, change: TurnChange) -> Turn:
        if failing and change.state is TurnState.SENT:
            assert asked == []
            raise FeedError("The disk is full: make room.")
        return await real(self, turn_id, change)

    monkeypatch.setattr(Store, "update", full)
    events: list[Event] = []

    async def listen() -> None:
        events.extend(await say(conversation, "hello"))

    task = asyncio.create_task(listen())
    for _ in range(30):
        await asyncio.sleep(0.01)
    assert asked == []
    failing = False
    await asyncio.wait_for(task, BOUND)
    assert end_of(events).state is TurnState.SENT
    assert asked == [1], "once it is stored after all"


async def test_a_turn_that_is_cut_off_by_closing_asks_nothing(store: Store, tmp_path: Path) -> None:
    way = ScriptedWay()
    way.hold()
    conversation = make(store, way, tmp_path)
    asked: list[int] = []
    conversation.after_turn = lambda: asked.append(1)
    task = asyncio.create_task(say(conversation, "hello"))
    await asyncio.wait_for(way.started.wait(), BOUND)
    closing = asyncio.create_task(conversation.close())
    await asyncio.sleep(0)
    way.gate.set()
    await asyncio.wait_for(closing, BOUND)
    await asyncio.wait_for(asyncio.wait({task}), BOUND)
    assert asked == []


async def test_the_next_turn_never_waits_for_a_pass(store: Store, tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    go_on = threading.Event()
    ran: list[int] = []

    def slow(stopping: threading.Event) -> tuple[Step, ...]:
        ran.append(1)
        go_on.wait(BOUND)
        return stage.run_pass(stopping)

    reports: list[Report] = []
    gate = Maintenance(stage.loaded, stage.environ, now=lambda: stage.moment, steps=slow)
    after = InThread(lambda: gate, reports.append)
    conversation = make(store, ScriptedWay(), tmp_path)
    conversation.after_turn = after.begin
    for number in range(3):
        assert end_of(await say(conversation, f"message {number}")).state is TurnState.SENT
    await until(lambda: ran)
    assert reports == []
    go_on.set()
    await until(lambda: reports)
    assert ran == [1], "turns that end meanwhile ask for no second pass"
    await say(conversation, "later")
    await until(lambda: not after.is_running)
    assert ran == [1]


async def test_closing_ends_the_pass_and_asks_no_more(store: Store, tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    began: list[int] = []
    ended: list[bool] = []

    def slow(stopping: threading.Event) -> tuple[Step, ...]:
        began.append(1)
        ended.append(stopping.wait(BOUND))
        return (Step("hive-mind", StepState.FAILED, "It was ended."),)

    reports: list[Report] = []
    gate = Maintenance(stage.loaded, stage.environ, now=lambda: stage.moment, steps=slow)
    after = InThread(lambda: gate, reports.append)
    after.begin()
    await until(lambda: began)
    await after.close()
    assert ended == [True]
    after.begin()
    assert not after.is_running
    await asyncio.sleep(0)
    assert reports == []


@pytest.mark.parametrize("has_screen", [True, False])
async def test_a_rehearsal_never_asks_the_gate(tmp_path: Path, has_screen: bool) -> None:
    (tmp_path / "there").mkdir()
    stage = Stage(tmp_path / "there")
    before = tree(stage.home)
    services = await open_services(
        stage.loaded(), environ=stage.environ, is_demo=True, has_screen=has_screen
    )
    try:
        services.conversation.way = ScriptedWay()
        assert end_of(await say(services.conversation, "hello")).state is TurnState.SENT
        assert services.after_turn is None
    finally:
        await services.close()
    assert tree(stage.home) == before


def test_off_nothing_of_the_pass_is_loaded() -> None:
    """What a turn loads of it on the loop is next to nothing."""
    names = loaded_by("import qterm.services\nimport qterm.maintenance.after_turn")
    assert {name for name in names if name.startswith("qterm.maintenance.")} == {
        "qterm.maintenance.after_turn"
    }
