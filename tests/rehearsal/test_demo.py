"""The stage: a real hermes answers from the demo feed, and nothing is left behind."""

from __future__ import annotations

import asyncio
import os
import signal
import stat
import subprocess
import sys
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from qterm.feed.store import open_store
from qterm.hermes.capabilities import recall, remember
from qterm.hermes.place import Capabilities, HermesNotFound
from qterm.model import Fact, Mode, Task, Turn, TurnState
from qterm.rehearsal.demo import DONE_TASK, FACTS, OPEN_TASK, STORY, Rehearsal
from qterm.rehearsal.model_server import user_text
from qterm.settings.load import load
from qterm.settings.paths import resolve_paths


@pytest.fixture
def outer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """An operator's environment with temporary folders of its own."""
    temp = tmp_path / "tmp"
    temp.mkdir()
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temp))
    monkeypatch.setenv("HOME", str(home))
    return {**os.environ, "HOME": str(home), "TMPDIR": str(temp)}


def left(outer: dict[str, str]) -> list[str]:
    return sorted(path.name for path in Path(outer["TMPDIR"]).iterdir())


def test_the_stage_stands_alone_and_is_gone_afterwards(outer: dict[str, str]) -> None:
    outer |= {"QTERM_OPERATOR": "Kim", "QTERM_DATA_DIR": "/nowhere", "HERMES_HOME": "/nowhere"}
    outer |= {"OPENROUTER_API_KEY": "sk-1"}
    with Rehearsal(outer) as stage:
        assert stat.S_IMODE(stage.folder.stat().st_mode) == 0o700
        loaded = load(config=stage.config, data_dir=stage.data_dir, environ=stage.environ)
        assert loaded.problems == ()
        assert loaded.settings.operator == "Alex"
        assert loaded.settings.hermes.command == stage.place.command
        assert Path(loaded.settings.hermes.home) == stage.hermes_home
        assert stage.environ["HERMES_HOME"] == str(stage.hermes_home)
        assert "OPENROUTER_API_KEY" not in stage.environ, "a rehearsal costs nothing"
        used = [*loaded.paths.named().values(), stage.hermes_home]
        assert all(path.is_relative_to(stage.folder) for path in used)
        assert stage.folder.parent == Path(outer["TMPDIR"])
    assert left(outer) == []
    assert list(Path(outer["HOME"]).iterdir()) == []


async def test_mallory_and_moneypenny_are_at_work(outer: dict[str, str]) -> None:
    now = datetime(2026, 11, 30, 15, 7, tzinfo=UTC)
    with Rehearsal(outer, now=lambda: now) as stage:  # within a running loop
        paths = load(config=stage.config, data_dir=stage.data_dir, environ=stage.environ).paths
        feed = await open_store(paths.store_file, locks_dir=paths.locks_dir)
        turns: list[Turn] = await feed.page(None)
        facts: list[Fact] = await feed.facts()
        mode: Mode | None = await feed.mode()
        tasks: list[Task] = await feed.tasks()
        await feed.close()
    assert [(task.title, task.turns, task.is_unread) for task in tasks] == [
        (OPEN_TASK, 0, False),
        (DONE_TASK[0], 4, False),
    ]
    assert [turn.text for turn in turns] == [line.text for line in STORY]
    assert {turn.persona for turn in turns} == {"you", "q", "mallory", "moneypenny"}
    assert all(turn.state is TurnState.SENT for turn in turns)
    assert timedelta(days=1) < now - turns[0].created_at < timedelta(days=2)
    assert all(timedelta() < now - turn.created_at < timedelta(hours=2) for turn in turns[1:])
    replies = [turn for turn in turns if turn.persona == "q"]
    assert all(turn.reply_to == turn.id - 1 and turn.elapsed for turn in replies)
    assert [fact.text for fact in facts if fact.pinned] == [text for text, pin in FACTS if pin]
    assert mode == Mode("Deep work", datetime(2026, 11, 30, 17, 15, tzinfo=UTC))


def test_what_is_known_of_the_hermes_is_known_on_the_stage_too(outer: dict[str, str]) -> None:
    known = Capabilities(version="0.19.0", version_line="Hermes Agent v0.19.0")
    cache = resolve_paths(environ=outer).cache_dir
    with Rehearsal(outer) as stage:
        staged = load(config=stage.config, data_dir=stage.data_dir, environ=stage.environ).paths
        assert recall(stage.place, staged.cache_dir) is None
        remember(stage.place, known, cache)
    with Rehearsal(outer) as stage:
        staged = load(config=stage.config, data_dir=stage.data_dir, environ=stage.environ).paths
        assert recall(stage.place, staged.cache_dir) == known


def test_it_runs_here_where_hermes_is_on_another_machine(outer: dict[str, str]) -> None:
    """The scripted model is on this machine, where the other one can't reach it."""
    outer["QTERM_HERMES_COMMAND"] = "ssh tower hermes"
    with Rehearsal(outer) as stage:
        assert stage.place.remote is None


def test_it_is_gone_after_an_exception(outer: dict[str, str]) -> None:
    with pytest.raises(KeyError), Rehearsal(outer):
        raise KeyError
    assert left(outer) == []


def test_without_a_hermes_it_is_one_sentence_and_nothing_is_left(outer: dict[str, str]) -> None:
    outer["QTERM_HERMES_COMMAND"] = "/nowhere/hermes"
    with pytest.raises(HermesNotFound, match=r"/nowhere/hermes.*\."), Rehearsal(outer):
        pass
    assert left(outer) == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_it_is_gone_after_a_signal(outer: dict[str, str], number: signal.Signals) -> None:
    code = (
        "import os, sys, time\n"
        "from qterm.rehearsal.demo import Rehearsal\n"
        "with Rehearsal(dict(os.environ)) as stage:\n"
        "    print(stage.folder, flush=True)\n"
        "    time.sleep(60)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], env=outer, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        folder = Path(process.stdout.readline().strip())
        assert folder.is_dir()
        process.send_signal(number)
        assert process.wait(timeout=30) == 128 + number
    assert left(outer) == []


async def test_a_real_hermes_answers_from_the_feed(outer: dict[str, str]) -> None:
    """One turn, as qterm makes it: the model got the block, and quotes Moneypenny from it.

    Behind a proxy that is not there: a rehearsal is local.
    """
    from qterm.events import Finished
    from qterm.frame import ChatFrame
    from qterm.services import open_services

    outer |= {"HTTP_PROXY": "http://127.0.0.1:9", "all_proxy": "http://127.0.0.1:9"}
    with Rehearsal(outer) as stage:
        loaded = load(config=stage.config, data_dir=stage.data_dir, environ=stage.environ)
        services = await open_services(loaded, environ=stage.environ, is_demo=True)
        try:
            frame = ChatFrame(text="What did Moneypenny say?")
            async with asyncio.timeout(120):
                events = [event async for event in services.conversation.send(frame)]
        finally:
            await services.close()
        received = [user_text(request) for request in stage.model.turns]
    assert len(received) == 1
    assert received[0].endswith("What did Moneypenny say?")
    assert "Moneypenny: Tom asks whether the review can begin" in received[0]
    last = events[-1]
    assert isinstance(last, Finished)
    assert last.reply is not None
    assert last.reply.text.startswith("Moneypenny said: “Tom asks whether")
    assert left(outer) == []
    assert list(Path(outer["HOME"]).iterdir()) == []
