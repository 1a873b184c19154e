"""What the pane shows: the file with how full it is, the rows, and the whole entry beside them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from textual.content import Content
from textual.widgets import Static

from qterm.memory.stores import StoreName
from qterm.tui.content import plain, with_controls
from qterm.tui.memory.pane_editing import PaneEditing
from qterm.tui.memory.pane_list import Order
from qterm.tui.memory.seen import Seen
from qterm.tui.words.entry_rows import (
    RowWords,
    empty_words,
    gauge,
    path_words,
    shorten,
    size_words,
    state_words,
    store_tabs,
)

SHOWN_CHARS = 20_000
"""The most code points of one entry that are drawn; the editor has all of them."""

NOTE = (
    "Sessions that run keep the memory they began with; new ones, and every home message, see it."
)


class PaneShown(PaneEditing):
    """Draws what `MemoryScreen` knows."""

    seen: Seen | None

    def __init__(self) -> None:
        super().__init__()
        self._tabs = Static(Content(""), markup=False, id="memory--tabs")
        self._file = Static(Content(""), markup=False, id="memory--file")
        self._state = Static(Content(""), markup=False, id="memory--state")
        self._detail = Static(Content(""), markup=False, id="entry--text")
        self._notes = Static(Content(""), markup=False, id="entry--notes")

    def fill(self, index: int | None = None) -> None:
        """Show the entries anew; the cursor goes to an entry, or stays on its row."""
        draft = self.draft
        if draft is None:
            self.view.shown = ()
            self.rows.show(0)
        else:
            self.view.fill(draft, self.line)
            row = None if index is None else self.view.row_of(index)
            self.rows.show(len(self.view.shown), row)
        self.show_head()
        self.show_entry()
        self.refresh_bindings()

    @contextmanager
    def staying(self) -> Iterator[None]:
        """The draft may be another one afterwards: the cursor and the marks stay on their entries,
        wherever those are now."""
        before = self.draft.texts if self.draft is not None else ()
        chosen = self.chosen
        yield
        after = self.draft.texts if self.draft is not None else ()
        if before == after:
            self.fill()
            return
        where = {text: index for index, text in enumerate(after)}
        self.view.marked = {
            where[before[each]] for each in self.view.marked if before[each] in where
        }
        self.fill(None if chosen is None else where.get(before[chosen]))

    @property
    def line(self) -> str:
        """Which hermes line there is, as far as it is known."""
        return self.seen.line if self.seen is not None else ""

    def row(self, row: int, width: int) -> Content:
        """One row of the list."""
        draft = self.draft
        if draft is None or row >= len(self.view.shown):
            return Content("")
        index = self.view.shown[row]
        words = RowWords(self.common.services.settings.memory, self.line)
        return words.row(draft, index, width, marked=index in self.view.marked)

    def show_head(self) -> None:
        """The stores, the file, and what is to be known of it."""
        seen, draft = self.seen, self.draft
        looks = seen.looks if seen is not None else {}
        stores = [
            (store, looks.get(store))
            for store in StoreName
            if store is not StoreName.WORKING
            or store is self.store
            or (store in looks and looks[store].snapshot.exists)
        ]
        self._tabs.update(store_tabs(stores, self.store))
        width = max(self.size.width - 2, 20)
        if draft is None:
            trouble = seen.troubles.get(self.store, "") if seen is not None else ""
            self._file.update(Content("") if trouble else Content.styled("Looking…", "dim"))
            home = self.common.services.environ.get("HOME", "")
            self._state.update(plain(shorten(trouble, home), "$text-error"))
            self._state.display = bool(trouble)
            return
        limit = draft.look.limit.chars if draft.look.limit is not None else None
        parts = [size_words(draft)]
        if limit is not None:
            parts.insert(0, gauge(draft.size, limit, 16))
        size = Content("  ").join(parts)
        home = self.common.services.environ.get("HOME", "")
        path = str(draft.look.snapshot.path)
        one_row = width - size.cell_length - 3 >= min(len(path), 40)
        room = width - size.cell_length - 3 if one_row else width
        between = "   " if one_row else "\n"
        self._file.update(Content.assemble(path_words(os.fspath(path), home, room), between, size))
        lines = state_words(draft, self.line, self._keys())
        if seen is not None and (why := seen.why_it_waits(draft)):
            lines.append(plain(why, "$text-error"))
        if draft.has_changes:
            keys = self.common.look
            lines.append(
                plain(
                    f"Not saved yet: {keys.key('save-memory')} writes it into the file, "
                    f"{keys.key('undo-edit')} undoes. It stays here until then.",
                    "$text-warning",
                )
            )
        if not self.view.is_whole:
            lines.append(plain(self._view_words(len(draft.entries)), "$foreground-muted"))
        self._state.update(Content("\n").join(lines))
        self._state.display = bool(lines)

    def _view_words(self, count: int) -> str:
        parts = []
        if self.view.words:
            parts.append(f"{len(self.view.shown):,} of {count:,} shown")
        if self.view.order is not Order.FILE:
            parts.append(f"sorted {self.view.order.value}")
        if self.view.marked:
            parts.append(f"{len(self.view.marked):,} marked")
        key = self.common.look.key("clear-entries")
        return f"{', '.join(parts).capitalize()} · {key} shows all as they are."

    def _keys(self) -> dict[str, str]:
        look = self.common.look
        names = {"preview": "preview", "clean": "clean-file", "add": "add-entry"}
        return {word: look.key(command) for word, command in names.items()}

    def show_entry(self) -> None:
        """The whole entry with the cursor, and what there is to say of it."""
        draft, index = self.draft, self.chosen
        if draft is None:
            self._detail.update(Content(""))
            self._notes.update(Content(""))
            return
        if index is None:
            words = "Nothing matches the filter." if draft.entries else ""
            if not draft.entries and draft.look.snapshot.is_text:
                words = empty_words(draft, self._keys())
            self._detail.update(plain(words, "$foreground-muted"))
            self._notes.update(Content(""))
            return
        text = draft.entries[index].text
        shown = with_controls(text[:SHOWN_CHARS])
        if len(text) > SHOWN_CHARS:
            rest = f"\n… {len(text) - SHOWN_CHARS:,} more characters: the editor has all of them"
            shown = Content.assemble(shown, Content.styled(rest, "dim"))
        self._detail.update(shown)
        made = RowWords(self.common.services.settings.memory, self.line)
        notes = [*made.notes(draft, index), Content.styled(NOTE, "$foreground-muted italic")]
        self._notes.update(Content("\n").join(notes))
