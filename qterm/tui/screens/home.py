"""The home screen: the feed, the editor below it, and what Q will be told beside it."""

from __future__ import annotations

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.events import Resize
from textual.timer import Timer
from textual.widgets import Static, TextArea
from textual.worker import Worker, WorkerState

from qterm import events
from qterm.model import Approvals, Turn
from qterm.services import FirstStart, Services, StartState
from qterm.tui import messages
from qterm.tui.commands import (
    Place,
    bindings,
)
from qterm.tui.content import one_line, plain
from qterm.tui.desk import Desk
from qterm.tui.look import Look
from qterm.tui.messages import Side
from qterm.tui.outgoing import Outgoing
from qterm.tui.screens.home_commands import HomeCommands
from qterm.tui.screens.sheets import ToldScreen
from qterm.tui.widgets.bars import KeysLine, NewBelow, Notices, TitleBar
from qterm.tui.widgets.composer import Composer
from qterm.tui.widgets.feed import FeedView
from qterm.tui.widgets.told import ToldView

DRAFT_SECONDS = 0.3
"""The editor's text is stored this long after the last key."""

NEEDS = (50, 14)
"""The smallest screen, in columns and rows."""


class HomeScreen(HomeCommands):
    """The home thread."""

    BINDINGS = bindings(Place.HOME)
    AUTO_FOCUS = "#composer"

    def __init__(self, services: Services, look: Look, state: StartState) -> None:
        super().__init__()
        self.services = services
        self.look = look
        self.state = state
        self.desk = Desk(services, self.post_message, self.run_worker)
        conversation = services.conversation
        self.feed = FeedView(look, conversation.owner, conversation.clock)
        self.composer = Composer(services.settings.keys)
        self.notices = Notices(look.key("dismiss"))
        self._title = TitleBar("Rehearsal" if services.is_demo else "Home")
        self.told = ToldView(services.settings.operator, look.now)
        self.told.set_class(not services.settings.screen.side_pane, "-off")
        self._new_below = NewBelow()
        self._version = ""
        self._outgoing = Outgoing()
        self._leaving = False
        self._draft_timer: Timer | None = None
        self._draft_read = False
        self._page_is_read = False

    def compose(self) -> ComposeResult:
        """Title, notices, feed and pane, editor, keys."""
        yield self._title
        yield self.notices
        with Vertical(id="middle"):
            yield self.feed
            yield self._new_below
            yield self.told  # docked to the right; here, so that tab goes feed, pane, editor
            with Horizontal(id="writing"):
                yield Static(Content("› "), id="prompt", markup=False)
                yield self.composer
        yield KeysLine(show_command_palette=False, compact=True)
        yield Static(Content(""), id="too-small", markup=False)

    def on_mount(self) -> None:
        """Begin to read and to watch."""
        for problem in self.services.loaded.problems:
            self.notices.add(problem.sentence)
        for sentence in self.services.notices:
            self.notices.add(sentence)
        if self.services.settings.hermes.approvals is Approvals.ASK:
            self.notices.add(
                "hermes can't ask you from here, so it refuses dangerous commands: "
                'approvals = "ask" acts as "deny".'
            )
        self.desk.watch()
        self.desk.recover()
        self.desk.read_page(Side.NEWEST)
        self.desk.tell()
        if self.state.kind is FirstStart.READY:
            self.desk.look_at_hermes()
        self.set_interval(0.125 if self.look.moving else 1.0, self._tick)
        self._show_state()

    def on_screen_resume(self) -> None:
        """Back from another screen: the keys are this one's again."""
        self.refresh_bindings()

    # -- what the desk tells -------------------------------------------------------------------

    @on(messages.PageRead)
    async def _page_read(self, event: messages.PageRead) -> None:
        self._page_is_read = True
        match event.side:
            case Side.NEWEST:
                await self.feed.reset(event.turns, has_older=event.more)
            case Side.OLDER:
                await self.feed.prepend(event.turns, has_older=event.more)
            case Side.NEWER:
                await self.feed.extend(event.turns, has_newer=event.more)
        self.refresh_bindings()

    @on(FeedView.Wanted)
    def _page_wanted(self, event: FeedView.Wanted) -> None:
        side = Side.OLDER if event.before is not None else Side.NEWER
        self.desk.read_page(side, event.before if side is Side.OLDER else event.after)

    @on(messages.FeedMoved)
    async def _feed_moved(self, event: messages.FeedMoved) -> None:
        change = event.change
        turns = [turn for turn in change.turns if turn.task_id is None]
        if turns or change.deleted:
            await self.feed.apply(turns, change.deleted)
        if change.deleted or change.facts or change.mode or any(_told_of(turn) for turn in turns):
            self.desk.tell()
        self._show_state()
        self.refresh_bindings()

    @on(messages.Happened)
    async def _happened(self, message: messages.Happened) -> None:
        match message.event:
            case events.Accepted(turn):
                self._accepted(turn)
                await self.feed.apply([turn])
            case events.ReplyText(turn, reply, delta):
                self.feed.more_text(reply, delta)
                await self._apply_new(turn, reply)
                return
            case events.ToolUsed(turn, tool):
                self.feed.tool(turn.id, "" if tool.state in _TOOL_ENDED else tool.name)
                return
            case events.Finished(turn, reply, _):
                await self.feed.apply([turn] if reply is None else [turn, reply])
                self.desk.tell()
            case events.TakenBack(turn):
                await self.feed.apply([], [turn.id])
            case events.NotStored(_, _, reason):
                self.notices.add(f"How this turn ended could not be stored yet: {reason}")
            case events.Waiting(turn) | events.ContextReady(turn) | events.Began(turn):
                await self.feed.apply([turn])
        self._show_state()
        self.refresh_bindings()

    async def _apply_new(self, turn: Turn, reply: Turn) -> None:
        """The first words of an answer bring its turn; the later ones only add to it."""
        if reply.id not in self.feed.window:
            await self.feed.apply([turn, reply])

    def _accepted(self, turn: Turn) -> None:
        """The message is stored: only now may it leave the editor."""
        if turn.again_of is None:
            sent, then = self._outgoing.stored()
            self.composer.take_sent(sent)
            if then is not None:
                self.desk.send(then)
        self._save_draft()
        if self.feed.window.has_newer:
            self.desk.read_page(Side.NEWEST)
        else:
            self.feed.follow()

    @on(messages.NotSent)
    def _not_sent(self, event: messages.NotSent) -> None:
        self._outgoing.refused()
        self.notices.add(event.sentence)

    @on(messages.Trouble)
    def _trouble(self, event: messages.Trouble) -> None:
        if event.page:
            self.feed.load_failed()
        self.notices.add(event.sentence)
        self.refresh_bindings()

    @on(messages.DraftRead)
    def _draft_came(self, event: messages.DraftRead) -> None:
        self._draft_read = True
        if event.text and not self.composer.text:
            self.composer.set_message(event.text)

    @on(messages.Told)
    def _told_came(self, event: messages.Told) -> None:
        self.told_context = event.context
        views = [self.told]
        if isinstance(self.app.screen, ToldScreen):
            views.append(self.app.screen.view)
        for view in views:
            if event.context is None:
                view.show_trouble(event.trouble)
            else:
                view.show(event.context)

    @on(messages.VersionSeen)
    def _version_seen(self, event: messages.VersionSeen) -> None:
        self._version = event.words
        self._show_state()

    @on(Worker.StateChanged)
    def _worker_changed(self, event: Worker.StateChanged) -> None:
        if event.state is WorkerState.ERROR:
            self.app.log_failure(event.worker.error)

    # -- what the operator does ----------------------------------------------------------------

    @on(Composer.Sent)
    def _send(self, event: Composer.Sent) -> None:
        now = None if self._leaving else self._outgoing.press(event.text)
        if now is not None:
            self.desk.send(now)

    @on(TextArea.Changed, "#composer")
    def _written(self) -> None:
        if self._draft_timer is not None:
            self._draft_timer.stop()
        self._draft_timer = self.set_timer(DRAFT_SECONDS, self._save_draft)

    def _save_draft(self) -> None:
        if self._draft_timer is not None:
            self._draft_timer.stop()
            self._draft_timer = None
        if self._draft_read and not self._leaving:
            self.desk.save_draft(self.composer.message)

    @on(NewBelow.Pressed)
    def _new_below_pressed(self) -> None:
        self.action_newest()

    @on(Notices.Dismissed)
    def _notice_dismissed(self) -> None:
        self.action_dismiss_notice()

    @on(FeedView.Moved)
    def _moved(self, event: FeedView.Moved) -> None:
        self._new_below.show(event.unseen)
        self.refresh_bindings()

    # -- how it looks --------------------------------------------------------------------------

    def new_state(self, state: StartState) -> None:
        """hermes was looked for again."""
        self.state = state
        if state.kind is FirstStart.READY:
            self.desk.look_at_hermes()
        self._show_state()
        self.refresh_bindings()

    @property
    def page_is_read(self) -> bool:
        """Whether the first page of the feed has come."""
        return self._page_is_read

    @property
    def told_is_known(self) -> bool:
        """Whether it is known what Q would be told."""
        return self.told_context is not None

    @property
    def hermes_is_known(self) -> bool:
        """Whether it is known which hermes answers."""
        return bool(self._version)

    @property
    def draft_is_known(self) -> bool:
        """False until the stored draft was read: till then it must not be written over."""
        return self._draft_read

    def leaving(self) -> None:
        """The app ends what runs; nothing more is sent from here."""
        self._leaving = True
        self.composer.read_only = True
        self._title.show(Content.styled("stopping Q…", "$text-warning"))

    def redraw(self) -> None:
        """Draw the feed again, after the theme has changed."""
        self.feed.redraw()

    def _tick(self) -> None:
        if self.feed.progress:
            self.feed.refresh_open()

    def _show_state(self) -> None:
        if self._leaving:
            return
        offers = self.look.key("first-start")
        match self.state.kind:
            case FirstStart.NO_HERMES:
                words = Content.styled(f"Q ○ hermes is not installed ({offers})", "$text-warning")
            case FirstStart.NO_MODEL:
                words = Content.styled(f"Q ○ has no model yet ({offers})", "$text-warning")
            case _:
                at_work = self.feed.progress.asked() is not None
                mark = Content.styled("●", "$text-warning" if at_work else "$text-success")
                words = Content.assemble("Q ", mark, " at work" if at_work else " ready")
        parts = [words]
        if self._version and self.state.kind is FirstStart.READY:
            parts.append(one_line(f"hermes {self._version}", 30, "$foreground-muted"))
        if self.services.settings.hermes.approvals is Approvals.BYPASS:
            parts.insert(0, Content.styled("! Q runs commands unasked", "bold $text-error"))
        self._title.show(Content(" · ").join(parts))
        self.feed.show_empty(plain(self._first_words()))

    def _first_words(self) -> str:
        if self.state.kind is FirstStart.READY:
            return "Nothing has been said yet. Write to Q below, and press enter."
        offers = self.look.key("first-start")
        return f"Nothing has been said yet. You can write, but Q can't answer: press {offers}."

    def on_resize(self, event: Resize) -> None:
        """Say what is needed where the terminal is too small."""
        width, height = event.size
        self.query_one("#too-small", Static).update(
            Content(
                f"qterm needs {NEEDS[0]} columns and {NEEDS[1]} rows.\n"
                f"This terminal has {width} and {height}.\n\nMake it larger, or use `qterm send`."
            )
        )


_TOOL_ENDED = frozenset({"ended", "done", "completed", "failed", "result"})


def _told_of(turn: Turn) -> bool:
    return not turn.state.is_open
