"""What of a thread has been seen: what has ended and stood in the view of the thread's end."""

from __future__ import annotations

from collections.abc import Sequence

from textual import on

from qterm.model import Turn
from qterm.tui.screens.thread_meanwhile import ThreadMeanwhile
from qterm.tui.widgets.feed import FeedView


class ThreadSeen(ThreadMeanwhile):
    """Whenever something comes, is scrolled to or comes back onto the screen, it may be seen."""

    @property
    def page_is_read(self) -> bool:
        """Whether the first page of the thread on the screen has come."""
        raise NotImplementedError

    @property
    def end_is_in_view(self) -> bool:
        """Whether the end of the thread is on the screen, with nothing above it."""
        return self.is_current and self.feed.following and self.page_is_read

    def turns_came(self, turns: Sequence[Turn]) -> None:
        """Turns are on the screen, or were changed there."""
        self._see()

    @on(FeedView.Moved)
    def _scrolled(self) -> None:
        self._see()

    def on_screen_resume(self) -> None:
        """What is on the screen again was seen."""
        self._see()

    def _see(self) -> None:
        thread = self.thread
        if thread is None or not self.end_is_in_view:
            return
        ended = 0
        for turn in self.feed.window.turns:
            if turn.state.is_open:  # what is still under way has not been seen yet
                break
            ended = turn.id
        if ended > thread.seen:
            thread.seen = ended
            self.was_seen(thread.task_id, ended)

    def was_seen(self, task_id: str | None, turn_id: int) -> None:
        """A thread was in view up to this turn, which is newer than any before."""
        raise NotImplementedError
