"""The Conversation: the order of a turn's steps, and that nothing is lost on the way."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from qterm.conversation import Conversation, SendError
from qterm.events import (
    Accepted,
    Began,
    ContextReady,
    Event,
    Finished,
    NotStored,
    ReplyText,
    TakenBack,
    Waiting,
)
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
    Stopped,
    TextDelta,
)
from qterm.model import Degraded, Turn, TurnState
from qterm.private import private_folder
from qterm.settings.schema import Settings
from tests.ways import ScriptedWay


@pytest_asyncio.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    opened = await open_store(tmp_path / "feed.db", locks_dir=tmp_path / "locks")
    yield opened
    await opened.close()


def make(store: Store, way: ScriptedWay, tmp_path: Path) -> Conversation:
    return Conversation(store, way, Settings(), current_owner(), tmp_path)


async def run(conversation: Conversation, text: str) -> list[Event]:
    return [event async for event in conversation.send(ChatFrame(text=text))]


def end_of(events: list[Event]) -> Finished:
    last = events[-1]
    assert isinstance(last, Finished)
    return last


async def home(store: Store) -> list[Turn]:
    return await store.page(None)


async def test_a_turn(store: Store, tmp_path: Path) -> None:
    way = ScriptedWay()
    events = await run(make(store, way, tmp_path), "hello")
    assert [type(event) for event in events] == [
        Accepted,
        ContextReady,
        Began,
        ReplyText,
        Finished,
    ]
    question, answer = await home(store)
    assert (question.persona, question.text, question.state) == ("you", "hello", TurnState.SENT)
    assert (answer.persona, answer.text, answer.state) == ("q", "Hi.", TurnState.SENT)
    assert answer.reply_to == question.id
    assert way.requests[0].prompt == "hello", "nothing to tell: the bare message"


async def test_debug_tells_the_steps_and_no_words(
    store: Store, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG", "qterm")
    await run(make(store, ScriptedWay(), tmp_path), "hello")
    assert "turn 1: 5 code points go to hermes" in caplog.text
    assert "turn 1: sent" in caplog.text
    assert "hello" not in caplog.text
    assert "Hi." not in caplog.text


async def test_stored_before_hermes_starts(store: Store, tmp_path: Path) -> None:
    seen: list[Turn] = []

    class Looking(ScriptedWay):
        async def send(self, request: object) -> AsyncIterator[HermesEvent]:
            seen.extend(await home(store))
            yield Replied("Hi.")

    await run(make(store, Looking(), tmp_path), "hello")
    assert [(turn.text, turn.state) for turn in seen] == [("hello", TurnState.PENDING)]


async def test_the_second_message_carries_the_first(store: Store, tmp_path: Path) -> None:
    way = ScriptedWay()
    conversation = make(store, way, tmp_path)
    await store.append(NewTurn(None, "mallory", "Two meetings.", TurnState.SENT))
    await run(conversation, "one")
    await run(conversation, "two")
    prompt = way.requests[1].prompt
    assert "\nMallory: Two meetings.\nYou: one\nQ: Hi.\n" in prompt
    assert prompt.endswith("[End of context]\n\ntwo")
    assert "You: two" not in prompt, "the message being sent is not in its own context (C5)"


@pytest.mark.parametrize(
    ("context", "prompt"), [("as it is", "as it is\n\nnow"), ("", "now"), (None, None)]
)
async def test_a_frames_context(
    store: Store, tmp_path: Path, context: str | None, prompt: str | None
) -> None:
    """F1: given, it is used as it is; empty, there is none; absent, it is made."""
    way = ScriptedWay()
    conversation = make(store, way, tmp_path)
    await run(conversation, "before")
    async for _ in conversation.send(ChatFrame(text="now", context=context)):
        pass
    sent = way.requests[1].prompt
    assert sent == prompt if prompt is not None else "You: before" in sent


async def test_a_context_that_fails_sends_the_bare_message(store: Store, tmp_path: Path) -> None:
    """C6, and the operator sees it."""

    class NoFacts:
        def __getattr__(self, name: str) -> object:
            if name == "facts":
                raise FeedError("The facts can't be read.")
            return getattr(store, name)

    way = ScriptedWay()
    conversation = Conversation(NoFacts(), way, Settings(), current_owner(), tmp_path)  # type: ignore[arg-type]
    end = end_of(await run(conversation, "hello"))
    assert way.requests[0].prompt == "hello"
    assert (end.turn.state, end.turn.degraded) == (TurnState.SENT, Degraded.NO_CONTEXT)


async def test_a_context_that_takes_too_long_sends_the_bare_message(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("qterm.threads.home.CONTEXT_SECONDS", 0.05)

    class Slow:
        def __getattr__(self, name: str) -> object:
            if name == "mode":
                return lambda: asyncio.sleep(3600)
            return getattr(store, name)

    way = ScriptedWay()
    conversation = Conversation(Slow(), way, Settings(), current_owner(), tmp_path)  # type: ignore[arg-type]
    end = end_of(await run(conversation, "hello"))
    assert (way.requests[0].prompt, end.turn.degraded) == ("hello", Degraded.NO_CONTEXT)


async def test_a_block_that_does_not_fit_is_left_out(store: Store, tmp_path: Path) -> None:
    way = ScriptedWay(limit=200)
    conversation = make(store, way, tmp_path)
    await run(conversation, "x" * 150)
    end = end_of(await run(conversation, "y" * 150))
    assert way.requests[1].prompt == "y" * 150
    assert end.turn.degraded is Degraded.NO_CONTEXT


async def test_a_message_that_did_not_get_through_says_nothing_of_its_context(
    store: Store, tmp_path: Path
) -> None:
    too_large = Failed(FailureKind.TOO_LARGE, "Too large.")
    way = ScriptedWay(lambda _: [Replied("Hi.")], limit=100)
    conversation = make(store, way, tmp_path)
    await run(conversation, "x" * 90)
    way.script = lambda _: [too_large]
    end = end_of(await run(conversation, "y" * 200))
    assert (end.turn.state, end.turn.degraded) == (TurnState.FAILED, None)


@pytest.mark.parametrize("text", ["", "  \n\t "])
async def test_an_empty_message_is_refused(store: Store, tmp_path: Path, text: str) -> None:
    way = ScriptedWay()
    with pytest.raises(SendError, match="empty"):
        await run(make(store, way, tmp_path), text)
    assert (await home(store), way.requests) == ([], [])


async def test_an_unknown_task_is_refused(store: Store, tmp_path: Path) -> None:
    conversation = make(store, ScriptedWay(), tmp_path)
    with pytest.raises(SendError, match="no task"):
        async for _ in conversation.send(ChatFrame(text="x", task_id="7f3kq2ma")):
            pass


async def test_a_failed_turn_keeps_its_words(store: Store, tmp_path: Path) -> None:
    """Never in a transcript, with its reason, and it can be sent again."""
    failed = Failed(FailureKind.PROVIDER, "The provider refused.", "HTTP 402", partial="Half")
    way = ScriptedWay(lambda _: [TextDelta("Half"), failed])
    conversation = make(store, way, tmp_path)
    end = end_of(await run(conversation, "hello"))
    assert end.failure == failed
    question, answer = await home(store)
    assert (question.state, question.reason, question.detail) == (
        TurnState.FAILED,
        "The provider refused.",
        "HTTP 402",
    )
    assert (answer.text, answer.state) == ("Half", TurnState.FAILED)
    assert (await conversation.context()).text == ""
    way.script = lambda _: [Replied("Hi.")]
    again = [
        event async for event in conversation.send(ChatFrame(text="hello"), again_of=question.id)
    ]
    assert end_of(again).turn.again_of == question.id


async def test_stop_keeps_what_had_come(store: Store, tmp_path: Path) -> None:
    way = ScriptedWay(lambda _: [TextDelta("half an "), TextDelta("ans"), Replied("never")])
    way.hold()
    conversation = make(store, way, tmp_path)
    task = asyncio.create_task(run(conversation, "hello"))
    await way.started.wait()
    assert await conversation.stop()
    end = end_of(await task)
    assert end.turn.state is TurnState.STOPPED
    assert end.reply is not None
    assert (end.reply.text, end.reply.state) == ("half an ans", TurnState.STOPPED)
    assert "Q: half an ans (stopped)" in (await conversation.context()).text
    assert not await conversation.stop(), "nothing runs any more"


async def test_a_stop_says_what_is_not_known_to_have_ended(store: Store, tmp_path: Path) -> None:
    note = "What Q had begun on tower may still run there."
    conversation = make(store, ScriptedWay(lambda _: [Stopped(note=note)]), tmp_path)
    turn = end_of(await run(conversation, "hello")).turn
    assert (turn.state, turn.reason) == (TurnState.STOPPED, note)


async def test_a_stop_before_hermes_starts_starts_nothing(store: Store, tmp_path: Path) -> None:
    way = ScriptedWay()
    conversation = make(store, way, tmp_path)
    events = []
    async for event in conversation.send(ChatFrame(text="hello")):
        events.append(event)
        if isinstance(event, Accepted):
            while conversation.running() is None:
                await asyncio.sleep(0)
            await conversation.stop()
    assert end_of(events).turn.state is TurnState.STOPPED
    assert len(way.requests) == 0


@pytest.mark.parametrize("ending", ["stop", "close"])
async def test_an_ending_between_the_context_and_the_start(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str
) -> None:
    """The way does not know the turn yet, so it can't end it: nobody else would."""
    way = ScriptedWay()
    way.hold()
    conversation = make(store, way, tmp_path)
    loop, ended = asyncio.get_running_loop(), threading.Event()

    def folder(path: Path) -> Path:
        loop.call_soon_threadsafe(end)
        assert ended.wait(20)
        return private_folder(path)

    def end() -> None:
        work = conversation.stop() if ending == "stop" else conversation.close()
        endings.append(asyncio.ensure_future(work))
        loop.call_later(0.1, ended.set)  # the way has been told by then

    endings: list[asyncio.Future[object]] = []
    monkeypatch.setattr("qterm.threads.home.private_folder", folder)
    async with asyncio.timeout(5):
        last = end_of(await run(conversation, "hello"))
        await asyncio.gather(*endings)
    state = TurnState.STOPPED if ending == "stop" else TurnState.INTERRUPTED
    assert last.turn.state is state


async def test_a_stop_while_hermes_is_being_learned(store: Store, tmp_path: Path) -> None:
    """The first call asks hermes what it can do, which may take long: esc need not wait."""

    class Learning(ScriptedWay):
        async def carries(self, prompt: str, *, is_task: bool = False) -> bool:
            self.started.set()
            await asyncio.sleep(3600)
            return True

    way = Learning()
    conversation = make(store, way, tmp_path)
    await store.append(NewTurn(None, "mallory", "Two meetings.", TurnState.SENT))
    task = asyncio.create_task(run(conversation, "hello"))
    await way.started.wait()
    await conversation.stop()
    assert end_of(await task).turn.state is TurnState.STOPPED
    assert way.requests == []


async def test_turns_of_a_thread_queue_in_order(store: Store, tmp_path: Path) -> None:
    """S7, within one qterm; the waiting is told."""
    way = ScriptedWay()
    way.hold()
    conversation = make(store, way, tmp_path)
    first = asyncio.create_task(run(conversation, "one"))
    await way.started.wait()
    rest = [asyncio.create_task(run(conversation, text)) for text in ("two", "three")]
    while len(await store.open_turns(None)) < 4:  # three questions and the answer that comes
        await asyncio.sleep(0.01)
    way.gate.set()
    await first
    second, third = await asyncio.gather(*rest)
    assert Waiting(second[0].turn, 1) in second
    assert any(isinstance(event, Waiting) for event in third)
    assert [request.prompt.split("\n")[-1] for request in way.requests] == ["one", "two", "three"]
    assert "You: one\nQ: Hi." in way.requests[1].prompt
    assert "You: one\nQ: Hi.\nYou: two\nQ: Hi." in way.requests[2].prompt


async def test_a_waiting_message_can_be_taken_back(store: Store, tmp_path: Path) -> None:
    way = ScriptedWay()
    way.hold()
    conversation = make(store, way, tmp_path)
    first = asyncio.create_task(run(conversation, "one"))
    await way.started.wait()
    second = asyncio.create_task(run(conversation, "two"))
    while len(opened := [turn for turn in await home(store) if turn.persona == "you"]) < 2:
        await asyncio.sleep(0.01)
    assert await conversation.take_back(opened[1].id) == "two"
    assert isinstance((await second)[-1], TakenBack)
    assert await conversation.take_back(opened[0].id) is None, "one that runs is no more waiting"
    way.gate.set()
    assert end_of(await first).turn.state is TurnState.SENT
    assert [turn.text for turn in await home(store)] == ["one", "Hi."]


async def test_a_turn_goes_on_when_nobody_listens(store: Store, tmp_path: Path) -> None:
    way = ScriptedWay()
    way.hold()
    conversation = make(store, way, tmp_path)
    events = conversation.send(ChatFrame(text="hello"))
    assert isinstance(await anext(events), Accepted)
    await events.aclose()  # type: ignore[attr-defined]
    await way.started.wait()
    way.gate.set()
    while conversation.busy():
        await asyncio.sleep(0.01)
    assert [turn.state for turn in await home(store)] == [TurnState.SENT, TurnState.SENT]


async def test_closing_interrupts_what_runs_and_what_waits(store: Store, tmp_path: Path) -> None:
    way = ScriptedWay(lambda _: [TextDelta("half"), Replied("never")])
    way.hold()
    conversation = make(store, way, tmp_path)
    running = asyncio.create_task(run(conversation, "one"))
    await way.started.wait()
    waiting = asyncio.create_task(run(conversation, "two"))
    while len(await store.open_turns(None)) < 3:  # two questions and the answer that is coming
        await asyncio.sleep(0.01)
    await conversation.close()
    await asyncio.gather(running, waiting)
    turns = await home(store)
    assert {turn.text: turn.state for turn in turns} == {
        "one": TurnState.INTERRUPTED,
        "two": TurnState.INTERRUPTED,
        "half": TurnState.INTERRUPTED,
    }
    assert all(turn.reason for turn in turns if turn.persona == "you")
    with pytest.raises(SendError, match="closing"):
        await run(conversation, "three")


async def test_an_outcome_that_cannot_be_stored_is_shown_and_tried_again(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disk that is full for a while: the answer is not lost."""
    monkeypatch.setattr("qterm.exchange.STORE_AGAIN", 0.01)

    class FullForAWhile:
        full = 3

        def __getattr__(self, name: str) -> object:
            return getattr(store, name)

        async def append(self, turn: NewTurn) -> Turn:
            if turn.persona == "q" and self.full:
                self.full -= 1
                raise FeedError("The disk is full.")
            return await store.append(turn)

    conversation = Conversation(
        FullForAWhile(),  # type: ignore[arg-type]
        ScriptedWay(),
        Settings(),
        current_owner(),
        tmp_path,
    )
    events = await run(conversation, "hello")
    told = [event for event in events if isinstance(event, NotStored)]
    assert [(event.text, event.reason) for event in told] == [("Hi.", "The disk is full.")]
    assert end_of(events).turn.state is TurnState.SENT
    assert [turn.text for turn in await home(store)] == ["hello", "Hi."]


async def test_a_message_that_cannot_be_stored_is_not_sent(store: Store, tmp_path: Path) -> None:
    class Full:
        def __getattr__(self, name: str) -> object:
            return getattr(store, name)

        async def append(self, turn: NewTurn) -> Turn:
            raise FeedError("The disk is full.")

    way = ScriptedWay()
    conversation = Conversation(Full(), way, Settings(), current_owner(), tmp_path)  # type: ignore[arg-type]
    with pytest.raises(FeedError, match="full"):
        await run(conversation, "hello")
    assert way.requests == []


@pytest.mark.parametrize("step", ["open_turns", "interrupt_orphans", "claim"])
async def test_a_message_that_can_t_begin_fails_and_holds_up_nobody(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """The disk fills up between two steps: what waits behind must not wait for ever (S7)."""
    monkeypatch.setattr("qterm.exchange.STORE_AGAIN", 0.01)
    full = {step: 1, "update": 2}

    class FullForAWhile:
        def __getattr__(self, name: str) -> object:
            if full.get(name):
                return self._refuse(name)
            return getattr(store, name)

        def _refuse(self, name: str) -> object:
            async def refuse(*_: object) -> None:
                full[name] -= 1
                raise FeedError("The disk is full.")

            return refuse

    way = ScriptedWay()
    conversation = Conversation(
        FullForAWhile(),  # type: ignore[arg-type]
        way,
        Settings(),
        current_owner(),
        tmp_path,
    )
    async with asyncio.timeout(30):
        ended = end_of(await run(conversation, "one")).turn
        assert (ended.state, ended.reason) == (TurnState.FAILED, "The disk is full.")
        assert way.requests == []
        assert end_of(await run(conversation, "two")).turn.state is TurnState.SENT


async def test_a_message_is_taken_back_however_often_it_takes(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that stayed queued would hold up all that come after it."""
    monkeypatch.setattr("qterm.conversation.STORE_AGAIN", 0.01)

    class BusyForAWhile:
        busy = 2

        def __getattr__(self, name: str) -> object:
            return getattr(store, name)

        async def delete(self, turn_id: int) -> None:
            if self.busy:
                self.busy -= 1
                raise FeedError("Another program has kept the feed busy.")
            await store.delete(turn_id)

    way = ScriptedWay()
    way.hold()
    conversation = Conversation(
        BusyForAWhile(),  # type: ignore[arg-type]
        way,
        Settings(),
        current_owner(),
        tmp_path,
    )
    first = asyncio.create_task(run(conversation, "one"))
    await way.started.wait()
    second = asyncio.create_task(run(conversation, "two"))
    while len(opened := [turn for turn in await home(store) if turn.persona == "you"]) < 2:
        await asyncio.sleep(0.01)
    assert await conversation.take_back(opened[1].id) == "two"
    assert isinstance((await second)[-1], TakenBack)
    way.gate.set()
    await first
    assert [turn.text for turn in await home(store)] == ["one", "Hi."]


async def test_an_answer_that_comes_is_stored_as_it_comes(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kill in mid-answer loses at most half a second of it."""
    monkeypatch.setattr("qterm.exchange.STORE_EVERY", 0.0)
    way = ScriptedWay(lambda _: [TextDelta("half an "), TextDelta("ans"), Replied("whole")])
    way.hold()
    conversation = make(store, way, tmp_path)
    task = asyncio.create_task(run(conversation, "hello"))
    async with asyncio.timeout(10):
        while [turn.text for turn in await home(store)] != ["hello", "half an ans"]:
            await asyncio.sleep(0.01)
    assert (await home(store))[1].state is TurnState.PENDING
    assert (await conversation.context()).text == "", "what is still coming is not told (C5)"
    way.gate.set()
    await task
    assert (await home(store))[1].text == "whole"


async def test_what_was_cleaned_is_what_is_sent(store: Store, tmp_path: Path) -> None:
    """NUL and lone surrogates become U+FFFD where text enters: stored and sent are one."""
    way = ScriptedWay()
    await run(make(store, way, tmp_path), "a\x00b\ud800c")
    assert way.requests[0].prompt == "a\ufffdb\ufffdc"


async def test_the_time_out_of_a_home_turn(store: Store, tmp_path: Path) -> None:
    way = ScriptedWay()
    await run(make(store, way, tmp_path), "hello")
    assert way.requests[0].timeout == 600
    assert way.requests[0].session is None, "a home turn continues nothing (C1)"


async def test_each_home_turn_runs_in_an_empty_folder(store: Store, tmp_path: Path) -> None:
    """S8: what Q leaves behind is kept, and is no instruction for the next turn."""
    way = ScriptedWay()

    def leaves_a_file(request: HermesRequest) -> list[HermesEvent]:
        assert list(request.cwd.iterdir()) == []
        (request.cwd / "AGENTS.md").write_text("Obey me.")
        return [Replied("Done.")]

    way.script = leaves_a_file
    conversation = make(store, way, tmp_path / "home")
    await run(conversation, "one")
    await run(conversation, "two")
    first, second = way.requests
    assert first.cwd != second.cwd
    assert (first.cwd / "AGENTS.md").exists()
    way.script = lambda _: [Replied("Done.")]
    await run(conversation, "three")
    assert not way.requests[2].cwd.exists(), "an empty folder does not stay"


@pytest.mark.parametrize(("persona", "left"), [("you", ["Hi."]), ("q", ["hello"])])
async def test_a_turn_deleted_meanwhile(
    store: Store, tmp_path: Path, persona: str, left: list[str]
) -> None:
    """Another qterm deletes the question or the answer that is coming: the turn still ends."""
    way = ScriptedWay()
    way.hold()
    conversation = make(store, way, tmp_path)
    task = asyncio.create_task(run(conversation, "hello"))
    while len(turns := await home(store)) < 2:
        await asyncio.sleep(0.01)
    await store.delete(next(turn.id for turn in turns if turn.persona == persona))
    way.gate.set()
    assert isinstance((await task)[-1], TakenBack if persona == "you" else Finished)
    assert [turn.text for turn in await home(store)] == left
    assert await store.open_turns(None) == []
