"""The line at the top, the notices below it, and the mark of what waits below the view."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.screen import Screen
from textual.widgets import Footer, Static

from qterm.tui.content import plain


class TitleBar(Horizontal):
    """Which screen this is, and how Q is."""

    def __init__(self, place: str) -> None:
        super().__init__()
        self._place = Static(
            Content.assemble(Content.styled("qterm", "bold"), f"  {place}"),
            id="title--place",
            markup=False,
        )
        self._state = Static(Content(""), id="title--state", markup=False)

    def compose(self) -> ComposeResult:
        """The place on the left, Q's state on the right."""
        yield self._place
        yield self._state

    def show(self, state: Content) -> None:
        """Show how Q is."""
        self._state.update(state)


class Notices(Static):
    """The oldest notice that was not dismissed, and how many more there are."""

    class Dismissed(Message):
        """The operator clicked the notice away."""

    def __init__(self, key: str) -> None:
        """`key` dismisses, as it is written."""
        super().__init__(Content(""), id="notices", markup=False)
        self._key_words = key
        self.waiting: list[str] = []
        self.all: list[str] = []
        self.display = False

    def add(self, sentence: str) -> None:
        """Show a sentence; the same one is not shown twice at once."""
        if sentence not in self.waiting:
            self.waiting.append(sentence)
            self.all.append(sentence)
            self._draw()

    def dismiss(self) -> None:
        """Put the shown one away."""
        del self.waiting[:1]
        self._draw()

    def _draw(self) -> None:
        self.display = bool(self.waiting)
        if self.waiting:
            more = len(self.waiting) - 1
            hint = f"  {self._key_words} dismisses{f' · {more} more' if more else ''}"
            self.update(
                Content.assemble(
                    "! ", plain(self.waiting[0]), Content.styled(hint, "$foreground-muted")
                )
            )

    def on_click(self) -> None:
        """A click dismisses, too."""
        self.post_message(self.Dismissed())


class KeysLine(Footer):
    """The keys that do something now; unchanged while a question stands above the screen."""

    _shown: tuple[object, ...] = ()

    def bindings_changed(self, screen: Screen[object]) -> None:
        """Show the keys anew, if they are others."""
        if self.app.screen is not self.screen:
            return
        active = self.screen.active_bindings.values()
        keys = tuple((key.binding.key, key.binding.description, key.enabled) for key in active)
        if keys != self._shown:
            self._shown = keys
            super().bindings_changed(screen)


class NewBelow(Static):
    """How many turns came while the reader was further up."""

    class Pressed(Message):
        """The operator clicked it."""

    def __init__(self) -> None:
        super().__init__(Content(""), id="new-below", markup=False)
        self.display = False

    def show(self, count: int) -> None:
        """Show the count; nothing for none."""
        self.display = count > 0
        self.update(Content(f" ↓ {count} new below "))

    def on_click(self) -> None:
        """Go there."""
        self.post_message(self.Pressed())
