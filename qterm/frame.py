"""The chat frame: what the Conversation takes, whoever sends it (rule F1).

`{t: "chat", taskId, text, context?}`. Unknown fields are ignored, so neither side has to be
upgraded first.
"""

from __future__ import annotations

import msgspec


class FrameError(ValueError):
    """A frame that can't be read; the text says what is wrong with it."""


class ChatFrame(msgspec.Struct, frozen=True, rename="camel", tag_field="t", tag="chat"):
    """One message of the operator.

    `task_id` None is the home thread. `context` means something only there: absent (or null), the
    block is made by qterm; given, it is used as it is; empty, there is none. `command`: the text
    is one of hermes's own commands and hermes takes it, not the model; it carries no context.
    """

    text: str
    task_id: str | None = None
    context: object = msgspec.UNSET
    command: bool | msgspec.UnsetType = msgspec.UNSET

    def __post_init__(self) -> None:
        """Refuse a home context that is no text; on a task's frame it is ignored, whatever it is.

        Raises TypeError, which msgspec reports as its own error while decoding.
        """
        if self.task_id is None and not isinstance(self.context, str | None | msgspec.UnsetType):
            raise TypeError("Expected `str | null` - at `$.context`")

    @property
    def is_command(self) -> bool:
        """Whether hermes itself is to take the text."""
        return self.command is True

    @property
    def given_context(self) -> str | None:
        """The context that came with the frame; None where qterm is to make it (rule F1)."""
        if self.task_id is not None or self.is_command:
            return ""
        return self.context if isinstance(self.context, str) else None


def decode(data: bytes | str) -> ChatFrame:
    """Read a frame from JSON; raises FrameError."""
    try:
        return msgspec.json.decode(data, type=ChatFrame)
    except (msgspec.MsgspecError, UnicodeError) as error:
        raise FrameError(f"Not a chat frame: {error}") from error


def encode(frame: ChatFrame) -> bytes:
    """The frame as JSON; an absent context is left out."""
    return msgspec.json.encode(frame)
