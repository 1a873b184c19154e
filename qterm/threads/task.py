"""A task's thread: its turns continue one hermes session (rules S1 to S6)."""

from __future__ import annotations

import base64
import logging
import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from qterm.context import reading_limit
from qterm.feed.source import FeedSource, NewTurn
from qterm.hermes.way import Failed, FailureKind, HermesWay, Outcome, Replied, SessionState
from qterm.model import QTERM, Degraded, Session, Task, Turn, TurnState
from qterm.settings.schema import Settings
from qterm.threads.thread import Composed, render

log = logging.getLogger(__name__)


@dataclass(slots=True)
class TaskThread:
    """A task's thread, as its task was when the turn began.

    Binding by hermes's id (rule S3): a first turn binds whatever came of it, a later one moves the
    binding only when it succeeded (a failure may only echo the id it was asked for).
    """

    feed: FeedSource
    way: HermesWay
    settings: Settings
    task: Task
    now: Callable[[], datetime]
    is_task: bool = True
    _hermes: str = ""
    _is_first: bool = field(init=False)
    _is_one_shot: bool = False

    def __post_init__(self) -> None:
        """A turn without a binding is the first of its session."""
        self._is_first = self.task.session is None

    @property
    def session(self) -> str | None:
        """The id the run is bound to."""
        return self.task.session.id if self.task.session and not self._is_one_shot else None

    @property
    def timeout(self) -> float | None:
        """Seconds after which a turn is ended."""
        return self.settings.timeouts.task or None

    async def compose(self, text: str) -> Composed:
        """The message alone: a block would pile up in the session's history (rule S6)."""
        return Composed(text)

    async def refusal(self) -> Failed | None:
        """A session is continued only in the hermes it lives in (rule S3)."""
        self._hermes = await self.way.identity()
        bound = self.task.session
        if bound is None or not self._hermes or bound.hermes == self._hermes:
            return None
        return Failed(
            FailureKind.ELSEWHERE,
            f"This task's session lives in another hermes ({bound.hermes}, here it is "
            f"{self._hermes}): start qterm with that one, or finish and reopen the task to begin "
            "anew here.",
        )

    @asynccontextmanager
    async def folder(self, turn: Turn) -> AsyncIterator[Path]:
        """The task's own folder (rule S8)."""
        yield Path(self.task.cwd)

    async def saw(self, session: str) -> None:
        """Bind a first turn at once, so that a kill loses no session."""
        if self._is_first and not self._is_one_shot and session != self.session:
            await self._bind(session)

    async def without_session(self, text: str) -> Composed | None:
        """Let go of the lost session; this run's transcript goes in front of the message (S5)."""
        bound = self.task.session
        assert bound is not None  # hermes was asked for it
        self._is_one_shot = True
        self.task = await self.feed.unbind(self.task.id, self.task.run, bound.id)
        await self._say(
            f"hermes no longer has this task's session ({bound.name or bound.id}). The next answer "
            "was given outside of it, from the last messages here; the next message begins a new "
            "session."
        )
        caps = self.settings.caps
        turns, older = await self.feed.transcript(
            self.task.id, run=self.task.run, limit=caps.turns, chars=reading_limit(caps)
        )
        context = render(self.settings, turns, [], None, now=self.now(), older=older)
        prompt = f"{context.text}\n\n{text}" if context.text else text
        if not await self.way.carries(prompt, is_task=True):
            prompt = text
        return Composed(prompt, context, Degraded.ONE_SHOT)

    async def outcome(self, outcome: Outcome) -> None:
        """Bind or move the binding, as the outcome tells."""
        session = outcome.session
        if session is None or self._is_one_shot or session == self.session:
            return
        if self._is_first or isinstance(outcome, Replied):
            await self._bind(session)

    async def settle(self, outcome: Outcome) -> None:
        """Give the session its name, once (rules S1 and S3)."""
        bound = self.task.session
        if bound is None or bound.name or self._is_one_shot:
            return
        if self._is_first and isinstance(outcome, Failed):
            record = await self.way.read_session(bound.id)
            if record.state is SessionState.GONE:  # hermes named it, but never began it
                await self.feed.unbind(self.task.id, self.task.run, bound.id, lost=False)
            return
        name = self.task.session_name
        if self.task.lost:  # its own name is the lost session's, or was
            name = _with_suffix(name)
        if not await self.way.name_session(bound.id, name):
            if (await self.way.read_session(bound.id)).state is not SessionState.THERE:
                log.warning("hermes can't be asked now: task %s is named later", self.task.id)
                return
            other = _with_suffix(self.task.session_name)
            if not await self.way.name_session(bound.id, other):
                log.warning("the session of task %s could not be named", self.task.id)
                return
            await self._say(
                f"The name {name} is another session's in hermes, which is left alone: this "
                f"task's session is {other}."
            )
            name = other
        elif self.task.lost:
            await self._say(f"A new session has begun: {name}.")
        bound = Session(bound.id, bound.hermes, name)
        self.task = await self.feed.bind(self.task.id, self.task.run, bound)

    async def _bind(self, session: str) -> None:
        before = self.task.session
        hermes = self._hermes or await self.way.identity()
        bound = Session(session, hermes, before.name if before else "")
        self.task = await self.feed.bind(self.task.id, self.task.run, bound)

    async def _say(self, text: str) -> None:
        """A line of qterm's own in the thread; never told to Q."""
        await self.feed.append(NewTurn(self.task.id, QTERM, text, TurnState.SENT))


async def held(feed: FeedSource, way: HermesWay, turn: Turn) -> str:
    """What the session already holds of a task's message that is to be sent again (rule S5).

    One sentence; empty where there is nothing to say. May raise FeedError.
    """
    task = await feed.task(turn.task_id) if turn.task_id else None
    if task is None or task.session is None or turn.run != task.run:
        return ""
    record = await way.read_session(task.session.id)
    if record.state is SessionState.UNKNOWN:
        return "What hermes's session holds of this message can't be seen just now."
    for back, (role, text) in enumerate(reversed(record.messages)):
        if role == "user":
            if text.strip() != turn.text.strip():
                return ""
            after = "with an answer" if back else "without an answer"
            return (
                f"hermes's session already holds this message, {after}; sent again, it is in "
                "there twice."
            )
    return ""


def _with_suffix(name: str) -> str:
    """The name with four random characters (rules S3 and S5)."""
    return f"{name}-{base64.b32encode(secrets.token_bytes(3)).decode().lower()[:4]}"
