"""Puts a live way on a scripted peer, and collects what its turns tell."""

from __future__ import annotations

import asyncio
import json
import shlex
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from qterm.hermes.live.live import LiveWay
from qterm.hermes.spawn import SpawnWay
from qterm.hermes.way import Approvals, HermesEvent, HermesRequest, Outcome, TextDelta
from tests.hermes.fakes import FakeHermes, environ

Steps = list[list[Any]]
BOUND = 20.0


@dataclass
class Stage:
    """A hermes of two programs: `hermes` for the short calls, `hermes-acp` as scripted."""

    folder: Path
    fake: FakeHermes = field(init=False)
    way: LiveWay = field(init=False)
    spawn: SpawnWay = field(init=False)
    count: int = 0

    def open(self, *prompts: Steps, approvals: Approvals = Approvals.ASK, **more: Any) -> LiveWay:
        self.fake = FakeHermes(self.folder / "bin", newer=more.pop("newer", True))
        self.script = self.folder / "acp.json"
        self.script.write_text(json.dumps({"prompts": prompts, **more}))
        program = self.fake.folder / "hermes-acp"
        peer = Path(__file__).with_name("scripted_peer.py")
        command = shlex.join([sys.executable, "-IS", str(peer), str(self.script)])
        program.write_text(f"#!/bin/sh\nexec {command}\n")
        program.chmod(0o755)
        cache, env = self.folder / "cache", environ(self.folder)
        self.spawn = SpawnWay(
            lambda: self.fake.place, approvals=approvals, cache_dir=cache, environ=env
        )
        self.way = LiveWay(
            lambda: self.fake.place,
            approvals=approvals,
            cache_dir=cache,
            environ=env,
            sessions=self.spawn,
        )
        return self.way

    @property
    def log(self) -> list[dict[str, Any]]:
        """What the processes were told."""
        path = Path(f"{self.script}.log")
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def told(self, method: str) -> list[dict[str, Any]]:
        """The params of these requests."""
        return [entry["params"] for entry in self.log if entry.get("method") == method]

    def request(self, prompt: str = "Hello.", **more: Any) -> HermesRequest:
        self.count += 1
        return HermesRequest(str(self.count), prompt, more.pop("cwd", self.folder), **more)

    async def turn(
        self,
        request: HermesRequest | None = None,
        on: Callable[[HermesEvent], None] = lambda _event: None,
    ) -> tuple[list[HermesEvent], Outcome]:
        """Run a turn to its end; all its events, and the outcome."""
        events: list[HermesEvent] = []
        async with asyncio.timeout(BOUND):
            async for event in self.way.send(request or self.request()):
                events.append(event)
                on(event)
        outcome = events[-1]
        assert isinstance(outcome, Outcome)
        return events, outcome

    async def close(self) -> None:
        await self.way.close()
        await self.spawn.close()


def text_of(events: list[HermesEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


async def until(condition: Callable[[], object]) -> None:
    """Wait for a state, with a generous bound."""
    async with asyncio.timeout(BOUND):
        while not condition():
            await asyncio.sleep(0.01)
