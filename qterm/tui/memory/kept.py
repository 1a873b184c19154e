"""What was kept: entries that were removed or replaced, and whole files as they were."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input

from qterm.memory.keeping import Backup
from qterm.memory.look import takes_the_place_of
from qterm.memory.records import Removed
from qterm.memory.schema import priority_of
from qterm.memory.stores import StoreName
from qterm.memory.tags import Priority
from qterm.tui.commands.registry import Place, bindings
from qterm.tui.content import one_line, plain
from qterm.tui.desk import messages
from qterm.tui.memory.ask_long import LongQuestion
from qterm.tui.memory.found import Filtered, Kept, ToBring, Whole, keep_all
from qterm.tui.memory.rows_room import RowsRoom, Write
from qterm.tui.screens.ask import Question
from qterm.tui.screens.sheets import Sheet
from qterm.tui.widgets.row_list import RowList
from qterm.tui.words.diff_rows import diff, diff_content
from qterm.tui.words.entry_rows import MUTED, short_path
from qterm.tui.words.kept_rows import (
    backup_detail,
    backup_row,
    removed_detail,
    removed_row,
    size_words,
)

if TYPE_CHECKING:
    from qterm.memory.book import MemoryBook
    from qterm.memory.writer import Written
    from qterm.tui.common import Common


class KeptRows(RowList):
    """The rows; what can be done with them are commands."""

    BINDINGS: ClassVar = bindings(Place.KEPT)


class KeptFilter(Input):
    """The line that filters the archived entries."""

    BINDINGS: ClassVar = bindings(Place.KEPT_FILTER)

    def __init__(self) -> None:
        super().__init__(placeholder="words, a file, or why", compact=True, id="kept--filter")


class KeptScreen(RowsRoom):
    """`write` brings something back; `unsaved` says whether a store has edits.

    `save` saves those of `store` and comes back here.
    """

    TITLE_WORDS: ClassVar = "What was kept"
    PLACES: ClassVar = (Place.KEPT, Place.KEPT_FILTER, Place.ROOM)
    AUTO_FOCUS = "#rows"

    def __init__(
        self,
        common: Common,
        store: StoreName,
        *,
        write: Write,
        unsaved: Callable[[StoreName], bool] = lambda _: False,
        save: Callable[[], None] = lambda: None,
    ) -> None:
        self.store, self._write, self._unsaved, self._save = store, write, unsaved, save
        self.kept: Kept | None = None
        self.files = False
        self._shown: list[Removed] = []
        self._trouble = ""
        self.filter_line = KeptFilter()
        super().__init__(common)

    def make_rows(self) -> RowList:
        """With the keys of what was kept."""
        return KeptRows(self.row, id="rows")

    def above(self) -> list[Widget]:
        """The filter."""
        return [self.filter_line]

    def on_mount(self) -> None:
        """Read the archive."""
        self.filter_line.display = False
        self.tell()
        self.work.ask("kept", keep_all)

    # -- what is told --------------------------------------------------------------------------

    @on(messages.MemoryDone)
    def _done(self, event: messages.MemoryDone) -> None:
        match event.found:
            case Kept() as kept:
                self.kept = kept
                self._fill()
            case Filtered(words, left) if words == self._words:
                self._shown = left
                self.show(len(left), 0)
            case ToBring() as place:
                self._restore(place)
            case Whole() as whole if whole.asks:
                self._ask_whole(whole)
            case Whole() as whole:
                self.app.push_screen(Sheet("What would change", diff_content(whole.lines)))

    @on(messages.MemoryFailed)
    def _failed(self, event: messages.MemoryFailed) -> None:
        if event.what == "kept":
            self._trouble = event.sentence
            self.tell()
        else:
            self.app.notify(event.sentence, severity="error", timeout=12)

    def _fill(self) -> None:
        kept = self.kept
        if kept is None:
            return
        if not (words := self._words):
            self._shown = kept.removed
        elif not self.files:
            self.work.ask("filter", lambda _: Filtered(words, kept.filtered(words)))
            return
        self.show(len(kept.backups) if self.files else len(self._shown))

    @property
    def _words(self) -> list[str]:
        return self.filter_line.value.casefold().split()

    @on(Input.Changed, "#kept--filter")
    def _filtered(self) -> None:
        self._fill()

    # -- what is shown -------------------------------------------------------------------------

    def heading(self) -> Content:
        """Which of the two it is."""
        here = "bold reverse"
        return Content.assemble(
            Content.styled(" Archived entries ", MUTED if self.files else here),
            " ",
            Content.styled(" Whole files ", here if self.files else MUTED),
        )

    def head(self) -> Content:
        """How much is kept."""
        if self.kept is None:
            return plain(self._trouble, "$text-error") if self._trouble else Content("Looking…")
        lines = [size_words(self.kept.size, short_path(self.kept.folder, self.home))]
        if not self.kept.removed and not self.files:
            lines.append(
                Content(
                    "Nothing has been removed yet. Whatever qterm takes out of a memory file is "
                    "archived here first, and can be brought back."
                )
            )
        elif not self.kept.backups and self.files:
            lines.append(Content("No whole file is kept yet: each write keeps one first."))
        elif not self.files and not self._shown:
            lines.append(Content("Nothing that was kept has these words."))
        return Content("\n").join(lines)

    def row(self, row: int, width: int) -> Content:
        """One archived entry, or one whole file."""
        zone = self.common.look.now().tzinfo
        if self.kept is None:
            return Content("")
        if self.files:
            return backup_row(self.kept.backups[row], zone, width)
        return removed_row(self._shown[row], zone, width)

    def detail(self, row: int | None) -> Content:
        """The whole of it."""
        if self.kept is None or row is None:
            return Content("")
        if self.files:
            key = self.common.look.key
            keys = {"diff": key("kept-diff"), "restore": key("restore")}
            return backup_detail(self.kept.backups[row], keys, self.home)
        return removed_detail(self._shown[row], self.common.look.now().tzinfo)

    def can_now(self) -> set[str]:
        """What can be done now."""
        words = set()
        if self.rows.chosen is not None:
            words.add("restore")
            if self.files:
                words.add("diff")
        if not self.files:
            words.add("filter")
        return words

    # -- commands ------------------------------------------------------------------------------

    def action_switch(self) -> None:
        """Show the other of the two."""
        self.files = not self.files
        self.filter_line.display = False
        self._fill()
        self.rows.focus()

    def action_filter(self) -> None:
        """Filter as one types."""
        self.filter_line.display = True
        self.filter_line.focus()

    def action_take_filter(self) -> None:
        """To what is left."""
        self.filter_line.display = bool(self.filter_line.value)
        self.rows.focus()

    def action_leave_filter(self) -> None:
        """Show all again."""
        self.filter_line.value = ""
        self.action_take_filter()

    def action_close(self) -> None:
        """The filter goes first."""
        if self.filter_line.value:
            self.action_leave_filter()
        else:
            super().action_close()

    def action_restore(self) -> None:
        """Bring one entry back, or a whole file."""
        row = self.rows.chosen
        if row is None or self.kept is None:
            return
        if self.files:
            self._look_at_whole(self.kept.backups[row], asks=True)
            return
        removed = self._shown[row]
        if self._is_unsaved(removed.store):
            return

        def look(book: MemoryBook) -> ToBring:
            now = book.look_at_text(removed.store)
            return ToBring(removed, now, takes_the_place_of(now, removed))

        self.work.ask("place", look)

    def _is_unsaved(self, store: StoreName) -> bool:
        if not self._unsaved(store):
            return False
        if store is not self.store:
            self.app.notify(
                f"{store.file_name} has edits that are not saved: save them or undo them first, "
                "then bring it back.",
                severity="warning",
            )
            return True
        question = Question(
            f"{store.file_name} has edits that are not saved, and bringing something back changes "
            "the file under them.",
            yes="Save them first",
            no="Go back",
        )
        self.app.push_screen(question, lambda yes: self._save_first() if yes else None)
        return True

    def _save_first(self) -> None:
        self.dismiss()
        self._save()

    def _restore(self, place: ToBring) -> None:
        if not place.leaves:
            self._bring(place.removed)
            return
        index = place.leaves[0]
        text = place.look.entries[index]
        is_p1 = priority_of(text) is Priority.P1
        question = Question(
            f"Entry {index + 1} of {place.removed.store.file_name} took its place"
            f"{', and is P1' if is_p1 else ''}:\n  {one_line(text, 56).plain}\n"
            "Bringing the old one back takes that one out; it is archived.",
            yes="Bring it back",
            no="Go back",
        )
        self.app.push_screen(question, lambda yes: self._bring(place.removed) if yes else None)

    def _bring(self, removed: Removed) -> None:
        def bring(book: MemoryBook) -> tuple[Content, tuple[Written, ...]]:
            written = book.restore(removed)
            name = removed.store.file_name
            number = book.look(removed.store).entries.index(removed.text) + 1
            return Content(f"Brought back: it is entry {number} of {name} now."), written

        self._write(self, bring)

    def action_diff(self) -> None:
        """Show what bringing a whole file back would change."""
        row = self.rows.chosen
        if row is not None and self.kept is not None and self.files:
            self._look_at_whole(self.kept.backups[row], asks=False)

    def _look_at_whole(self, backup: Backup, *, asks: bool) -> None:
        store = backup.store or self.store
        if asks and self._is_unsaved(store):
            return

        def look(book: MemoryBook) -> Whole:
            from qterm.memory.entries import decode, parse
            from qterm.memory.errors import Unreadable

            _, data = book.backup(backup.sha256, store)
            now = book.look(store)
            try:
                entries = parse(decode(data))
            except UnicodeDecodeError:
                raise Unreadable(
                    f"This file is not UTF-8, so it can’t be brought back from here: copy "
                    f"{backup.path} by hand, if that is what you want."
                ) from None
            return Whole(now, data, diff(store.file_name, now.entries, entries), len(entries), asks)

        self.work.ask("whole", look)

    def _ask_whole(self, whole: Whole) -> None:
        name = whole.look.store.file_name
        about = Content("\n").join(
            [
                Content.styled(f"Bring the whole of {name} back?", "bold"),
                Content(f"What is there now is archived first. {whole.entries:,} entries then:"),
                Content(""),
                diff_content(whole.lines, 400),
            ]
        )
        question = LongQuestion(about, yes="Bring it back", no="Go back")
        self.app.push_screen(question, lambda yes: self._see_emptied(whole) if yes else None)

    def _see_emptied(self, whole: Whole) -> None:
        if whole.entries or not whole.look.entries:
            self._bring_whole(whole, allow_empty=False)
            return
        question = Question(
            f"This would leave {whole.look.store.file_name} empty. Is that what you want?",
            yes="Leave it empty",
            no="Go back",
        )
        self.app.push_screen(
            question, lambda yes: self._bring_whole(whole, allow_empty=True) if yes else None
        )

    def _bring_whole(self, whole: Whole, *, allow_empty: bool) -> None:
        def bring(book: MemoryBook) -> tuple[Content, tuple[Written, ...]]:
            written = book.restore_backup(whole.look, whole.data, allow_empty=allow_empty)
            return Content(f"{whole.look.store.file_name} is as it was kept."), written

        self._write(self, bring)
