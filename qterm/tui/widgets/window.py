"""Which turns of a long feed are on the screen: a small window that slides (no widget in here)."""

from __future__ import annotations

import bisect
from collections.abc import Iterable
from dataclasses import dataclass, field

from qterm.model import Turn

PAGE = 24
"""Turns fetched at a time."""

MOST = 72
"""The most turns that are mounted; more where the screen is so high that they would not fill it."""


EDGE_ROWS = 6
"""So near to the end of the window the next page is fetched."""


@dataclass(slots=True)
class Window:
    """The turns on the screen, oldest first, and whether there are more on either side."""

    turns: list[Turn] = field(default_factory=list)
    has_older: bool = False
    has_newer: bool = False
    most: int = MOST

    def fit(self, rows: int) -> None:
        """Hold enough for a view of so many rows, whose turns may all be of one row: a page more on
        one side, and something left on the other when that side has let go of a page."""
        self.most = max(MOST, rows + PAGE + EDGE_ROWS)

    def __contains__(self, turn_id: object) -> bool:
        return isinstance(turn_id, int) and self.find(turn_id) is not None

    def _index(self, turn_id: int) -> int:
        return bisect.bisect_left(self.turns, turn_id, key=lambda turn: turn.id)

    def find(self, turn_id: int) -> Turn | None:
        """The turn with this id, if it is in the window."""
        index = self._index(turn_id)
        if index < len(self.turns) and self.turns[index].id == turn_id:
            return self.turns[index]
        return None

    def neighbour(self, turn_id: int, step: int) -> Turn | None:
        """The turn this many steps on; None beyond the window's edge."""
        index = self._index(turn_id) + step
        return self.turns[index] if 0 <= index < len(self.turns) else None

    def put(self, turn: Turn) -> bool:
        """Take a new state of a turn; True when the turn is new here.

        An outcome is never undone by a state that was read before it.
        """
        index = self._index(turn.id)
        if index < len(self.turns) and self.turns[index].id == turn.id:
            known = self.turns[index]
            if known.state.is_open or not turn.state.is_open:
                self.turns[index] = turn
            return False
        self.turns.insert(index, turn)
        return True

    def belongs(self, turn: Turn) -> bool:
        """Whether a turn that is not here yet lies within the window's reach."""
        if not self.turns:
            return not self.has_newer
        if turn.id < self.turns[0].id:
            return not self.has_older
        return turn.id < self.turns[-1].id or not self.has_newer

    def drop(self, turn_id: int) -> bool:
        """Forget a turn; True when it was here."""
        index = self._index(turn_id)
        if index < len(self.turns) and self.turns[index].id == turn_id:
            del self.turns[index]
            return True
        return False

    def trim_top(self) -> list[Turn]:
        """Let go of the oldest turns beyond what may be mounted; returns those."""
        extra = max(len(self.turns) - self.most, 0)
        gone, self.turns = self.turns[:extra], self.turns[extra:]
        self.has_older = self.has_older or bool(gone)
        return gone

    def trim_bottom(self) -> list[Turn]:
        """Let go of the newest turns beyond what may be mounted; returns those."""
        gone, self.turns = self.turns[self.most :], self.turns[: self.most]
        self.has_newer = self.has_newer or bool(gone)
        return gone

    def replace(self, turns: Iterable[Turn], *, has_older: bool, has_newer: bool) -> None:
        """Begin again with these."""
        self.turns = list(turns)
        self.has_older, self.has_newer = has_older, has_newer
