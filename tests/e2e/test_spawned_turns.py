"""Home and task turns through the real hermes, judged by what the model received."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest

from qterm.hermes.locate import locate
from qterm.hermes.place import HermesPlace
from qterm.hermes.spawn import SpawnWay
from qterm.hermes.way import (
    Approvals,
    Failed,
    FailureKind,
    HermesEvent,
    HermesRequest,
    Outcome,
    Replied,
    SessionSeen,
    Started,
    Stopped,
    TextDelta,
)
from qterm.rehearsal.model_server import Answer, ModelServer, user_text
from qterm.settings.schema import HermesSettings
from tests.e2e.conftest import HermesLine, MakeWay, make_home

ODD = (
    "-z \"quotes\" 'single' $(touch x) `y` \\n \\ %s {0}\n\n"
    "日本語 🎉👩\u200d👩\u200d👧 e\u0301 \u200f\u202e --query=x"
)


@pytest.fixture
def cwd(tmp_path: Path) -> Path:
    (tmp_path / "cwd").mkdir()
    return tmp_path / "cwd"


async def events_of(way: SpawnWay, request: HermesRequest) -> list[HermesEvent]:
    events = [event async for event in way.send(request)]
    assert isinstance(events[0], Started)
    return events


async def outcome_of(way: SpawnWay, request: HermesRequest) -> Outcome:
    outcome = (await events_of(way, request))[-1]
    assert isinstance(outcome, Outcome)
    return outcome


def users(request: dict[str, Any]) -> list[str]:
    """The user messages of one request to the model."""
    return [
        user_text({"messages": [message]})
        for message in request["messages"]
        if message["role"] == "user"
    ]


def tool_once(command: str) -> Callable[[dict[str, Any]], Answer]:
    """A model that calls the terminal once, then is done."""

    def script(request: dict[str, Any]) -> Answer:
        if any(message["role"] == "tool" for message in request["messages"]):
            return Answer(("Done.",))
        return Answer(("I look.",), tool=("terminal", {"command": command}))

    return script


async def test_a_home_turn_denies_and_the_model_gets_the_text_and_nothing_else(
    hermes_line: HermesLine, make_way: MakeWay, cwd: Path
) -> None:
    hermes_line.answers(Answer(("Hi ", "there. 日本 🎉")))
    way = make_way()
    events = await events_of(way, HermesRequest("k", ODD, cwd))
    assert events[0] == Started(Approvals.DENY)
    assert isinstance(events[-1], Replied)
    assert events[-1].text == "Hi there. 日本 🎉"
    assert SessionSeen(str(events[-1].session)) in events
    assert [users(turn) for turn in hermes_line.server.turns] == [[ODD]]
    assert list(cwd.iterdir()) == []
    if hermes_line.newer:
        assert "".join(e.text for e in events if isinstance(e, TextDelta)) == events[-1].text


async def test_large_texts(hermes_line: HermesLine, make_way: MakeWay, cwd: Path) -> None:
    way = make_way()
    text = "x" + "日本" * 20_000 + "y"  # 120 kB
    if hermes_line.newer:
        text *= 25  # 3 MB
    assert await way.carries(text)
    assert isinstance(await outcome_of(way, HermesRequest("k", text, cwd)), Replied)
    assert [users(turn) for turn in hermes_line.server.turns] == [[text]]
    if not hermes_line.newer:
        assert not await way.carries(text + "日本" * 3_000)


async def test_beginnings_that_hermes_could_take_for_something_else(
    hermes_line: HermesLine, make_way: MakeWay, cwd: Path
) -> None:
    (cwd / "a.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    (cwd / "note.txt").write_text("secret")
    way = make_way()
    texts = ["./a.png what is it?", "/help", "@file:note.txt"]
    await asyncio.gather(*(outcome_of(way, HermesRequest(text, text, cwd)) for text in texts))
    received = [users(turn)[-1] for turn in hermes_line.server.turns]
    assert sorted(received) == sorted(["\u200b./a.png what is it?", "/help", "@file:note.txt"])


async def test_bypass_runs_a_dangerous_command_unasked(
    hermes_line: HermesLine, make_way: MakeWay, cwd: Path, tmp_path: Path
) -> None:
    """Rule A1: the operator's own choice."""
    victim = tmp_path / "victim"
    victim.mkdir()
    hermes_line.answers(tool_once(f"rm -rf {victim}"))
    events = await events_of(make_way(Approvals.BYPASS), HermesRequest("k", "-do it", cwd))
    assert events[0] == Started(Approvals.BYPASS)
    assert isinstance(events[-1], Replied)
    assert not victim.exists()
    assert users(hermes_line.server.turns[0]) == ["-do it"]


async def test_deny_refuses_a_dangerous_command(
    hermes_line: HermesLine, make_way: MakeWay, cwd: Path, tmp_path: Path
) -> None:
    """Rule A1: hermes refuses at once on the newer line, after a minute of waiting on 0.19."""
    victim = tmp_path / "victim"
    victim.mkdir()
    hermes_line.answers(tool_once(f"rm -rf {victim}"))
    # On 0.19 the turn is over after some seconds of that minute: nothing ran by then either.
    limit = None if hermes_line.newer else 8.0
    outcome = await outcome_of(make_way(), HermesRequest("k", "do it", cwd, timeout=limit))
    assert victim.exists()
    assert hermes_line.server.turns
    if hermes_line.newer:
        assert outcome == Replied("I look.\n\nDone.", outcome.session)


async def test_a_task_s_later_turn_continues_its_session(
    hermes_line: HermesLine, make_way: MakeWay, cwd: Path
) -> None:
    """Rule S4: the arguments that really continue a session, also where home bypasses."""
    way = make_way(Approvals.BYPASS)
    request = HermesRequest("k", "one", cwd, is_task=True)
    first = await outcome_of(way, request)
    assert isinstance(first, Replied)
    assert first.session
    hermes_line.server.requests.clear()
    later = await outcome_of(way, replace(request, prompt="two", session=first.session))
    assert isinstance(later, Replied)
    assert later.session == first.session
    assert [users(turn) for turn in hermes_line.server.turns] == [["one", "two"]]
    hermes_line.answers(Answer(status=401, error="bad key"))
    refused = await outcome_of(way, replace(request, prompt="three", session=first.session))
    assert isinstance(refused, Failed)
    assert refused.kind is FailureKind.PROVIDER  # rule S5: the session is still there


async def test_a_session_that_is_gone(
    hermes_line: HermesLine, make_way: MakeWay, cwd: Path
) -> None:
    """Rule S5."""
    request = HermesRequest("k", "two", cwd, is_task=True, session="20200101_000000_aaaaaa")
    outcome = await outcome_of(make_way(), request)
    assert isinstance(outcome, Failed)
    assert outcome.kind is FailureKind.SESSION_LOST
    assert hermes_line.server.turns == []


async def test_the_sticky_profile_does_not_take_a_root_s_turn(
    hermes_line: HermesLine, make_way: MakeWay, cwd: Path, tmp_path: Path
) -> None:
    """`-p default`: without it hermes goes to the profile, which has no model here."""
    home = make_home(tmp_path / "home", hermes_line.server.base_url)
    (home / "profiles" / "work").mkdir(parents=True)
    (home / "active_profile").write_text("work\n")
    choice = HermesSettings(command=(str(hermes_line.program),), home=str(home))
    root = locate(choice, hermes_line.environ())
    assert root.home_is_root
    request = HermesRequest("k", "hello", cwd)
    assert isinstance(await outcome_of(make_way(place=root), request), Replied)
    environ = {**hermes_line.environ(), "HERMES_HOME": str(home)}
    sticky = locate(HermesSettings(command=choice.command), environ)
    assert sticky.home == home / "profiles" / "work"
    outcome = await outcome_of(make_way(place=sticky), request)
    assert isinstance(outcome, Failed)
    assert outcome.kind is FailureKind.NO_MODEL


async def both(make_way: MakeWay, cwd: Path, place: HermesPlace | None = None) -> list[Outcome]:
    """The outcome of the same home turn with each of the approvals, run side by side."""
    return await asyncio.gather(
        *(
            outcome_of(make_way(approvals, place), HermesRequest("k", "hello", cwd))
            for approvals in (Approvals.DENY, Approvals.BYPASS)
        )
    )


async def test_a_provider_that_refuses_the_key(
    hermes_line: HermesLine, make_way: MakeWay, cwd: Path
) -> None:
    hermes_line.answers(Answer(status=401, error="bad key"))
    for outcome in await both(make_way, cwd):
        assert isinstance(outcome, Failed)
        assert outcome.kind is FailureKind.PROVIDER
        assert "HTTP 401: bad key" in outcome.reason
        assert "hermes setup" in outcome.reason


async def test_a_model_that_is_down_and_qterm_s_own_time_out(
    hermes_line: HermesLine, make_way: MakeWay, cwd: Path, tmp_path: Path
) -> None:
    with ModelServer() as gone:
        home = make_home(tmp_path / "home", gone.base_url)
    place = replace(hermes_line.place, home=home)
    begun = time.monotonic()
    outcome = await outcome_of(make_way(place=place), HermesRequest("k", "hi", cwd, timeout=6))
    assert isinstance(outcome, Failed)
    assert outcome.kind is FailureKind.TIMEOUT
    assert time.monotonic() - begun < 30


async def test_no_model(
    hermes_line: HermesLine, make_way: MakeWay, cwd: Path, tmp_path: Path
) -> None:
    place = replace(hermes_line.place, home=tmp_path / "home")
    for outcome in await both(make_way, cwd, place):
        assert isinstance(outcome, Failed)
        assert outcome.kind is FailureKind.NO_MODEL
        assert "hermes setup" in outcome.reason


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(60):
        while not condition():
            await asyncio.sleep(0.02)


def named_sleep(seconds: str) -> list[int]:
    found = []
    for process in psutil.process_iter(["cmdline", "status"]):
        runs = process.info["status"] != psutil.STATUS_ZOMBIE
        if runs and process.info["cmdline"] == ["sleep", seconds]:
            found.append(process.pid)
    return found


async def test_stop_in_the_middle_of_an_answer(
    hermes_line: HermesLine, make_way: MakeWay, cwd: Path
) -> None:
    hermes_line.answers(Answer(("word ",) * 600, delay=0.1))
    way = make_way()
    turn = asyncio.create_task(outcome_of(way, HermesRequest("k", "hello", cwd)))
    await until(lambda: hermes_line.server.turns)
    await asyncio.wait_for(way.stop("k"), 30)
    outcome = await turn
    assert isinstance(outcome, Stopped)


async def test_stop_while_a_tool_runs(
    hermes_line: HermesLine, make_way: MakeWay, cwd: Path
) -> None:
    """hermes starts its tools in sessions of their own: nothing of them may be left."""
    seconds = f"61.{hermes_line.newer:d}"
    hermes_line.answers(tool_once(f"sleep {seconds}"))
    ways = [make_way(Approvals.DENY), make_way(Approvals.BYPASS)]
    request = HermesRequest("k", "hello", cwd)
    turns = [asyncio.create_task(outcome_of(way, request)) for way in ways]
    await until(lambda: len(named_sleep(seconds)) >= 2)
    await asyncio.wait_for(asyncio.gather(*(way.stop("k") for way in ways)), 60)
    assert named_sleep(seconds) == []
    denying, bypassing = [await turn for turn in turns]
    assert isinstance(denying, Stopped)
    assert isinstance(bypassing, Stopped)
    assert denying.partial == ("I look." if hermes_line.newer else "")
