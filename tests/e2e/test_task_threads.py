"""Task threads on the real hermes, both lines: rules S1 to S8 by what the model received."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from qterm.events import Finished
from qterm.feed.source import NewTurn
from qterm.frame import ChatFrame
from qterm.hermes.sessions import Sessions
from qterm.hermes.way import FailureKind, SessionState
from qterm.model import QTERM, Degraded, Session, Task, TaskState, TurnState
from qterm.rehearsal.model_server import Answer, content_text, user_text
from qterm.services import Services, open_services
from qterm.settings.load import load
from tests.e2e.conftest import HermesLine
from tests.hermes.fakes import pids_below

Start = Callable[[], Any]


@pytest.fixture
async def start(hermes_line: HermesLine, tmp_path: Path) -> AsyncIterator[Start]:
    """Starts qterm on one data folder; more than once, as two terminals or one after another."""
    environ = hermes_line.environ() | {
        "QTERM_DATA_DIR": str(tmp_path / "data"),
        "QTERM_CONFIG": str(tmp_path / "config.toml"),
    }
    (tmp_path / "config.toml").write_text(
        f'[hermes]\ncommand = ["{hermes_line.program}"]\ntransport = "spawn"\n'
    )
    opened: list[Services] = []

    async def open_one() -> Services:
        services = await open_services(load(environ=environ), environ=environ)
        opened.append(services)
        return services

    yield open_one
    for services in opened:
        await services.close()


async def new_task(services: Services, folder: Path) -> Task:
    return await services.feed.add_task("Ship the importer", str(folder))


async def send(services: Services, task: Task | None, text: str) -> Finished:
    frame = ChatFrame(text=text, task_id=task.id if task else None)
    events = [event async for event in services.conversation.send(frame)]
    end = events[-1]
    assert isinstance(end, Finished)
    return end


async def bound(services: Services, task: Task) -> Session:
    found = await services.feed.task(task.id)
    assert found is not None
    assert found.session is not None
    return found.session


def received(line: HermesLine) -> list[list[tuple[str, str]]]:
    """What the model got in each turn: role and text of every message but the system's."""
    return [
        [
            (message["role"], content_text(message["content"]).strip())
            for message in request["messages"]
            if message["role"] != "system"
        ]
        for request in line.server.turns
    ]


def hermes(line: HermesLine, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The operator's own use of hermes, past qterm."""
    return subprocess.run(
        [str(line.program), "-p", "default", *arguments],
        env=line.environ(),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def title_of(line: HermesLine, session: str) -> str | None:
    out = hermes(line, "sessions", "export", "-", "--session-id", session).stdout
    for row in out.splitlines():
        if row.startswith("{"):
            title: str | None = json.loads(row)["title"]
            return title
    return None


def echo(request: dict[str, Any]) -> Answer:
    """The model answers with a word of what it was asked."""
    return Answer((f"to {user_text(request).split()[-1]}",))


async def test_a_session_that_lasts_and_a_fresh_one_after_reopening(
    hermes_line: HermesLine, start: Start, tmp_path: Path
) -> None:
    """S1, S2, S3, S6, over two starts of qterm; a home turn holds nothing of the task."""
    hermes_line.answers(echo)
    services = await start()
    await services.feed.append(NewTurn(None, "mallory", "Two meetings.", TurnState.SENT))
    await services.feed.add_fact("Prefers short answers.")
    task = await new_task(services, tmp_path)
    await send(services, task, "first of run one: apple")
    session = await bound(services, task)
    assert session.name == f"q-task-{task.id}"
    assert title_of(hermes_line, session.id) == session.name
    await services.close()
    services = await start()
    await send(services, task, "second of run one: pear")
    apple = [("user", "first of run one: apple"), ("assistant", "to apple")]
    assert received(hermes_line) == [
        apple[:1],
        [*apple, ("user", "second of run one: pear")],
    ], "turn 2 holds turn 1, and no turn holds a block (S6)"
    await send(services, None, "at home")
    home = received(hermes_line)[-1]
    assert len(home) == 1, "a home turn continues nothing (C1)"
    assert "apple" not in home[0][1]
    await services.conversation.end_task(task.id, TaskState.DONE)
    await services.conversation.reopen_task(task.id)
    await send(services, task, "first of run two: plum")
    assert received(hermes_line)[-1] == [("user", "first of run two: plum")]
    again = await bound(services, task)
    assert again.id != session.id
    assert again.name == f"q-task-{task.id}-r2"
    assert title_of(hermes_line, again.id) == again.name


async def test_bound_by_id_and_never_to_a_strangers_title(
    hermes_line: HermesLine, start: Start, tmp_path: Path
) -> None:
    """S3: a title that is taken is never resumed; a session that only looks like the next of our
    line is never landed in."""
    hermes_line.answers(echo)
    services = await start()
    task, other = await new_task(services, tmp_path), await new_task(services, tmp_path)
    # A stranger's session gets the name that our task's would have.
    end = await send(services, other, "a stranger's words: cherry")
    assert end.turn.state is TurnState.SENT
    stranger = (await bound(services, other)).id
    hermes(hermes_line, "sessions", "rename", stranger, "--", f"q-task-{task.id}")
    assert title_of(hermes_line, stranger) == f"q-task-{task.id}"
    await send(services, task, "one: apple")
    assert received(hermes_line)[-1] == [("user", "one: apple")]
    session = await bound(services, task)
    assert session.name.startswith(f"q-task-{task.id}-")
    assert title_of(hermes_line, session.id) == session.name
    lines = [turn.text for turn in await services.feed.page(task.id) if turn.persona == QTERM]
    assert len(lines) == 1
    assert session.name in lines[0]
    # Now the stranger's looks like the newest of our session's line.
    hermes(hermes_line, "sessions", "rename", stranger, "--", f"{session.name} #2")
    assert title_of(hermes_line, stranger) == f"{session.name} #2"
    await send(services, task, "two: pear")
    assert received(hermes_line)[-1] == [
        ("user", "one: apple"),
        ("assistant", "to apple"),
        ("user", "two: pear"),
    ]


async def test_a_session_deleted_in_hermes(
    hermes_line: HermesLine, start: Start, tmp_path: Path
) -> None:
    """S5: seen in what the model received, then a fresh session."""
    hermes_line.answers(echo)
    services = await start()
    task = await new_task(services, tmp_path)
    await send(services, task, "one: apple")
    lost = await bound(services, task)
    assert hermes(hermes_line, "sessions", "delete", lost.id, "--yes").returncode == 0
    end = await send(services, task, "two: pear")
    assert (end.turn.state, end.turn.degraded) == (TurnState.SENT, Degraded.ONE_SHOT)
    ((role, text),) = received(hermes_line)[-1]
    assert role == "user"
    assert "\nYou: one: apple\nQ: to apple\n" in text
    assert text.endswith("two: pear")
    await send(services, task, "three: plum")
    assert received(hermes_line)[-1] == [("user", "three: plum")]
    fresh = await bound(services, task)
    assert fresh.id != lost.id
    assert fresh.name.startswith(f"q-task-{task.id}-")
    assert title_of(hermes_line, fresh.id) == fresh.name


async def test_failures_are_no_lost_session(
    hermes_line: HermesLine, start: Start, tmp_path: Path
) -> None:
    """S5: the provider's error keeps the binding, and sending again tells what is held already."""
    hermes_line.answers(Answer(status=401, error="bad key"))
    services = await start()
    task = await new_task(services, tmp_path)
    first = await send(services, task, "one: apple")
    assert first.turn.state is TurnState.FAILED
    held = await services.feed.task(task.id)
    assert held is not None
    # Bound although the first turn failed (S3), where hermes has begun the session at all.
    hermes_line.answers(echo)
    if held.session is not None:
        record = await services.way.read_session(held.session.id)
        assert record.state is SessionState.THERE
        assert await services.conversation.held(first.turn) != ""
    end = await send(services, task, "two: pear")
    assert (end.turn.state, end.turn.degraded) == (TurnState.SENT, None)
    session = await bound(services, task)
    if held.session is not None:
        assert session.id == held.session.id
    hermes_line.answers(Answer(status=402, error="insufficient credits"))
    failed = await send(services, task, "three: plum")
    assert failed.turn.state is TurnState.FAILED
    assert await bound(services, task) == session


async def test_two_qterms_at_once(hermes_line: HermesLine, start: Start, tmp_path: Path) -> None:
    """S7: user, assistant, user, assistant in hermes's own session; another thread beside it."""
    hermes_line.answers(echo)
    one, two = await start(), await start()
    task, other = await new_task(one, tmp_path), await new_task(one, tmp_path)
    ends = await asyncio.gather(
        send(one, task, "one: apple"), send(two, task, "two: pear"), send(two, other, "three: plum")
    )
    assert [end.turn.state for end in ends] == [TurnState.SENT] * 3
    session = await bound(one, task)
    record = await Sessions(hermes_line.place, await one.way.probe(), hermes_line.environ()).read(
        session.id
    )
    assert [role for role, _ in record.messages] == ["user", "assistant"] * 2
    assert {text.split()[-1] for role, text in record.messages} == {"apple", "pear"}
    assert (await bound(one, other)).id != session.id


async def test_stop_in_the_middle_of_a_tool(
    hermes_line: HermesLine, start: Start, tmp_path: Path
) -> None:
    """Nothing is left in the process table, and the session goes on."""
    before = pids_below()
    seconds = f"61.{os.getpid()}"  # nobody else's
    hermes_line.answers(
        lambda request: Answer(("Waiting.",), tool=("terminal", {"command": f"sleep {seconds}"}))
    )
    services = await start()
    task = await new_task(services, tmp_path)
    running = asyncio.create_task(send(services, task, "wait: apple"))

    def sleeps() -> bool:
        out = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True)
        return any(line.split()[:2] == ["sleep", seconds] for line in out.stdout.splitlines())

    async with asyncio.timeout(60):
        while not sleeps():
            await asyncio.sleep(0.1)
    await services.conversation.stop(task.id)
    assert (await running).turn.state is TurnState.STOPPED
    assert not sleeps()
    assert pids_below() <= before
    hermes_line.answers(echo)
    end = await send(services, task, "two: pear")
    assert end.turn.state is TurnState.SENT
    assert received(hermes_line)[-1][-1] == ("user", "two: pear")


async def test_a_session_in_use_elsewhere(
    hermes_line: HermesLine, start: Start, tmp_path: Path
) -> None:
    """S5: it is there, so nothing falls back. 0.19 lets two write at once; the newer line
    refuses the second, and the reason reaches the operator."""
    services = await start()
    task = await new_task(services, tmp_path)
    await send(services, task, "one: apple")
    session = await bound(services, task)

    def slow_for_the_other(request: dict[str, Any]) -> Answer:
        if user_text(request).startswith("elsewhere"):
            return Answer(("half ", "an answer"), delay=6)
        return Answer(("to you",))

    hermes_line.answers(slow_for_the_other)
    words = ["chat", "-Q", "--source", "acp", "--resume", session.id, "--query=elsewhere: pear"]
    elsewhere = subprocess.Popen(
        [str(hermes_line.program), "-p", "default", *words],
        env=hermes_line.environ(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        async with asyncio.timeout(60):
            while not hermes_line.server.turns:
                await asyncio.sleep(0.05)
        end = await send(services, task, "two: plum")
    finally:
        await asyncio.to_thread(elsewhere.wait, 60)
    if hermes_line.newer:
        assert end.turn.state is TurnState.FAILED
        assert end.failure is not None
        assert end.failure.kind is FailureKind.IN_USE
        assert all("two: plum" not in user_text(turn) for turn in hermes_line.server.turns)
    else:
        assert end.turn.state is TurnState.SENT
    assert end.turn.degraded is None
    assert (await bound(services, task)).id == session.id
