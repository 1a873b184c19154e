"""A turn as it is to be shown: what the store has of it, and what is known beyond (no widget)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from qterm.model import Turn
from qterm.tui.look import Look, Shown
from qterm.tui.widgets.progress import Progress
from qterm.tui.widgets.window import Window

LEAST_WIDTH = 20
"""Cells of a line of what Q did, however narrow the screen."""


@dataclass(slots=True)
class Showing:
    """`unfolded` are the turns whose details are shown, `width` the cells right of the labels."""

    look: Look
    window: Window
    progress: Progress
    unfolded: set[int] = field(default_factory=set)
    width: int = LEAST_WIDTH

    def turn(self, turn: Turn) -> Shown:
        """A turn of the window. What Q did stands below its answer, and below the message only
        where there is none."""
        seconds = self.progress.seconds(turn.id)
        answered = any(other.reply_to == turn.id for other in self.window.turns)
        shown = Shown(
            turn=turn,
            text=self.progress.text(turn.id),
            seconds=seconds if self.look.moving else float(int(seconds)),
            mine=self.progress.is_mine(turn),
            answered=answered,
            unfolded=turn.id in self.unfolded,
        )
        if turn.reply_to is not None:
            return self._with_steps(shown, turn.reply_to)
        if answered or turn.state.is_open:
            return shown
        return self._with_steps(shown, turn.id)

    def working(self, asked: Turn) -> Shown:
        """Q at work on a message, before the first word of the answer."""
        return self._with_steps(self.turn(asked), asked.id)

    def _with_steps(self, shown: Shown, asked: int) -> Shown:
        steps = self.progress.work.steps(asked)
        if not steps:
            return shown
        width = max(self.width, LEAST_WIDTH)
        drawn = steps.shown(asked, width, whole_seconds=not self.look.moving)
        return replace(shown, tool=steps.running(), steps=drawn)
