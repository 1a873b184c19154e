"""Screens that only show something: the keys, the notices, what Q is told, the findings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from qterm.context import QContext
from qterm.tui.commands import COMMANDS, Command, Place
from qterm.tui.content import plain
from qterm.tui.widgets.told import ToldView

_LEAVE = "esc closes"


class Sheet(ModalScreen[None]):
    """A text in a box that scrolls; escape closes it."""

    BINDINGS: ClassVar = [("escape,q,f1", "app.pop_screen", "Close")]

    def __init__(self, title: str, text: Content) -> None:
        super().__init__()
        self._title, self._text = title, text

    def compose(self) -> ComposeResult:
        """Title, text, how to leave."""
        with VerticalScroll(classes="sheet") as box:
            box.border_title = Content(self._title)
            box.border_subtitle = Content(_LEAVE)
            yield Static(self._text, markup=False, id="sheet--text")

    def on_mount(self) -> None:
        """The box takes the keys that scroll."""
        self.query_one(VerticalScroll).focus()

    def show(self, text: Content) -> None:
        """Show another text."""
        self.query_one("#sheet--text", Static).update(text)


class ToldScreen(ModalScreen[None]):
    """What Q will be told, where the screen is too narrow for a pane beside the feed."""

    BINDINGS: ClassVar = [("escape,q,ctrl+t", "app.pop_screen", "Close")]

    def __init__(self, view: ToldView, context: QContext | None) -> None:
        super().__init__()
        self.view, self._told = view, context

    def compose(self) -> ComposeResult:
        """The same view as in the pane."""
        self.view.border_subtitle = Content(_LEAVE)
        yield self.view

    def on_mount(self) -> None:
        """Show what is known already."""
        self.view.focus()
        if self._told is not None:
            self.view.show(self._told)


def key_words(keys: str) -> str:
    """Keys as people write them: `ctrl+j, shift+enter`; `esc`, `pgup`."""
    short = {"escape": "esc", "pageup": "page up", "pagedown": "page down", "slash": "/"}
    return ", ".join(short.get(key.strip(), key.strip()) for key in keys.split(","))


def help_text(keys: Mapping[str, str]) -> Content:
    """Every key with what it does; `keys` are the operator's own, by the command's id."""
    parts: list[Content] = []
    for place in Place:
        commands = [command for command in COMMANDS if command.place is place]
        parts.append(Content.styled(place.value, "bold $text-primary"))
        parts += [_row(command, keys.get(command.id) or command.key) for command in commands]
        parts.append(Content(""))
    parts.append(
        Content.styled(
            "Other keys work as in any editor: ctrl+z takes back a change, ctrl+w a word. Select\n"
            "text with the mouse and press ctrl+c to copy it. Keys are changed in the config,\n"
            "under [keys].",
            "$text-muted",
        )
    )
    return Content("\n").join(parts)


def _row(command: Command, keys: str) -> Content:
    words = key_words(keys)
    first, _, others = words.partition(", ")
    help_words = command.help + (f" Also {others}." if others else "")
    return Content.assemble(Content.styled(f"  {first:<11}", "bold"), plain(help_words))


def notices_text(notices: Sequence[str]) -> Content:
    """Every notice since the start."""
    if not notices:
        return Content("There is none.")
    return Content("\n\n").join(Content.assemble("! ", plain(words)) for words in notices)
