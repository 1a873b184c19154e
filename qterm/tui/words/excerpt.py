"""The piece of a turn around what was searched for (pure)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from rich.cells import cell_len
from textual.content import Content

from qterm.model import Turn
from qterm.safe_text import safe_line, safe_text
from qterm.tui.content import cut_cells, steady

NEAR: Final = 400
"""Code points kept on either side of a match, and of the match itself."""

_SPACE = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Hit:
    """A turn that was found, with the piece of its text around the match; never the whole text."""

    turn_id: int
    task_id: str | None
    persona: str
    created_at: datetime
    hidden: bool
    before: str
    match: str
    after: str

    def words(self, width: int) -> Content:
        """The piece on one line of so many cells, what was found highlighted."""
        found = cut_cells(_flat(self.match), width)
        room = max(width - cell_len(found), 0)
        before, after = _flat(self.before), _flat(self.after)
        least = room - min(cell_len(after), room * 2 // 3)
        before = _end(before.lstrip(), least)
        after = _start(after.rstrip(), room - cell_len(before))
        return Content.assemble(before, Content.styled(found, "bold $text-warning"), after)


def hit_of(turn: Turn, wanted: str) -> Hit:
    """A turn that holds the words, as a hit; without a match it shows its beginning."""
    start = end = 0
    if needle := safe_line(wanted):
        pattern = r"\s+".join(re.escape(word) for word in needle.split(" "))
        found = re.search(re.escape(wanted.strip()), turn.text, re.IGNORECASE)
        found = found or re.search(pattern, turn.text, re.IGNORECASE)
        if found is not None:
            start, end = found.span()
    cut = max(start - NEAR, 0)
    return Hit(
        turn_id=turn.id,
        task_id=turn.task_id,
        persona=turn.persona,
        created_at=turn.created_at,
        hidden=turn.hidden,
        before=("…" if cut else "") + turn.text[cut:start],
        match=turn.text[start : min(end, start + NEAR)],
        after=turn.text[end : end + NEAR] + ("…" if len(turn.text) > end + NEAR else ""),
    )


def _flat(text: str) -> str:
    """Safe and on one line; unlike `safe_line` it keeps a space at either end."""
    return _SPACE.sub(" ", steady(safe_text(text)))


def _start(text: str, width: int) -> str:
    """The beginning that fits, with an ellipsis where something is missing."""
    if cell_len(text) <= width:
        return text
    return f"{cut_cells(text, width - 1)}…" if width > 0 else ""


def _end(text: str, width: int) -> str:
    """The end that fits, with an ellipsis where something is missing."""
    import regex

    if cell_len(text) <= width:
        return text
    kept: list[str] = []
    left = width - 1
    for grapheme in reversed(regex.findall(r"\X", text)):
        left -= cell_len(grapheme)
        if left < 0:
            break
        kept.append(grapheme)
    return f"…{''.join(reversed(kept))}" if width > 0 else ""
