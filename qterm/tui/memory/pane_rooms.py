"""Where one goes from the pane: the preview, the comparison, what was kept; and what they write."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

from textual.content import Content

from qterm.memory.draft import Draft
from qterm.memory.stores import StoreName
from qterm.tui.memory.pane_view import PaneView
from qterm.tui.screens.ask import Question
from qterm.tui.words.entry_rows import short_path

if TYPE_CHECKING:
    from qterm.memory.book import MemoryBook
    from qterm.memory.merging import Merge
    from qterm.memory.writer import Written
    from qterm.tui.desk import messages
    from qterm.tui.desk.memory_work import MemoryWork
    from qterm.tui.memory.rows_room import RoomWork, RowsRoom


class PaneRooms(PaneView):
    """The ways on; `MemoryScreen` puts the parts in place."""

    drafts: dict[StoreName, Draft]
    last_write: tuple[Written, ...] = ()
    """What was written here last, and can be undone."""
    _conflicts: set[StoreName]
    work: MemoryWork

    def __init__(self) -> None:
        super().__init__()
        self._writing: dict[str, RowsRoom] = {}
        self._writes = count(1)

    def read(self) -> None:
        """Read every store."""
        raise NotImplementedError

    # -- rooms ---------------------------------------------------------------------------------

    def action_preview(self) -> None:
        """See what a prune would take; it looks at the file, so unsaved edits are asked about."""
        if not self.take_edit():
            return
        if not self._is_unsaved(self.store):
            self._preview()
            return
        question = Question(
            f"{self.store.file_name} has edits that are not saved, and the preview looks at the "
            "file.",
            yes="Save them first",
            no="Look at the file as it is",
        )
        self.app.push_screen(question, self._save_or_look)

    def _save_or_look(self, save: bool | None) -> None:
        if save:
            self.then = self._preview
            self.action_save()
        elif save is not None:
            self._preview()

    def _preview(self) -> None:
        from qterm.tui.memory.preview import PreviewScreen

        policy = self.common.services.settings.memory.policy
        store = self.store
        if store is StoreName.WORKING:
            store, policy = StoreName.MEMORY, "dual"
        home = self.common.services.environ.get("HOME", "")
        backups = short_path(self.seen.backups, home) if self.seen is not None else ""
        self.app.push_screen(
            PreviewScreen(self.common, store, policy, backups=backups, write=self.write_for)
        )

    def action_compare(self) -> None:
        """See what each policy would do."""
        from qterm.tui.memory.comparison import ComparisonScreen

        store = StoreName.USER if self.store is StoreName.USER else StoreName.MEMORY
        self.app.push_screen(ComparisonScreen(self.common, store))

    def action_suggested(self) -> None:
        """Look at the tags that entries might deserve."""
        from qterm.tui.memory.suggested import SuggestedScreen

        if self.take_edit() and (draft := self.drafts.get(self.store)) is not None:
            store = self.store
            self.app.push_screen(
                SuggestedScreen(
                    self.common,
                    draft,
                    tagged=self._suggested,
                    now=lambda: self.drafts.get(store),
                )
            )

    def _suggested(self, tagged: int) -> None:
        if tagged:
            self.fill()
            self.draft_changed()
            many = "1 tag" if tagged == 1 else f"{tagged:,} tags"
            look = self.common.look
            self.app.notify(
                f"{many} accepted: {look.key('save-memory')} saves, {look.key('undo-edit')} undoes."
            )

    def action_kept(self) -> None:
        """See what was kept."""
        from qterm.tui.memory.kept import KeptScreen

        if self.take_edit():
            self.app.push_screen(
                KeptScreen(
                    self.common,
                    self.store,
                    write=self.write_for,
                    unsaved=self._is_unsaved,
                    save=self._save_soon,
                )
            )

    def _save_soon(self) -> None:
        self.call_later(self._save_then_kept)  # from its own pump: see `_room_wrote`

    def _save_then_kept(self) -> None:
        self.then = self.action_kept
        self.action_save()

    def _is_unsaved(self, store: StoreName) -> bool:
        draft = self.drafts.get(store)
        return draft is not None and draft.has_changes

    def open_conflict(self, merged: Merge) -> None:
        """Somebody else has changed a file that has unsaved edits: the operator chooses."""
        from qterm.tui.memory.conflict import ConflictScreen

        store = merged.look.store
        if store in self._conflicts:
            return
        self._conflicts.add(store)

        def chosen(draft: Draft | None) -> None:
            self._conflicts.discard(store)
            if draft is not None:
                with self.staying():
                    self.drafts[store] = draft
                self.draft_changed()
                self.app.notify(
                    f"{self.common.look.key('undo-edit')} and "
                    f"{self.common.look.key('redo-edit')} go back and forth between both."
                )
            self.read()

        self.app.push_screen(ConflictScreen(self.common, merged, chosen=chosen))

    # -- writing -------------------------------------------------------------------------------

    def write_for(self, room: RowsRoom, work: RoomWork) -> None:
        """Write what a room wants written; the pane does it, since a room may be left meanwhile."""
        what = f"write {next(self._writes)}"
        self._writing[what] = room
        self.work.change(what, work)

    def room_wrote(self, what: str, words: Content, written: tuple[Written, ...]) -> None:
        """A room's write is done: say what came of it, with the way back.

        In a dialog where the room is in front; else in passing, as keys are meant for what is.
        """
        room = self._writing.pop(what)
        in_front = room.is_active
        room.leave_when_seen()
        self.note_write(written)
        if in_front:
            self.call_later(self._show_result, written, words)
            return
        key = self.common.look.key("undo-write")
        undo = f" {key} in the memory pane (f4) undoes it." if written else ""
        first = words.split("\n")[0]
        self.app.notify(f"{first.plain}{undo}", timeout=12)

    def room_failed(self, event: messages.MemoryFailed) -> None:
        """A room's write could not be done: the room says so, or the pane, where it was left."""
        room = self._writing.pop(event.what)
        if not room.is_active:
            self.app.notify(event.sentence, severity="error", timeout=12)
        if room.is_attached:
            room.write_failed(event)

    def _show_result(self, written: tuple[Written, ...], words: Content) -> None:
        from qterm.tui.memory.result import Result

        self.app.push_screen(Result(words, can_undo=bool(written)), self._undo_or_not)

    def _undo_or_not(self, undo: bool | None) -> None:
        if undo:
            self.action_undo_write()

    def note_write(self, written: tuple[Written, ...]) -> None:
        """Something was written here: it can be undone, and is copied off the machine."""
        if written:
            self.last_write = written
            self.work.change("copy off", lambda book: book.copy_off(written))
        self.read()

    def action_undo_write(self) -> None:
        """Put the files back as they were before the last write."""
        written = self.last_write
        if written:
            names = " and ".join(each.store.file_name for each in written)
            words = f"Undone: {names} is as it was before."
            self.work.change("undo-write", lambda book: (words, book.undo(written)))

    def action_clean(self) -> None:
        """Show what keeps hermes from changing the file; mend it once the operator says so."""
        from qterm.tui.memory.ask_long import LongQuestion
        from qterm.tui.words.plan_rows import clean_question

        draft = self.drafts.get(self.store)
        if draft is None:
            return
        if draft.has_changes:
            self.app.notify("Save your edits or undo them first: cleaning looks at the file.")
            return
        look = draft.look

        def clean(book: MemoryBook) -> tuple[str, tuple[Written, ...]]:
            written = book.clean(look)
            return f"{look.store.file_name} is clean: hermes can change it now.", written

        def answered(yes: bool | None) -> None:
            if yes:
                self.work.change("clean", clean)

        question = LongQuestion(clean_question(look), yes="Clean it", no="Leave it")
        self.app.push_screen(question, answered)

    def action_bring_to_memory(self) -> None:
        """Move an entry of WORKING.md back to MEMORY.md."""
        draft, index = self.drafts.get(self.store), self.chosen
        if draft is None or index is None or (origin := draft.entries[index].origin) is None:
            return
        if draft.has_changes:
            self.app.notify("Save your edits or undo them first: this writes both files.")
            return
        look = draft.look

        def bring(book: MemoryBook) -> tuple[str, tuple[Written, ...]]:
            written = book.bring_back(look, origin)
            return "The entry is back in MEMORY.md, at its end.", written

        self.work.change("bring", bring)
