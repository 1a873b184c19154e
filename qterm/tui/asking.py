"""hermes's requests and the screens: which panel opens when, and what marks a thread that waits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.screen import SystemModalScreen

from qterm.hermes.way import Answer, Approval
from qterm.model import Turn
from qterm.tui.requests import Request
from qterm.tui.screens.approval import ApprovalPanel, thread_words

if TYPE_CHECKING:
    from qterm.tui.app import QtermApp


class Asking:
    """One panel at a time, and only over the thread that it belongs to (rule A1)."""

    def __init__(self, app: QtermApp) -> None:
        self._app = app
        self._requests = app.common.requests
        self._panel: ApprovalPanel | None = None

    def came(self, turn: Turn, approval: Approval) -> None:
        """hermes asks in this turn."""
        self._requests.add(turn, approval)
        self.look()

    def over(self, turn: Turn, approval_id: str, answer: Answer | None) -> str:
        """A request stands no more; returns how it ended, in words."""
        request = self._requests.take(turn.id, approval_id)
        if request is None:
            return ""  # it was answered here
        return self._ended(request, answer)

    def turn_over(self, turn: Turn) -> None:
        """A turn has ended, and with it what it asked."""
        for request in self._requests.drop(turn.id):
            self._ended(request, None)

    def _ended(self, request: Request, answer: Answer | None) -> str:
        words = self._requests.end_words(request, answer)
        if self._panel is not None and self._panel.request is request:
            self._panel.over()
            self._app.notify(words, title="hermes asked", severity="warning", timeout=10)
        self._marks()
        return words

    def look(self) -> None:
        """Open the panel of the thread on the screen, and mark and ring for the others."""
        here, task_id = self._app.shown_thread()
        for request in self._requests.elsewhere(task_id, here=here):
            if not request.rung:
                request.rung = True
                self._app.bell()
        self._marks()
        if self._panel is not None or not here:
            return
        if isinstance(self._app.screen, SystemModalScreen):
            return  # the palette is being used; it closes soon
        if standing := self._requests.of(task_id):
            self._open(standing[0])

    def _open(self, request: Request) -> None:
        task = self._app.common.task(request.turn.task_id)
        title = None if request.turn.task_id is None else task.title if task else "a task"
        self._panel = ApprovalPanel(
            request, thread_words(title), self._requests.clock, lambda: self._more(request)
        )
        if not request.rung:
            request.rung = True
            self._app.bell()
        self._app.push_screen(self._panel, lambda answer: self._closed(request, answer))

    def _more(self, request: Request) -> int:
        return len([each for each in self._requests.of(request.turn.task_id) if each != request])

    def _closed(self, request: Request, answer: Answer | None) -> None:
        self._panel = None
        if answer is not None and self._requests.take(*request.key) is not None:
            self._app.desk.answer(request.turn.id, request.approval.id, answer)
        self._app.call_later(self.look)  # the next one

    def _marks(self) -> None:
        self._app.common_changed()

    def go_there(self) -> str | bool | None:
        """The thread of the oldest request that is not on the screen; False: there is none."""
        here, task_id = self._app.shown_thread()
        waiting = self._requests.elsewhere(task_id, here=here)
        return waiting[0].turn.task_id if waiting else False
