"""A list of rows of one line each, drawn only where they are seen: 50,000 cost what 10 do."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.events import Click
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.visual import Visual

Line = Callable[[int, int], Content]
"""The content of a row (from 0), safe to show, on one line of so many cells."""


class RowList(ScrollView, can_focus=True, inherit_bindings=False):
    """`line` draws a row; `show` says how many there are. The cursor is on one of them.

    The rows are asked for when they are drawn, so what they show may be made just then.
    """

    ALLOW_SELECT: ClassVar[bool] = False
    COMPONENT_CLASSES: ClassVar[set[str]] = {"row-list--row", "row-list--cursor"}
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(key, action, show=False)
        for key, action in (
            ("up", "cursor(-1)"),
            ("down", "cursor(1)"),
            ("pageup", "page(-1)"),
            ("pagedown", "page(1)"),
            ("home", "first"),
            ("end", "last"),
        )
    ]

    cursor: reactive[int] = reactive(0, repaint=False)

    @dataclass
    class Highlighted(Message):
        """The cursor came to another row; None: there is no row any more."""

        rows: RowList
        row: int | None

        @property
        def control(self) -> RowList:
            """The list."""
            return self.rows

    @dataclass
    class Chosen(Message):
        """A row was clicked on once more."""

        rows: RowList
        row: int

        @property
        def control(self) -> RowList:
            """The list."""
            return self.rows

    def __init__(self, line: Line, *, id: str) -> None:  # noqa: A002 - Textual calls it so
        super().__init__(id=id)
        self._line = line
        self.count = 0

    @property
    def chosen(self) -> int | None:
        """The row with the cursor."""
        return self.cursor if self.cursor < self.count else None

    def show(self, count: int, cursor: int | None = None) -> None:
        """There are so many rows now, all of them perhaps others; `cursor` puts it on one."""
        self.count = count
        self.virtual_size = Size(0, count)
        row = self.cursor if cursor is None else cursor
        row = max(min(row, count - 1), 0)
        if row == self.cursor:
            self.post_message(self.Highlighted(self, self.chosen))
        self.cursor = row
        self._follow()
        self.refresh()

    def redraw(self, rows: Iterable[int] | None = None) -> None:
        """Draw these rows anew, all of them unless given."""
        if rows is None:
            self.refresh()
            return
        for row in rows:
            self.refresh_line(row)

    def refresh_line(self, row: int) -> None:
        """Draw one row anew."""
        self.refresh(Region(0, row - self.scroll_offset.y, self.size.width, 1))

    def render_line(self, y: int) -> Strip:
        """One line of the view."""
        row = y + self.scroll_offset.y
        width = self.scrollable_content_region.width
        names = ["row-list--row"]
        if row < self.count and row == self.cursor:
            names.append("row-list--cursor")
        style = self.get_visual_style(*names)
        content = self._line(row, width) if row < self.count else Content("")
        strips = Visual.to_strips(self, content.truncate(width), width, 1, style)
        strip = strips[0] if strips else Strip.blank(width, style.rich_style)
        return strip.adjust_cell_length(width, style.rich_style)

    def watch_cursor(self, old: int, new: int) -> None:
        """The cursor is elsewhere."""
        self.refresh_line(old)
        self.refresh_line(new)
        self._follow()
        self.post_message(self.Highlighted(self, self.chosen))

    def _follow(self) -> None:
        if self.count and self.size.height:
            at = Region(0, self.cursor, 1, 1)
            self.scroll_to_region(at, animate=False, force=True, x_axis=False)

    def on_resize(self) -> None:
        """The cursor stays in view."""
        self._follow()

    def on_focus(self) -> None:
        """The cursor looks otherwise."""
        self.refresh_line(self.cursor)

    def on_blur(self) -> None:
        """The cursor looks otherwise."""
        self.refresh_line(self.cursor)

    def _go(self, row: int) -> None:
        self.cursor = max(min(row, self.count - 1), 0)

    def action_cursor(self, step: int) -> None:
        """Move the cursor by so many rows."""
        self._go(self.cursor + step)

    def action_page(self, step: int) -> None:
        """Move the cursor by so many pages."""
        self._go(self.cursor + step * max(self.size.height - 1, 1))

    def action_first(self) -> None:
        """To the first row."""
        self._go(0)

    def action_last(self) -> None:
        """To the last row."""
        self._go(self.count - 1)

    def on_click(self, event: Click) -> None:
        """The row that was clicked; once more chooses it."""
        row = event.y + self.scroll_offset.y
        if row >= self.count:
            return
        if event.chain > 1 and row == self.cursor:
            self.post_message(self.Chosen(self, row))
        self.cursor = row
