"""The memory pane: the stores of one hermes home, an entry a row, the whole entry beside it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import TextArea

from qterm.memory.draft import Draft
from qterm.memory.errors import ChangedMeanwhile, Refused
from qterm.memory.merging import follow, merge
from qterm.memory.stores import StoreName
from qterm.tui.commands.registry import Place, Situation, bindings, by_action
from qterm.tui.common import Common
from qterm.tui.content import plain
from qterm.tui.desk import messages
from qterm.tui.desk.memory_work import MemoryWork
from qterm.tui.memory.entry_editor import EntryEditor
from qterm.tui.memory.pane_editing import written_words
from qterm.tui.memory.pane_list import EntryView
from qterm.tui.memory.pane_rooms import PaneRooms
from qterm.tui.memory.pane_shown import FoundRows
from qterm.tui.memory.seen import Seen, see
from qterm.tui.widgets.bars import KeysLine, Notices, TitleBar
from qterm.tui.widgets.row_list import RowList
from qterm.tui.widgets.too_small import TooSmall
from qterm.tui.words.entry_rows import percent_of
from qterm.tui.words.place_words import place_words
from qterm.tui.words.state_words import asks_words, q_words, title_state

if TYPE_CHECKING:
    from textual.events import Resize

    from qterm.memory.book import MemoryBook
    from qterm.memory.look import Look
    from qterm.memory.unsaved import Found
    from qterm.memory.writer import Written
    from qterm.settings.schema import Settings

WATCH_SECONDS = 1.0


class EntryList(RowList):
    """The rows; what can be done with them are commands."""

    BINDINGS: ClassVar = bindings(Place.ENTRIES)


class MemoryScreen(PaneRooms):
    """The mode behind F4."""

    TITLE_WORDS: ClassVar = "Memory"
    PLACE: ClassVar = "memory"
    PLACES: ClassVar = (Place.MEMORY, Place.ENTRIES, Place.ENTRY, Place.ENTRY_FILTER)
    BINDINGS: ClassVar = bindings(Place.MEMORY)
    AUTO_FOCUS = "#entries"

    def __init__(self, common: Common) -> None:
        super().__init__()
        self.common = common
        self.work = MemoryWork(common.services, self.post_message, self.run_worker)
        self.store = StoreName.MEMORY
        self.drafts: dict[StoreName, Draft] = {}
        self.seen: Seen | None = None
        self.view = EntryView()
        self._conflicts: set[StoreName] = set()
        self._adopted: dict[StoreName, Found] = {}
        self.rows = EntryList(self.row, id="entries")
        self.editor = EntryEditor()
        self.notices = Notices(common.notices, common.look.key("dismiss"))
        self._title = TitleBar()
        self._too_small = TooSmall()

    def compose(self) -> ComposeResult:
        """Title, notices, the file, its entries with the whole one beside them, keys."""
        yield self._title
        yield self.notices
        with Vertical(id="memory--head"):
            yield self._tabs
            yield self._file
            yield self._state
        with Vertical(id="memory--middle"):
            with Vertical(id="entries--box"):
                yield self.filter_line
                yield self.rows
            with Vertical(id="entry--box"):
                with VerticalScroll(id="entry--scroll", can_focus=False):
                    yield self._detail
                    yield self._notes
                yield self.editor
        yield KeysLine(show_command_palette=False, compact=True)
        yield self._too_small

    def on_mount(self) -> None:
        """Read the files, and look now and then whether somebody else has changed them."""
        self.filter_line.display = self.editor.display = False
        self.read()
        self.set_interval(WATCH_SECONDS, self._watch)

    def on_screen_resume(self) -> None:
        """Back from another screen."""
        self.app.call_later(self.app.asking.look)
        self._watch()
        self.common_changed()

    # -- reading -------------------------------------------------------------------------------

    @property
    def draft(self) -> Draft | None:
        """The store that is shown, with the edits that are not saved."""
        return self.drafts.get(self.store)

    @property
    def look(self) -> Look | None:
        """The store that is shown, as it was read."""
        return self.draft.look if self.draft is not None else None

    def read(self) -> None:
        """Read every store."""
        self.work.ask("look", see)

    def _watch(self) -> None:
        if self.is_current and self.seen is not None:
            self.work.ask("state", lambda book: book.fingerprint())

    @on(messages.MemoryDone)
    def _done(self, event: messages.MemoryDone) -> None:
        match event.what, event.found:
            case "look", Seen() as seen:
                self._saw(seen)
            case "state", state if self.seen is not None and state != self.seen.state:
                self.read()
            case what, (Content() as told, tuple() as written) if what in self._writing:
                self.room_wrote(what, told, written)
            case "find", FoundRows() as rows:
                self.found(rows)
            case "save", tuple() as written:
                self._wrote(written, written_words(written))
            case (("clean" | "bring" | "undo-write"), (str() as words, tuple() as written)):
                self._wrote(written, words)
            case "copy off", list() as sentences:
                for sentence in sentences:
                    self.notices.add(sentence)

    @on(messages.MemoryFailed)
    def _failed(self, event: messages.MemoryFailed) -> None:
        if event.what in self._writing:
            self.room_failed(event)
            return
        self.then = None
        if isinstance(event.error, ChangedMeanwhile):
            self.read()
        if event.what in {"look", "state"}:
            self._state.update(plain(event.sentence, "$text-error"))
            self.rows.show(0)
        elif event.what.startswith("keep "):
            self.notices.add(event.sentence)
        else:
            self.app.notify(event.sentence, severity="error", timeout=12)

    def _saw(self, seen: Seen) -> None:
        self.seen = seen
        for path in seen.damaged:
            self.notices.add(
                f"Edits that were not saved could not be read again; the file is kept: {path}"
            )
        with self.staying():
            for store, look in seen.looks.items():
                self._take(store, look)
            for store in seen.troubles:
                if not self._is_unsaved(store):  # else it waits until it can be read again
                    self.drafts.pop(store, None)
        self._tell_common()

    def _take(self, store: StoreName, look: Look) -> None:
        draft = self.drafts.get(store)
        if draft is None or not draft.look.snapshot.is_text:
            self.drafts[store] = Draft.of(look)
            if look.snapshot.is_text:
                self._take_up(store, look)
        elif draft.has_changes and not look.snapshot.is_text:
            return  # the edits wait until it is text again: see `Seen.why_it_waits`
        elif not draft.has_changes or draft.texts == look.entries:
            if draft.look.snapshot.sha256 != look.snapshot.sha256 or draft.look != look:
                is_saved = draft.has_changes
                self.drafts[store] = Draft.of(look) if is_saved else follow(draft, look)
                if draft.texts == look.entries:
                    self._keep(self.drafts[store])
        elif draft.look.snapshot.sha256 == look.snapshot.sha256:
            draft.look = look
        else:
            self.open_conflict(merge(draft.look.entries, draft.entries, look))

    def _take_up(self, store: StoreName, look: Look) -> None:
        """Take up edits that a qterm which has gone did not save: the newest ones."""
        left = self.seen.left.get(store, []) if self.seen is not None else []
        if not left:
            return
        newest, *others = left
        if others:
            self.notices.add(
                f"{len(others)} more unsaved edits of {store.file_name} are kept in "
                f"{others[0].path.parent}."
            )
        draft = newest.edits.draft(look)
        if draft is None:
            merged = merge(newest.edits.base, newest.edits.entries, look)
            if not merged.differences or merged.keep_mine().texts == look.entries:
                self.work.change("adopt", lambda book: book.unsaved.adopt(newest))
                return
            self.drafts[store] = draft = merged.keep_mine()
            self.open_conflict(merged)
        self.drafts[store] = draft
        self.notices.add(
            f"{store.file_name} has edits that were not saved: "
            f"{self.common.look.key('save-memory')} saves them, "
            f"{self.common.look.key('undo-edit')} undoes them."
        )
        self._adopted[store] = newest
        self._keep(draft)

    def _wrote(self, written: tuple[Written, ...], words: str) -> None:
        """Something was written from here: say so."""
        self.app.notify(words, timeout=8)
        self.note_write(written)
        if (then := self.then) is not None:
            self.then = None
            then()

    # -- edits ---------------------------------------------------------------------------------

    def draft_changed(self, index: int | None = None) -> None:
        """An edit was made, or undone; the cursor goes to an entry, or stays."""
        if self.draft is not None:
            self._keep(self.draft)
        self.fill(self.chosen if index is None else index)
        self._tell_common()

    def _keep(self, draft: Draft, write: Callable[[Draft], object] | None = None) -> None:
        """Keep what is not saved, so that it survives whatever ends this process.

        `write` puts what is still in the editor into it.
        """
        kept, adopted = draft.copy(), self._adopted.get(draft.store)

        def keep(book: MemoryBook) -> None:
            if write is not None:
                with contextlib.suppress(Refused):  # not yet what a file can hold
                    write(kept)
            book.unsaved.keep(kept, book.now())
            if adopted is not None:  # only now: until then its words lie nowhere else
                book.unsaved.adopt(adopted)

        self.work.ask(f"keep {draft.store}", keep)

    async def keep_edits(self) -> None:
        """Wait until what is not saved lies on the disk: qterm is about to end."""
        await self.work.ended("keep ")

    @on(TextArea.Changed)
    def _typed(self) -> None:
        """What is being written is kept, too."""
        draft, words = self.draft, self.editor.words.strip()
        if draft is None or not self.is_editing or not words:
            return
        index = self.editor.place(draft.texts)
        self._keep(
            draft, lambda kept: kept.add(words) if index is None else kept.set_text(index, words)
        )

    def show_editor(self, *, on: bool) -> None:
        """Put the editor in the place of the whole entry, or take it away."""
        self._refused = None
        self.editor.display = on
        self.query_one("#entry--scroll").display = not on
        (self.editor if on else self.rows).focus()
        self.refresh_bindings()

    @on(RowList.Highlighted)
    def _moved(self, event: RowList.Highlighted) -> None:
        event.stop()
        self.show_entry()
        self.query_one("#entry--scroll").scroll_home(animate=False)
        self.refresh_bindings()

    @on(RowList.Chosen)
    def _double_click(self, event: RowList.Chosen) -> None:
        event.stop()
        if "edit" in self.situation().can:
            self.action_edit()

    @on(messages.Edited)
    def _edited(self, event: messages.Edited) -> None:
        self.edited(event)

    # -- what every mode has -------------------------------------------------------------------

    def situation(self) -> Situation:
        """What the availability of commands hangs on, now."""
        return Situation(notices=len(self.notices.waiting), can=frozenset(self.can_now()))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Every command says itself when it is available."""
        command = by_action(action, self.PLACES)
        return True if command is None else command.available(self.situation())

    def action_dismiss_notice(self) -> None:
        """Put the notice at the top away."""
        self.notices.dismiss()
        self.refresh_bindings()

    @on(Notices.Dismissed)
    def _notice_dismissed(self) -> None:
        self.action_dismiss_notice()

    def settings_changed(self, before: Settings) -> None:
        """Other settings count from now on; `before` are those until now."""
        settings = self.common.services.settings
        if settings.keys != before.keys:
            self.notices.set_key(self.common.look.key("dismiss"))
        if settings.memory != before.memory:
            self.read()
        self.fill(self.chosen)
        self.common_changed()

    def _tell_common(self) -> None:
        look = self.seen.looks.get(StoreName.MEMORY) if self.seen is not None else None
        self.common.memory_percent = percent_of(look) if look is not None else None
        self.common.memory_unsaved = any(each.has_changes for each in self.drafts.values())
        self.app.common_changed()

    def common_changed(self) -> None:
        """The tasks, Q's state or how full the memory is are others now."""
        places = place_words(self.common, self.PLACE)
        self._title.show_places(places)
        parts = [(0, q_words(self.common, at_work=self.common.services.conversation.busy()))]
        if asked := self.common.requests.elsewhere(None, here=False):
            task = self.common.task(asked[0].turn.task_id)
            key = self.common.look.key("memory-request")
            parts.insert(0, (0, asks_words(task.title if task else None, key)))
        self._title.show(title_state(parts, max(self.size.width - places.cell_length - 4, 20)))
        self.refresh_bindings()

    def redraw(self) -> None:
        """Draw anew, after the theme has changed."""
        self.rows.redraw()
        self.show_head()

    def on_resize(self, event: Resize) -> None:
        """Say what is needed where the terminal is too small."""
        self._too_small.fit(event.size)
        self.call_after_refresh(self.show_head)
