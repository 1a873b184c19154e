"""Puts the parts together: settings in, a feed, a way to hermes and a Conversation out.

The one place that chooses implementations. Both faces, the demo and the tests start here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from qterm.conversation import Conversation
from qterm.feed.source import FeedSource
from qterm.frame import ChatFrame
from qterm.hermes.left_behind import LeftBehind
from qterm.hermes.locate import locate
from qterm.hermes.place import HermesNotFound, HermesPlace
from qterm.hermes.remote import is_ssh
from qterm.hermes.transport import ChosenWay
from qterm.hermes.way import HermesRequest
from qterm.model import Approvals, Turn
from qterm.settings.load import Loaded, Paths
from qterm.settings.schema import Settings
from qterm.threads.task import TaskThread

if TYPE_CHECKING:
    from qterm.hermes.live.live import LiveWay
    from qterm.hermes.spawn import SpawnWay
    from qterm.maintenance.after_turn import AfterTurn
    from qterm.maintenance.report import Report
    from qterm.maintenance.run import Maintenance


class FirstStart(StrEnum):
    """What a start finds; everything but READY leads to the first-start screen."""

    READY = "ready"
    NO_MODEL = "no-model"
    NO_HERMES = "no-hermes"


@dataclass(frozen=True, slots=True)
class StartState:
    """What a start finds, in one sentence, with how hermes is called where it was found."""

    kind: FirstStart
    sentence: str
    command: tuple[str, ...] = ()


class DryRun(msgspec.Struct, frozen=True, rename="camel"):
    """The call a message would make: folder, what changes in the environment, arguments."""

    cwd: str
    environ: dict[str, str]
    dropped: list[str]
    argv: list[str]
    stdin: str | None
    approvals: str
    degraded: str | None


@dataclass(slots=True)
class Services:
    """The parts, put together.

    `notices` are sentences the operator should see once; `interrupted` the turns that a qterm
    which is gone had left open. `told_of_maintenance` is told what a pass after a turn did, on the
    loop; `after_turn` is there once a turn has ended.
    """

    loaded: Loaded
    feed: FeedSource
    way: ChosenWay
    conversation: Conversation
    environ: Mapping[str, str]
    notices: tuple[str, ...] = ()
    is_demo: bool = False
    interrupted: tuple[Turn, ...] = ()
    after_turn: AfterTurn | None = None
    told_of_maintenance: Callable[[Report], object] | None = None

    def tell_maintained(self, report: Report) -> None:
        """Tell the face what a maintenance pass did; called on the loop."""
        if self.told_of_maintenance is not None:
            self.told_of_maintenance(report)

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        return self.loaded.settings

    @property
    def paths(self) -> Paths:
        """Where qterm keeps its files."""
        return self.loaded.paths

    @property
    def is_far(self) -> bool:
        """Whether hermes is on another machine (over ssh): a task's folder is a path there."""
        return is_ssh(self.settings.hermes.command)

    @property
    def approvals(self) -> Approvals:
        """What the operator chose; over ssh nothing is run unasked (rule A1)."""
        return _approvals(self.settings)

    def find_hermes(self) -> HermesPlace:
        """Which hermes and which home; raises HermesNotFound."""
        return locate(self.settings.hermes, self.environ)

    def first_start(self) -> StartState:
        """Look for hermes and its model; reads files only and starts nothing."""
        from qterm.hermes.model_state import model_state

        try:
            place = self.find_hermes()
        except HermesNotFound as error:
            return StartState(FirstStart.NO_HERMES, str(error))
        if place.remote is not None:
            host = place.remote.host
            sentence = f"hermes is on {host}: whether it has a model shows with the first message."
            return StartState(FirstStart.READY, sentence, place.command)
        state = model_state(place.home, self.environ)
        kind = FirstStart.READY if state.is_set else FirstStart.NO_MODEL
        return StartState(kind, state.sentence, place.command)

    async def dry_run(self, frame: ChatFrame) -> DryRun:
        """The call this frame would make now; nothing is stored or sent (raises SendError)."""
        from qterm.feed.rows import storable  # what is sent is the text as it is stored
        from qterm.hermes.launch import environment

        frame = msgspec.structs.replace(frame, text=storable(frame.text))
        thread, composed = await self.conversation.compose(frame)
        cwd = self.conversation.home_cwd
        if isinstance(thread, TaskThread):
            cwd = Path(thread.task.cwd)
        request = HermesRequest(
            "dry-run", composed.prompt, cwd, session=thread.session, is_task=thread.is_task
        )
        call = await self.way.dry_run(request)
        place = self.find_hermes()
        kept = environment(place, self.environ, place.home)
        changed = {
            name: value
            for name, value in kept.items()
            if (name == "HERMES_HOME" and place.remote is None) or self.environ.get(name) != value
        }
        return DryRun(
            cwd=str(request.cwd) if place.remote is None else ".",
            environ=changed,
            dropped=sorted(set(self.environ) - set(kept)),
            argv=list(call.argv),
            stdin=call.stdin,
            approvals=call.approvals.value,
            degraded=composed.degraded.value if composed.degraded else None,
        )

    def take(self, loaded: Loaded) -> None:
        """Take other settings: they count from the next turn on.

        Which hermes, how it is reached and who speaks stay as they were when qterm was started.
        """
        running = self.loaded
        kept = {name for name in running.sources if name.startswith(("hermes.", "personas"))}
        self.loaded = replace(
            loaded,
            settings=msgspec.structs.replace(
                loaded.settings,
                hermes=running.settings.hermes,
                personas=running.settings.personas,
            ),
            sources={**loaded.sources, **{name: running.sources[name] for name in kept}},
        )
        self.conversation.settings = self.loaded.settings

    async def close(self) -> None:
        """End what runs, then let go of the feed."""
        await self.conversation.close()
        if self.after_turn is not None:
            await self.after_turn.close()
        await self.feed.close()


def _approvals(settings: Settings) -> Approvals:
    chosen = settings.hermes.approvals
    is_denied = chosen is Approvals.BYPASS and is_ssh(settings.hermes.command)
    return Approvals.DENY if is_denied else chosen


def _way(loaded: Loaded, environ: Mapping[str, str], left: LeftBehind) -> ChosenWay:
    settings, cache_dir = loaded.settings, loaded.paths.cache_dir
    approvals = _approvals(settings)

    def find() -> HermesPlace:
        return locate(settings.hermes, environ)

    def open_spawn() -> SpawnWay:
        from qterm.hermes.processes import note_in
        from qterm.hermes.spawn import SpawnWay

        note_in(left)
        return SpawnWay(find, approvals=approvals, cache_dir=cache_dir, environ=environ)

    def open_live(spawn: SpawnWay) -> LiveWay:
        from qterm.hermes.live.live import LiveWay

        return LiveWay(
            find, approvals=approvals, cache_dir=cache_dir, environ=environ, sessions=spawn
        )

    return ChosenWay(
        open_spawn, open_live, find, choice=settings.hermes.transport, approvals=approvals
    )


def maintain_after_turns(services: Services, *, has_screen: bool) -> None:
    """Have the gate asked after each turn; what that needs is loaded beside the loop."""

    @cache
    def maintenance() -> Maintenance:
        from qterm.maintenance.run import Maintenance

        return Maintenance(lambda: services.loaded, services.environ)

    def begin() -> None:
        if services.after_turn is None:
            from qterm.maintenance.after_turn import Detached, InThread

            services.after_turn = (
                InThread(maintenance, services.tell_maintained)
                if has_screen
                else Detached(maintenance, services.paths, services.environ)
            )
        services.after_turn.begin()

    services.conversation.after_turn = begin


async def open_services(
    loaded: Loaded, *, environ: Mapping[str, str], is_demo: bool = False, has_screen: bool = False
) -> Services:
    """Open the feed and put the parts together; hermes is not started. Raises FeedError.

    `has_screen`: this process stays, so that maintenance after a turn runs in it and tells what it
    did; else a process of its own does it. A rehearsal has none.
    """
    from qterm.feed.owner import current_owner, started
    from qterm.feed.store import open_store

    def notes() -> list[str]:
        from qterm.memory.notes import working_notes

        return working_notes(services.loaded, environ)

    paths, settings = loaded.paths, loaded.settings
    feed = await open_store(paths.store_file, locks_dir=paths.locks_dir)
    left = LeftBehind(paths.running_dir, current_owner, started)
    way = _way(loaded, environ, left)
    conversation = Conversation(feed, way, settings, current_owner(), paths.home_cwd)
    services = Services(loaded, feed, way, conversation, environ, feed.notices, is_demo)
    conversation.notes = notes
    if not is_demo:
        maintain_after_turns(services, has_screen=has_screen)
    conversation.end_left_behind = left.end
    try:
        services.interrupted = tuple(await conversation.recover())
    except BaseException:
        await services.close()
        raise
    return services
