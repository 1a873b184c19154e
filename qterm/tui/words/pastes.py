"""Large pastes, each folded in the editor into one visible stand-in (no widget in here).

A fold is `⟦pasted 1: 200,000 characters, 3,001 lines⟧`. What the operator wrote can't look like
one: a literal `⟦` gets a variation selector behind it, as the stand-ins of controls do (rule T2).
"""

from __future__ import annotations

import re
from typing import Final

from qterm.tui.content import from_editor, to_editor

FOLD_CHARS: Final = 2_000
FOLD_LINES: Final = 20
"""A paste of more than these is folded."""

HUGE_CHARS: Final = 10_000
HUGE_LINES: Final = 100
"""A text of more than these is folded whatever it is: a stored draft, an earlier message."""

EDGE_CHARS: Final = 200
"""The first and the last line of such a text stay in sight, up to this many code points each."""

KNOWN_PASTES: Final = 32
KNOWN_CHARS: Final = 64_000_000
"""So many of the newest pastes, and so much of them, are known again when their text comes back."""

_OPEN = "\u27e6"
_LITERAL = "\ufe0e"
_ATOM = re.compile(f"{_OPEN}(?:(?:pasted|folded) ([0-9]+): [^\u27e6\u27e7\n]*\u27e7|{_LITERAL})")


def is_large(text: str) -> bool:
    """Whether a paste is one to fold."""
    return len(text) > FOLD_CHARS or _lines(text) > FOLD_LINES


def _lines(text: str) -> int:
    return text.count("\n") + (not text.endswith("\n"))


def shown(text: str) -> str:
    """Literal text as the editor shows it: nothing in it is a control, nor a fold."""
    return to_editor(text).replace(_OPEN, _OPEN + _LITERAL)


def meant(text: str) -> str:
    """What `shown` was given."""
    return from_editor(text.replace(_OPEN + _LITERAL, _OPEN))


def atoms(line: str) -> list[tuple[int, int]]:
    """Where in a line of the editor what can't be taken apart begins and ends: a fold, mostly."""
    return [match.span() for match in _ATOM.finditer(line)] if _OPEN in line else []


def folds(line: str) -> list[tuple[int, int]]:
    """The same, but folds only."""
    if _OPEN not in line:
        return []
    return [match.span() for match in _ATOM.finditer(line) if match[1]]


class Pastes:
    """The texts behind the folds of one editor.

    `expand` and `fold` are each other's inverse on what `fold` gives; lines end with `\\n`.
    """

    def __init__(self) -> None:
        self._bodies: dict[int, str] = {}
        self._known: list[str] = []
        self._next = 1

    def put(self, body: str, word: str = "pasted") -> str:
        """The fold of a new text."""
        number = self._next
        self._next += 1
        self._bodies[number] = body
        self._remember(body)
        lines = _lines(body)
        return (
            f"{_OPEN}{word} {number}: {len(body):,} characters, "
            f"{lines:,} line{'' if lines == 1 else 's'}\u27e7"
        )

    def _remember(self, body: str) -> None:
        self._known = [text for text in self._known if text != body]
        self._known.append(body)
        while len(self._known) > KNOWN_PASTES or sum(map(len, self._known)) > KNOWN_CHARS:
            del self._known[0]

    def body(self, fold: str) -> str | None:
        """The text behind a fold."""
        match = _ATOM.fullmatch(fold)
        return self._bodies.get(int(match[1])) if match and match[1] else None

    def unfolded(self, body: str) -> None:
        """The operator wants to see this text: it is folded no more when it comes back."""
        self._known = [text for text in self._known if text != body]

    def forget_all_but(self, text: str) -> None:
        """The editor holds this now, and no change leads back to what it held before."""
        kept = {int(match[1]) for match in _ATOM.finditer(text) if match[1]}
        self._bodies = {number: body for number, body in self._bodies.items() if number in kept}
        self._next = max(self._bodies, default=0) + 1

    def expand(self, text: str) -> str:
        """What the operator means by the editor's text: every fold is the whole paste again."""
        return "".join(said for _, said in self._pieces(text))

    def _pieces(self, text: str) -> list[tuple[str, str]]:
        """The editor's text in pieces, each as it is shown and as it is meant."""
        pieces: list[tuple[str, str]] = []
        at = 0
        for match in _ATOM.finditer(text):
            body = self._bodies.get(int(match[1])) if match[1] else None
            if body is None:
                continue
            if at < match.start():
                pieces.append((text[at : match.start()], meant(text[at : match.start()])))
            pieces.append((match[0], body))
            at = match.end()
        if at < len(text):
            pieces.append((text[at:], meant(text[at:])))
        return pieces

    def fold(self, message: str) -> str:
        """A message for the editor: the pastes that are known, and what is huge, folded."""
        message = message.replace("\r\n", "\n").replace("\r", "\n")
        parts: list[tuple[str, bool]] = [(message, False)]  # with whether it is a paste
        for body in sorted(self._known, key=len, reverse=True):
            if len(body) <= len(message):
                parts = [piece for part in parts for piece in _split(part, body)]
        return "".join(
            self.put(part) if is_paste else self._loose(part) for part, is_paste in parts
        )

    def _loose(self, text: str) -> str:
        if len(text) <= HUGE_CHARS and _lines(text) <= HUGE_LINES:
            return shown(text)
        start, end = text.find("\n") + 1, text.rfind("\n")
        start = start if start <= EDGE_CHARS else 0
        end = end if start < end and len(text) - end <= EDGE_CHARS else len(text)
        return shown(text[:start]) + self.put(text[start:end], "folded") + shown(text[end:])

    def cut(self, text: str, sent: str) -> str | None:
        """What stays of the editor's text when `sent`, its beginning, goes; None if it is not."""
        pieces = self._pieces(text)
        for number, (_, said) in enumerate(pieces):
            if not sent:
                return "".join(piece for piece, _ in pieces[number:])
            if sent.startswith(said):
                sent = sent[len(said) :]
            elif said.startswith(sent):
                rest = "".join(piece for piece, _ in pieces[number + 1 :])
                return shown(said[len(sent) :]) + rest
            else:
                return None
        return None if sent else ""


def _split(part: tuple[str, bool], body: str) -> list[tuple[str, bool]]:
    """A loose text in pieces, wherever this paste stands in it."""
    text, is_paste = part
    if is_paste or body not in text:
        return [part]
    pieces: list[tuple[str, bool]] = []
    for number, loose in enumerate(text.split(body)):
        if number:
            pieces.append((body, True))
        if loose:
            pieces.append((loose, False))
    return pieces
