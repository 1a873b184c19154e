"""The work beside the screens: it reads, sends and watches, and tells by messages.

Every worker has a group of its own and none ends the app: an error becomes a sentence.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial

from textual.message import Message
from textual.worker import Worker

from qterm.context import PieceKind
from qterm.conversation import SendError
from qterm.feed.source import FeedError
from qterm.frame import ChatFrame
from qterm.hermes.way import Answer
from qterm.model import Fact, Task, Turn
from qterm.services import Services
from qterm.threads.home import CONTEXT_SECONDS
from qterm.tui.desk import messages, writing
from qterm.tui.desk.keeping import Keeping
from qterm.tui.desk.messages import Side
from qterm.tui.widgets.window import PAGE
from qterm.tui.words.told_rows import HIDDEN_CHARS, Fit, Known

log = logging.getLogger(__name__)

WATCH_AGAIN_SECONDS = 2.0
"""After a watch that failed, until the next try."""

TELL_SECONDS = 0.2
"""Changes that come together are told together."""

SLOW_CONTEXT = (
    "Reading what Q will be told takes too long: your message would go without it. The doctor (f5) "
    "says how the store is."
)

Start = Callable[..., Worker[None]]


@dataclass
class Desk:
    """`post` brings a message to whoever asked, `start` runs a worker there."""

    services: Services
    post: Callable[[Message], object]
    start: Start
    _due: dict[str, Callable[[], Awaitable[object]]] = field(default_factory=dict)
    _at_work: set[str] = field(default_factory=set)
    _facts: asyncio.Lock = field(default_factory=asyncio.Lock)
    keeping: Keeping = field(init=False)

    def __post_init__(self) -> None:
        self.keeping = Keeping(self.services, self.post)

    def _run(
        self, work: Callable[[], Awaitable[object]], group: str, *, exclusive: bool = True
    ) -> None:
        self.start(
            partial(self._guard, work),
            group=group,
            exclusive=exclusive,
            exit_on_error=False,
            name=group,
            description=f"qterm: {group}",
        )

    def _latest(self, group: str, work: Callable[[], Awaitable[object]]) -> None:
        """Of several such calls only the newest counts: it follows the one that is at work."""
        self._due[group] = work
        if group not in self._at_work:
            self._at_work.add(group)
            self._run(partial(self._work_off, group), group)

    async def _work_off(self, group: str) -> None:
        try:
            while (work := self._due.pop(group, None)) is not None:
                await work()
        finally:
            self._at_work.discard(group)

    async def _guard(self, work: Callable[[], Awaitable[object]]) -> None:
        try:
            await work()
        except FeedError as error:
            self.post(messages.Trouble(str(error)))
        except Exception as error:
            log.exception("work beside the screen failed")
            self.post(messages.Trouble(_inside(error)))

    # -- reading -------------------------------------------------------------------------------

    def read_page(self, task_id: str | None, side: Side, turn_id: int | None = None) -> None:
        """Read a thread's newest page, or the one next to a turn."""
        self._run(partial(self._read_page, task_id, side, turn_id), "page")

    async def _read_page(self, task_id: str | None, side: Side, turn_id: int | None) -> None:
        before = turn_id if side is Side.OLDER else None
        after = turn_id if side is Side.NEWER else None
        try:
            turns = await self.services.feed.page(
                task_id, before=before, after=after, limit=PAGE + 1
            )
        except FeedError as error:
            self.post(messages.Trouble(str(error), page=True))
            return
        more = len(turns) > PAGE
        if more:
            turns = turns[:PAGE] if side is Side.NEWER else turns[-PAGE:]
        self.post(messages.PageRead(task_id, side, turns, more))

    def read_around(self, turn: Turn, beside: tuple[int, int]) -> None:
        """Read the turns around one: so many before it, itself, so many after it.

        What it costs does not hang on how long the feed is.
        """
        self._run(partial(self._read_around, turn, *beside), "page")

    async def _read_around(self, turn: Turn, before: int, after: int) -> None:
        feed, task_id = self.services.feed, turn.task_id
        try:
            older = await feed.page(task_id, before=turn.id, limit=before + 1)
            newer = await feed.page(task_id, after=turn.id - 1, limit=after + 2)
        except FeedError as error:
            self.post(messages.Trouble(str(error), page=True))
            return
        if not newer or newer[0].id != turn.id:
            self.post(messages.TurnFound(None))
            return
        turns = [*older[-before:], *newer[: after + 1]]
        has_older, has_newer = len(older) > before, len(newer) > after + 1
        self.post(messages.AroundRead(newer[0], turns, has_older, has_newer))

    def find_turn(self, turn_id: int) -> None:
        """Find a turn to go to, wherever it is."""

        async def find() -> None:
            turn = await self.services.feed.turn(turn_id)
            if turn is not None and turn.task_id is not None:  # it may be newer than the list
                self.post(messages.TasksRead(await self.services.feed.tasks()))
            self.post(messages.TurnFound(turn))

        self._run(find, "find")

    def watch(self) -> None:
        """Watch the feed for as long as the app is there."""
        self._run(self._watch, "watch")

    async def _watch(self) -> None:
        told = ""
        while True:
            try:
                async for change in self.services.feed.watch():
                    told = ""
                    self.post(messages.FeedMoved(change))
            except FeedError as error:
                if str(error) != told:
                    told = str(error)
                    self.post(messages.Trouble(told))
            else:
                return
            await asyncio.sleep(WATCH_AGAIN_SECONDS)
            self.post(messages.ChangesMissed())

    def recover(self) -> None:
        """Mark what a qterm that is gone had left open."""
        self._run(self.services.conversation.recover, "recover")

    def read_draft(self, task_id: str | None) -> None:
        """Read the text that was not sent in a thread."""
        self._run(partial(self._read_draft, task_id), "read-draft", exclusive=False)

    async def _read_draft(self, task_id: str | None, *, instead: bool = False) -> None:
        draft = await self.services.feed.draft(task_id)
        self.post(messages.DraftRead(task_id, draft, instead))

    async def own_message(
        self, task_id: str | None, before: int | None, after: int | None
    ) -> Turn | None:
        """The operator's message next to a turn; None where there is none, or none can be read."""
        return await writing.own_message(self.services.feed, self.post, task_id, before, after)

    def edit(self, task_id: str | None, text: str, lend: writing.Lend) -> None:
        """Have the operator edit a text in their own editor, to which `lend` gives the terminal."""
        environ = self.services.environ
        self._run(partial(writing.edit, environ, self.post, task_id, text, lend), "editor")

    def tell(self) -> None:
        """Find out what Q would be told now."""
        self._latest("told", self._tell)

    async def _tell(self) -> None:
        await asyncio.sleep(TELL_SECONDS)
        self._due.pop("told", None)
        try:
            async with asyncio.timeout(CONTEXT_SECONDS):
                known = await self._known()
        except TimeoutError:
            self.post(messages.Told(None, SLOW_CONTEXT))
        except FeedError as error:
            self.post(messages.Told(None, str(error)))
        except Exception as error:
            log.exception("the context can't be made")
            self.post(messages.Told(None, _inside(error)))
        else:
            self.post(messages.Told(known))

    async def _known(self) -> Known:
        feed, caps = self.services.feed, self.services.settings.caps
        context = await self.services.conversation.context()
        facts, mode = await feed.facts(), await feed.mode()
        hidden: list[Turn] = []
        if caps.turns:
            told = [piece.source or 0 for piece in context.pieces if piece.kind is PieceKind.TURN]
            since = min(told, default=0) if context.turns_left_out or len(told) >= caps.turns else 0
            hidden = await feed.hidden(None, since=since, limit=caps.turns, chars=HIDDEN_CHARS * 4)
        return Known(context, facts, mode, hidden)

    def weigh(self, block: str, message: str) -> None:
        """Find out whether one call can carry block and message (rule C6)."""
        self._latest("weigh", partial(self._weigh, block, message))

    async def _weigh(self, block: str, message: str) -> None:
        carries = self.services.way.carries
        fit = Fit.BOTH
        if not await carries(f"{block}\n\n{message}" if block else message):
            fit = Fit.MESSAGE if block and await carries(message) else Fit.NOTHING
        self.post(messages.Weighed(len(message), fit))

    def look_at_hermes(self) -> None:
        """Find out which hermes answers; quick when that is known already."""
        self._run(self._look_at_hermes, "hermes")

    async def _look_at_hermes(self) -> None:
        try:
            found = await self.services.way.probe()
        except Exception as error:  # noqa: BLE001 - the doctor says what is wrong with it
            log.info("the look at hermes failed: %s", type(error).__name__)
            return
        self.post(messages.VersionSeen(found.version))

    def look_at_standing(self) -> None:
        """Find out which transport the next turn takes."""

        async def look() -> None:
            self.post(messages.StandingSeen(await self.services.way.standing()))

        self._run(look, "standing")

    # -- sending -------------------------------------------------------------------------------

    def send(self, task_id: str | None, text: str, *, again_of: int | None = None) -> None:
        """Send a message into a thread; it goes on whatever else is sent meanwhile."""
        frame = ChatFrame(text, task_id=task_id)
        self._run(partial(self._send, frame, again_of), "send", exclusive=False)

    def send_command(self, task_id: str | None, text: str) -> None:
        """Have hermes run one of its own commands; the words were never in the editor."""
        frame = ChatFrame(text, task_id=task_id, command=True)
        self._run(partial(self._send, frame, None), "send", exclusive=False)

    async def _send(self, frame: ChatFrame, again_of: int | None) -> None:
        written = again_of is None and not frame.is_command
        not_sent = partial(messages.NotSent, frame.task_id, again=not written)
        try:
            async for event in self.services.conversation.send(frame, again_of=again_of):
                self.post(messages.Happened(event, written))
        except SendError as error:
            self.post(not_sent(str(error), refused=True))
        except FeedError as error:
            self.post(not_sent(str(error)))
        except Exception as error:
            log.exception("sending failed")
            self.post(not_sent(_inside(error)))

    def ask_held(self, turn: Turn) -> None:
        """Find out what the session already holds of a message (rule S5)."""

        async def ask() -> None:
            self.post(messages.Held(turn, await self.services.conversation.held(turn)))

        self._run(ask, "held")

    def stop(self, task_id: str | None) -> None:
        """Stop the turn that runs in a thread."""
        stop = partial(self.services.conversation.stop, task_id)
        self._run(stop, f"stop {task_id}")

    def answer(self, turn_id: int, approval_id: str, answer: Answer) -> None:
        """Answer a request of hermes's (rule A1)."""

        async def say() -> None:
            if not await self.services.conversation.answer(turn_id, approval_id, answer):
                self.post(messages.Unanswered())

        self._run(say, "answer", exclusive=False)

    def set_mode(self, task_id: str | None, session: str, mode: str) -> None:
        """Set a session's mode."""

        async def change() -> None:
            taken = await self.services.way.set_mode(session, mode)
            self.post(messages.ModeSet(task_id, mode, taken))

        self._run(change, f"mode {session}")

    def take_back(self, turn_id: int) -> None:
        """Take back a message that waits; its `TakenBack` brings the words."""
        take_back = partial(self.services.conversation.take_back, turn_id)
        self._run(take_back, "take-back", exclusive=False)

    # -- writing -------------------------------------------------------------------------------

    def save_draft(self, task_id: str | None, text: str) -> None:
        """Keep what is in the editor."""
        save = partial(self.services.feed.save_draft, task_id, text)
        self._run(save, f"draft {task_id}")

    def change(self, work: Callable[[], Awaitable[object]], said: Callable[[], None]) -> None:
        """Make a change in the feed; `said` is called when it is stored."""

        async def both() -> None:
            await work()
            said()

        self._run(both, "change", exclusive=False)

    # -- facts ---------------------------------------------------------------------------------

    def move_fact(self, fact_id: int, step: int) -> None:
        """Move a fact by so many places within its part; quick presses add up."""

        async def move() -> None:
            async with self._facts:
                facts = await self.services.feed.facts()
                place = next((fact.position for fact in facts if fact.id == fact_id), 0)
                if place + step > 0:
                    await self.services.feed.move_fact(fact_id, place + step)

        self._run(move, "change", exclusive=False)

    def bring_back(self, fact: Fact) -> None:
        """Add a removed fact again, where it was."""

        async def bring() -> None:
            async with self._facts:
                added = await self.services.feed.add_fact(fact.text, pinned=fact.pinned)
                await self.services.feed.move_fact(added.id, fact.position)

        self._run(bring, "change", exclusive=False)

    # -- settings ------------------------------------------------------------------------------

    def read_settings(self) -> None:
        """Read the settings anew."""
        self._run(self.keeping.read, "settings", exclusive=False)

    def keep_setting(self, name: str, value: object) -> None:
        """Keep a setting, or let go of it (None)."""
        self._run(partial(self.keeping.keep, name, value), "settings", exclusive=False)

    # -- tasks ---------------------------------------------------------------------------------

    def read_tasks(self) -> None:
        """Read all tasks."""
        self._run(self._read_tasks, "tasks")

    async def _read_tasks(self) -> None:
        await asyncio.sleep(TELL_SECONDS / 4)
        self.post(messages.TasksRead(await self.services.feed.tasks()))

    def begin_task(self, title: str, folder: str) -> None:
        """Begin a task."""

        async def begin() -> None:
            self.post(messages.TaskBegun(await self.services.feed.add_task(title, folder)))

        self._run(begin, "begin-task", exclusive=False)

    def mark_seen(self, task_id: str, turn_id: int) -> None:
        """A thread's turns up to this one were on the screen."""
        seen = partial(self.services.feed.mark_seen, task_id, turn_id)
        self._run(seen, f"seen {task_id}")

    def change_task(
        self, task_id: str, draft: str | None, work: Callable[[], Awaitable[Task]]
    ) -> None:
        """End or reopen a task; what waited in it is the draft again (rule S8).

        `draft` is what is in its editor, None where that was not read yet.
        """

        async def both() -> None:
            task: Task | None = None
            trouble = ""
            try:
                if draft is not None:
                    await self.services.feed.save_draft(task_id, draft)
                task = await work()
            except (SendError, FeedError) as error:
                trouble = str(error)
            except Exception as error:
                log.exception("changing a task failed")
                trouble = _inside(error)
            try:
                await self._read_draft(task_id, instead=True)
            finally:
                self.post(messages.TaskChanged(task_id, task, trouble))

        self._run(both, f"change {task_id}", exclusive=False)


def _inside(error: Exception) -> str:
    return (
        f"Something went wrong inside qterm ({type(error).__name__}). Nothing that was said is "
        "lost; the log has the details, and the doctor (f5) says where it lies."
    )
