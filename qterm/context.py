"""The context block of a home turn, made by one pure function (rules C2 to C5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from qterm.model import Fact, Mode, Turn


@dataclass(frozen=True, slots=True)
class Caps:
    """The limits of the block: counts, and code points (rule C2)."""

    turns: int = 16
    facts: int = 10
    notes: int = 10
    turn_chars: int = 1_000
    fact_chars: int = 200
    block_chars: int = 12_000


@dataclass(frozen=True, slots=True)
class QContext:
    """The block, and what the operator should know about it.

    `text` is empty when there is nothing to tell. `turns`, `facts` and `notes` are how many are in
    it, each with how many there were; `clipped` how many of them were cut.
    """

    text: str
    mode: Mode | None = None
    turns: int = 0
    turns_left_out: int = 0
    facts: int = 0
    facts_left_out: int = 0
    notes: int = 0
    notes_left_out: int = 0
    clipped: int = 0
    clipped_turns: frozenset[int] = field(default_factory=frozenset)

    @property
    def chars(self) -> int:
        """The block's size in code points."""
        return len(self.text)


def render_q_context(
    turns: Sequence[Turn],
    facts: Sequence[Fact],
    mode: Mode | None,
    notes: Sequence[str] = (),
    *,
    labels: Mapping[str, str],
    operator: str,
    now: datetime,
    caps: Caps = Caps(),
    older_turns: int = 0,
) -> QContext:
    """Make the block."""
    raise NotImplementedError
