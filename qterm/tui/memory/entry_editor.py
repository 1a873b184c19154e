"""The editor of one memory entry, in the place where the whole entry stands."""

from __future__ import annotations

from typing import ClassVar

from textual.widgets import TextArea

from qterm.tui.commands.registry import Place, bindings
from qterm.tui.content import from_editor, to_editor


class EntryEditor(TextArea):
    """`index` is the entry that is edited, None for a new one. Controls show as stand-ins (T2)."""

    BINDINGS: ClassVar = bindings(Place.ENTRY)

    def __init__(self) -> None:
        super().__init__(id="entry--editor", compact=True, show_line_numbers=False)
        self.index: int | None = None

    def open(self, index: int | None, text: str) -> None:
        """Edit this text, the cursor at its end."""
        self.index = index
        self.load_text(to_editor(text))
        self.move_cursor(self.document.end)

    @property
    def words(self) -> str:
        """What is written, the stand-ins turned back."""
        return from_editor(self.text)

    @property
    def parts(self) -> tuple[str, str]:
        """What stands before the cursor, and behind it."""
        row, column = self.cursor_location
        lines = self.text.split("\n")
        before = "\n".join([*lines[:row], lines[row][:column]])
        return from_editor(before), from_editor(self.text[len(before) :])
