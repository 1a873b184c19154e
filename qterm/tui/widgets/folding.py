"""A text area in which large pastes are folded, and no control reaches the terminal."""

from __future__ import annotations

from typing import Any

from rich.style import Style
from rich.text import Text
from textual import events
from textual.actions import SkipAction
from textual.geometry import Offset
from textual.message import Message
from textual.widgets import TextArea
from textual.widgets.text_area import EditResult, Location

from qterm.tui.content import from_editor, to_editor
from qterm.tui.words import pastes
from qterm.tui.words.pastes import Pastes

UNFOLD_CHARS = 200_000
"""The most code points of a paste that can be unfolded in the editor; `$EDITOR` takes any."""

_FOLD = Style(bold=True, italic=True)


class FoldingArea(TextArea, inherit_bindings=False):
    """`message` is what was meant, `text` what is shown.

    Control characters, which a paste or a stored draft can hold, show as visible stand-ins (rule
    T2): a text area would send them to the terminal. Large pastes show as folds (`pastes.py`),
    which the cursor and every change take whole or not at all.
    """

    class TooLong(Message):
        """A paste is too long to be unfolded here."""

    def __init__(self, **options: Any) -> None:
        self._pastes = Pastes()
        super().__init__(**options)

    @property
    def message(self) -> str:
        """What is meant: the stand-ins turned back, the pastes whole."""
        return self._pastes.expand(self.text)

    @property
    def has_folds(self) -> bool:
        """Whether a paste is folded."""
        return any(pastes.folds(line) for line in self.document.lines)

    def change_message(self, message: str) -> None:
        """Put another text in its place, as a change that can be undone."""
        folded = self._pastes.fold(message)
        self.replace(folded, (0, 0), self.document.end, maintain_selection_offset=False)
        self.scroll_cursor_visible()

    def load(self, text: str) -> None:
        """Show a text as it is, the cursor at its end; what was there can't be brought back."""
        self.text = text
        self._pastes.forget_all_but(text)
        self.move_cursor(self.document.end)

    def scroll_cursor_visible(self, center: bool = False, animate: bool = False) -> Offset:
        """Not in the middle of an undoing, when the cursor is where there is no text any more."""
        row, column = self.cursor_location
        if row >= self.document.line_count or column > len(self.document.get_line(row)):
            return Offset(0, 0)
        return super().scroll_cursor_visible(center, animate)

    # -- folds ---------------------------------------------------------------------------------

    def get_line(self, line_index: int) -> Text:
        """A line as it is drawn, its folds set off."""
        text = super().get_line(line_index)
        for start, end in pastes.folds(text.plain):
            text.stylize(_FOLD, start, end)
        return text

    def _around(self, location: Location) -> tuple[Location, Location]:
        """The edges of the fold this lies within; twice the location, if in none."""
        row, column = location
        if 0 <= row < self.document.line_count:
            for start, end in pastes.atoms(self.document.get_line(row)):
                if start < column < end:
                    return (row, start), (row, end)
        return location, location

    def clamp_visitable(self, location: Location) -> Location:
        """The cursor is never within a fold."""
        location = super().clamp_visitable(location)
        start, end = self._around(location)
        return start if location[1] - start[1] < end[1] - location[1] else end

    def get_cursor_left_location(self) -> Location:
        """A fold is one step."""
        return self._around(super().get_cursor_left_location())[0]

    def get_cursor_right_location(self) -> Location:
        """A fold is one step."""
        return self._around(super().get_cursor_right_location())[1]

    def get_cursor_up_location(self) -> Location:
        """A fold that wraps is not stayed in."""
        return self._around(super().get_cursor_up_location())[0]

    def get_cursor_down_location(self) -> Location:
        """A fold that wraps is not stayed in."""
        return self._around(super().get_cursor_down_location())[1]

    def get_cursor_word_left_location(self) -> Location:
        """A fold is one word."""
        return self._around(super().get_cursor_word_left_location())[0]

    def get_cursor_word_right_location(self) -> Location:
        """A fold is one word."""
        return self._around(super().get_cursor_word_right_location())[1]

    def insert(
        self,
        text: str,
        location: Location | None = None,
        *,
        maintain_selection_offset: bool = True,
    ) -> EditResult:
        """Insert a text; behind a fold, not within it."""
        location = self._around(self.cursor_location if location is None else location)[1]
        return super().insert(text, location, maintain_selection_offset=maintain_selection_offset)

    def delete(
        self, start: Location, end: Location, *, maintain_selection_offset: bool = True
    ) -> EditResult:
        """Delete what lies between; a fold is deleted whole."""
        return self.replace("", start, end, maintain_selection_offset=maintain_selection_offset)

    def replace(
        self,
        insert: str,
        start: Location,
        end: Location,
        *,
        maintain_selection_offset: bool = True,
    ) -> EditResult:
        """Replace what lies between; a fold is replaced whole."""
        start, end = sorted((start, end))
        is_insertion = start == end
        end = self._around(end)[1]
        start = end if is_insertion else self._around(start)[0]
        return super().replace(
            insert, start, end, maintain_selection_offset=maintain_selection_offset
        )

    def action_unfold(self) -> None:
        """Unfold the paste at the cursor, or else the last one before it, or else the last."""
        row, column = self.cursor_location
        found = [
            (number, start, end)
            for number, line in enumerate(self.document.lines)
            for start, end in pastes.folds(line)
        ]
        touching = [each for each in found if each[0] == row and each[1] <= column <= each[2]]
        before = [each for each in found if each[:2] < (row, column)]
        for number, start, end in (touching or before or found)[-1:]:
            body = self._pastes.body(self.document.get_line(number)[start:end])
            if body is None:
                return
            if len(body) > UNFOLD_CHARS:
                self.post_message(self.TooLong())
                return
            self._pastes.unfolded(body)
            self.replace(
                pastes.shown(body), (number, start), (number, end), maintain_selection_offset=False
            )
            self.scroll_cursor_visible()

    # -- what comes from outside ---------------------------------------------------------------

    def on_paste(self, event: events.Paste) -> None:
        """Take a paste as it is: the app leaves its controls to the editor."""
        event.stop()
        event.prevent_default()
        self._take(event.text)

    def action_paste(self) -> None:
        """Paste what was copied within qterm."""
        self._take(from_editor(self.app.clipboard))

    def _take(self, text: str) -> None:
        if self.read_only or not text:
            return
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        shown = self._pastes.put(text) if pastes.is_large(text) else pastes.shown(text)
        self.replace(shown, *self.selection, maintain_selection_offset=False)
        self.scroll_cursor_visible()
        self.focus()

    def action_copy(self) -> None:
        """Copy what is selected, its pastes whole."""
        if self.selection.is_empty:
            raise SkipAction
        self.app.copy_to_clipboard(self._whole(*self.selection))

    def action_cut(self) -> None:
        """Copy what is selected, or the line the cursor is in, and delete it."""
        if self.read_only:
            return
        start, end = sorted(self.selection)
        if start == end:
            start, end = (start[0], 0), (start[0] + 1, 0)
            if end[0] >= self.document.line_count:
                end = self.document.end
        self.app.copy_to_clipboard(self._whole(start, end))
        self.delete(start, end, maintain_selection_offset=False)

    def _whole(self, start: Location, end: Location) -> str:
        return to_editor(self._pastes.expand(self.get_text_range(start, end)))
