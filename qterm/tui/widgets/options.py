"""The list every list here is: Textual's, but for a page key that comes before it was laid out."""

from __future__ import annotations

from contextlib import suppress

from textual.widgets import OptionList


class Options(OptionList):
    """A list to choose from.

    Before its first layout, or on a screen too small for it, Textual's own knows no lines, and a
    page key would end the app: there is no page yet.
    """

    def action_page_up(self) -> None:
        """Go up one page."""
        with suppress(KeyError):
            super().action_page_up()  # type: ignore[no-untyped-call]

    def action_page_down(self) -> None:
        """Go down one page."""
        with suppress(KeyError):
            super().action_page_down()  # type: ignore[no-untyped-call]
