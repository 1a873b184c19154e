"""The search: turns of the whole feed that hold some words, found while they are typed."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from qterm.model import QTERM
from qterm.tui.common import Common
from qterm.tui.content import from_editor, one_line, plain, to_editor
from qterm.tui.desk import messages
from qterm.tui.desk.lookups import Lookups
from qterm.tui.look import Look
from qterm.tui.screens.room import app_bindings
from qterm.tui.widgets.options import Options
from qterm.tui.words.excerpt import Hit

FIRST_WORDS = "Type a word, or a piece of one: home and every task are searched."
NEAR_END = 8
"""So many hits before the last one, the next ones are fetched."""

PADDING = 2
"""Cells beside a hit."""

THREAD_CELLS = 40
"""The most cells of a task's title in a hit."""


class Hits(Options, can_focus=False):
    """What was found; the words above it keep the keys."""

    def __init__(self, near_end: Callable[[], None]) -> None:
        super().__init__(id="search--hits", markup=False, compact=True)
        self._near_end = near_end

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Scrolled with the mouse, perhaps to the end."""
        super().watch_scroll_y(old_value, new_value)
        if new_value and new_value > self.max_scroll_y - NEAR_END:
            self._near_end()


class SearchScreen(ModalScreen[int | None]):
    """Dismissed with the id of the turn to go to, or with None."""

    IS_ROOM: ClassVar = True
    HERE: ClassVar = "search"
    TITLE_WORDS: ClassVar = "Search"
    BINDINGS: ClassVar = [
        *app_bindings(),
        ("escape", "leave", "Leave"),
        ("up", "move('cursor_up')", "Above"),
        ("down", "move('cursor_down')", "Below"),
        ("pageup", "move('page_up')", "Page up"),
        ("pagedown", "move('page_down')", "Page down"),
    ]

    def __init__(self, common: Common) -> None:
        super().__init__()
        self._common = common
        self._look: Look = common.look
        self.lookups = Lookups(common.services, self.post_message, self.run_worker)
        self.hits: list[Hit] = []
        self._more = False
        self._loading = False
        self._found_for = ""
        self._goes_on = False
        self._input = Input(
            to_editor(common.searched), placeholder="search", id="search--words", compact=True
        )
        self._list = Hits(self._load_more)
        self._state = Static(Content(FIRST_WORDS), markup=False, id="search--state")

    def compose(self) -> ComposeResult:
        """The words, what was found, how much that is."""
        with Vertical(id="search") as box:
            box.border_title = Content("Search")
            box.border_subtitle = Content("↑ ↓ choose · enter goes there · esc closes")
            yield self._input
            yield self._state
            yield self._list

    def on_mount(self) -> None:
        """The words of the last search are there, and go with the first key."""
        self._input.focus()  # which selects what is in it
        self._changed()

    def again(self) -> None:
        """Back to the words."""
        self._input.focus()
        self._input.action_select_all()

    @property
    def words(self) -> str:
        """What is looked for."""
        return from_editor(self._input.value)

    @on(Input.Changed)
    def _changed(self) -> None:
        self._common.searched = self.words
        self._goes_on = False
        if not self.words.strip():
            self.lookups.forget_search()
            self._take("", [], more=False)
            self._state.update(Content(FIRST_WORDS))
        elif self.words != self._found_for:
            self._loading = True
            self.lookups.search(self.words)

    @on(messages.Found)
    def _found(self, event: messages.Found) -> None:
        if event.words != self.words:
            return
        hits = [*self.hits, *event.hits] if event.is_next else list(event.hits)
        if event.is_next:
            self._add(event.hits)
            self.hits, self._more, self._loading = hits, event.more, False
        else:
            self._take(event.words, hits, more=event.more)
        self._state.update(self._state_words())
        if self._goes_on and self.hits:
            self.dismiss(self.hits[0].turn_id)

    @on(messages.SearchFailed)
    def _failed(self, event: messages.SearchFailed) -> None:
        if event.words == self.words:
            self._loading = False
            self._state.update(plain(event.sentence, "$text-error"))

    def _take(self, words: str, hits: list[Hit], *, more: bool) -> None:
        self.hits, self._more, self._loading = hits, more, False
        self._found_for = words
        self._list.clear_options()
        self._add(hits)
        self._list.scroll_home(animate=False)
        self._list.highlighted = 0 if hits else None

    def _add(self, hits: list[Hit]) -> None:
        width = max(self._list.scrollable_content_region.width - PADDING, 20)
        self._list.add_options(Option(self._hit(hit, width)) for hit in hits)

    def _hit(self, hit: Hit, width: int) -> Content:
        """Where, when and who; below it the words."""
        moment = self._look.local(hit.created_at)
        task = self._common.task(hit.task_id)
        where = "Home" if hit.task_id is None else task.title if task else "a task"
        who = Content("qterm") if hit.persona == QTERM else self._look.label(hit.persona)
        head = Content.assemble(
            who,
            Content.styled(f"  {self._look.day_words(moment.date())}, {moment:%H:%M}  ", MUTED),
            one_line(where, THREAD_CELLS, MUTED),
            Content.styled("  hidden from Q" if hit.hidden else "", MUTED),
        )
        return Content.assemble(head.truncate(width, ellipsis=True), "\n", hit.words(width))

    def _state_words(self) -> Content:
        count = len(self.hits)
        if count:
            more = "; more below" if self._more else ""
            turns = "turn" if count == 1 else "turns"
            return Content(f"{count:,} {turns}{more}, newest first")
        words = one_line(self.words, 40).plain
        return Content(f"Nothing in the feed holds “{words}”.")

    def _load_more(self) -> None:
        if self._more and not self._loading and self.hits:
            self._loading = True
            self.lookups.search(self._found_for, self.hits[-1].turn_id)

    @on(OptionList.OptionHighlighted)
    def _highlighted(self, event: OptionList.OptionHighlighted) -> None:
        if event.option_index >= len(self.hits) - NEAR_END:
            self._load_more()

    @on(Input.Submitted)
    def _go(self) -> None:
        index = self._list.highlighted
        if self._found_for != self.words:
            self._goes_on = True  # somebody was quicker than the search
        elif index is not None and index < len(self.hits):
            self.dismiss(self.hits[index].turn_id)

    @on(OptionList.OptionSelected)
    def _clicked(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(self.hits[event.option_index].turn_id)

    def action_move(self, how: str) -> None:
        """Move the highlight; the words keep the focus."""
        getattr(self._list, f"action_{how}")()

    def action_leave(self) -> None:
        """Go nowhere."""
        self.dismiss(None)

    def on_resize(self) -> None:
        """The lines are cut to the width."""
        chosen = self._list.highlighted
        self._list.clear_options()
        self._add(self.hits)
        self._list.highlighted = chosen


MUTED = "$foreground-muted"
