"""Task threads in the Conversation: rules S1 to S8, with a scripted way."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from qterm.conversation import Conversation, SendError
from qterm.events import Event, Finished, TakenBack
from qterm.feed.owner import current_owner
from qterm.feed.source import FeedError, NewTurn
from qterm.feed.store import Store, open_store
from qterm.frame import ChatFrame
from qterm.hermes.way import (
    Failed,
    FailureKind,
    HermesEvent,
    HermesRequest,
    Replied,
    SessionRecord,
    SessionSeen,
    SessionState,
    Stopped,
    TextDelta,
)
from qterm.model import QTERM, YOU, Degraded, Session, Task, TaskState, TurnState
from qterm.settings.schema import Settings
from tests.ways import ScriptedWay

ID = "20261130_155841_cae3a2"
MOVED = "20261130_160314_50382d"
HERE = "here:/home/alex/.hermes"


@pytest_asyncio.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    opened = await open_store(tmp_path / "feed.db", locks_dir=tmp_path / "locks")
    yield opened
    await opened.close()


@pytest_asyncio.fixture
async def task(store: Store, tmp_path: Path) -> Task:
    return await store.add_task("Ship the importer", str(tmp_path))


def replies(session: str | None = ID, text: str = "Done.") -> list[HermesEvent]:
    return [TextDelta(text), Replied(text, session)]


def make(store: Store, way: ScriptedWay, tmp_path: Path) -> Conversation:
    return Conversation(store, way, Settings(), current_owner(), tmp_path / "home")


async def run(conversation: Conversation, task: Task, text: str) -> list[Event]:
    frame = ChatFrame(text=text, task_id=task.id, context="ignored")
    return [event async for event in conversation.send(frame)]


def end_of(events: list[Event]) -> Finished:
    last = events[-1]
    assert isinstance(last, Finished)
    return last


async def now(store: Store, task: Task) -> Task:
    found = await store.task(task.id)
    assert found is not None
    return found


async def lines(store: Store, task: Task) -> list[str]:
    """qterm's own lines in the thread."""
    return [turn.text for turn in await store.page(task.id) if turn.persona == QTERM]


async def test_a_session_that_lasts(store: Store, tmp_path: Path, task: Task) -> None:
    """S1, S3, S6, S8: made by the first message, named after it, continued by its id."""
    way = ScriptedWay(lambda _: replies())
    conversation = make(store, way, tmp_path)
    assert (await now(store, task)).session is None, "not before the first message (S1)"
    await store.add_fact("a fact")
    await run(conversation, task, "one")
    assert (await now(store, task)).session == Session(ID, HERE, f"q-task-{task.id}")
    await run(make(store, way, tmp_path), task, "two")
    first, second = way.requests
    assert (first.prompt, first.session, first.is_task) == ("one", None, True)
    assert (second.prompt, second.session, second.is_task) == ("two", ID, True), "no block (S6)"
    assert first.cwd == tmp_path, "hermes runs in the task's folder (S8)"
    assert first.timeout is None


async def test_a_home_turn_knows_nothing_of_a_task(
    store: Store, tmp_path: Path, task: Task
) -> None:
    way = ScriptedWay(lambda _: replies())
    conversation = make(store, way, tmp_path)
    await run(conversation, task, "secret of the task")
    async for _ in conversation.send(ChatFrame(text="at home")):
        pass
    assert (way.requests[1].prompt, way.requests[1].session) == ("at home", None)


async def test_reopening_starts_fresh(store: Store, tmp_path: Path, task: Task) -> None:
    """S2."""
    way = ScriptedWay(lambda _: replies())
    conversation = make(store, way, tmp_path)
    await run(conversation, task, "one")
    await conversation.end_task(task.id, TaskState.DONE)
    with pytest.raises(SendError, match="done: reopen"):
        await run(conversation, task, "two")
    await conversation.reopen_task(task.id)
    way.script = lambda _: replies(MOVED)
    await run(conversation, task, "three")
    assert way.requests[-1].session is None
    assert (await now(store, task)).session == Session(MOVED, HERE, f"q-task-{task.id}-r2")
    assert await lines(store, task) == [
        "Reopened, run 2: Q starts fresh, nothing of run 1 is told."
    ]
    assert [turn.run for turn in await store.page(task.id)] == [1, 1, 2, 2, 2]


async def test_a_name_that_is_taken_is_never_resumed(
    store: Store, tmp_path: Path, task: Task
) -> None:
    """S3: four random characters are added, and the thread says so."""
    name = f"q-task-{task.id}"
    way = ScriptedWay(lambda _: replies(), titles={name: "a stranger's"})
    await run(make(store, way, tmp_path), task, "one")
    bound = (await now(store, task)).session
    assert bound is not None
    assert bound.id == ID
    assert re.fullmatch(f"{name}-[a-z2-7]{{4}}", bound.name)
    assert way.titles[name] == "a stranger's"
    (line,) = await lines(store, task)
    assert bound.name in line


async def test_a_naming_that_fails_changes_nothing(
    store: Store, tmp_path: Path, task: Task
) -> None:
    class Nameless(ScriptedWay):
        async def name_session(self, session: str, name: str) -> bool:
            raise OSError("hermes is gone")

    end = end_of(await run(make(store, Nameless(lambda _: replies()), tmp_path), task, "one"))
    assert end.turn.state is TurnState.SENT
    assert (await now(store, task)).session == Session(ID, HERE, "")
    assert await lines(store, task) == []
    await run(make(store, ScriptedWay(lambda _: replies()), tmp_path), task, "two")
    assert (await now(store, task)).session == Session(ID, HERE, f"q-task-{task.id}")


async def test_an_id_that_moved_is_adopted(store: Store, tmp_path: Path, task: Task) -> None:
    """Compression gives a session another id; its name stays."""
    way = ScriptedWay(lambda _: replies())
    conversation = make(store, way, tmp_path)
    await run(conversation, task, "one")
    way.script = lambda _: replies(MOVED)
    await run(conversation, task, "two")
    await run(conversation, task, "three")
    assert [request.session for request in way.requests] == [None, ID, MOVED]
    assert (await now(store, task)).session == Session(MOVED, HERE, f"q-task-{task.id}")


async def test_a_failure_only_echoes_an_id(store: Store, tmp_path: Path, task: Task) -> None:
    way = ScriptedWay(lambda _: replies())
    conversation = make(store, way, tmp_path)
    await run(conversation, task, "one")
    way.script = lambda _: [Failed(FailureKind.PROVIDER, "HTTP 402.", session=MOVED)]
    await run(conversation, task, "two")
    bound = (await now(store, task)).session
    assert bound is not None
    assert bound.id == ID


@pytest.mark.parametrize("state", [SessionState.THERE, SessionState.UNKNOWN, SessionState.GONE])
async def test_a_first_turn_that_failed_with_an_id_is_bound(
    store: Store, tmp_path: Path, task: Task, state: SessionState
) -> None:
    """S3; but not to a session that hermes named and never began."""
    way = ScriptedWay(
        lambda _: [SessionSeen(ID), Failed(FailureKind.PROVIDER, "HTTP 402.", session=ID)],
        records={ID: SessionRecord(state)},
    )
    await run(make(store, way, tmp_path), task, "one")
    found = await now(store, task)
    assert found.session == (None if state is SessionState.GONE else Session(ID, HERE))
    assert found.lost == 0


async def test_a_first_turn_is_bound_while_it_runs(
    store: Store, tmp_path: Path, task: Task
) -> None:
    """A kill in mid-turn loses no session; a stopped first turn is bound too."""
    way = ScriptedWay(lambda _: [SessionSeen(ID), TextDelta("half"), Replied("never", ID)])
    way.hold()
    conversation = make(store, way, tmp_path)
    running = asyncio.create_task(run(conversation, task, "one"))
    async with asyncio.timeout(10):
        while (await now(store, task)).session is None:
            await asyncio.sleep(0.01)
    assert await conversation.stop(task.id)
    assert end_of(await running).turn.state is TurnState.STOPPED
    bound = (await now(store, task)).session
    assert bound is not None
    assert bound.id == ID


async def test_stopped_with_an_id_only_at_the_end(store: Store, tmp_path: Path, task: Task) -> None:
    way = ScriptedWay(lambda _: [Stopped("half", ID)])
    await run(make(store, way, tmp_path), task, "one")
    bound = (await now(store, task)).session
    assert bound is not None
    assert bound.id == ID


def lost_once(request: HermesRequest) -> list[HermesEvent]:
    if request.session is not None:
        return [Failed(FailureKind.SESSION_LOST, "The session is gone.", session=request.session)]
    return replies("20261130_170000_aaaaaa", "Outside.")


async def test_a_session_that_is_provably_gone(store: Store, tmp_path: Path, task: Task) -> None:
    """S5: a call outside of it with this run's transcript, then a session of its own."""
    way = ScriptedWay(lambda _: replies())
    conversation = make(store, way, tmp_path)
    await store.append(NewTurn(None, "mallory", "at home", TurnState.SENT))
    await run(conversation, task, "of run one")
    await conversation.end_task(task.id, TaskState.DONE)
    await conversation.reopen_task(task.id)
    await run(conversation, task, "one")
    way.script = lost_once
    end = end_of(await run(conversation, task, "two"))
    assert (end.turn.state, end.turn.degraded) == (TurnState.SENT, Degraded.ONE_SHOT)
    fallback = way.requests[-1]
    assert (fallback.session, fallback.is_task) == (None, True), "never less protected"
    assert "\nYou: one\nQ: Done.\n" in fallback.prompt
    assert fallback.prompt.endswith("\n\ntwo")
    for foreign in ("of run one", "at home", "Reopened"):
        assert foreign not in fallback.prompt
    found = await now(store, task)
    assert (found.session, found.run) == (None, 2), "the call outside is not bound"
    way.script = lambda _: replies("20261130_180000_bbbbbb")
    await run(conversation, task, "three")
    assert (way.requests[-1].session, way.requests[-1].prompt) == (None, "three")
    bound = (await now(store, task)).session
    assert bound is not None
    assert re.fullmatch(f"q-task-{task.id}-r2-[a-z2-7]{{4}}", bound.name)
    assert sum(bound.name in line for line in await lines(store, task)) == 1


@pytest.mark.parametrize(
    "kind",
    [FailureKind.IN_USE, FailureKind.PROVIDER, FailureKind.TIMEOUT, FailureKind.CRASHED],
)
async def test_any_other_failure_is_no_lost_session(
    store: Store, tmp_path: Path, task: Task, kind: FailureKind
) -> None:
    way = ScriptedWay(lambda _: replies())
    conversation = make(store, way, tmp_path)
    await run(conversation, task, "one")
    way.script = lambda _: [Failed(kind, "The reason.")]
    end = end_of(await run(conversation, task, "two"))
    assert (end.turn.state, end.turn.reason) == (TurnState.FAILED, "The reason.")
    assert len(way.requests) == 2, "nothing is repeated"
    bound = (await now(store, task)).session
    assert bound is not None
    assert bound.id == ID


async def test_a_turn_that_had_begun_is_not_repeated(
    store: Store, tmp_path: Path, task: Task
) -> None:
    """S5: it may have run tools."""
    way = ScriptedWay(lambda _: replies())
    conversation = make(store, way, tmp_path)
    await run(conversation, task, "one")
    way.script = lambda _: [TextDelta("half"), Failed(FailureKind.SESSION_LOST, "Gone.")]
    assert end_of(await run(conversation, task, "two")).turn.state is TurnState.FAILED
    assert len(way.requests) == 2


async def test_a_session_of_another_hermes_is_not_continued_here(
    store: Store, tmp_path: Path, task: Task
) -> None:
    """S3: an id means something only in the hermes it lives in."""
    way = ScriptedWay(lambda _: replies())
    await run(make(store, way, tmp_path), task, "one")
    other = ScriptedWay(lambda _: replies(), hermes="tower:/home/alex/.hermes")
    end = end_of(await run(make(store, other, tmp_path), task, "two"))
    assert end.turn.state is TurnState.FAILED
    assert "here:/home/alex/.hermes" in end.turn.reason
    assert other.requests == []


async def test_finishing_stops_and_what_waits_is_the_draft_again(
    store: Store, tmp_path: Path, task: Task
) -> None:
    """S8."""
    way = ScriptedWay(lambda _: [SessionSeen(ID), TextDelta("half"), Replied("never", ID)])
    way.hold()
    conversation = make(store, way, tmp_path)
    first = asyncio.create_task(run(conversation, task, "one"))
    await way.started.wait()
    waiting = [asyncio.create_task(run(conversation, task, text)) for text in ("two", "three")]
    while len([t for t in await store.page(task.id) if t.persona == YOU]) < 3:
        await asyncio.sleep(0.01)
    done = await conversation.end_task(task.id, TaskState.DONE)
    assert done.state is TaskState.DONE
    assert end_of(await first).turn.state is TurnState.STOPPED
    assert all(isinstance(events[-1], TakenBack) for events in await asyncio.gather(*waiting))
    assert (await store.draft(task.id)).splitlines() == ["two", "three"]
    assert [turn.text for turn in await store.page(task.id)] == ["one", "half"]


async def test_a_message_that_waited_through_a_reopening_is_the_draft_again(
    store: Store, tmp_path: Path, task: Task
) -> None:
    """Another qterm ends the run: what was meant for it does not go into the next one."""
    way = ScriptedWay(lambda _: replies())
    conversation = make(store, way, tmp_path)
    way.hold()
    first = asyncio.create_task(run(conversation, task, "one"))
    await way.started.wait()
    second = asyncio.create_task(run(conversation, task, "two"))
    while len([t for t in await store.page(task.id) if t.persona == YOU]) < 2:
        await asyncio.sleep(0.01)
    await store.end_task(task.id, TaskState.DONE)
    await store.reopen_task(task.id)
    way.gate.set()
    await first
    assert isinstance((await second)[-1], TakenBack)
    assert await store.draft(task.id) == "two"
    assert (await now(store, task)).session is None, "run 1's session is not bound to run 2"


async def test_esc_in_one_thread_leaves_the_other(store: Store, tmp_path: Path, task: Task) -> None:
    """S7: different threads run side by side."""
    other = await store.add_task("Renew certificates", str(tmp_path))
    way = ScriptedWay(lambda _: [TextDelta("half"), Replied("whole", ID)])
    way.hold()
    conversation = make(store, way, tmp_path)
    runs = [asyncio.create_task(run(conversation, each, "x")) for each in (task, other)]
    async with asyncio.timeout(10):
        while len(way.requests) < 2:
            await asyncio.sleep(0.01)
    await conversation.stop(task.id)
    assert end_of(await runs[0]).turn.state is TurnState.STOPPED
    way.gate.set()
    assert end_of(await runs[1]).turn.state is TurnState.SENT


async def test_what_the_session_already_holds(store: Store, tmp_path: Path, task: Task) -> None:
    """S5: asked before a message is sent once more."""
    way = ScriptedWay(lambda _: [Failed(FailureKind.PROVIDER, "HTTP 500.", session=ID)])
    conversation = make(store, way, tmp_path)
    turn = end_of(await run(conversation, task, "one")).turn
    for messages, words in [
        ((("user", "one"),), "without an answer"),
        ((("user", "one"), ("assistant", "half")), "with an answer"),
        ((("user", "another"),), ""),
        ((), ""),
    ]:
        way.records[ID] = SessionRecord(SessionState.THERE, "", messages)
        held = await conversation.held(turn)
        assert words in held
        assert bool(held) == bool(words)
    way.records[ID] = SessionRecord(SessionState.UNKNOWN)
    assert "can't be seen" in await conversation.held(turn)


async def test_an_unknown_task(store: Store, tmp_path: Path) -> None:
    conversation = make(store, ScriptedWay(), tmp_path)
    with pytest.raises(SendError, match="no task “7f3kq2ma”"):
        async for _ in conversation.send(ChatFrame(text="x", task_id="7f3kq2ma")):
            pass


async def test_closing_between_the_claim_and_the_start(
    store: Store, tmp_path: Path, task: Task
) -> None:
    """The message is interrupted at once; it need not wait for the next start to say so."""
    way = ScriptedWay()
    closing: list[asyncio.Task[None]] = []

    class Closing:
        looks = 0

        def __getattr__(self, name: str) -> object:
            return getattr(store, name)

        async def task(self, task_id: str) -> Task | None:
            self.looks += 1
            if self.looks == 2:  # the first was before the message was stored
                closing.append(asyncio.create_task(conversation.close()))
                await asyncio.sleep(0.05)
            return await store.task(task_id)

    conversation = make(Closing(), way, tmp_path)  # type: ignore[arg-type]
    end = end_of(await run(conversation, task, "hello"))
    await closing[0]
    assert end.turn.state is TurnState.INTERRUPTED
    assert [turn.state for turn in await store.page(task.id)] == [TurnState.INTERRUPTED]
    assert way.requests == []


@pytest.mark.parametrize("is_seen_early", [True, False])
async def test_a_session_is_bound_however_often_it_takes(
    store: Store,
    tmp_path: Path,
    task: Task,
    monkeypatch: pytest.MonkeyPatch,
    is_seen_early: bool,
) -> None:
    """S1: a disk that is full for a while must not make the next message begin another session."""
    monkeypatch.setattr("qterm.exchange.STORE_AGAIN", 0.01)
    bind, refusals = store.bind, iter(range(3))

    async def full_for_a_while(task_id: str, run: int, session: Session) -> Task:
        if next(refusals, None) is not None:
            raise FeedError("The disk is full.")
        return await bind(task_id, run, session)

    monkeypatch.setattr(store, "bind", full_for_a_while)
    seen: list[HermesEvent] = [SessionSeen(ID)] if is_seen_early else []
    way = ScriptedWay(lambda _: [*seen, *replies()])
    conversation = make(store, way, tmp_path)
    async with asyncio.timeout(30):
        assert end_of(await run(conversation, task, "one")).turn.state is TurnState.SENT
        await run(conversation, task, "two")
    assert [request.session for request in way.requests] == [None, ID]


async def test_a_turn_that_breaks_off_leaves_no_hermes_at_work(
    store: Store, tmp_path: Path, task: Task, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S7: the thread's next message must not run beside one that nobody listens to."""

    async def broken(_thread: object, _session: str) -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr("qterm.threads.task.TaskThread.saw", broken)
    way = ScriptedWay(lambda _: [SessionSeen(ID), *replies()])
    ended = end_of(await run(make(store, way, tmp_path), task, "one")).turn
    assert ended.state is TurnState.FAILED
    assert way.stops[str(ended.id)].is_set()


async def test_a_naming_that_hangs_holds_up_no_end(
    store: Store, tmp_path: Path, task: Task
) -> None:
    """S3: the turn is over once its answer is there; its name comes with the next one."""
    hangs = asyncio.Event()

    class Hanging(ScriptedWay):
        async def name_session(self, session: str, name: str) -> bool:
            hangs.set()
            return await asyncio.Event().wait()

    conversation = make(store, Hanging(lambda _: replies()), tmp_path)
    sending = asyncio.create_task(run(conversation, task, "one"))
    async with asyncio.timeout(5):  # `close` gives what runs 10 seconds
        await hangs.wait()
        await conversation.close()
        assert end_of(await sending).turn.state is TurnState.SENT
    assert [turn.state for turn in await store.page(task.id)] == [TurnState.SENT] * 2
    await run(make(store, ScriptedWay(lambda _: replies()), tmp_path), task, "two")
    assert (await now(store, task)).session == Session(ID, HERE, f"q-task-{task.id}")


async def test_a_name_that_can_t_be_read_back_is_not_called_somebody_else_s(
    store: Store, tmp_path: Path, task: Task
) -> None:
    """S3: only a session that can be read proves that its name is taken."""

    class Busy(ScriptedWay):
        async def name_session(self, session: str, name: str) -> bool:
            await super().name_session(session, name)
            return len(self.titles) > 1  # the first could not be read back

    way = Busy(lambda _: replies(), records={ID: SessionRecord(SessionState.UNKNOWN)})
    await run(make(store, way, tmp_path), task, "one")
    assert (await now(store, task)).session == Session(ID, HERE)
    assert await lines(store, task) == []
    await run(make(store, ScriptedWay(lambda _: replies()), tmp_path), task, "two")
    assert (await now(store, task)).session == Session(ID, HERE, f"q-task-{task.id}")
    assert await lines(store, task) == []


async def test_a_session_that_is_being_named_is_no_work(
    store: Store, tmp_path: Path, task: Task
) -> None:
    """Quitting asks only while something runs or waits; a name that is missing comes later."""

    class SlowNaming(ScriptedWay):
        async def name_session(self, session: str, name: str) -> bool:
            busy.append(conversation.busy())
            return True

    busy: list[bool] = []
    way = SlowNaming(lambda _: replies())
    conversation = make(store, way, tmp_path)
    frame = ChatFrame(text="one", task_id=task.id)
    running = [
        conversation.busy()
        async for event in conversation.send(frame)
        if not isinstance(event, Finished)
    ]
    assert all(running)
    assert busy == [False], "while it is named"
    assert not conversation.busy()
