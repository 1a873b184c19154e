"""From enter to Q's first text: a hermes that is kept running against one spawned for each turn."""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from bench.ratio import Ratio
from qterm.conversation import Conversation
from qterm.events import Finished, ReplyText
from qterm.feed.owner import current_owner
from qterm.feed.store import open_store
from qterm.frame import ChatFrame
from qterm.hermes.environment import child_environment
from qterm.hermes.live.live import LiveWay
from qterm.hermes.locate import locate
from qterm.hermes.spawn import SpawnWay
from qterm.hermes.transport import ChosenWay
from qterm.model import Approvals, TransportChoice, TurnState
from qterm.private import private_folder
from qterm.rehearsal.model_server import Answer, ModelServer
from qterm.settings.schema import HermesSettings, Settings

CONFIG = """model:
  default: mock-1
  provider: custom
  base_url: {url}
  api_key: none
  context_length: 2000000
agent:
  environment_probe: false
"""
INSTANT = Answer(("All ", "green."))
SLOW = Answer(tuple(f"word {number} " for number in range(50)), delay=0.02)

First = Callable[[], Awaitable[float]]


async def first_text(conversation: Conversation, task_id: str | None) -> float:
    """Seconds from enter to the first text; the turn is waited for, and not counted."""
    start = time.perf_counter()
    seconds = 0.0
    async for event in conversation.send(ChatFrame("Is the deploy green?", task_id=task_id)):
        if isinstance(event, ReplyText) and not seconds:
            seconds = time.perf_counter() - start
        if isinstance(event, Finished):
            seconds = seconds or time.perf_counter() - start  # 0.19 spawned: all at once
            assert event.turn.state is TurnState.SENT, event.turn.reason
    return seconds


class Raw:
    """The bare protocol on a process of its own: what anybody's first text would take."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.number = 0

    @classmethod
    async def start(cls, hermes: Path, home: Path, folder: Path) -> Raw:
        process = await asyncio.create_subprocess_exec(
            str(hermes.with_name("hermes-acp")),
            cwd=folder,
            env=child_environment(dict(os.environ), home),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            limit=1 << 24,
            start_new_session=True,
        )
        raw = cls(process)
        await raw.ask("initialize", {"protocolVersion": 1, "clientCapabilities": {}})
        answer, _ = await raw.ask("session/new", {"cwd": str(folder), "mcpServers": []})
        raw.session = answer["sessionId"]
        return raw

    session: str = ""

    async def ask(self, method: str, params: dict[str, Any]) -> tuple[Any, float]:
        """The answer to a request, and the seconds until the first text before it."""
        assert self.process.stdin
        assert self.process.stdout
        self.number += 1
        start, seconds = time.perf_counter(), 0.0
        line = {"jsonrpc": "2.0", "id": self.number, "method": method, "params": params}
        self.process.stdin.write(json.dumps(line).encode() + b"\n")
        result, is_answered = None, False
        # hermes may send the text behind the answer
        while not is_answered or (method == "session/prompt" and not seconds):
            said = json.loads(await self.process.stdout.readline())
            if said.get("id") == self.number:
                result, is_answered = said.get("result"), True
            update = said.get("params", {}).get("update", {})
            if update.get("sessionUpdate") == "agent_message_chunk" and not seconds:
                seconds = time.perf_counter() - start
        return result, seconds

    async def first_text(self) -> float:
        prompt = [{"type": "text", "text": "Is the deploy green?"}]
        _, seconds = await self.ask("session/prompt", {"sessionId": self.session, "prompt": prompt})
        return seconds


async def pairs(name: str, aim: float, a: First, b: First, *, runs: int) -> Ratio:
    """A and B in turn; the first of each does not count."""
    times: tuple[list[float], list[float]] = ([], [])
    for number in range(runs + 1):
        for work, into in ((a, times[0]), (b, times[1])):
            seconds = await work()
            if number:
                into.append(seconds)
    return Ratio(name, aim, *times)


async def ratios(folder: Path, hermes: Path, line: str, *, runs: int = 8) -> list[Ratio]:
    """The ratios for one hermes; `folder` is a scratch folder."""
    home = private_folder(folder / "hermes")
    settings = Settings(hermes=HermesSettings(command=(str(hermes),), home=str(home)))
    environ = dict(os.environ)
    cwd = private_folder(folder / "cwd")
    found: list[Ratio] = []
    with ModelServer(lambda _request: INSTANT) as model:
        (home / "config.yaml").write_text(CONFIG.format(url=model.base_url))
        store = await open_store(folder / "feed.db", locks_dir=folder / "locks")

        def find() -> Any:
            return locate(settings.hermes, environ)

        def spawn_way() -> SpawnWay:
            return SpawnWay(
                find, approvals=Approvals.DENY, cache_dir=folder / "cache", environ=environ
            )

        sessions = spawn_way()
        chosen = ChosenWay(
            lambda: sessions,
            lambda spawn: LiveWay(
                find,
                approvals=Approvals.DENY,
                cache_dir=folder / "cache",
                environ=environ,
                sessions=spawn,
            ),
            find,
            choice=TransportChoice.LIVE,
            approvals=Approvals.DENY,
        )
        live = Conversation(store, chosen, settings, current_owner(), cwd)
        spawned = Conversation(store, spawn_way(), settings, current_owner(), cwd)
        raw = await Raw.start(hermes, home, cwd)
        try:
            tasks = [await store.add_task(name, str(cwd)) for name in ("live", "spawned")]

            async def settled(conversation: Conversation, task_id: str | None) -> float:
                seconds = await first_text(conversation, task_id)
                await asyncio.sleep(1.5)  # what is left to do in the background is not enter's
                return seconds

            for kind, answer in (("instant", INSTANT), ("slow", SLOW)):
                model.script = lambda _request, answer=answer: answer  # type: ignore[misc]
                found += [
                    await pairs(
                        f"first text in a task, live : spawned, {line}, {kind} model",
                        1 / 30,
                        lambda: settled(live, tasks[0].id),
                        lambda: first_text(spawned, tasks[1].id),
                        runs=runs,
                    ),
                    await pairs(
                        f"first text at home, live : spawned, {line}, {kind} model",
                        1 / 15,
                        lambda: settled(live, None),
                        lambda: first_text(spawned, None),
                        runs=runs,
                    ),
                    await pairs(
                        f"first text in a task, live : the raw protocol, {line}, {kind} model",
                        1.2,
                        lambda: settled(live, tasks[0].id),
                        raw.first_text,
                        runs=runs,
                    ),
                ]
        finally:
            raw.process.kill()
            await raw.process.wait()
            await live.close()
            await spawned.close()
            await store.close()
    return found
