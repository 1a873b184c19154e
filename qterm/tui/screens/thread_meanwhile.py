"""What happens in a thread while Q answers: steps, requests, how the session stands."""

from __future__ import annotations

from functools import partial

from textual import on

from qterm import events
from qterm.hermes.way import Asked, AskedNoMore, Transport
from qterm.model import Approvals, Turn
from qterm.tui.content import plain
from qterm.tui.desk import messages
from qterm.tui.screens.choose import AskMore, ChooseMode
from qterm.tui.screens.thread_writing import ThreadWriting
from qterm.tui.widgets.steps import ThreadWork

CANT_ASK = "hermes can't ask you here: it refuses dangerous commands."
"""Said once, below the first answer for which `ask` acts as `deny` (rule A1)."""


class ThreadMeanwhile(ThreadWriting):
    """Live events go into the thread's `ThreadWork`, whether the thread is on the screen or not."""

    @property
    def work(self) -> ThreadWork | None:
        """Q's work in the thread on the screen."""
        return self.thread.progress.work if self.thread is not None else None

    def meanwhile(self, event: events.Meanwhile) -> None:
        """Something happens that is no part of the answer."""
        turn, what = event.turn, event.what
        reason = ""
        match what:
            case Asked(approval):
                self.app.asking.came(turn, approval)
            case AskedNoMore(approval_id, answer):
                reason = self.app.asking.over(turn, approval_id, answer)
        self.opened(turn.task_id).progress.work.take(turn.id, what, reason=reason)
        self._work_moved(turn)

    def began(self, event: events.Began) -> None:
        """hermes is at work on a message."""
        turn, common = event.turn, self.common
        steps = self.opened(turn.task_id).progress.work.begin(turn.id)
        if common.standing is not None and common.standing.transport is not event.transport:
            self.app.desk.look_at_standing()
        acts_as_deny = event.approvals is Approvals.DENY and event.transport is Transport.SPAWN
        if acts_as_deny and self.services.approvals is Approvals.ASK and not common.told_of_deny:
            common.told_of_deny = True
            steps.note = CANT_ASK

    def over(self, turn: Turn) -> None:
        """A message's turn is over: what it did is one line now."""
        self.app.asking.turn_over(turn)
        self.opened(turn.task_id).progress.work.end(turn.id)
        self._work_moved(turn)

    def _work_moved(self, turn: Turn) -> None:
        if self.thread is not None and self.thread.task_id == turn.task_id:
            self.feed.work_moved(turn.id)

    # -- what the operator does ----------------------------------------------------------------

    def action_steps(self) -> None:
        """Unfold what Q did for the selected turn, or for the newest one; then more; then fold."""
        work = self.work
        if work is None:
            return
        selected = self.feed.selected_turn() if self.feed.has_focus else None
        turn_id = None if selected is None else selected.reply_to or selected.id
        if turn_id is None or not work.steps(turn_id):
            turn_id = work.newest()
        if turn_id is not None and (steps := work.steps(turn_id)) is not None:
            steps.step_on()
            self.feed.refresh_work(turn_id)

    def action_detail(self) -> None:
        """Unfold or fold the details of the selected turn: what Q did, and why it failed."""
        turn = self.feed.selected_turn()
        if turn is not None and self.work and self.work.steps(turn.reply_to or turn.id):
            self.action_steps()
        if turn is not None and turn.detail:
            super().action_detail()

    def action_session_mode(self) -> None:
        """Ask for the session's mode."""
        thread, session, work = self.thread, self.session_id(), self.work
        if thread is None or work is None or session is None or not work.modes:
            return

        def answered(mode: str | None) -> None:
            if mode is not None and mode != work.mode:
                self.desk.set_mode(thread.task_id, session, mode)

        self.app.push_screen(ChooseMode(work.modes, work.mode), answered)

    @on(messages.ModeSet)
    def _mode_set(self, event: messages.ModeSet) -> None:
        if not event.taken:
            self.app.notify("hermes did not take the mode; nothing has changed.", severity="error")
            return
        work = self.opened(event.task_id).progress.work
        work.mode = event.mode
        name = next((mode.name for mode in work.modes if mode.id == event.mode), event.mode)
        self.app.notify(f"This session's mode is now {plain(name[:40]).plain}.")
        self.common_changed()

    @on(messages.HermesCommandChosen)
    def _command_chosen(self, event: messages.HermesCommandChosen) -> None:
        thread = self.thread
        if thread is None or not self.can_write:
            return
        run = partial(self.desk.send_command, thread.task_id)
        if not event.hint:
            run(f"/{event.name}")
            return

        def answered(words: object) -> None:
            if isinstance(words, str):
                run(f"/{event.name} {words}".rstrip())

        self.app.push_screen(AskMore(event.name, event.hint), answered)

    def common_changed(self) -> None:
        """What the screens share is other now."""
        raise NotImplementedError
