"""The editor for a message: several lines, large pastes folded, the earlier messages at its edges.

No control character of what is written in it reaches the terminal.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.widgets import TextArea

from qterm.model import Turn
from qterm.tui.commands.registry import Place, bindings, keys_of
from qterm.tui.widgets.folding import FoldingArea
from qterm.tui.words import pastes

HINT = "Write to Q…"

GROWS_TO = 3
"""The editor grows to this part of the screen's height, and scrolls then."""

SAME_MESSAGES = 20
"""So many earlier messages that say the same are passed over at one press."""

Look = Callable[[int | None, int | None], Awaitable[Turn | None]]
"""The operator's message before, or after, a turn's id; None where there is none."""


EDITING = [
    binding
    for binding in TextArea.BINDINGS
    if isinstance(binding, Binding) and binding.key not in {"f6", "f7", "pageup", "pagedown"}
]
"""The keys that edit. Of Textual's own, some are qterm's."""


@dataclass
class Walk:
    """A look back: `draft` is what was written before it, `shown` the editor with turn `at`.

    `is_sent`: what is shown is being sent.
    """

    draft: str
    at: int
    shown: str
    is_sent: bool = False


class Composer(FoldingArea, inherit_bindings=False):
    """Where the operator writes, with their earlier messages at its edges."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings(Place.COMPOSER), *EDITING]

    @dataclass
    class Sent(Message):
        """The operator wants this sent. The words stay in the editor until they are stored."""

        text: str

    def __init__(self, keys: Mapping[str, str], look: Look) -> None:
        """`keys` are the operator's own keys by the command's id, `look` finds earlier messages."""
        self.set_keys(keys)
        self._editing_keys = {
            key: binding.action for binding in EDITING for key in binding.key.split(",")
        }
        self._editing_keys |= {"tab": "app.focus_next", "shift+tab": "app.focus_previous"}
        self._look = look
        self._walk: Walk | None = None
        super().__init__(
            id="composer",
            soft_wrap=True,
            tab_behavior="focus",
            compact=True,
            highlight_cursor_line=False,
            placeholder=Content(HINT),
        )

    def set_keys(self, keys: Mapping[str, str]) -> None:
        """The operator's own keys are these from now on."""
        self._keys = {
            key: command
            for command in ("send", "newline", "earlier", "later", "unfold")
            for key in keys_of(command, keys)
        }

    def fit(self, screen: Size) -> None:
        """Grow with the text up to a part of the screen's height."""
        self.styles.max_height = max(screen.height // GROWS_TO, 1)

    # -- what is in it -------------------------------------------------------------------------

    @property
    def draft(self) -> str:
        """What is to be kept: the message, or what was written before an earlier one was shown."""
        walk = self._walk
        if walk is None:
            return self.message
        if self.text == walk.shown:
            return walk.draft
        if walk.is_sent and walk.draft:
            return f"{walk.draft}\n{self.message}"
        return self.message

    @property
    def is_recalled(self) -> bool:
        """Whether an earlier message is shown, and unchanged."""
        return self._walk is not None and self.text == self._walk.shown

    def set_message(self, message: str) -> None:
        """Put a text into the editor, the cursor at its end."""
        self._walk = None
        self.load(self._pastes.fold(message))

    def set_hint(self, hint: str) -> None:
        """What stands in the editor while it is empty."""
        if str(self.placeholder) != hint:
            self.placeholder = Content(hint)

    def take_sent(self, sent: str) -> None:
        """Remove what is stored now; what was written meanwhile stays.

        A draft that made way for an earlier message comes back.
        """
        walk = self._walk
        if walk is not None and self.is_recalled and not walk.is_sent:
            walk.draft = walk.draft.removeprefix(sent)
            return
        rest = self._pastes.cut(self.text, sent)
        if rest is None:
            return
        if not rest and walk is not None and walk.is_sent:
            self.set_message(walk.draft)
        else:
            self.load(rest)

    # -- commands ------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Where nothing can be written, the footer does not offer to send it."""
        if action == "unfold":
            return self.has_folds and not self.read_only
        return not self.read_only if action in {"send", "newline"} else True

    def action_send(self) -> None:
        """Ask for the message to be sent; an empty one is nothing to send."""
        message = self.message
        if message.strip() and not self.read_only:
            if self._walk is not None and self.is_recalled:
                self._walk.is_sent = True
            self.post_message(self.Sent(message))

    def action_newline(self) -> None:
        """Begin a new line at the cursor."""
        if self.read_only:
            return
        self.replace("\n", *self.selection, maintain_selection_offset=False)
        self.scroll_cursor_visible()

    async def action_earlier(self) -> None:
        """Up; on the first row, to the operator's message before."""
        is_edge = self.navigator.is_first_wrapped_line(self.cursor_location)
        is_edge = is_edge and not self.read_only and self.selection.is_empty
        if not (is_edge and await self._step(older=True)):
            self.action_cursor_up()

    async def action_later(self) -> None:
        """Down; on the last row, to the message after, and at last to the draft."""
        is_edge = self.navigator.is_last_wrapped_line(self.cursor_location)
        if self.read_only or not self.is_recalled or not self.selection.is_empty or not is_edge:
            self.action_cursor_down()
        else:
            await self._step(older=False)

    async def _step(self, *, older: bool) -> bool:
        """Show the message before or after; False where nothing was to be shown.

        The keys behind this one wait for it, so that they stay in order; nothing else does.
        """
        walk = self._walk if self.is_recalled else None
        text, message = self.text, self.message
        at = walk.at if walk is not None else None
        for _ in range(SAME_MESSAGES):
            turn = await self._look(at, None) if older else await self._look(None, at)
            if turn is None or turn.text != message:
                break
            at = turn.id
        if self.text != text or self.read_only:
            return True  # something else came into the editor meanwhile
        if turn is None:
            if older or walk is None:
                return False
            self._walk = None
            self.change_message(walk.draft)
            return True
        draft = walk.draft if walk is not None else self.draft
        self.change_message(turn.text)
        self._walk = Walk(draft, turn.id, self.text)
        return True

    async def _on_key(self, event: events.Key) -> None:
        """A command, a key that edits, or a character.

        The keys are taken here, not by their bindings: a binding would run out of the order of
        the keys, before characters still in the queue or after ones typed later.
        A stand-in that is really typed is one that is really meant.
        """
        if self.screen.focused is not self:  # it came behind a key that led away from here
            event.prevent_default()
            return
        action = self._keys.get(event.key) or self._editing_keys.get(event.key)
        if action is not None and await self.app.run_action(action, self):
            event.stop()
            event.prevent_default()
            return
        character = event.character
        if event.is_printable and character is not None and not self.read_only:
            shown = pastes.shown(character)
            if shown != character:
                event.stop()
                event.prevent_default()
                self.replace(shown, *self.selection, maintain_selection_offset=False)
                return
        await super()._on_key(event)
