"""What is under way in the feed, and how far it is (no widget in here)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from qterm.model import YOU, Owner, Q, Turn, TurnState
from qterm.tui.widgets.steps import ThreadWork


class Progress:
    """Open turns with how long they have been so, and what is known of answers before the store.

    `owner` is this process, `clock` gives seconds that never go back, `now` the time of day. `work`
    is what Q does meanwhile; it outlasts the turns.
    """

    def __init__(
        self, owner: Owner, clock: Callable[[], float], now: Callable[[], datetime]
    ) -> None:
        self._owner = owner
        self._clock = clock
        self._now = now
        self._open: dict[int, Turn] = {}
        self._since: dict[int, float] = {}
        self._text: dict[int, str] = {}
        self.work = ThreadWork(clock)

    def __bool__(self) -> bool:
        """Whether any turn still waits for its outcome."""
        return bool(self._open)

    def ids(self) -> list[int]:
        """The ids of the open turns."""
        return list(self._open)

    def track(self, turn: Turn, known: Turn | None) -> None:
        """Take a state of a turn; `known` is the one that is shown so far."""
        if not turn.state.is_open:
            self.forget(turn.id)
            return
        if known is not None and not known.state.is_open:
            return  # it was read before its outcome was stored
        before = self._open.get(turn.id)
        self._open[turn.id] = turn
        if before is None:
            age = (self._now() - turn.created_at).total_seconds()
            self._since[turn.id] = self._clock() - max(age, 0.0)
        elif before.state is not turn.state:  # it waited, and now Q is at it
            self._since[turn.id] = self._clock()

    def forget(self, turn_id: int) -> None:
        """The turn is over, or gone."""
        self._open.pop(turn_id, None)
        self._since.pop(turn_id, None)
        self._text.pop(turn_id, None)

    def seconds(self, turn_id: int) -> float:
        """For how long a turn has been in its open state; 0 for one that is over."""
        since = self._since.get(turn_id)
        return 0.0 if since is None else self._clock() - since

    def is_mine(self, turn: Turn) -> bool:
        """Whether this process works on it."""
        return turn.owner is None or turn.owner == self._owner

    def asked(self) -> Turn | None:
        """The message Q works on now, in whichever qterm."""
        pending = (turn for turn in self._open.values() if turn.state is TurnState.PENDING)
        return next((turn for turn in pending if turn.persona == YOU), None)

    def is_answering(self, turn: Turn) -> bool:
        """Whether the first words of the answer have come."""
        return any(
            other.persona == Q and other.reply_to == turn.id for other in self._open.values()
        )

    def waiting(self) -> Turn | None:
        """The newest message of this process that waits for its turn."""
        mine = (
            turn
            for turn in self._open.values()
            if turn.state is TurnState.QUEUED and turn.owner == self._owner
        )
        return max(mine, key=lambda turn: turn.id, default=None)

    def more(self, reply: Turn, delta: str) -> None:
        """More of an answer of this process's."""
        known = self._text.get(reply.id)
        self._text[reply.id] = reply.text if known is None else known + delta

    def text(self, turn_id: int) -> str | None:
        """The answer so far, where it is ahead of the store."""
        return self._text.get(turn_id)
