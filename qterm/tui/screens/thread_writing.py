"""Writing in a thread: its draft, and how what is in the editor is sent."""

from __future__ import annotations

from contextlib import suppress

from textual import events, on
from textual.timer import Timer
from textual.widgets import Input, TextArea

from qterm.feed.source import FeedError
from qterm.model import Turn
from qterm.tui.commands.command import Place
from qterm.tui.commands.registry import COMMANDS, keys_of
from qterm.tui.common import OpenThread
from qterm.tui.content import plain, to_editor
from qterm.tui.desk import messages
from qterm.tui.desk.messages import Side
from qterm.tui.desk.outgoing import edited, left_over
from qterm.tui.screens.thread_commands import ThreadCommands
from qterm.tui.widgets.composer import Composer
from qterm.tui.widgets.progress import Progress

DRAFT_SECONDS = 0.3
"""The editor's text is stored this long after the last key."""


class ThreadWriting(ThreadCommands):
    """What was written stays with its thread, and leaves the editor only when it is stored."""

    def __init__(self) -> None:
        super().__init__()
        self._threads: dict[str | None, OpenThread] = {}
        self._leaving = False
        self._draft_timer: Timer | None = None
        self._taking: set[int] = set()

    def _new_progress(self) -> Progress:
        conversation = self.services.conversation
        return Progress(conversation.owner, conversation.clock, self.look.now)

    def opened(self, task_id: str | None) -> OpenThread:
        """What is known of a thread beyond the store."""
        if task_id not in self._threads:
            self._threads[task_id] = OpenThread(task_id, self._new_progress())
        return self._threads[task_id]

    @property
    def draft_is_known(self) -> bool:
        """False until the stored draft was read: till then it must not be written over."""
        return self.thread is not None and self.thread.draft_is_known

    def _put_aside(self) -> None:
        """What is in the editor belongs to the thread that leaves the screen."""
        self._save_draft()
        if self.thread is not None and not self.composer.read_only:
            self.thread.draft = self.composer.draft

    def fit_composer(self) -> None:
        """The editor holds the thread's draft where it can be written in, else nothing."""
        self.composer.read_only = self._leaving or not self.can_write
        draft = self.thread.draft if self.thread is not None and self.can_write else ""
        if self.composer.draft != draft:
            self.composer.set_message(draft)

    def write(self) -> None:
        """The cursor belongs into the editor, where one can write."""
        if self.can_write:
            self.set_focus(self.composer)

    def begins_to_write(self, event: events.Key) -> bool:
        """A character that means nothing where the focus is begins, or goes on with, a message.

        Words typed beside the editor are not lost, and most of their letters are no commands.
        """
        character = event.character
        focused = self.focused
        if character is None or not event.is_printable or self.composer.read_only:
            return False
        if focused is None or focused is self.composer or isinstance(focused, Input | TextArea):
            return False
        if self._is_command(event.key) or not self.can_write:
            return False
        self.set_focus(self.composer)
        self.composer.insert(to_editor(character))
        return True

    def _is_command(self, key: str) -> bool:
        """Whether a key means something beside the editor, if not at this moment."""
        own = self.services.settings.keys
        return any(
            key in keys_of(command.id, own)
            for command in COMMANDS
            if command.place in self.PLACES and command.place is not Place.COMPOSER
        )

    @on(Composer.Sent)
    def _send(self, event: Composer.Sent) -> None:
        if self.thread is None or self._leaving or not self.can_write:
            return
        now = self.thread.outgoing.press(event.text)
        if now is not None:
            self.desk.send(self.thread.task_id, now)

    def _accepted(self, turn: Turn, *, written: bool) -> None:
        """The message is stored: only now may it leave the editor."""
        thread = self.opened(turn.task_id)
        is_here = thread is self.thread
        if written:
            sent, then = thread.outgoing.stored()
            if is_here:
                self.composer.take_sent(sent)
            else:
                thread.draft = left_over(thread.draft, sent)
            if then is not None:
                self.desk.send(thread.task_id, then)
        if not is_here:
            self._keep(thread)
            return
        self._save_draft()
        if self.feed.window.has_newer:
            self.desk.read_page(thread.task_id, Side.NEWEST)
        else:
            self.feed.follow()

    @on(messages.NotSent)
    def _not_sent(self, event: messages.NotSent) -> None:
        if not event.again:
            self.opened(event.task_id).outgoing.refused()
        if event.refused:
            self.app.notify(event.sentence, severity="error")
        else:
            self.notices.add(event.sentence)

    def _taken_back(self, turn: Turn) -> None:
        """A message waits no more; its words belong into the editor again.

        Where its task was ended meanwhile, the Conversation has put them into the draft, too.
        """
        asked = turn.id in self._taking
        self._taking.discard(turn.id)
        thread = self.opened(turn.task_id)
        if thread.is_changing or not (asked or turn.task_id):
            return
        if thread is self.thread and self.can_write:
            written = self.composer.draft
            self.composer.set_message(f"{turn.text}\n{written}" if written else turn.text)
        else:
            thread.draft = f"{turn.text}\n{thread.draft}" if thread.draft else turn.text
            self._keep(thread)

    def action_take_back(self) -> None:
        """Put a waiting message back into the editor."""
        turn = self.situation().waiting
        if turn is not None:
            self._taking.add(turn.id)
            super().action_take_back()

    async def own_message(self, before: int | None, after: int | None) -> Turn | None:
        """The operator's message next to a turn of this thread; None where there is none."""
        thread = self.thread
        if thread is None:
            return None
        turn = await self.desk.own_message(thread.task_id, before, after)
        return turn if thread is self.thread else None

    def action_unfold(self) -> None:
        """Unfold the paste at the cursor, or the one before it."""
        self.composer.action_unfold()

    @on(Composer.TooLong)
    def _too_long(self) -> None:
        key = self.look.key("edit")
        self.app.notify(f"That paste is too long to be unfolded here: {key} opens your own editor.")

    def action_select_message(self) -> None:
        """Select all that stands in the editor."""
        self.composer.focus()
        self.composer.select_all()

    def action_edit_message(self) -> None:
        """Open the message in the operator's own editor."""
        if self.thread is not None and self.can_write and not self._leaving:
            self.desk.edit(self.thread.task_id, self.composer.message, self.app.lend_terminal)

    @on(messages.Edited)
    def _edited(self, event: messages.Edited) -> None:
        if event.sentence:
            self.app.notify(event.sentence, severity="warning" if event.failed else "information")
        if event.text is None:
            return
        thread = self.opened(event.task_id)
        if thread is self.thread and self.can_write:
            self.composer.change_message(edited(self.composer.message, event.was, event.text))
            self.composer.focus()
        else:
            thread.draft = edited(thread.draft, event.was, event.text)
            self._keep(thread)

    @on(messages.DraftRead)
    def _draft_came(self, event: messages.DraftRead) -> None:
        thread = self.opened(event.task_id)
        if thread.draft_is_known and not event.instead:
            return
        thread.draft_is_known = True
        is_here = thread is self.thread and not self.composer.read_only
        written = self.composer.draft if is_here else thread.draft
        if event.instead or not written:
            thread.draft = event.text
        else:  # somebody was quicker than the store: nothing is lost
            thread.draft = f"{written}\n{event.text}" if event.text else written
        if thread is self.thread and not thread.is_changing:
            self.fit_composer()

    @on(TextArea.Changed, "#composer")
    def _written(self) -> None:
        self._writing_note()
        if self._draft_timer is not None:
            self._draft_timer.stop()
        self._draft_timer = self.set_timer(DRAFT_SECONDS, self._save_draft)

    def _writing_note(self) -> None:
        """Above the editor: what else can be done with what stands in it."""
        key = self.look.key
        words = ""
        if self.composer.is_recalled:
            words = f"an earlier message · {key('later')}: back to your draft"
        elif self.composer.has_folds:
            words = f"{key('unfold')}: unfold the paste · {key('edit')}: your editor"
        self.query_one("#writing").border_title = plain(f" {words} " if words else "")

    def _save_draft(self) -> None:
        if self._draft_timer is not None:
            self._draft_timer.stop()
            self._draft_timer = None
        thread = self.thread
        if thread is None or self.composer.read_only:
            return  # what is in the editor is nobody's draft
        thread.draft = self.composer.draft
        self._keep(thread)

    def _keep(self, thread: OpenThread) -> None:
        if thread.draft_is_known and not thread.is_changing and not self._leaving:
            self.desk.save_draft(thread.task_id, thread.draft)

    async def keep_draft(self) -> None:
        """Store what is in the editor; a feed that can't take it is not a reason to stay."""
        thread = self.thread
        if thread is None or not thread.draft_is_known or thread.is_changing:
            return
        if self.can_write:
            thread.draft = self.composer.draft
        with suppress(FeedError):
            await self.services.feed.save_draft(thread.task_id, thread.draft)
