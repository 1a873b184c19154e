"""What can be done with the entries of the pane: every edit is one step of the draft."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from textual.screen import Screen

from qterm.memory.errors import MemoryFault
from qterm.memory.stores import StoreName
from qterm.memory.tags import Priority
from qterm.tui.content import one_line
from qterm.tui.desk import messages, writing
from qterm.tui.screens.ask import Question

if TYPE_CHECKING:
    from qterm.memory.draft import Draft
    from qterm.memory.writer import Written
    from qterm.tui.app import QtermApp
    from qterm.tui.common import Common
    from qterm.tui.desk.memory_work import MemoryWork
    from qterm.tui.memory.entry_editor import EntryEditor
    from qterm.tui.memory.pane_list import EntryView
    from qterm.tui.widgets.row_list import RowList

GONE_MEANWHILE = (
    "The entry you had open was changed or taken out by somebody else: what you wrote is a new "
    "entry, at the end."
)
_BLANK_LINE = re.compile(r"\n[ \t]*\n")


Then = Callable[[], None] | None


class PaneEditing(Screen[None]):
    """The edits; `MemoryScreen` puts the parts they work on in place."""

    app: QtermApp
    common: Common
    work: MemoryWork
    rows: RowList
    editor: EntryEditor
    view: EntryView
    store: StoreName
    then: Then = None
    """What is to follow a save."""

    @property
    def draft(self) -> Draft | None:
        """The store that is shown, with the edits that are not saved."""
        raise NotImplementedError

    def draft_changed(self, index: int | None = None) -> None:
        """An edit was made, or undone; the cursor goes to an entry, or stays."""
        raise NotImplementedError

    def show_editor(self, *, on: bool) -> None:
        """Put the editor in the place of the whole entry, or take it away."""
        raise NotImplementedError

    @property
    def chosen(self) -> int | None:
        """The index of the entry with the cursor."""
        row = self.rows.chosen
        return None if row is None or row >= len(self.view.shown) else self.view.shown[row]

    @property
    def meant(self) -> list[int]:
        """The entries a command is about: the marked ones, else the one with the cursor."""
        if self.view.marked:
            return sorted(self.view.marked)
        return [] if self.chosen is None else [self.chosen]

    @property
    def is_editing(self) -> bool:
        """Whether an entry is being edited."""
        return bool(self.editor.display)

    def _try(self, edit: Callable[[Draft], int | None]) -> bool:
        """Make an edit; what can't be is said."""
        draft = self.draft
        if draft is None:
            return False
        try:
            index = edit(draft)
        except MemoryFault as error:
            self.app.notify(str(error), severity="warning")
            return False
        self.draft_changed(index)
        return True

    # -- edits ---------------------------------------------------------------------------------

    def action_tag(self, name: str) -> None:
        """Tag what is meant; the cursor goes on to the next entry when it was one."""
        priority = Priority(name) if name else None
        meant, was_one = self.meant, not self.view.marked

        def tag(draft: Draft) -> int | None:
            draft.tag(meant, priority)
            return None

        if self._try(tag) and was_one and self.rows.chosen is not None and not self.view.words:
            self.rows.action_cursor(1)

    def action_delete(self) -> None:
        """Take what is meant out."""
        meant = self.meant

        def delete(draft: Draft) -> int | None:
            draft.delete(meant)
            self.view.marked.clear()
            return min(meant[0], len(draft.entries) - 1) if meant else None

        if self._try(delete) and meant:
            what = "1 entry" if len(meant) == 1 else f"{len(meant):,} entries"
            keys = self.common.look
            self.app.notify(
                f"{what} taken out: {keys.key('undo-edit')} undoes it, "
                f"{keys.key('save-memory')} writes it."
            )

    def action_move(self, step: int) -> None:
        """Move what is meant by a place."""
        meant, was_marked = self.meant, bool(self.view.marked)

        def move(draft: Draft) -> int | None:
            moved = draft.move(meant, step)
            if was_marked:
                self.view.marked = set(moved)
            return moved[0] if moved else None

        self._try(move)

    def action_merge(self) -> None:
        """Join the marked entries."""

        def merge(draft: Draft) -> int | None:
            index = draft.merge(self.view.marked)
            self.view.marked.clear()
            return index

        self._try(merge)

    def action_split(self) -> None:
        """Split the entry where it has blank lines."""
        index = self.chosen

        def split(draft: Draft) -> int | None:
            assert index is not None
            draft.split(index, _BLANK_LINE.split(draft.entries[index].text))
            return index

        if index is not None:
            self._try(split)

    def action_undo(self) -> None:
        """Undo the last edit."""
        self._step("Undone", lambda draft: draft.undo())

    def action_redo(self) -> None:
        """Redo what was undone."""
        self._step("Done again", lambda draft: draft.redo())

    def _step(self, said: str, step: Callable[[Draft], str]) -> None:
        if self.draft is not None and (words := step(self.draft)):
            self.view.marked.clear()
            self.draft_changed()
            self.app.clear_notifications()  # of many quick steps only the last one is news
            self.app.notify(f"{said}: {words}.")

    # -- editing the words ---------------------------------------------------------------------

    def action_edit(self) -> None:
        """Edit the entry with the cursor."""
        if self.draft is not None and self.chosen is not None:
            self.editor.open(self.chosen, self.draft.entries[self.chosen].text)
            self.show_editor(on=True)

    def action_add(self) -> None:
        """Write a new entry."""
        self.editor.open(None, "")
        self.show_editor(on=True)

    def take_edit(self) -> bool:
        """Take what is in the editor as an edit; False where it can't be, and was said why."""
        editor, words = self.editor, self.editor.words

        def put(draft: Draft) -> int | None:
            index = editor.place(draft.texts)
            if index is not None:
                draft.set_text(index, words)
                return index
            if not words.strip() or (editor.index is not None and words.strip() == editor.was):
                return None
            place = draft.add(words)
            if editor.index is not None:
                self.app.notify(GONE_MEANWHILE, severity="warning", timeout=12)
            return place

        return not self.is_editing or self._try(put)

    def action_edit_done(self) -> None:
        """Keep what was written; where it can't be kept, a second press lets go of it."""
        if self.take_edit() or self._refused == self.editor.text:
            self.show_editor(on=False)
        else:
            self._refused = self.editor.text
            self.app.notify("Change it, or press esc once more to drop what you wrote.")

    _refused: str | None = None

    def action_split_here(self) -> None:
        """Split the entry at the cursor."""
        before, behind = self.editor.parts

        def split(draft: Draft) -> int | None:
            index = self.editor.place(draft.texts)
            if index is None:
                place = draft.add(before)
                draft.add(behind)
                return place
            draft.split(index, [before, behind])
            return index

        if self._try(split):
            self.show_editor(on=False)

    def action_edit_elsewhere(self) -> None:
        """Edit the entry in the operator's own editor."""
        if self.draft is None:
            return
        index = self.editor.place(self.draft.texts) if self.is_editing else self.chosen
        text = self.editor.words if self.is_editing else self.draft.texts[index or 0]
        name = "" if index is None else str(index)

        async def edit() -> None:
            environ = self.common.services.environ
            await writing.edit(environ, self.post_message, name, text, self.app.lend_terminal)

        self.run_worker(edit(), group="editor", exclusive=True, exit_on_error=False, name="editor")

    def edited(self, event: messages.Edited) -> None:
        """The operator's own editor is done."""
        if event.text is None:
            self.app.notify(event.sentence, severity="error" if event.failed else "information")
            return
        index = int(event.task_id) if event.task_id else None
        was = self.editor.was if self.is_editing else event.was
        self.editor.open(index, event.text, was)
        self.show_editor(on=True)  # where it can't be taken, it stays there
        if self.take_edit():
            self.show_editor(on=False)

    # -- writing -------------------------------------------------------------------------------

    def action_save(self) -> None:
        """Write the edits into the file; a P1 that is changed or goes is asked about once."""
        then, self.then = self.then, None
        if not self.take_edit():
            return
        self.show_editor(on=False)
        draft = self.draft
        if draft is None or not draft.has_changes:
            self.app.notify("There is nothing to save: the file is as it is shown here.")
            return
        if why := draft.trouble():
            self.app.notify(why, severity="error")
            return
        touched = draft.p1_touched()
        if not touched:
            self._save_whole(draft, then)
            return
        texts = [draft.look.entries[index] for index in touched]
        shown = "\n".join(f"  {one_line(text, 56).plain}" for text in texts[:5])
        more = f"\n  … and {len(texts) - 5:,} more" if len(texts) > 5 else ""
        many = (
            "1 entry is P1 and is" if len(texts) == 1 else f"{len(texts):,} entries are P1 and are"
        )
        they = "It is" if len(texts) == 1 else "They are"
        question = Question(
            f"{many} changed or deleted by this:\n{shown}{more}\n"
            f"{they} archived first, and can be brought back.",
            yes="Save",
            no="Go back",
        )
        self.app.push_screen(question, lambda yes: self._save_whole(draft, then) if yes else None)

    def _save_whole(self, draft: Draft, then: Then) -> None:
        if draft.entries or not draft.look.entries:
            self.write_draft(draft, then, allow_empty=not draft.look.entries)
            return
        question = Question(
            f"This would leave {draft.store.file_name} empty: Q would remember nothing of it. "
            "Everything is archived first.",
            yes="Leave it empty",
            no="Go back",
        )
        self.app.push_screen(
            question, lambda yes: self.write_draft(draft, then, allow_empty=True) if yes else None
        )

    def write_draft(self, draft: Draft, then: Then, *, allow_empty: bool) -> None:
        """Write it as it is now, beside the screen, where it can be edited on meanwhile."""
        draft = draft.copy()

        self.then = then
        self.app.notify("Saving…", timeout=2)
        self.work.change("save", lambda book: book.save(draft, allow_empty=allow_empty))


def written_words(written: tuple[Written, ...]) -> str:
    """What a write did, in a sentence or two."""
    if not written:
        return "The file is as it was: there was nothing to write."
    gone = sum(len(each.removed) for each in written)
    they = "it" if gone == 1 else "they"
    archived = f" {gone:,} archived, {they} can be brought back." if gone else ""
    copy = " The file as it was is kept." if any(each.backup for each in written) else ""
    names = " and ".join(each.store.file_name for each in written)
    return f"{names} {'is' if len(written) == 1 else 'are'} written.{archived}{copy}"
