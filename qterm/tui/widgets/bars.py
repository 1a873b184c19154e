"""The line at the top, the notices below it, and the mark of what waits below the view."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.screen import Screen
from textual.widgets import Footer, Static

from qterm.tui.common import NoticeList
from qterm.tui.content import plain


class TitleBar(Horizontal):
    """Where the screens are, which one this is, and how Q is."""

    def __init__(self) -> None:
        super().__init__()
        self._places = Static(Content(""), id="title--place", markup=False)
        self._state = Static(Content(""), id="title--state", markup=False)

    def compose(self) -> ComposeResult:
        """The places on the left, Q's state on the right."""
        yield self._places
        yield self._state

    def show_places(self, places: Content) -> None:
        """Show where the screens are."""
        self._places.update(places)

    def show(self, state: Content, why: Content | None = None) -> None:
        """Show how Q is; `why` it is reached as it is stands in the tooltip."""
        self._state.update(state)
        self._state.tooltip = why


class Notices(Static):
    """The oldest notice that was not dismissed, and how many more there are."""

    class Dismissed(Message):
        """The operator clicked the notice away."""

    def __init__(self, notices: NoticeList, key: str) -> None:
        """`key` dismisses, as it is written."""
        super().__init__(Content(""), id="notices", markup=False)
        self._key_words = key
        self._notices = notices
        self.display = False

    def set_key(self, key: str) -> None:
        """Another key dismisses from now on."""
        self._key_words = key
        self._draw()

    def on_mount(self) -> None:
        """Show what there is already, and what comes."""
        self._notices.watchers.append(self._draw)
        self._draw()

    def on_unmount(self) -> None:
        """The list lives longer."""
        self._notices.watchers.remove(self._draw)

    @property
    def waiting(self) -> list[str]:
        """What was not dismissed yet."""
        return self._notices.waiting

    @property
    def all(self) -> list[str]:
        """Every notice since the start."""
        return self._notices.all

    def add(self, sentence: str) -> None:
        """Show a sentence, on every screen."""
        self._notices.add(sentence)

    def dismiss(self) -> None:
        """Put the shown one away."""
        self._notices.dismiss()

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
