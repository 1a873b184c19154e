"""A list one can walk and read: rows of any height, some of which can be chosen.

The one place that knows how Textual's OptionList keeps its lines.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.binding import BindingType
from textual.content import Content
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from qterm.tui.widgets.options import Options

STEP = 3
"""Lines that a key scrolls in a row that is higher than the view."""


@dataclass(frozen=True, slots=True)
class Line:
    """A row: its `id` is empty where it can't be chosen."""

    id: str
    content: Content

    def is_as(self, other: Line) -> bool:
        """Whether the other one looks the same."""
        mine, its = self.content, other.content
        return self.id == other.id and mine.plain == its.plain and mine.spans == its.spans


class WalkList(Options, inherit_bindings=False):
    """The cursor goes from one row that can be chosen to the next; in a row that is higher than
    the view, and before the first and after the last, the keys scroll. Nothing wraps around.

    `show` keeps the cursor on its row, and the row at the top of the view where it is.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        ("home", "first", ""),
        ("end", "last", ""),
        ("pageup", "page_up", ""),
        ("pagedown", "page_down", ""),
    ]

    def __init__(self, *, id: str) -> None:  # noqa: A002 - Textual calls it so
        super().__init__(id=id, markup=False, compact=True)
        self._rows: list[Line] = []

    @property
    def chosen(self) -> str | None:
        """The id of the row with the cursor."""
        return None if self.highlighted is None else self._rows[self.highlighted].id

    def show(self, lines: Sequence[Line]) -> None:
        """Show these rows."""
        old = self._rows
        if len(lines) == len(old) and all(map(Line.is_as, lines, old)):
            return
        chosen, index = self.chosen, self.highlighted
        anchor = self._anchor()
        self._rows = list(lines)
        with self.prevent(OptionList.OptionHighlighted):
            self.set_options(
                Option(line.content, id=line.id or None, disabled=not line.id) for line in lines
            )
        self.set_reactive(OptionList.highlighted, self._place_of(chosen, index))
        self._view_from(self._line_of(anchor))

    def choose(self, row_id: str) -> None:
        """Put the cursor on a row, and bring it into view."""
        self.highlighted = self._place_of(row_id, self.highlighted)

    def _place_of(self, row_id: str | None, index: int | None) -> int | None:
        """Where a row is now; else the nearest that can be chosen."""
        if index is None and row_id is None and not self.has_focus:
            return None
        places = [place for place, line in enumerate(self._rows) if line.id]
        for place in places:
            if self._rows[place].id == row_id:
                return place
        return min(places, key=lambda place: abs(place - (index or 0)), default=None)

    # -- where the view stands -----------------------------------------------------------------

    def _anchor(self) -> tuple[str, int] | None:
        """The row that stays where it is, and how far its beginning is from the view's; None: the
        view is at its beginning and stays there."""
        top = self.scroll_offset.y
        if top <= 0 or not self._rows:
            return None
        bottom = top + self.scrollable_content_region.height
        chosen = self.highlighted
        if chosen is not None:
            start = self._index_to_line.get(chosen, 0)
            if top <= start < bottom:
                return self._rows[chosen].id, top - start
        for place, line in enumerate(self._rows):
            start = self._index_to_line.get(place, 0)
            if line.id and start + self._heights.get(place, 0) > top:
                return line.id, top - start
        return "", top

    def _line_of(self, anchor: tuple[str, int] | None) -> int:
        if anchor is None:
            return 0
        row_id, offset = anchor
        if not row_id:
            return offset
        for place, line in enumerate(self._rows):
            if line.id == row_id:
                return max(self._index_to_line.get(place, 0) + offset, 0)
        return self.scroll_offset.y

    def _view_from(self, y: int) -> None:
        self.scroll_to(y=y, animate=False, immediate=True, force=True)

    def _span(self) -> tuple[int, int]:
        """The first line of the row with the cursor, and the one behind its last."""
        if self.highlighted is None:
            return 0, 0
        start = self._index_to_line.get(self.highlighted, 0)
        return start, start + self._heights.get(self.highlighted, 0)

    # -- keys and mouse ------------------------------------------------------------------------

    def on_focus(self) -> None:
        """Coming here puts the cursor on the first row, if it is on none."""
        if self.highlighted is None:
            self._move(None, 1)

    def action_cursor_down(self) -> None:
        """Read on, or go to the next row."""
        bottom = self.scroll_offset.y + self.scrollable_content_region.height
        if self._span()[1] > bottom or not self._move(self.highlighted, 1):
            self._view_from(self.scroll_offset.y + STEP)

    def action_cursor_up(self) -> None:
        """Read back, or go to the row before."""
        if self._span()[0] < self.scroll_offset.y or not self._move(self.highlighted, -1):
            self._view_from(self.scroll_offset.y - STEP)

    def action_first(self) -> None:
        """To the beginning."""
        self._move(None, 1)
        self._view_from(0)

    def action_last(self) -> None:
        """To the end."""
        self._move(len(self._rows), -1)
        self._view_from(self.virtual_size.height)

    def action_page_up(self) -> None:
        """A page back; the cursor comes along."""
        self._page(-1)

    def action_page_down(self) -> None:
        """A page on; the cursor comes along."""
        self._page(1)

    def _page(self, direction: int) -> None:
        height = max(self.scrollable_content_region.height - 1, 1)
        self._view_from(self.scroll_offset.y + direction * height)
        top, bottom = self.scroll_offset.y, self.scroll_offset.y + height
        starts = [
            (place, self._index_to_line.get(place, 0))
            for place, line in enumerate(self._rows)
            if line.id
        ]
        seen = [place for place, start in starts if top <= start <= bottom]
        if seen:
            self._set(seen[0] if direction > 0 else seen[-1])

    def _move(self, place: int | None, step: int) -> bool:
        """The next row that can be chosen gets the cursor; False where there is none."""
        at = -1 if place is None else place
        while 0 <= (at := at + step) < len(self._rows):
            if self._rows[at].id:
                self.highlighted = at
                return True
        return False

    def _set(self, place: int) -> None:
        """Put the cursor on a row without scrolling."""
        if place != self.highlighted:
            self.set_reactive(OptionList.highlighted, place)
            self.refresh()
            self.post_message(self.OptionHighlighted(self, self.options[place], place))

    async def _on_click(self, event: events.Click) -> None:
        """A click puts the cursor there, and does nothing else."""
        event.prevent_default()
        place = event.style.meta.get("option")
        if isinstance(place, int) and place < len(self._rows) and self._rows[place].id:
            self._set(place)
