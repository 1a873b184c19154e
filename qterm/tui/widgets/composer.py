"""The editor for a message: several lines, and no control character reaches the terminal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from textual import events
from textual.content import Content
from textual.message import Message
from textual.widgets import TextArea

from qterm.tui.commands import Place, bindings, keys_of
from qterm.tui.content import from_editor, to_editor

HINT = "Write to Q…"


class Composer(TextArea):
    """Where the operator writes. `message` is what was meant, `text` what the editor shows.

    Control characters, which a paste or a stored draft can hold, show as visible stand-ins (rule
    T2): a text area would send them to the terminal. A paste has them already, from the app.
    """

    BINDINGS = bindings(Place.COMPOSER)

    @dataclass
    class Sent(Message):
        """The operator wants this sent. The words stay in the editor until they are stored."""

        text: str

    def __init__(self, keys: Mapping[str, str]) -> None:
        """`keys` are the operator's own keys by the command's id."""
        self._send_keys = keys_of("send", keys)
        self._newline_keys = keys_of("newline", keys)
        super().__init__(
            id="composer",
            soft_wrap=True,
            tab_behavior="focus",
            compact=True,
            highlight_cursor_line=False,
            placeholder=Content(HINT),
        )

    @property
    def message(self) -> str:
        """What the operator means: the stand-ins turned back."""
        return from_editor(self.text)

    def set_message(self, message: str) -> None:
        """Put a text into the editor, the cursor at its end."""
        self.text = to_editor(message)
        self.move_cursor(self.document.end)

    def set_hint(self, hint: str) -> None:
        """What stands in the editor while it is empty."""
        if str(self.placeholder) != hint:
            self.placeholder = Content(hint)

    def take_sent(self, sent: str) -> None:
        """Remove what is stored now; what was written meanwhile stays."""
        shown = to_editor(sent)
        if self.text == shown:
            self.text = ""
        elif self.text.startswith(shown):
            self.text = self.text[len(shown) :]
            self.move_cursor(self.document.end)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Where nothing can be written, the footer does not offer to send it."""
        return not self.read_only if action in {"send", "newline"} else True

    def action_send(self) -> None:
        """Ask for the message to be sent; an empty one is nothing to send."""
        if self.message.strip() and not self.read_only:
            self.post_message(self.Sent(self.message))

    def action_newline(self) -> None:
        """Begin a new line at the cursor."""
        if self.read_only:
            return
        self.insert("\n")
        self.scroll_cursor_visible()

    async def _on_key(self, event: events.Key) -> None:
        """Send, a new line, or a character.

        The two commands are taken here, not by their bindings: a binding would run out of the
        order of the keys, before characters still in the queue or after ones typed later.
        A stand-in that is really typed is one that is really meant.
        """
        if event.key in self._send_keys or event.key in self._newline_keys:
            event.stop()
            event.prevent_default()
            if event.key in self._send_keys:
                self.action_send()
            else:
                self.action_newline()
            return
        character = event.character
        odd = character is not None and to_editor(character) != character
        if event.is_printable and character is not None and odd and not self.read_only:
            event.stop()
            event.prevent_default()
            self.insert(to_editor(character))
            return
        await super()._on_key(event)
