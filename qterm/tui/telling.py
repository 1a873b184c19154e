"""The part of the app that is told things by the desk, and hands each screen what it needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qterm.model import Q
from qterm.tui.desk import messages
from qterm.tui.filling import LOOK
from qterm.tui.preferences import Preferences
from qterm.tui.screens.first_start import FirstStartScreen
from qterm.tui.screens.thread import ThreadScreen

if TYPE_CHECKING:
    from textual.message import Message

    from qterm.feed.source import FeedChange
    from qterm.tui.asking import Asking
    from qterm.tui.filling import Filling
    from qterm.tui.going import Going
    from qterm.tui.screens.tasks import TasksScreen


class Telling(Preferences, inherit_bindings=False):
    """`QtermApp` puts the parts in place."""

    asking: Asking
    going: Going
    filling: Filling
    tasks: TasksScreen | None
    _ending: bool

    def thread_screens(self) -> list[ThreadScreen]:
        """The screens with a thread that are there."""
        raise NotImplementedError

    def told(self, message: Message) -> None:
        """The desk tells something: every screen gets what it needs of it."""
        match message:
            case messages.FeedMoved(change):
                for screen in self.thread_screens():
                    screen.post_message(messages.FeedMoved(change))
                if change.tasks or change.deleted or any(turn.task_id for turn in change.turns):
                    self.desk.read_tasks()
                self._take_news(change)
            case messages.ChangesMissed():
                for screen in self.thread_screens():
                    screen.post_message(messages.ChangesMissed())
                self.desk.read_tasks()
            case messages.TasksRead(tasks):
                self.common.take(tasks, stay=self.current_mode == "tasks")
                self.common_changed()
            case messages.VersionSeen(words):
                self.common.version = words
                self.common_changed()
            case messages.StandingSeen(standing):
                self.common.standing = standing
                self.common_changed()
            case messages.Trouble(sentence):
                self.common.notices.add(sentence)
            case _:
                self._answered(message)

    def _answered(self, message: Message) -> None:
        """What came of something that was asked for."""
        match message:
            case messages.Unanswered():
                self.notify(
                    "That answer came too late: hermes no longer waited for it.", severity="warning"
                )
            case messages.TurnFound(turn):
                self.call_later(self.going.take, turn)
            case messages.MemoryDone(what, int() as percent) if what == LOOK:
                self.common.memory_percent = percent
                self.common_changed()
            case messages.SettingsRead() | messages.SettingRefused():
                self.settings_told(message)

    def common_changed(self) -> None:
        """What the screens share is other now."""
        for screen in self.mode_screens():
            screen.common_changed()

    def _take_news(self, change: FeedChange) -> None:
        """Ring for an answer in a thread that is not on the screen, and mark what is new."""
        at_home = self.home is not None and self.home.end_is_in_view
        if self.common.news.take(change, is_at_home=at_home, shown=self._shown_task()):
            self.bell()
        if any(turn.persona == Q and not turn.state.is_open for turn in change.turns):
            self.filling.look()
        if any(turn.task_id is None for turn in change.turns) or change.deleted:
            for screen in self.thread_screens():
                screen.show_state()

    def _shown_task(self) -> str | None:
        """The task whose thread is on the screen."""
        if self.tasks is None or not self.tasks.is_current or self.tasks.thread is None:
            return None
        return self.tasks.thread.task_id

    def shown_thread(self) -> tuple[bool, str | None]:
        """Whether a thread is on the screen, perhaps under a question, and which: None is home."""
        bottom = self.screen_stack[0] if self.screen_stack else None
        thread = bottom.thread if isinstance(bottom, ThreadScreen) else None
        if thread is None or self._ending or isinstance(self.screen, FirstStartScreen):
            return False, None
        return True, thread.task_id

    async def go_to_request(self) -> None:
        """Bring the thread onto the screen in which hermes waits for an answer."""
        task_id = self.asking.go_there()
        if task_id is None:
            await self.switch_mode("home")
        elif isinstance(task_id, str):
            await self.switch_mode("tasks")
            if self.tasks is not None:
                self.tasks.choose(task_id)
        self.asking.look()

    def go_to_turn(self, turn_id: int) -> None:
        """Show a turn in its thread, among those around it; it may be gone meanwhile."""
        self.desk.find_turn(turn_id)
