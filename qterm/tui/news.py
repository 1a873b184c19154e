"""What has come while its thread was not on the screen: when to ring, and what home has new.

What is new in a task is known to the store (`Task.is_unread`); home's is known here, for as long
as qterm runs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from qterm.feed.source import FeedChange
from qterm.model import QTERM, YOU, Q, Task, Turn, TurnState

_FAILED = frozenset({TurnState.FAILED, TurnState.INTERRUPTED})


@dataclass(slots=True)
class News:
    """An answer rings, once; what the others post at home is only marked.

    `task` finds a task by its id.
    """

    task: Callable[[str | None], Task | None]
    _home: set[int] = field(default_factory=set)
    _home_seen: int = 0
    _rung: set[int] = field(default_factory=set)

    def take(self, change: FeedChange, *, is_at_home: bool, shown: str | None) -> bool:
        """Note what has changed; whether to ring. `is_at_home`: the end of home is in view;
        `shown` is the task whose thread is on the screen."""
        elsewhere = [
            turn
            for turn in change.turns
            if not turn.state.is_open
            and not self._was_seen(turn)
            and (turn.task_id != shown if turn.task_id else not is_at_home)
        ]
        self._home -= set(change.deleted)
        self._home |= {turn.id for turn in elsewhere if turn.task_id is None and _is_new(turn)}
        answers = {turn.id for turn in elsewhere if _is_answer(turn)}
        fresh = answers - self._rung
        self._rung |= answers
        return bool(fresh)

    def _was_seen(self, turn: Turn) -> bool:
        """Whether it is an old one, of which something else has become."""
        if turn.task_id is None:
            return turn.id <= self._home_seen
        task = self.task(turn.task_id)
        return task is not None and turn.id <= task.seen

    def see_home(self, turn_id: int) -> bool:
        """Home was in view up to a turn; whether that makes a difference to the mark."""
        self._home_seen = max(self._home_seen, turn_id)
        seen = {new for new in self._home if new <= self._home_seen}
        self._home -= seen
        return bool(seen)

    @property
    def at_home(self) -> int:
        """How many turns at home have not been in view yet."""
        return len(self._home)


def _is_answer(turn: Turn) -> bool:
    return turn.persona == Q or (turn.persona == YOU and turn.state in _FAILED)


def _is_new(turn: Turn) -> bool:
    return _is_answer(turn) or turn.persona not in {YOU, QTERM}
