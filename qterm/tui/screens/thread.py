"""A thread on the screen: the feed, the editor below it, how messages go and answers come.

Home shows one thread, tasks as many as there are; what they share is here.
"""

from __future__ import annotations

from collections.abc import Iterable

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.events import Resize
from textual.widget import Widget
from textual.widgets import Static
from textual.worker import Worker, WorkerState

from qterm import events
from qterm.hermes.way import ThoughtDelta, ToolSeen
from qterm.model import Approvals, Turn
from qterm.services import FirstStart
from qterm.settings.schema import Settings
from qterm.tui.common import Common, OpenThread
from qterm.tui.content import plain
from qterm.tui.desk import messages
from qterm.tui.desk.desk import Desk
from qterm.tui.desk.lookups import Lookups
from qterm.tui.desk.messages import Side
from qterm.tui.look import Look
from qterm.tui.screens.thread_taking import ThreadTaking
from qterm.tui.widgets.bars import KeysLine, NewBelow, Notices, TitleBar
from qterm.tui.widgets.composer import Composer
from qterm.tui.widgets.feed import FeedView
from qterm.tui.widgets.too_small import TooSmall
from qterm.tui.words.place_words import place_words
from qterm.tui.words.state_words import asks_words, q_words, title_state, version_parts
from qterm.tui.words.task_words import live_words


class ThreadScreen(ThreadTaking):
    """One thread at a time, with its own draft, its own queue and its own progress."""

    AUTO_FOCUS = "#composer"
    TITLE_WORDS = "Home"
    """What F1 calls it."""

    PLACE = "home"
    """The id of the command that comes here."""

    def __init__(self, common: Common, look: Look) -> None:
        super().__init__()
        self.common = common
        self.services = common.services
        self.look = look
        self.desk = Desk(self.services, self.post_message, self.run_worker)
        self.lookups = Lookups(self.services, self.post_message, self.run_worker)
        self.feed = FeedView(self.look, self._new_progress())
        self.composer = Composer(self.services.settings.keys, self.own_message)
        self.notices = Notices(common.notices, self.look.key("dismiss"))
        self._title = TitleBar()
        self._new_below = NewBelow()
        self._too_small = TooSmall()

    def compose(self) -> ComposeResult:
        """Title, notices, the thread with what is around it, editor, keys."""
        yield self._title
        yield self.notices
        with Vertical(id="middle"):
            yield from self.above()
            yield self.feed
            yield self._new_below
            yield from self.beside()
            with Horizontal(id="writing"):
                yield Static(Content("› "), id="prompt", markup=False)
                yield self.composer
        yield KeysLine(show_command_palette=False, compact=True)
        yield self._too_small

    def settings_changed(self, before: Settings) -> None:
        """Other settings count from now on; `before` are those until now."""
        if self.services.settings.keys != before.keys:
            self.composer.set_keys(self.services.settings.keys)
            self.notices.set_key(self.look.key("dismiss"))
        self.redraw()
        self.show_state()
        self.refresh_bindings()

    def above(self) -> Iterable[Widget]:
        """What stands before the feed."""
        return ()

    def beside(self) -> Iterable[Widget]:
        """What stands between the feed and the editor."""
        return ()

    def on_mount(self) -> None:
        """Let the times go on."""
        self.set_interval(0.125 if self.look.moving else 1.0, self._tick)
        self.show_state()

    def on_screen_resume(self) -> None:
        """Back from another screen: the keys are this one's again."""
        self.app.call_later(self.app.asking.look)
        self.show_state()
        self.refresh_bindings()

    # -- which thread is on the screen ---------------------------------------------------------

    def show_thread(self, thread: OpenThread | None) -> None:
        """Bring a thread onto the screen; the editor is at once the new one's."""
        self._put_aside()
        self.thread = thread
        self.feed.forget_selection()
        self.fit_composer()
        task_id = None
        if thread is not None:
            task_id = thread.task_id
            self._read(thread)
            if not thread.draft_is_known:
                self.desk.read_draft(task_id)
        self.post_message(messages.ThreadChosen(task_id))
        self.app.asking.look()
        self.refresh_bindings()

    def _read(self, thread: OpenThread) -> None:
        """Read the newest turns, or those around the one that is to be looked at."""
        if thread.goal is not None:
            self.desk.read_around(thread.goal, self.feed.rows_around())
        else:
            self.desk.read_page(thread.task_id, Side.NEWEST)

    def go_to(self, turn: Turn) -> None:
        """Look at a turn of the thread that is on the screen; the draft stays as it is."""
        if self.thread is not None and self.thread.task_id == turn.task_id:
            self.thread.goal = turn
            self._read(self.thread)

    @on(messages.ThreadChosen)
    async def _thread_chosen(self) -> None:
        if self.thread is None:
            await self.feed.open(self._new_progress())
            await self.feed.reset([], has_older=False)
        elif self.feed.progress is not self.thread.progress:
            await self.feed.open(self.thread.progress)
        self.show_state()

    def _is_shown(self, task_id: str | None) -> bool:
        """Whether the feed shows this thread, and no longer the one before it."""
        thread = self.thread
        if thread is None or thread.task_id != task_id:
            return False
        return self.feed.progress is thread.progress

    # -- what the desk tells -------------------------------------------------------------------

    @on(messages.PageRead)
    async def _page_read(self, event: messages.PageRead) -> None:
        if self.thread is None or not self._is_shown(event.task_id):
            return
        if self.thread.goal is not None:
            return  # the page around it is on its way
        match event.side:
            case Side.NEWEST:
                await self.feed.reset(event.turns, has_older=event.more)
            case Side.OLDER:
                await self.feed.prepend(event.turns, has_older=event.more)
            case Side.NEWER:
                await self.feed.extend(event.turns, has_newer=event.more)
        self.thread.page_is_read = True
        self.turns_came(event.turns)
        self.refresh_bindings()

    @on(messages.AroundRead)
    async def _around_read(self, event: messages.AroundRead) -> None:
        thread, turn = self.thread, event.turn
        if thread is None or not self._is_shown(turn.task_id):
            return
        if thread.goal is None or thread.goal.id != turn.id:
            return
        thread.goal = None
        await self.feed.show_around(
            turn, event.turns, has_older=event.has_older, has_newer=event.has_newer
        )
        thread.page_is_read = True
        self.feed.focus(scroll_visible=False)
        self.turns_came(event.turns)
        self.refresh_bindings()

    @on(messages.TurnFound)
    def _goal_gone(self) -> None:
        """The turn that was to be looked at was deleted meanwhile: the newest ones, then."""
        if self.thread is not None and self.thread.goal is not None:
            self.thread.goal = None
            self._read(self.thread)
            self.app.going.say_gone()

    @on(FeedView.Wanted)
    def _page_wanted(self, event: FeedView.Wanted) -> None:
        if self.thread is not None:
            side = Side.OLDER if event.before is not None else Side.NEWER
            turn_id = event.before if side is Side.OLDER else event.after
            self.desk.read_page(self.thread.task_id, side, turn_id)

    @on(messages.FeedMoved)
    async def _feed_moved(self, event: messages.FeedMoved) -> None:
        change = event.change
        turns = [turn for turn in change.turns if self._is_shown(turn.task_id)]
        if turns or change.deleted:
            await self.feed.apply(turns, change.deleted)
            self.turns_came(turns)
        self.show_state()
        self.refresh_bindings()

    @on(messages.ChangesMissed)
    def _changes_missed(self) -> None:
        if self.thread is not None:
            self.desk.read_page(self.thread.task_id, Side.NEWEST)

    @on(messages.Happened)
    async def _happened(self, message: messages.Happened) -> None:
        match message.event:
            case events.Accepted(turn):
                self._accepted(turn, written=message.written)
                await self._apply(turn)
            case events.ReplyText(turn, reply, delta):
                await self._more_text(turn, reply, delta)
                return
            case events.Meanwhile() as event:
                self.meanwhile(event)
                if isinstance(event.what, ThoughtDelta | ToolSeen):
                    return
            case events.Finished(turn, reply, _):
                self.over(turn)
                await self._apply(*([turn] if reply is None else [turn, reply]))
                self.finished(turn)
            case events.TakenBack(turn):
                self.over(turn)
                self._taken_back(turn)
                await self._apply(deleted=turn)
            case events.NotStored(_, _, reason):
                self.notices.add(f"How this turn ended could not be stored yet: {reason}")
            case events.Began(turn) as event:
                self.began(event)
                await self._apply(turn)
            case events.Waiting(turn) | events.ContextReady(turn):
                await self._apply(turn)
        self.show_state()
        self.refresh_bindings()

    async def _apply(self, *turns: Turn, deleted: Turn | None = None) -> None:
        """Turns of one thread, whether it is on the screen or not."""
        task_id = turns[0].task_id if turns else deleted.task_id if deleted else None
        if self._is_shown(task_id):
            await self.feed.apply(turns, [deleted.id] if deleted else [])
            self.turns_came(turns)
            return
        progress = self.opened(task_id).progress
        for turn in turns:
            progress.track(turn, None)
        if deleted:
            progress.forget(deleted.id)

    async def _more_text(self, turn: Turn, reply: Turn, delta: str) -> None:
        """The first words of an answer bring its turn; the later ones only add to it."""
        if not self._is_shown(turn.task_id):
            progress = self.opened(turn.task_id).progress
            progress.track(reply, None)
            progress.more(reply, delta)
            return
        self.feed.more_text(reply, delta)
        if reply.id not in self.feed.window:
            await self.feed.apply([turn, reply])

    def finished(self, turn: Turn) -> None:
        """A turn of this qterm's is over."""

    @on(messages.Held)
    def _held(self, event: messages.Held) -> None:
        self.send_again(event.turn, event.sentence)

    @on(messages.Trouble)
    def _trouble(self, event: messages.Trouble) -> None:
        if event.page:
            self.feed.load_failed()
            if self.thread is not None:
                self.thread.goal = None
        self.notices.add(event.sentence)
        self.refresh_bindings()

    @on(Worker.StateChanged)
    def _worker_changed(self, event: Worker.StateChanged) -> None:
        if event.state is WorkerState.ERROR:
            self.app.log_failure(event.worker.error)

    # -- what the operator does ----------------------------------------------------------------

    @on(NewBelow.Pressed)
    def _new_below_pressed(self) -> None:
        self.action_newest()

    @on(Notices.Dismissed)
    def _notice_dismissed(self) -> None:
        self.action_dismiss_notice()

    @on(FeedView.Moved)
    def moved(self, event: FeedView.Moved) -> None:
        """The selection, or what waits below, has changed."""
        self._new_below.show(event.unseen)
        self.refresh_bindings()

    # -- how it looks --------------------------------------------------------------------------

    @property
    def page_is_read(self) -> bool:
        """Whether the first page of the thread on the screen has come."""
        thread = self.thread
        return thread is not None and self._is_shown(thread.task_id) and thread.page_is_read

    def leaving(self) -> None:
        """The app ends what runs; nothing more is sent from here."""
        self._leaving = True
        self.composer.read_only = True
        self._title.show(Content.styled("stopping Q…", "$text-warning"))

    def redraw(self) -> None:
        """Draw the feed again, after the theme has changed."""
        self.feed.redraw()

    def _tick(self) -> None:
        if self.feed.progress and self.is_current:
            self.feed.refresh_open()

    def show_state(self) -> None:
        """Show where the screens are, and how Q is."""
        if self._leaving:
            return
        places = place_words(self.common, self.PLACE)
        self._title.show_places(places)
        room = max(self.size.width - places.cell_length - 4, 20)
        self._title.show(title_state(self._state_parts(room), room), self._why())
        self.feed.show_empty(plain(self.first_words()))

    def _state_parts(self, room: int) -> list[tuple[int, Content]]:
        """How Q is: each part with how gladly it makes way for others, 0 for never."""
        parts = [(0, q_words(self.common, at_work=self.feed.progress.asked() is not None))]
        if self.services.approvals is Approvals.BYPASS:
            parts.insert(0, (0, Content.styled("! Q runs commands unasked", "bold $text-error")))
        if (asks := self._asks()) is not None:
            parts.insert(0, (0, asks))
        parts += [(1, part) for part in self.live_parts(room // 3)]
        if self.common.state.kind is FirstStart.READY:
            parts += version_parts(self.common)
        return parts

    def _asks(self) -> Content | None:
        """Where hermes waits for an answer, if it is not here."""
        elsewhere = self.common.requests.elsewhere(
            self.thread.task_id if self.thread else None, here=self.thread is not None
        )
        if not elsewhere:
            return None
        task = self.common.task(elsewhere[0].turn.task_id)
        return asks_words(task.title if task else None, self.look.key("go-to-request"))

    def live_parts(self, width: int) -> list[Content]:
        """How the thread's session stands, for the title line."""
        return live_words(self.work, width)

    def _why(self) -> Content | None:
        """Why the next turn goes the way it does."""
        standing = self.common.standing
        return plain(standing.why) if standing is not None else None

    def common_changed(self) -> None:
        """The tasks, Q's state or hermes's version are others now."""
        self.show_state()
        self.refresh_bindings()

    def first_words(self) -> str:
        """What stands in a thread in which nothing has been said."""
        raise NotImplementedError

    def on_resize(self, event: Resize) -> None:
        """Say what is needed where the terminal is too small; the editor's share of the rest."""
        self._too_small.fit(event.size)
        self.composer.fit(event.size)
