"""What stands on a screen that is too small for qterm."""

from __future__ import annotations

from textual.content import Content
from textual.geometry import Size
from textual.widget import Widget
from textual.widgets import Static

NEEDS = (50, 14)
"""The smallest screen, in columns and rows."""


class TooSmall(Static):
    """It says what is needed; what had the focus meanwhile has it again after."""

    def __init__(self) -> None:
        super().__init__(Content(""), id="too-small", markup=False)
        self._focused: Widget | None = None

    def fit(self, size: Size) -> None:
        """The screen has this size now."""
        if size.width < NEEDS[0] or size.height < NEEDS[1]:
            self._focused = self.screen.focused or self._focused
            self.update(
                Content(
                    f"qterm needs {NEEDS[0]} columns and {NEEDS[1]} rows.\n"
                    f"This terminal has {size.width} and {size.height}.\n\n"
                    "Make it larger, or use `qterm send`."
                )
            )
        elif self._focused is not None:
            self.call_after_refresh(self._give_back)

    def _give_back(self) -> None:
        """What is hidden loses the focus; once all is there again, it is given back."""
        focused, self._focused = self._focused, None
        if focused is not None and focused.focusable:
            self.screen.set_focus(focused)
