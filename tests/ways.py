"""A scripted way to hermes: the seam itself, for tests of what lies above it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path

from qterm.hermes.way import (
    Answer,
    Approvals,
    HermesEvent,
    HermesRequest,
    Replied,
    SessionRecord,
    SessionState,
    Standing,
    Started,
    Stopped,
    TextDelta,
    Transport,
)

Script = Callable[[HermesRequest], list[HermesEvent]]


@dataclass
class ScriptedWay:
    """Answers each request with the script's events; `gate` holds them back while it is clear.

    A turn that is stopped while it is held back ends with `Stopped` and what had come so far.
    """

    script: Script = lambda _request: [TextDelta("Hi."), Replied("Hi.")]
    limit: int | None = None
    requests: list[HermesRequest] = field(default_factory=list)
    gate: asyncio.Event = field(default_factory=asyncio.Event)
    started: asyncio.Event = field(default_factory=asyncio.Event)
    stops: dict[str, asyncio.Event] = field(default_factory=dict)
    hermes: str = "here:/home/alex/.hermes"
    titles: dict[str, str] = field(default_factory=dict)
    records: dict[str, SessionRecord] = field(default_factory=dict)
    held_before: type[object] = Replied
    answers: list[tuple[str, str, Answer]] = field(default_factory=list)
    modes: list[tuple[str, str]] = field(default_factory=list)
    transport: Transport = Transport.SPAWN
    approvals: Approvals = Approvals.DENY
    warmed: int = 0
    warmed_in: list[Path | None] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.gate.set()

    def hold(self) -> None:
        """Hold back what comes before the end from now on."""
        self.gate.clear()

    async def carries(self, prompt: str, *, is_task: bool = False) -> bool:
        return self.limit is None or len(prompt) <= self.limit

    async def identity(self) -> str:
        return self.hermes

    async def name_session(self, session: str, name: str) -> bool:
        taken = self.titles.get(name)
        if taken is not None and taken != session:
            return False
        self.titles[name] = session
        return True

    async def read_session(self, session: str) -> SessionRecord:
        return self.records.get(session, SessionRecord(SessionState.THERE))

    async def send(self, request: HermesRequest) -> AsyncIterator[HermesEvent]:
        self.requests.append(request)
        stop = self.stops.setdefault(request.key, asyncio.Event())
        yield Started(self.approvals, self.transport)
        self.started.set()
        text = ""
        for event in self.script(request):
            if isinstance(event, self.held_before) and await self._held(stop):
                yield Stopped(text)
                return
            if isinstance(event, TextDelta):
                text += event.text
            yield event

    async def _held(self, stop: asyncio.Event) -> bool:
        waits = [asyncio.create_task(self.gate.wait()), asyncio.create_task(stop.wait())]
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        for task in waits:
            task.cancel()
        return stop.is_set()

    async def answer(self, key: str, approval_id: str, answer: Answer) -> bool:
        self.answers.append((key, approval_id, answer))
        return True

    async def set_mode(self, session: str, mode: str) -> bool:
        self.modes.append((session, mode))
        return True

    async def standing(self) -> Standing:
        return Standing(self.transport, "It is scripted.")

    def warm(self, folder: Path | None = None) -> None:
        self.warmed += 1
        self.warmed_in.append(folder)

    async def stop(self, key: str) -> None:
        if key in self.stops:  # as the real one: what it does not know, it can't end
            self.stops[key].set()

    async def close(self) -> None:
        for stop in self.stops.values():
            stop.set()
