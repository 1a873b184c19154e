"""The editor of one memory entry, in the place where the whole entry stands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.widgets import TextArea

from qterm.tui.commands.registry import Place, bindings
from qterm.tui.content import from_editor, to_editor

EDITING = [
    binding
    for binding in TextArea.BINDINGS
    if isinstance(binding, Binding) and binding.key not in {"f6", "f7"}
]
"""The keys that edit. Of Textual's own, these two are qterm's."""


class EntryEditor(TextArea, inherit_bindings=False):
    """`index` is where the entry stood that is edited, None for a new one; `was` is its text.

    Controls show as stand-ins (rule T2).
    """

    BINDINGS: ClassVar[list[BindingType]] = [*bindings(Place.ENTRY), *EDITING]

    def __init__(self) -> None:
        super().__init__(id="entry--editor", compact=True, show_line_numbers=False)
        self.index: int | None = None
        self.was = ""

    def open(self, index: int | None, text: str, was: str | None = None) -> None:
        """Edit this text, the cursor at its end; `was` is what the entry says, unless the same."""
        self.index = index
        self.was = text if was is None else was
        self.load_text(to_editor(text))
        self.move_cursor(self.document.end)

    @property
    def words(self) -> str:
        """What is written, the stand-ins turned back."""
        return from_editor(self.text)

    def place(self, texts: Sequence[str]) -> int | None:
        """Where the entry is among these by now; None where it is new, or has gone meanwhile."""
        if self.index is None:
            return None
        if self.index < len(texts) and texts[self.index] == self.was:
            return self.index
        return texts.index(self.was) if self.was in texts else None

    @property
    def parts(self) -> tuple[str, str]:
        """What stands before the cursor, and behind it."""
        row, column = self.cursor_location
        lines = self.text.split("\n")
        before = "\n".join([*lines[:row], lines[row][:column]])
        return from_editor(before), from_editor(self.text[len(before) :])
