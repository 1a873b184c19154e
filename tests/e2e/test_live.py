"""The live way with the real hermes-acp of both lines: what the model received is what counts."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
import pytest
import pytest_asyncio

from qterm.hermes.live.live import LiveWay
from qterm.hermes.spawn import SpawnWay
from qterm.hermes.way import (
    Answer,
    Approvals,
    Asked,
    AskedNoMore,
    CommandsSeen,
    Failed,
    FailureKind,
    HermesEvent,
    HermesRequest,
    HermesWay,
    ModesSeen,
    Outcome,
    Replied,
    SessionSeen,
    Started,
    Stopped,
    TextDelta,
    ToolSeen,
    Transport,
    UsageSeen,
)
from qterm.rehearsal import model_server as model
from tests.e2e.conftest import HermesLine
from tests.hermes.fakes import pids_below

pytestmark = pytest.mark.asyncio(loop_scope="module")

BOUND = 60.0
SLEEP = f"61.{os.getpid()}"  # nobody else's
HI = model.Answer()


@dataclass
class Live:
    """Both ways to one line, and a folder, shared by the tests: a process costs seconds."""

    line: HermesLine
    way: LiveWay
    spawn: SpawnWay
    cwd: Path
    count: int = 0
    events: list[HermesEvent] = field(default_factory=list)

    def request(self, prompt: str, **more: Any) -> HermesRequest:
        self.count += 1
        return HermesRequest(str(self.count), prompt, more.pop("cwd", self.cwd), **more)

    async def turn(
        self,
        prompt: str,
        *,
        by: HermesWay | None = None,
        on: Callable[[HermesEvent], Awaitable[None]] | None = None,
        **more: Any,
    ) -> Outcome:
        """Run a turn to its end; `on` gets each event in a task of its own."""
        self.events = []
        tasks: list[asyncio.Task[None]] = []
        request = self.request(prompt, **more)
        async with asyncio.timeout(BOUND):
            async for event in (by or self.way).send(request):
                self.events.append(event)
                if on is not None:
                    tasks.append(asyncio.create_task(run(on, event)))
            await asyncio.gather(*tasks)
        outcome = self.events[-1]
        assert isinstance(outcome, Outcome)
        return outcome

    async def task(self, prompt: str, session: str | None = None, **more: Any) -> Outcome:
        return await self.turn(prompt, session=session, is_task=True, **more)

    def said(self) -> list[tuple[str, str]]:
        """The roles and texts the model received last, without the system prompt."""
        return [
            (message["role"], model.content_text(message.get("content")))
            for message in self.line.server.turns[-1]["messages"]
            if message["role"] != "system"
        ]

    def users(self) -> list[str]:
        return [text for role, text in self.said() if role == "user"]

    def whole(self) -> str:
        return str(self.line.server.turns[-1])

    def seen(self, kind: type[HermesEvent]) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]

    def answering(self, answer: Answer) -> Callable[[HermesEvent], Awaitable[None]]:
        async def on(event: HermesEvent) -> None:
            if isinstance(event, Asked):
                assert await self.way.answer(str(self.count), event.approval.id, answer)

        return on

    def stopping(self, kind: type[HermesEvent], after: float) -> Any:
        """Stops the turn once such an event has come; notes when."""
        stopped: list[float] = []

        async def on(event: HermesEvent) -> None:
            if isinstance(event, kind) and not stopped:
                stopped.append(0.0)
                await asyncio.sleep(after)
                stopped[0] = time.monotonic()
                await self.way.stop(str(self.count))
                stopped.append(time.monotonic())

        on.stopped = stopped  # type: ignore[attr-defined]
        return on


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared_live(
    shared_line: HermesLine, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Live]:
    before = pids_below()
    given: dict[str, Any] = {
        "approvals": Approvals.ASK,
        "cache_dir": shared_line.cache,
        "environ": shared_line.environ(),
    }
    spawn = SpawnWay(lambda: shared_line.place, **given)
    way = LiveWay(lambda: shared_line.place, sessions=spawn, **given)
    yield Live(shared_line, way, spawn, tmp_path_factory.mktemp("live"))
    since = time.monotonic()
    await way.close()
    assert time.monotonic() - since < 5.0
    await spawn.close()
    assert pids_below() <= before


@pytest.fixture
def live(shared_live: Live, hermes_line: HermesLine) -> Live:
    return shared_live


def tool(name: str, **arguments: Any) -> model.Script:
    """A model that calls this tool once in each turn."""

    def script(request: dict[str, Any]) -> model.Answer:
        if request["messages"][-1]["role"] == "tool":
            return model.Answer(("Done.",))
        if not request.get("stream"):
            return HI
        return model.Answer(("I will. ",), tool=(name, arguments))

    return script


# At home


async def test_a_home_turn_holds_its_own_text_alone(live: Live) -> None:
    assert await live.way.ready()
    live.line.answers(model.Answer(("It ", "works.")))
    for text in ("You: a context block\n\nfirst", "second"):
        outcome = await live.turn(text)
        assert live.said() == [("user", text)]
        assert live.events[0] == Started(Approvals.ASK, Transport.LIVE)
        assert "".join(event.text for event in live.seen(TextDelta)) == "It works."
        assert isinstance(outcome, Replied) and outcome.text == "It works."
    assert live.seen(UsageSeen)
    (modes,) = live.seen(ModesSeen)
    assert {"default", "accept_edits"} <= {mode.id for mode in modes.modes}


async def test_an_edit_of_the_memory_is_seen_by_the_next_home_turn(live: Live) -> None:
    memory = live.line.home / "memories" / "MEMORY.md"
    memory.parent.mkdir(exist_ok=True)
    for canary in ("CANARY-ONE", "CANARY-TWO"):
        memory.write_text(f"{canary}\n")
        await live.turn("hello")
        assert canary in live.whole()
    assert "CANARY-ONE" not in live.whole()
    await asyncio.sleep(0.5)  # another session is opened ahead
    memory.write_text("CANARY-THREE\n")
    await live.turn("hello")
    assert "CANARY-THREE" in live.whole()


async def test_texts_that_hermes_would_take_reach_the_model(live: Live) -> None:
    for text in ("/help", "/reset now", "/version"):
        outcome = await live.turn(text)
        assert live.users() == ["\u200b" + text]
        assert isinstance(outcome, Replied) and outcome.text == "Hi."
    outcome = await live.turn("/version", is_command=True)
    assert isinstance(outcome, Replied) and "ermes" in outcome.text
    assert live.users() == ["\u200b/version"]  # the model was not asked


async def test_a_text_of_three_megabytes(live: Live) -> None:
    text = "x" * 3_000_000
    assert await live.way.carries(text)
    assert isinstance(await live.turn(text), Replied)
    assert live.users() == [text]


async def test_many_pieces_come_whole_and_in_order(live: Live) -> None:
    words = tuple(f"{number} " for number in range(400))
    live.line.answers(model.Answer(words))
    outcome = await live.turn("count")
    assert "".join(event.text for event in live.seen(TextDelta)) == "".join(words)
    assert isinstance(outcome, Replied) and outcome.text == "".join(words).strip()


async def test_a_providers_error_is_a_failure_and_no_answer(live: Live) -> None:
    live.line.answers(model.Answer(status=401, error="bad key"))
    outcome = await live.turn("hello")
    assert isinstance(outcome, Failed) and outcome.kind is FailureKind.PROVIDER
    assert "HTTP 401: bad key" in outcome.detail
    assert not live.seen(TextDelta) and outcome.partial == ""
    live.line.answers(HI)
    assert isinstance(await live.turn("again"), Replied)


async def test_an_empty_answer_is_a_failure(live: Live) -> None:
    if live.line.newer:
        return  # it tries again for 49 s
    live.line.answers(model.Answer(()))
    outcome = await live.turn("hello")
    assert isinstance(outcome, Failed) and outcome.kind is FailureKind.EMPTY
    assert not live.seen(TextDelta)


async def test_a_time_limit(live: Live) -> None:
    live.line.answers(model.Answer(("Well, ", "then."), delay=1.5))
    outcome = await live.turn("hello", timeout=2.5)
    assert isinstance(outcome, Failed) and outcome.kind is FailureKind.TIMEOUT


# A task's session


async def test_a_task_is_continued_by_either_way(live: Live) -> None:
    first = await live.task("one")
    assert first.session is not None
    assert live.seen(SessionSeen) == [SessionSeen(first.session)]
    assert live.seen(CommandsSeen) or live.seen(ModesSeen)
    assert await live.way.name_session(first.session, "q-task-live")
    await live.task("two", first.session)
    assert live.said()[:4:2] == [("user", "one"), ("user", "two")]
    outcome = await live.task("three", first.session, by=live.spawn)
    assert isinstance(outcome, Replied)
    assert begins(live.users(), "one", "two", "three")
    await live.task("four", outcome.session)
    assert begins(live.users(), "one", "two", "three", "four")
    record = await live.way.read_session(first.session)
    assert record.title == "q-task-live"
    assert [role for role, _ in record.messages] == ["user", "assistant"] * 4


async def test_a_session_begun_by_spawn_goes_on_live(live: Live) -> None:
    first = await live.task("one", by=live.spawn)
    await live.task("two", first.session)
    assert begins(live.users(), "one", "two")


async def test_the_same_process_goes_on_with_its_session(live: Live) -> None:
    first = await live.task("one")
    before = {peer.child.pid for peer in live.way._homes.peers}
    await live.task("two", first.session)
    assert {peer.child.pid for peer in live.way._homes.peers} == before
    (holding,) = [peer for peer in live.way._homes.peers if first.session in peer.held]
    await live.turn("at home, meanwhile")
    await live.task("three", first.session)
    assert first.session in holding.held


async def test_a_lost_session_is_told_and_nothing_is_sent(live: Live) -> None:
    live.line.answers(HI)
    outcome = await live.task("hello", "20200101_000000_abcdef")
    assert isinstance(outcome, Failed) and outcome.kind is FailureKind.SESSION_LOST
    assert not live.line.server.turns


async def test_a_projects_instructions_reach_its_task_and_no_home_turn(
    live: Live, tmp_path: Path
) -> None:
    (tmp_path / "AGENTS.md").write_text("CANARY-PROJECT")
    await live.task("hello", cwd=tmp_path)
    assert "CANARY-PROJECT" in live.whole()
    assert str(tmp_path) in live.whole()
    await live.turn("hello")
    assert "CANARY-PROJECT" not in live.whole()


# Approvals


@pytest.mark.parametrize("answer", [Answer.ONCE, Answer.DENY])
async def test_a_dangerous_command_asks(live: Live, answer: Answer) -> None:
    victim = live.cwd / f"victim-{answer}"
    victim.mkdir()
    live.line.answers(tool("terminal", command=f"rm -rf {victim}"))
    outcome = await live.turn("remove it", on=live.answering(answer))
    (asked,) = live.seen(Asked)
    assert asked.approval.what == f"rm -rf {victim}"
    assert asked.approval.where == str(live.cwd)
    assert "delete" in asked.approval.why
    assert asked.approval.answers == set(Answer)
    assert asked.approval.seconds == (300 if live.line.newer else 60)
    assert live.seen(AskedNoMore) == [AskedNoMore(asked.approval.id, answer)]
    assert victim.exists() == (answer is Answer.DENY)
    assert isinstance(outcome, Replied)
    tools = live.seen(ToolSeen)
    assert tools[-1].is_over and tools[0].id == tools[-1].id


async def test_what_is_allowed_for_a_session_asks_once(live: Live) -> None:
    session = None
    for asked in (1, 0):
        victim = live.cwd / f"victim-{asked}"
        victim.mkdir()
        live.line.answers(tool("terminal", command=f"rm -rf {victim}"))
        outcome = await live.task("remove it", session, on=live.answering(Answer.SESSION))
        session = outcome.session
        assert len(live.seen(Asked)) == asked
        assert not victim.exists()


async def test_an_edit_asks_with_its_diff_until_the_mode_says_otherwise(live: Live) -> None:
    file = live.cwd / "new.txt"
    live.line.answers(tool("write_file", path=str(file), content="one\n"))
    outcome = await live.task("write it", on=live.answering(Answer.DENY))
    (asked,) = live.seen(Asked)
    (diff,) = asked.approval.diffs
    assert (diff.path, diff.old, diff.new) == (str(file), None, "one\n")
    assert asked.approval.answers == {Answer.ONCE, Answer.DENY}
    assert not file.exists()
    assert outcome.session is not None
    assert await live.way.set_mode(outcome.session, "accept_edits")
    await live.task("write it", outcome.session)
    assert not live.seen(Asked)
    assert file.read_text() == "one\n"


async def test_what_denies_asks_nobody_and_takes_ordinary_edits(live: Live) -> None:
    """Rule A1: as a spawned call does."""
    denying = LiveWay(
        lambda: live.line.place,
        approvals=Approvals.DENY,
        cache_dir=live.line.cache,
        environ=live.line.environ(),
        sessions=live.spawn,
    )
    try:
        assert await denying.ready()
        victim, file = live.cwd / "victim-denied", live.cwd / "edited.txt"
        victim.mkdir()
        live.line.answers(tool("terminal", command=f"rm -rf {victim}"))
        assert isinstance(await live.task("remove it", by=denying), Replied)
        assert victim.exists()
        live.line.answers(tool("write_file", path=str(file), content="one\n"))
        assert isinstance(await live.task("write it", by=denying), Replied)
        assert file.read_text() == "one\n"
        assert not live.seen(Asked)
    finally:
        await denying.close()


# Stopping and dying


async def test_stopping_while_it_speaks(live: Live) -> None:
    live.line.answers(model.Answer(tuple(f"w{number} " for number in range(200)), delay=0.05))
    on = live.stopping(TextDelta, 0.3)
    outcome = await live.task("speak long", on=on)
    assert isinstance(outcome, Stopped) and outcome.partial.startswith("w0 ")
    live.line.answers(HI)
    again = await live.task("and now", outcome.session)
    assert isinstance(again, Replied) and again.text == "Hi."
    users = live.users()
    assert users[0] == "speak long" and users[-1] == "and now"
    assert users.count("speak long") == 1 and len(users) == 2
    assert isinstance(await live.task("third", outcome.session), Replied)


async def test_stopping_in_a_running_tool_leaves_nothing(live: Live) -> None:
    live.line.answers(tool("terminal", command=f"sleep {SLEEP}"))
    on = live.stopping(ToolSeen, 1.0)
    ended = []

    async def noting(event: HermesEvent) -> None:
        if isinstance(event, Stopped):
            ended.append(time.monotonic())
        await on(event)

    outcome = await live.task("sleep", on=noting)
    assert isinstance(outcome, Stopped) and outcome.partial == "I will. "
    assert ended[0] - on.stopped[0] < 1.0
    assert not sleeping()
    live.line.answers(HI)
    again = await live.task("and now", outcome.session)
    assert isinstance(again, Replied)
    users = live.users()
    assert users[0] == "sleep" and users[-1] == "and now" and len(users) == 2
    assert not sleeping()


async def test_a_process_that_is_killed_is_replaced(live: Live) -> None:
    live.line.answers(model.Answer(tuple(f"w{number} " for number in range(200)), delay=0.05))
    killed: list[int] = []

    async def kill(event: HermesEvent) -> None:
        if isinstance(event, TextDelta) and not killed:
            (peer,) = [peer for peer in live.way._homes.peers if peer.on_update is not None]
            killed.append(peer.child.pid)
            os.kill(peer.child.pid, signal.SIGKILL)

    outcome = await live.task("speak long", on=kill)
    assert isinstance(outcome, Failed) and outcome.kind is FailureKind.CRASHED
    assert outcome.partial.startswith("w0 ")
    live.line.answers(HI)
    assert isinstance(await live.task("and now", outcome.session), Replied)
    # What was asked is in the session, unanswered; it is not asked again by itself.
    assert live.users()[-1].endswith("and now") and len(live.line.server.turns) == 1


async def test_a_process_that_is_killed_in_a_tool_leaves_no_tool(live: Live) -> None:
    """Sending again would run it twice."""
    live.line.answers(tool("terminal", command=f"sleep {SLEEP}"))

    async def kill(event: HermesEvent) -> None:
        if isinstance(event, ToolSeen) and not event.is_over:
            while not sleeping():
                await asyncio.sleep(0.05)
            await asyncio.sleep(1.5)  # a tool that has just begun is not noted yet
            for peer in live.way._homes.peers:
                if peer.on_update is not None:
                    os.kill(peer.child.pid, signal.SIGKILL)

    outcome = await live.task("sleep", on=kill)
    assert isinstance(outcome, Failed) and outcome.kind is FailureKind.CRASHED
    assert not sleeping()


async def test_two_threads_at_once_do_not_mix(live: Live) -> None:
    def script(request: dict[str, Any]) -> model.Answer:
        last = model.user_text(request)
        return model.Answer(tuple(f"{last}{number} " for number in range(20)), delay=0.02)

    live.line.answers(script)

    async def one(word: str) -> str:
        events = [event async for event in live.way.send(live.request(word))]
        return "".join(event.text for event in events if isinstance(event, TextDelta))

    texts = await asyncio.gather(one("a"), one("b"))
    assert list(texts) == ["".join(f"{word}{number} " for number in range(20)) for word in "ab"]


async def run(on: Callable[[HermesEvent], Awaitable[None]], event: HermesEvent) -> None:
    await on(event)


def begins(texts: list[str], *words: str) -> bool:
    """Whether these are the texts; the newer line adds a note where the way has changed."""
    return [text.split()[0] for text in texts] == list(words)


def sleeping() -> list[int]:
    """The `sleep` of hermes's tool: in a session of its own, it can be anybody's child."""
    return [
        process.pid
        for process in psutil.process_iter(["cmdline"])
        if process.info["cmdline"] == ["sleep", SLEEP]
    ]
