"""A full screen over the pane: what it is about, rows one walks, and the whole of one below."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.events import Resize
from textual.widget import Widget
from textual.widgets import Static

from qterm.tui.commands.registry import Situation
from qterm.tui.common import Common
from qterm.tui.desk import messages
from qterm.tui.desk.memory_work import MemoryWork
from qterm.tui.screens.room import Room
from qterm.tui.widgets.bars import KeysLine
from qterm.tui.widgets.row_list import RowList
from qterm.tui.widgets.too_small import TooSmall

if TYPE_CHECKING:
    from qterm.memory.book import MemoryBook
    from qterm.memory.writer import Written

RoomWork = Callable[["MemoryBook"], tuple[Content, "tuple[Written, ...]"]]
"""What a room wants written, done in a thread; it gives words for what was done, and the writes."""

Write = Callable[["RowsRoom", RoomWork], None]
"""By which a room has something written: `PaneRooms.write_for`."""


class RowsRoom(Room):
    """`row`, `head` and `detail` are asked for when they are drawn."""

    AUTO_FOCUS = "RowList"

    def __init__(self, common: Common) -> None:
        super().__init__()
        self.common = common
        self.work = MemoryWork(common.services, self.post_message, self.run_worker)
        self.rows = self.make_rows()
        self._title = Static(Content(""), markup=False, id="room--title")
        self._head = Static(Content(""), markup=False, id="room--head")
        self._detail = Static(Content(""), markup=False, id="room--detail")
        self._too_small = TooSmall()
        self.is_over = False

    @property
    def home(self) -> str:
        """The operator's home, for which `~` stands."""
        return self.common.services.environ.get("HOME", "")

    def make_rows(self) -> RowList:
        """The list, with the commands of the room's place."""
        return RowList(self.row, id="rows")

    def compose(self) -> ComposeResult:
        """Title, head, rows, the whole of one, keys."""
        with Vertical(id="room--top"):
            yield self._title
            yield self._head
        yield from self.above()
        yield self.rows
        with VerticalScroll(id="room--below", can_focus=False):
            yield self._detail
        yield KeysLine(show_command_palette=False, compact=True)
        yield self._too_small

    def above(self) -> list[Widget]:
        """What stands between the head and the rows."""
        return []

    def heading(self) -> Content:
        """What this is, in the line at the top."""
        raise NotImplementedError

    def head(self) -> Content:
        """What is to be known of all rows."""
        raise NotImplementedError

    def row(self, row: int, width: int) -> Content:
        """One row."""
        raise NotImplementedError

    def detail(self, row: int | None) -> Content:
        """The whole of one row; None: there is none."""
        raise NotImplementedError

    def can_now(self) -> set[str]:
        """Words for what can be done now, by which the commands ask."""
        return set()

    def situation(self) -> Situation:
        """What the availability of commands hangs on, now."""
        return Situation(can=frozenset(self.can_now()))

    def show(self, count: int, cursor: int | None = None) -> None:
        """There are so many rows now."""
        self.rows.show(count, cursor)
        self.tell()

    def tell(self) -> None:
        """Say anew what is to be known, without other rows."""
        self._title.update(self.heading())
        self._head.update(self.head())
        self._detail.update(self.detail(self.rows.chosen))
        self.rows.redraw()
        self.refresh_bindings()

    @on(RowList.Highlighted)
    def _moved(self, event: RowList.Highlighted) -> None:
        event.stop()
        self._detail.update(self.detail(event.row))
        self.query_one("#room--below").scroll_home(animate=False)
        self.refresh_bindings()

    def write_failed(self, event: messages.MemoryFailed) -> None:
        """What this room wanted written was not; nothing was changed unless the words say so."""
        self.app.notify(event.sentence, severity="error", timeout=12)

    def leave_when_seen(self) -> None:
        """What this room was about is done: leave it, at the latest when nothing lies over it."""
        self.is_over = True
        if self.is_active:
            self.dismiss()
        elif self.is_attached:
            self.tell()

    def on_screen_resume(self) -> None:
        """Nothing lies over it any more."""
        if self.is_over and self.is_active:
            self.dismiss()

    def on_resize(self, event: Resize) -> None:
        """The head has another width; say what is needed where the terminal is too small."""
        self._too_small.fit(event.size)
        self.call_after_refresh(self.tell)
