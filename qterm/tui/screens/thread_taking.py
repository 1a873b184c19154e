"""What can be taken out of a thread: copies, links, the whole of it as a file."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from textual import on

from qterm.model import Q, Turn
from qterm.tui.content import plain
from qterm.tui.desk import messages
from qterm.tui.desk.lookups import Lookups
from qterm.tui.screens.approval import Guarded
from qterm.tui.screens.ask import Question
from qterm.tui.screens.thread_seen import ThreadSeen
from qterm.tui.terminal.clipboard import copy
from qterm.tui.widgets.turn import LinkChosen
from qterm.tui.words.links import Link


class ThreadTaking(ThreadSeen):
    """Nothing here changes the feed, and nothing is opened without a question."""

    lookups: Lookups

    def _chosen_turn(self) -> Turn | None:
        """The turn whose highlight can be seen."""
        return self.feed.selected_turn() if self.focused is self.feed else None

    def _newest(self) -> Turn | None:
        return self.feed.window.turns[-1] if self.feed.window.turns else None

    def _text(self, turn: Turn) -> str:
        """All that was said in a turn, so far."""
        text = self.feed.progress.text(turn.id)
        return turn.text if text is None else text

    # -- copying -------------------------------------------------------------------------------

    def action_copy_turn(self) -> None:
        """Copy the whole text of the selected turn, else of the newest one."""
        turn = self._chosen_turn() or self._newest()
        if turn is not None:
            who = plain(self.look.label(turn.persona).plain).plain
            copy(self.app, self._text(turn), f"what {who} said")

    def action_copy_code(self) -> None:
        """Copy a block of code: of the selected turn, else of Q's newest answer that has one."""
        chosen = self._chosen_turn()
        if chosen is not None:
            self.lookups.find_code([self._text(chosen)], chosen=True)
            return
        answers = [turn for turn in reversed(self.feed.window.turns) if turn.persona == Q]
        self.lookups.find_code([self._text(turn) for turn in answers], chosen=False)

    @on(messages.CodeFound)
    def _code_found(self, event: messages.CodeFound) -> None:
        blocks = event.blocks
        if not blocks:
            where = "this turn" if event.chosen else "the answers here"
            self.app.notify(f"There is no block of code in {where}.", severity="warning")
            return
        if len(blocks) == 1:
            copy(self.app, blocks[0].code, "a block of code")
            return
        from qterm.tui.screens.choose_one import ChooseOne, code_choice

        def answered(index: int | None) -> None:
            if index is not None:
                copy(self.app, blocks[index].code, "a block of code")

        if not self._is_asked():
            question = f"There are {len(blocks)} blocks of code. Which one?"
            self.app.push_screen(
                ChooseOne(question, [code_choice(block) for block in blocks], "copies it"), answered
            )

    def _is_asked(self) -> bool:
        """Whether something stands above this thread: nothing may open over that (rule A2)."""
        return self.app.screen is not self or isinstance(self.app.screen, Guarded)

    # -- links ---------------------------------------------------------------------------------

    def action_open_link(self) -> None:
        """Look at a link of the selected turn, else of the newest one."""
        turn = self._chosen_turn() or self._newest()
        if turn is not None:
            self.lookups.find_links(turn, self._text(turn))

    @on(LinkChosen)
    def _link_chosen(self, event: LinkChosen) -> None:
        self._ask_link(event.link)

    @on(messages.LinksFound)
    def _links_found(self, event: messages.LinksFound) -> None:
        links = event.links
        if not links:
            self.app.notify("There is no link to http or https in this turn.", severity="warning")
            return
        if len(links) == 1:
            self._ask_link(links[0])
            return
        from qterm.tui.screens.choose_one import ChooseOne, link_choice

        def answered(index: int | None) -> None:
            if index is not None:
                self._ask_link(links[index])

        if not self._is_asked():
            question = f"There are {len(links)} links. Which one?"
            self.app.push_screen(
                ChooseOne(question, [link_choice(link) for link in links], "looks at it"), answered
            )

    def _ask_link(self, link: Link, trouble: str = "") -> None:
        """Show where it leads, before anything is opened."""
        from qterm.tui.screens.open_link import LinkAnswer, LinkQuestion

        def answered(answer: LinkAnswer | None) -> None:
            if answer is LinkAnswer.OPEN:
                self.lookups.open_link(link)
            elif answer is LinkAnswer.COPY:
                copy(self.app, link.address, "the address")

        if not self._is_asked():
            self.app.push_screen(LinkQuestion(link, trouble), answered)

    @on(messages.LinkOpened)
    def _link_opened(self, event: messages.LinkOpened) -> None:
        if not event.sentence:
            self.app.notify("The browser has the address.")
        elif self._is_asked():
            self.app.notify(event.sentence, severity="warning")
        else:
            self._ask_link(event.link, event.sentence)

    # -- a file --------------------------------------------------------------------------------

    def action_export(self) -> None:
        """Ask where to, then write the whole thread as Markdown."""
        from qterm.tui.screens.ask_path import AskPath, export_name

        thread = self.thread
        if thread is None:
            return
        task = self.common.task(thread.task_id)
        name = export_name(task.title if task else "home", self.look.now())

        def answered(path: object) -> None:
            if isinstance(path, Path):
                self.lookups.export(thread.task_id, path, fresh=True)

        self.app.push_screen(AskPath(_in_here(name)), answered)

    @on(messages.ExportTaken)
    def _export_taken(self, event: messages.ExportTaken) -> None:
        write = partial(self.lookups.export, event.task_id, event.path, fresh=False)
        words = f"“{event.path}” is there already. What is in it would be gone."
        if self._is_asked():
            self.app.notify(f"{words} Nothing was written: export again.", severity="warning")
            return
        question = Question(words, yes="Replace it", no="Leave it")
        self.app.push_screen(question, lambda yes: write() if yes else None)

    @on(messages.Exported)
    def _exported(self, event: messages.Exported) -> None:
        if event.failed:
            self.app.notify(event.sentence, severity="error", timeout=10)
        else:
            self.app.notify(event.sentence, timeout=10)


def _in_here(name: str) -> str:
    """A file in the folder qterm was started in; the name alone where that is gone."""
    try:
        return str(Path.cwd() / name)
    except OSError:
        return name
