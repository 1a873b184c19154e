"""What the pane shows: the file with how full it is, the rows, and the whole entry beside them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from textual.content import Content
from textual.events import Click
from textual.message import Message
from textual.widgets import Static

from qterm.memory.draft import Draft
from qterm.memory.stores import StoreName
from qterm.tui.content import plain, with_controls
from qterm.tui.memory.pane_editing import PaneEditing
from qterm.tui.memory.pane_list import Order, find
from qterm.tui.memory.seen import Seen
from qterm.tui.words.entry_rows import (
    STORE,
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


@dataclass(frozen=True)
class FoundRows:
    """What a thread found to show, in the `turn`-th fill; the cursor stood on the row `at` then, on
    its way to the entry `index`."""

    turn: int
    shown: Sequence[int]
    index: int | None
    at: int


class StoreTabs(Static):
    """The stores side by side; a click goes to one."""

    @dataclass
    class Pressed(Message):
        """The operator clicked a store."""

        store: StoreName

    def __init__(self) -> None:
        super().__init__(Content(""), markup=False, id="memory--tabs")

    def on_click(self, event: Click) -> None:
        """Tell which store it was."""
        if (store := event.style.meta.get(STORE)) in set(StoreName):
            self.post_message(self.Pressed(StoreName(store)))


class PaneShown(PaneEditing):
    """Draws what `MemoryScreen` knows."""

    seen: Seen | None
    drafts: dict[StoreName, Draft]
    _fills: int = 0
    is_finding: bool = False
    """Whether a thread is looking for the entries to show."""

    def __init__(self) -> None:
        super().__init__()
        self._tabs = StoreTabs()
        self._file = Static(Content(""), markup=False, id="memory--file")
        self._state = Static(Content(""), markup=False, id="memory--state")
        self._detail = Static(Content(""), markup=False, id="entry--text")
        self._notes = Static(Content(""), markup=False, id="entry--notes")

    def fill(self, index: int | None = None) -> None:
        """Show the entries anew; the cursor goes to an entry, or stays on its row.

        Of many entries a thread finds those to show; until then the list stays as it is.
        """
        draft = self.draft
        self._fills += 1
        self.is_finding = draft is not None and not self.view.is_quick(draft)
        if draft is None:
            self.view.shown = ()
            self.rows.show(0)
        elif self.is_finding:
            self.view.take(self.view.shown, draft)
            self._show_rows(index if index in self.view.shown else None)
            self._find(draft, index)
        else:
            self.view.fill(draft, self.line)
            self._show_rows(index)
        self._show_around()

    def _find(self, draft: Draft, index: int | None) -> None:
        turn, at, line = self._fills, self.rows.cursor, self.line
        copy, words, order = draft.copy(), list(self.view.words), self.view.order
        self.work.ask(
            "find", lambda _book: FoundRows(turn, find(copy, words, order, line), index, at)
        )

    def found(self, rows: FoundRows) -> None:
        """A thread has found what to show; the cursor is left where it went meanwhile."""
        if (draft := self.draft) is None or rows.turn != self._fills:
            return
        index = rows.index if self.rows.cursor == rows.at and rows.index is not None else None
        index = self.chosen if index is None else index
        self.is_finding = False
        self.view.take(rows.shown, draft)
        self._show_rows(index)
        self._show_around()

    def _show_rows(self, index: int | None) -> None:
        row = None if index is None else self.view.row_of(index)
        self.rows.show(len(self.view.shown), row)

    def _show_around(self) -> None:
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
        unsaved = {store for store, each in self.drafts.items() if each.has_changes}
        self._tabs.update(store_tabs(stores, self.store, unsaved))
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
        words = path_words(path, home, width)
        one_row = words.cell_length + 3 + size.cell_length <= width  # else each has its own
        self._file.update(Content.assemble(words, "   " if one_row else "\n", size))
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
        if self.is_finding:
            parts.append("looking…")
        elif self.view.words:
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
            words = "Looking…" if self.is_finding else words
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
        notes = made.notes(draft, index)
        if self.store is not StoreName.WORKING:  # which no session reads
            notes.append(Content.styled(NOTE, "$foreground-muted italic"))
        self._notes.update(Content("\n").join(notes))
