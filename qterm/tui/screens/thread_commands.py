"""What the operator can do in any thread: the actions that home and tasks share."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.screen import Screen

from qterm.model import YOU, Turn
from qterm.services import FirstStart, Services
from qterm.tui.commands.registry import Place, Situation, again_candidate, bindings, by_action
from qterm.tui.common import Common, OpenThread
from qterm.tui.content import one_line
from qterm.tui.desk.desk import Desk
from qterm.tui.desk.messages import Side
from qterm.tui.look import Look
from qterm.tui.screens.ask import Question
from qterm.tui.screens.sheets import Sheet, notices_text
from qterm.tui.widgets.bars import Notices
from qterm.tui.widgets.composer import Composer
from qterm.tui.widgets.feed import FeedView
from qterm.tui.widgets.turn import Folded

if TYPE_CHECKING:
    from qterm.tui.app import QtermApp


class ThreadCommands(Screen[None]):
    """The commands; `ThreadScreen` puts the parts they work on in place.

    `thread` is the one on the screen, None where there is none.
    """

    PLACES: ClassVar[tuple[Place, ...]] = (Place.COMPOSER, Place.FEED, Place.THREAD)
    BINDINGS = bindings(Place.THREAD)

    app: QtermApp
    common: Common
    services: Services
    look: Look
    desk: Desk
    feed: FeedView
    composer: Composer
    notices: Notices
    thread: OpenThread | None = None

    def situation(self) -> Situation:
        """What the availability of commands hangs on, now."""
        thread = self.thread
        selected = self.feed.selected_turn()
        running = None if thread is None else self.services.conversation.running(thread.task_id)
        work = thread.progress.work if thread else None
        here = thread is not None
        task_id = thread.task_id if thread else None
        return Situation(
            turns=bool(self.feed.window.turns),
            did=work is not None and work.newest() is not None,
            selected_did=bool(work and selected and work.steps(selected.reply_to or selected.id)),
            modes=self.session_id() is not None and bool(work and work.modes),
            asks=bool(self.common.requests.elsewhere(task_id, here=here)),
            running=running is not None,
            waiting=thread.progress.waiting() if thread else None,
            selected=selected,
            again=(again_candidate(selected) or self._last_failed()) if self.can_write else None,
            notices=len(self.notices.waiting),
            writes=self.can_write,
            folded=self.can_write and self.composer.has_folds,
            offers=self.common.state.kind is not FirstStart.READY,
        )

    def session_id(self) -> str | None:
        """The session of the thread on the screen, where it has one that lasts."""
        return None

    @property
    def can_write(self) -> bool:
        """Whether a message can be sent into the thread on the screen."""
        return self.thread is not None

    def _last_failed(self) -> Turn | None:
        """The operator's last message, if it did not get through."""
        for turn in reversed(self.feed.window.turns):
            if turn.persona == YOU:
                return again_candidate(turn)
        return None

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Every command says itself when it is available."""
        command = by_action(action, set(self.PLACES) - {Place.COMPOSER})
        return True if command is None else command.available(self.situation())

    def action_newest(self) -> None:
        """Go to the newest turn."""
        if self.feed.window.has_newer and self.thread is not None:
            self.desk.read_page(self.thread.task_id, Side.NEWEST)
        else:
            self.feed.follow()

    def action_page_up(self) -> None:
        """Scroll up."""
        self.feed.scroll_page_up(animate=False)

    def action_page_down(self) -> None:
        """Scroll down."""
        self.feed.scroll_page_down(animate=False)

    @on(Folded)
    def _folded(self) -> None:
        """A click on a fold is no step into the feed, where letters are commands."""
        self.composer.focus()

    def action_write(self) -> None:
        """Go back to the editor."""
        self.composer.focus()

    def action_stop(self) -> None:
        """Stop the turn that runs in this thread; others go on."""
        if self.thread is not None:
            self.desk.stop(self.thread.task_id)

    def action_send_again(self) -> None:
        """Send the text of a turn once more, after a look at what the session holds of it."""
        turn = self.situation().again
        if turn is not None:
            self.desk.ask_held(turn)

    def send_again(self, turn: Turn, held: str) -> None:
        """Send it, where it is held already only if the operator wants it (rule S5)."""
        send = partial(self.desk.send, turn.task_id, turn.text, again_of=turn.id)
        if not held:
            send()
            return
        question = Question(
            f"{held}\n\n{one_line(turn.text, 60).plain}", yes="Send again", no="Leave it"
        )
        self.app.push_screen(question, lambda yes: send() if yes else None)

    def action_take_back(self) -> None:
        """Put a waiting message back into the editor; its event brings the words."""
        turn = self.situation().waiting
        if turn is not None:
            self.desk.take_back(turn.id)
            self.composer.focus()

    def action_detail(self) -> None:
        """Unfold or fold the details of a failure."""
        if self.feed.selected is not None:
            self.feed.unfold(self.feed.selected)

    def action_hide(self) -> None:
        """Hide the selected turn from Q, or show it again."""
        turn = self.feed.selected_turn()
        if turn is None:
            return
        hidden = not turn.hidden
        words = "Q is no longer told of this turn." if hidden else "Q is told of this turn again."
        self.desk.change(
            partial(self.services.feed.hide, turn.id, hidden), partial(self.app.notify, words)
        )

    def action_delete(self) -> None:
        """Ask, then delete the selected turn."""
        turn = self.feed.selected_turn()
        if turn is None:
            return

        def answered(yes: bool | None) -> None:
            if yes:
                delete = partial(self.services.feed.delete, turn.id)
                self.desk.change(delete, partial(self.app.notify, "The turn is deleted."))

        who = self.look.label(turn.persona).plain
        question = "Delete this turn for good? It can't be brought back."
        if turn.task_id is not None:
            question += " hermes's own session keeps it all the same."
        question += f"\n\n{who}: {one_line(turn.text, 60).plain}"
        self.app.push_screen(Question(question, yes="Delete", no="Keep"), answered)

    def action_dismiss_notice(self) -> None:
        """Put the notice at the top away."""
        self.notices.dismiss()
        self.refresh_bindings()

    async def action_go_to_request(self) -> None:
        """Go to the thread in which hermes waits for an answer."""
        await self.app.go_to_request()

    def action_notices(self) -> None:
        """Show every notice."""
        self.app.push_screen(Sheet("Notices", notices_text(self.notices.all)))

    def action_first_start(self) -> None:
        """Go back to the offers of the first start."""
        self.app.offer()
