"""Messages on their way from the editor to the store, one after the other (no widget in here).

Words leave the editor only when they are stored. Who types on and presses enter again meanwhile
means what was added since.
"""

from __future__ import annotations


def left_over(written: str, sent: str) -> str:
    """What stays of a text when the message in it is stored: what was written meanwhile."""
    return written.removeprefix(sent)


def edited(written: str, was: str, text: str) -> str:
    """What is written once `was` became `text` elsewhere; what came in front meanwhile stays."""
    if not written or written == was:
        return text
    if was and written.endswith(was):
        return written[: -len(was)] + text
    return f"{written}\n{text}"


class Outgoing:
    """`sending` is the message that is being stored now."""

    def __init__(self) -> None:
        self.sending: str | None = None
        self._later: list[str] = []

    def press(self, text: str) -> str | None:
        """Enter was pressed with this in the editor; returns what is to be sent now, if anything.

        While a message is being stored, the text is the one plus what is meant next.
        """
        if self.sending is not None:
            self._later.append(text)
            return None
        self.sending = text
        return text

    def stored(self) -> tuple[str, str | None]:
        """The message is stored: what may leave the editor, and what is to be sent next."""
        sent, self.sending = self.sending or "", None
        texts, self._later = self._later, []
        left = [text.removeprefix(sent) for text in texts if text.startswith(sent)]
        left = [text for text in left if text.strip()]
        if not left:
            return sent, None
        self.sending, self._later = left[0], left[1:]
        return sent, self.sending

    def refused(self) -> None:
        """The message could not be stored: everything stays in the editor."""
        self.sending = None
        self._later.clear()
