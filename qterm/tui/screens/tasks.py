"""The tasks screen: the list of tasks, and the chosen one's thread."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import ClassVar

from textual import on
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input, OptionList

from qterm.model import Task, TaskState, Turn
from qterm.tui.commands.registry import Place, Situation, bindings
from qterm.tui.common import Common
from qterm.tui.content import one_line
from qterm.tui.desk import messages
from qterm.tui.screens.ask import Question
from qterm.tui.screens.ask_task import AskTask, AskTitle, NewTask
from qterm.tui.screens.thread import ThreadScreen
from qterm.tui.widgets.composer import HINT
from qterm.tui.widgets.task_list import TaskHead, TaskPane
from qterm.tui.words.task_words import FIRST_WORDS, no_tasks_words, read_only_words

TITLE_CELLS = 50
"""The most cells of a title in a question or a toast."""


class TasksScreen(ThreadScreen):
    """Every task has a thread of its own (rules S1 to S8)."""

    TITLE_WORDS = "Tasks"
    PLACE = "tasks"
    PLACES: ClassVar = (*ThreadScreen.PLACES, Place.TASKS, Place.LIST, Place.FILTER)
    BINDINGS = bindings(Place.TASKS)

    def __init__(self, common: Common) -> None:
        super().__init__(common, common.task_look)
        self.pane = TaskPane(common)
        self.list = self.pane.list
        self.head = TaskHead()

    def above(self) -> Iterable[Widget]:
        """The list is docked to the left; the head stands above the feed."""
        return (self.pane, self.head)

    def on_mount(self) -> None:
        """Show what is known already."""
        self.show_thread(None)
        self.common_changed()

    def on_screen_resume(self) -> None:
        """Show what has changed meanwhile."""
        self.common_changed()

    # -- which task ----------------------------------------------------------------------------

    @property
    def chosen(self) -> Task | None:
        """The chosen task, as it was last read."""
        return self.common.task(self.thread.task_id) if self.thread else None

    @property
    def can_write(self) -> bool:
        """A done or cancelled task is read-only (rule S8)."""
        task = self.chosen
        if task is None or self.thread is None or self.thread.is_changing:
            return False
        return task.state is TaskState.OPEN

    def session_id(self) -> str | None:
        """The session of the chosen task, once it has one."""
        task = self.chosen
        return task.session.id if task is not None and task.session is not None else None

    def live_parts(self, width: int) -> list[Content]:
        """They stand in the task's own head."""
        return []

    def show_state(self) -> None:
        """The head, too, shows how the session stands."""
        self.head.show(self.chosen, self.work)
        super().show_state()

    def situation(self) -> Situation:
        """What the availability of commands hangs on, now."""
        return replace(super().situation(), task=self.chosen, filtered=bool(self.pane.wanted))

    def choose(self, task_id: str) -> None:
        """Bring a task's thread onto the screen."""
        self.list.highlight(task_id)
        if self.thread is None or self.thread.task_id != task_id:
            self.show_thread(self.opened(task_id))
        self._show_task()

    def common_changed(self) -> None:
        """The tasks were read anew, perhaps."""
        tasks = self.common.tasks
        self.pane.show(tasks)
        if tasks and self.thread is None:
            self.choose(tasks[0].id)
        self._show_task()
        super().common_changed()

    def _show_task(self) -> None:
        task = self.chosen
        self.pane.display = bool(self.common.tasks)
        self.head.show(task, self.work)
        self.query_one("#writing").display = task is not None
        self.composer.set_hint(self._hint(task))
        if self.composer.read_only == self.can_write:
            self._put_aside()  # what was being written stays the draft
            self.fit_composer()
        if task is None:
            self.set_focus(None)
        elif self.focused is None:
            self.composer.focus()

    def _hint(self, task: Task | None) -> str:
        if self.thread is not None and self.thread.is_changing:
            return "One moment…"
        if task is None or task.state is TaskState.OPEN:
            return HINT
        return read_only_words(task, self.look.key("reopen-task"))

    @on(OptionList.OptionHighlighted)
    def _highlighted(self, event: OptionList.OptionHighlighted) -> None:
        if event.option_id is not None:
            self.choose(event.option_id)

    def first_words(self) -> str:
        """What stands where there is nothing to read."""
        if self.thread is None:
            if not self.common.tasks_are_known:
                return ""
            return no_tasks_words(self.look.key("new-task"))
        return FIRST_WORDS

    def was_seen(self, task_id: str | None, turn_id: int) -> None:
        """Note it in the store: other qterms, too, need not call it new."""
        if task_id is not None:
            self.desk.mark_seen(task_id, turn_id)

    def finished(self, turn: Turn) -> None:
        """A task's session, turns and news may be others now."""
        self.app.desk.read_tasks()

    # -- commands ------------------------------------------------------------------------------

    def action_step_task(self, step: int) -> None:
        """Go to the task above or below."""
        task_id = self.pane.beside(self.thread.task_id if self.thread else None, step)
        if task_id is not None:
            self.choose(task_id)

    def action_filter_tasks(self) -> None:
        """Narrow the list by words."""
        self.pane.ask()

    def action_narrow_tasks(self) -> None:
        """All tasks, the open ones, those that are over; round and round."""
        self.pane.narrow()
        self._filter_changed()

    def action_clear_filter(self) -> None:
        """Show all tasks again."""
        self.pane.clear()
        self._filter_changed()
        self.list.focus()

    def action_leave_filter(self) -> None:
        """Show all tasks again, and go back to the list."""
        self.action_clear_filter()

    def action_take_filter(self) -> None:
        """Go to the list as it is narrowed now."""
        if self.list.chosen is None and (first := self.pane.beside(None, 1)) is not None:
            self.choose(first)
        self.list.focus()

    @on(Input.Changed, "#task--filter")
    def _filter_changed(self) -> None:
        self.pane.show(self.common.tasks)
        self.refresh_bindings()

    def action_write_in_task(self) -> None:
        """Put the cursor into the editor."""
        self.composer.focus()

    def action_new_task(self) -> None:
        """Ask for a title and a folder."""

        def answered(new: object) -> None:
            if isinstance(new, NewTask):
                self.desk.begin_task(new.title, new.folder)

        self.app.push_screen(AskTask(_here(), is_far=self.services.is_far), answered)

    @on(messages.TaskBegun)
    def _task_begun(self, event: messages.TaskBegun) -> None:
        self.common.put(event.task)
        self.pane.clear()  # it would hide the new one, perhaps
        self.pane.show(self.common.tasks)
        self.opened(event.task.id).draft_is_known = True
        self.choose(event.task.id)
        self.composer.focus()
        self.app.desk.read_tasks()
        if not self.services.is_far:  # while the first message is being written
            self.services.way.warm(Path(event.task.cwd))

    def action_rename_task(self) -> None:
        """Ask for another title."""
        task = self.chosen
        if task is None:
            return

        def answered(title: object) -> None:
            if isinstance(title, str) and title != task.title:
                rename = partial(self.services.feed.rename_task, task.id, title)
                self.desk.change(rename, self.app.desk.read_tasks)

        self.app.push_screen(AskTitle(task.title), answered)

    def action_finish_task(self) -> None:
        """Ask, then finish the task."""
        self._end(TaskState.DONE, "Finish")

    def action_cancel_task(self) -> None:
        """Ask, then cancel the task."""
        self._end(TaskState.CANCELLED, "Cancel")

    def _end(self, state: TaskState, verb: str) -> None:
        task = self.chosen
        if task is None:
            return
        title = one_line(task.title, TITLE_CELLS).plain
        words = (
            f"{verb} “{title}”? It can be read then, but not written in; reopened, Q starts fresh."
        )
        work = partial(self.services.conversation.end_task, task.id, state)
        self._ask_and_change(task, words, verb, work)

    def action_reopen_task(self) -> None:
        """Ask, then open the task again."""
        task = self.chosen
        if task is None:
            return
        title = one_line(task.title, TITLE_CELLS).plain
        words = (
            f"Reopen “{title}”? Q starts fresh, in a new session, and knows nothing of run "
            f"{task.run}. What was said stays here for you to read."
        )
        work = partial(self.services.conversation.reopen_task, task.id)
        self._ask_and_change(task, words, "Reopen", work)

    def _ask_and_change(
        self,
        task: Task,
        words: str,
        verb: str,
        work: Callable[[], Awaitable[Task]],
    ) -> None:
        if self.common.is_at_work(task):
            words += (
                "\n\nQ is at work in it: that is stopped, what has come of the answer is kept, and "
                "messages that wait go back into the editor."
            )

        def answered(yes: bool | None) -> None:
            if not yes:
                return
            thread = self.opened(task.id)
            if thread is self.thread:
                self._put_aside()
            thread.is_changing = True
            self._show_task()
            draft = thread.draft if thread.draft_is_known else None
            self.desk.change_task(task.id, draft, work)

        self.app.push_screen(Question(words, yes=verb, no="Leave it"), answered)

    @on(messages.TaskChanged)
    def _task_changed(self, event: messages.TaskChanged) -> None:
        self.opened(event.task_id).is_changing = False
        if event.task is not None:
            self.common.put(event.task)
        if event.trouble:
            self.app.notify(event.trouble, severity="error")
        self._show_task()
        if self.can_write and event.task is not None and event.task is self.chosen:
            self.composer.focus()  # it was reopened to go on
        self.app.desk.read_tasks()


def _here() -> str:
    """The folder qterm was started in; nothing where it is gone."""
    try:
        return str(Path.cwd())
    except OSError:
        return ""
