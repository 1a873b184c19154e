"""A turn as it is to be shown: what the store has of it, and what is known beyond (no widget)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import date, timedelta

from qterm.model import Q, Turn
from qterm.tui.look import Look, Shown
from qterm.tui.widgets.progress import Progress
from qterm.tui.widgets.window import Window
from qterm.tui.words.markdown_signs import MOST_DRAWN, MOST_DRAWN_PARTS, parts

_SET_BACK = timedelta(days=1)

LEAST_WIDTH = 20
"""Cells of a line of what Q did, however narrow the screen."""


@dataclass(slots=True)
class Showing:
    """`unfolded` are the turns whose details are shown, `width` the cells right of the labels,
    `drawn` the answers that are drawn as Markdown."""

    look: Look
    window: Window
    progress: Progress
    unfolded: set[int] = field(default_factory=set)
    width: int = LEAST_WIDTH
    drawn: set[int] = field(default_factory=set)
    _needs: dict[int, tuple[str, int]] = field(default_factory=dict)

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
        shown = replace(shown, is_drawn=self._is_drawn(shown))
        if turn.reply_to is not None:
            return self._with_steps(shown, turn.reply_to)
        if answered or turn.state.is_open:
            return shown
        return self._with_steps(shown, turn.id)

    def lines_between(self) -> dict[int, str]:
        """The lines between the turns: where a day begins, and where a task's run does.

        A clock that was set back over midnight takes no day back.
        """
        days: dict[int, str] = {}
        last, run = date.min, 1
        for turn in self.window.turns:
            day = self.look.day(turn)
            begins = not timedelta(0) <= last - day <= _SET_BACK
            parts = [self.look.day_words(day)] if begins else []
            if turn.run > run:
                parts.insert(0, f"Run {turn.run}")
            if parts:
                days[turn.id] = " · ".join(parts)
            last, run = day if begins else last, max(turn.run, run)
        return days

    def choose(self, *, keep: bool) -> None:
        """Choose the answers that are drawn as Markdown: the newest, as many as stay cheap.

        `keep`: one that is drawn stays so, since it may be in sight.
        """
        chosen: set[int] = set()
        count, room = MOST_DRAWN, MOST_DRAWN_PARTS
        for turn in reversed(self.window.turns):
            if turn.state.is_open or not (needs := self._parts(turn, turn.text)):
                continue
            if (count > 0 and (needs <= room or count == MOST_DRAWN)) or (
                keep and turn.id in self.drawn
            ):
                chosen.add(turn.id)
            count, room = count - 1, room - needs
        self.drawn = chosen
        self._needs = {
            turn.id: self._needs[turn.id] for turn in self.window.turns if turn.id in self._needs
        }

    def _is_drawn(self, shown: Shown) -> bool:
        """The one that is coming is drawn whatever else is, and counts from its end on."""
        if shown.turn.state.is_open:
            return bool(self._parts(shown.turn, shown.said))
        return shown.turn.id in self.drawn and not shown.turn.hidden

    def _parts(self, turn: Turn, text: str) -> int:
        if turn.persona != Q or turn.hidden:
            return 0
        known = self._needs.get(turn.id)
        if known is None or known[0] != text:
            known = self._needs[turn.id] = text, parts(text)
        return known[1]

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
