"""Text that comes in parts: its last part in bounded memory, and its lines. Pure."""

from __future__ import annotations

from collections import deque

_KEPT_CHARS = 64_000


class Tail:
    """The last part of a long text, in bounded memory."""

    def __init__(self, limit: int = _KEPT_CHARS) -> None:
        self._parts: deque[str] = deque()
        self._limit = limit
        self._size = 0

    def add(self, text: str) -> None:
        """Add more."""
        if not text:
            return
        self._parts.append(text)
        self._size += len(text)
        while self._size - len(self._parts[0]) >= self._limit:
            self._size -= len(self._parts.popleft())

    @property
    def text(self) -> str:
        """What is kept."""
        return "".join(self._parts)[-self._limit :]


class Lines:
    """Cuts text into lines at LF; a long line costs no more than its length."""

    def __init__(self) -> None:
        self._open: list[str] = []

    def feed(self, text: str) -> list[str]:
        """Add more; returns the lines that are whole by now, without their LF."""
        *whole, rest = text.split("\n")
        if whole:
            whole[0] = "".join([*self._open, whole[0]])
            self._open.clear()
        if rest:
            self._open.append(rest)
        return whole

    def end(self) -> list[str]:
        """The line left open at the end, if there is one."""
        rest = "".join(self._open)
        self._open.clear()
        return [rest] if rest else []
