"""Which entries the pane shows: stores, marks, filter and order. Nothing here is an edit."""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.widgets import Input

from qterm.memory.draft import Draft
from qterm.memory.look import can_be_cleaned
from qterm.memory.stores import StoreName
from qterm.memory.writer import Written
from qterm.tui.commands.registry import Place, bindings
from qterm.tui.memory.pane_list import EntryView, Order
from qterm.tui.memory.pane_shown import PaneShown, StoreTabs
from qterm.tui.widgets.bars import Notices


class EntryFilter(Input):
    """The line that filters the list."""

    BINDINGS: ClassVar = bindings(Place.ENTRY_FILTER)

    def __init__(self) -> None:
        hint = "words, or p1 p2 p3 none odd changed"
        super().__init__(placeholder=hint, compact=True, id="entry--filter")


class PaneView(PaneShown):
    """The view, and which commands it leaves."""

    last_write: tuple[Written, ...]
    notices: Notices

    def __init__(self) -> None:
        super().__init__()
        self.filter_line = EntryFilter()
        self._cursors: dict[StoreName, int] = {}

    def action_store(self, step: int) -> None:
        """Show another store."""
        stores = [store for store in StoreName if self._is_there(store)]
        place = stores.index(self.store) if self.store in stores else 0
        self.show_store(stores[(place + step) % len(stores)])

    @on(StoreTabs.Pressed)
    def _tab_pressed(self, event: StoreTabs.Pressed) -> None:
        self.show_store(event.store)

    def show_store(self, store: StoreName) -> None:
        """Show this store, the cursor where it was there."""
        if store is self.store or not self.take_edit():
            return
        if self.chosen is not None:
            self._cursors[self.store] = self.chosen
        self.store = store
        self.show_editor(on=False)
        self.view = EntryView(order=self.view.order)
        self.filter_line.value = ""
        self.filter_line.display = False
        self.fill(self._cursors.get(store, 0))

    def to_list(self) -> None:
        """To the entries, from wherever one is; what was written is kept as an edit."""
        if self.is_editing:
            self.action_edit_done()
        else:
            self.action_take_filter()

    def _is_there(self, store: StoreName) -> bool:
        if store is not StoreName.WORKING or self.seen is None:
            return True
        look = self.seen.looks.get(store)
        return store in self.seen.troubles or (look is not None and look.snapshot.exists)

    def action_mark(self) -> None:
        """Mark the entry, or take its mark off; the cursor goes on."""
        if self.chosen is not None:
            self.view.marked ^= {self.chosen}
            self.rows.action_cursor(1)
            self._marks_changed()

    def action_mark_all(self) -> None:
        """Mark all that are shown, or none."""
        shown = set(self.view.shown)
        self.view.marked = set() if shown <= self.view.marked else self.view.marked | shown
        self._marks_changed()

    def _marks_changed(self) -> None:
        self.rows.redraw()
        self.show_head()
        self.refresh_bindings()

    def action_filter(self) -> None:
        """Filter as one types."""
        self.filter_line.display = True
        self.filter_line.focus()

    @on(Input.Changed, "#entry--filter")
    def _filtered(self) -> None:
        words = self.filter_line.value.casefold().split()
        if words != self.view.words:
            chosen = self.chosen
            self.view.words = words
            self.fill(chosen)

    def action_take_filter(self) -> None:
        """To the entries that are left."""
        self.filter_line.display = bool(self.filter_line.value)
        self.rows.focus()

    def action_leave_filter(self) -> None:
        """Show all again."""
        self.filter_line.value = ""
        self.action_take_filter()

    def action_sort(self) -> None:
        """Sort otherwise."""
        chosen = self.chosen
        self.view.next_order()
        self.fill(chosen)

    def action_clear(self) -> None:
        """Take the marks off; then the filter and the order."""
        chosen = self.chosen
        if self.view.marked:
            self.view.marked.clear()
        else:
            self.view.order = Order.FILE
            self.filter_line.value = ""
            self.view.words = []
            self.filter_line.display = False
        self.fill(chosen)

    def can_now(self) -> set[str]:
        """Words for what can be done now, by which the commands ask."""
        draft = self.draft
        asked = {
            "asks": bool(self.common.requests.elsewhere(None, here=False)),
            "dismiss": bool(self.notices.waiting),
            "undo-write": bool(self.last_write),
            "clear": not self.view.is_whole,
        }
        if draft is not None and draft.look.snapshot.is_text:
            asked |= self._can_edit(draft)
        return {word for word, is_so in asked.items() if is_so}

    def _can_edit(self, draft: Draft) -> dict[str, bool]:
        index = self.chosen
        has_entry = index is not None
        return {
            "write": True,
            "plan": True,
            "save": draft.has_changes or self.is_editing,
            "undo": draft.can_undo,
            "redo": draft.can_redo,
            "clean": bool(can_be_cleaned(draft.look)),
            "suggest": bool(draft.entries),
            "edit": has_entry,
            "mark-all": has_entry and not self.is_finding,
            "edit-elsewhere": has_entry or self.is_editing,
            "tag": has_entry,
            "move": has_entry and self.view.order is Order.FILE and not self.view.words,
            "split": index is not None and "\n" in draft.texts[index],
            "bring": has_entry and self.store is StoreName.WORKING,
            "merge": len(self.view.marked) > 1,
        }
