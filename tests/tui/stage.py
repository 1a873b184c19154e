"""A stage for the screens: the real store and Conversation, a scripted way, a clock that obeys."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

import msgspec
from textual.pilot import Pilot

from qterm.conversation import Conversation
from qterm.feed.owner import current_owner
from qterm.feed.source import NewTurn, TurnChange
from qterm.feed.store import Store, open_store
from qterm.hermes.place import Capabilities
from qterm.hermes.transport import ChosenWay
from qterm.model import Turn, TurnState
from qterm.services import FirstStart, Services, StartState
from qterm.settings.load import Loaded, Paths, Problem
from qterm.settings.schema import Settings
from qterm.tui.app import Leave, QtermApp, make_app
from tests.ways import ScriptedWay

NOON = datetime(2026, 11, 30, 9, 15, tzinfo=UTC)
BOUND = 20.0
"""The longest a test waits for a state, in seconds."""

READY = StartState(FirstStart.READY, "hermes has a model.", ("hermes",))
NO_MODEL = StartState(
    FirstStart.NO_MODEL,
    "hermes is installed, but it has no model yet, so Q can't answer.",
    ("hermes",),
)
NO_HERMES = StartState(FirstStart.NO_HERMES, "hermes was not found on PATH.")


@dataclass
class Hands:
    """A clock that only moves when it is told to."""

    moment: datetime = NOON
    seconds: float = 1_000.0

    def now(self) -> datetime:
        return self.moment

    def clock(self) -> float:
        return self.seconds

    def pass_(self, seconds: float) -> None:
        self.seconds += seconds
        self.moment += timedelta(seconds=seconds)


class ProbedWay(ScriptedWay):
    """A scripted way that says which hermes it is."""

    async def probe(self) -> Capabilities:
        return Capabilities(version="0.19.0", version_line="Hermes Agent v0.19.0")


class StagedServices(Services):
    """Services that find what the test says."""

    state: StartState = READY

    def first_start(self) -> StartState:
        return self.state


@dataclass
class Stage:
    """What a test has in its hands."""

    services: StagedServices
    store: Store
    way: ProbedWay
    hands: Hands
    app: QtermApp = field(init=False)

    def __post_init__(self) -> None:
        self.app = make_app(self.services)

    async def post(self, persona: str, text: str, **change: Any) -> Turn:
        """Store a turn that was said; `change` makes it fail, stop and so on."""
        reply_to, task_id = change.pop("reply_to", None), change.pop("task_id", None)
        turn = await self.store.append(
            NewTurn(task_id, persona, text, TurnState.SENT, reply_to=reply_to)
        )
        if change:
            turn = await self.store.update(turn.id, TurnChange(**change))
        return turn

    @asynccontextmanager
    async def shown(self, size: tuple[int, int] = (120, 40)) -> AsyncIterator[Pilot[Leave]]:
        """The app on its screen, with notifications and tooltips, once it has settled."""
        async with self.app.run_test(size=size, notifications=True, tooltips=True) as pilot:
            await until(pilot, self.home_is_read)
            yield pilot

    def home_is_read(self) -> bool:
        home = self.app.home
        return home is not None and home.draft_is_known and home.page_is_read and home.told_is_known


@asynccontextmanager
async def stage(
    folder: Path,
    *,
    settings: Settings | None = None,
    state: StartState = READY,
    script: Any = None,
    problems: Sequence[str] = (),
    notices: tuple[str, ...] = (),
    environ: Mapping[str, str] | None = None,
) -> AsyncIterator[Stage]:
    """Open everything on a folder, and close it again."""
    hands = Hands()
    store = await open_store(
        folder / "data" / "feed.db", locks_dir=folder / "data" / "locks", now=hands.now
    )
    way = ProbedWay() if script is None else ProbedWay(script)
    settings = settings or Settings()
    if not settings.memory.home:  # never the home of whoever runs the tests
        memory = msgspec.structs.replace(settings.memory, home=str(folder / "hermes"))
        settings = msgspec.structs.replace(settings, memory=memory)
    (folder / "cwd").mkdir(exist_ok=True)
    conversation = Conversation(
        store, way, settings, current_owner(), folder / "cwd", now=hands.now, clock=hands.clock
    )
    paths = Paths(folder / "data", folder / "config.toml", folder / "cache")
    faults = tuple(Problem("config.toml", "key", words) for words in problems)
    loaded = Loaded(settings, {}, faults, paths)
    services = StagedServices(
        loaded, store, cast("ChosenWay", way), conversation, environ or {}, notices
    )
    services.state = state
    try:
        yield Stage(services, store, way, hands)
    finally:
        way.gate.set()
        await services.close()


async def until(pilot: Pilot[Any], reached: Callable[[], object], *, bound: float = BOUND) -> None:
    """Wait for a state; fail when it does not come."""
    end = asyncio.get_running_loop().time() + bound
    while not reached():
        assert asyncio.get_running_loop().time() < end, "the state did not come"
        await pilot.pause(0.02)
    await pilot.pause()


def screen_text(app: QtermApp) -> str:
    """What stands on the screen, line by line; nothing where it is not laid out yet."""
    _, height = app.size
    strips = app.screen._compositor.render_strips()
    lines = ["".join(segment.text for segment in strip) for strip in strips]
    if len(lines) != height:
        return ""
    return "\n".join(line.rstrip() for line in lines)


def changed(settings: Settings, **values: Any) -> Settings:
    """Settings with other values."""
    return msgspec.structs.replace(settings, **values)
