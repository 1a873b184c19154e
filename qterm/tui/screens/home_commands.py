"""What the operator can do on the home screen: the action behind each of its commands."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from textual.screen import Screen

from qterm.context import QContext
from qterm.model import YOU, Turn
from qterm.services import FirstStart, Services, StartState
from qterm.tui.commands import Place, Situation, again_candidate, by_action
from qterm.tui.content import one_line
from qterm.tui.desk import Desk
from qterm.tui.look import Look
from qterm.tui.messages import Side
from qterm.tui.screens.ask import AskFact, AskMode, NewMode, Question
from qterm.tui.screens.sheets import Sheet, ToldScreen, notices_text
from qterm.tui.widgets.bars import Notices
from qterm.tui.widgets.composer import Composer
from qterm.tui.widgets.feed import FeedView
from qterm.tui.widgets.told import ToldView

if TYPE_CHECKING:
    from qterm.tui.app import QtermApp

WIDE = 100
"""From this many columns on, what Q will be told stands beside the feed."""


class HomeCommands(Screen[None]):
    """The commands; `HomeScreen` puts the parts they work on in place."""

    app: QtermApp
    services: Services
    look: Look
    state: StartState
    desk: Desk
    feed: FeedView
    composer: Composer
    notices: Notices
    told: ToldView
    told_context: QContext | None = None

    def situation(self) -> Situation:
        """What the availability of commands hangs on, now."""
        selected = self.feed.selected_turn()
        return Situation(
            running=self.services.conversation.running() is not None,
            waiting=self.feed.progress.waiting(),
            selected=selected,
            again=again_candidate(selected) or self._last_failed(),
            notices=len(self.notices.waiting),
            offers=self.state.kind is not FirstStart.READY,
        )

    def _last_failed(self) -> Turn | None:
        """The operator's last message, if it did not get through."""
        for turn in reversed(self.feed.window.turns):
            if turn.persona == YOU:
                return again_candidate(turn)
        return None

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Every command says itself when it is available."""
        command = by_action(action, (Place.HOME, Place.FEED))
        return True if command is None else command.available(self.situation())

    def action_newest(self) -> None:
        """Go to the newest turn."""
        if self.feed.window.has_newer:
            self.desk.read_page(Side.NEWEST)
        else:
            self.feed.follow()

    def action_page_up(self) -> None:
        """Scroll up."""
        self.feed.scroll_page_up(animate=False)

    def action_page_down(self) -> None:
        """Scroll down."""
        self.feed.scroll_page_down(animate=False)

    def action_write(self) -> None:
        """Go back to the editor."""
        self.composer.focus()

    def action_stop(self) -> None:
        """Stop the turn that runs."""
        self.desk.stop()

    def action_send_again(self) -> None:
        """Send the text of a turn once more."""
        turn = self.situation().again
        if turn is not None:
            self.desk.send(turn.text, again_of=turn.id)

    def action_take_back(self) -> None:
        """Put a waiting message back into the editor."""

        def put_back(text: str) -> None:
            written = self.composer.message
            self.composer.set_message(f"{text}\n{written}" if written else text)
            self.composer.focus()

        turn = self.situation().waiting
        if turn is not None:
            self.desk.take_back(turn.id, put_back)

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
        question = (
            f"Delete this turn for good? It can't be brought back.\n\n"
            f"{who}: {one_line(turn.text, 60).plain}"
        )
        self.app.push_screen(Question(question, yes="Delete", no="Keep"), answered)

    def action_told(self) -> None:
        """Show or hide what Q will be told: beside the feed, or as a screen of its own."""
        if self.size.width >= WIDE:
            self.told.toggle_class("-off")
            return
        view = ToldView(self.services.settings.operator, self.look.now)
        self.app.push_screen(ToldScreen(view, self.told_context))

    def action_mode(self) -> None:
        """Ask for the mode."""
        mode = self.told_context.mode if self.told_context else None
        until = self.look.local(mode.until).strftime("%H:%M") if mode and mode.until else ""

        def answered(new: object) -> None:
            if isinstance(new, NewMode):
                change = partial(self.services.feed.set_mode, new.text or None, new.until)
                words = "The mode is set." if new.text else "There is no mode any more."
                self.desk.change(change, partial(self.app.notify, words))

        self.app.push_screen(AskMode(mode.text if mode else "", until, self.look.now), answered)

    def action_fact(self) -> None:
        """Ask for a fact."""

        def answered(words: object) -> None:
            if isinstance(words, str):
                said = partial(self.app.notify, "The fact is added.")
                self.desk.change(partial(self.services.feed.add_fact, words), said)

        self.app.push_screen(AskFact(self.services.settings.operator), answered)

    def action_dismiss_notice(self) -> None:
        """Put the notice at the top away."""
        self.notices.dismiss()
        self.refresh_bindings()

    def action_notices(self) -> None:
        """Show every notice."""
        self.app.push_screen(Sheet("Notices", notices_text(self.notices.all)))

    def action_first_start(self) -> None:
        """Go back to the offers of the first start."""
        self.app.offer()
