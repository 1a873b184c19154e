"""The list of tasks, and the head above a task's thread."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from qterm.model import Task
from qterm.tui.commands import Place, bindings
from qterm.tui.common import Common
from qterm.tui.task_words import head, list_line, live_words
from qterm.tui.widgets.steps import ThreadWork

DEFAULT_WIDTH = 30
"""Cells, before the list has been laid out."""


class TaskList(OptionList):
    """All tasks, the open ones first. Only the operator's moves post `OptionHighlighted`."""

    BINDINGS = bindings(Place.LIST)

    def __init__(self, common: Common) -> None:
        super().__init__(id="tasks", markup=False, compact=True)
        self._common = common
        self._shown: dict[str, Content] = {}

    @property
    def chosen(self) -> str | None:
        """The id of the highlighted task."""
        return None if self.highlighted is None else self.options[self.highlighted].id

    def show(self, tasks: Sequence[Task]) -> None:
        """Show these; the highlight stays on the task it is on."""
        lines = {task.id: self._line(task) for task in tasks}
        if list(lines) == list(self._shown):
            for task_id, line in lines.items():
                if not _same(line, self._shown[task_id]):
                    self.replace_option_prompt(task_id, line)
        else:
            chosen = self.chosen
            with self.prevent(OptionList.OptionHighlighted):
                self.set_options(Option(line, id=task_id) for task_id, line in lines.items())
                self._highlight(chosen)
        self._shown = lines

    def highlight(self, task_id: str | None) -> None:
        """Move the highlight to a task."""
        if task_id != self.chosen:
            with self.prevent(OptionList.OptionHighlighted):
                self._highlight(task_id)

    def _highlight(self, task_id: str | None) -> None:
        there = any(option.id == task_id for option in self.options)
        self.highlighted = self.get_option_index(task_id) if there and task_id else None

    def _line(self, task: Task) -> Content:
        width = self.scrollable_content_region.width or DEFAULT_WIDTH
        return list_line(
            task,
            width,
            at_work=self._common.is_at_work(task),
            is_new=self._common.is_new(task),
            asks=self._common.asks_in(task.id),
        )

    def on_resize(self) -> None:
        """Titles are cut to the width."""
        self.show(self._common.tasks)


def _same(one: Content, other: Content) -> bool:
    return one.plain == other.plain and one.spans == other.spans


class TaskHead(Static):
    """What the chosen task is: title, folder, session, run, turns."""

    def __init__(self) -> None:
        super().__init__(Content(""), id="task--head", markup=False)
        self._of: Task | None = None
        self._work: ThreadWork | None = None

    def show(self, task: Task | None, work: ThreadWork | None) -> None:
        """Show a task with how its session stands, or nothing."""
        self._of, self._work = task, work
        self.display = task is not None
        if task is not None:
            width = self.content_region.width or DEFAULT_WIDTH
            self.update(head(task, width, live_words(work, width // 2)))

    def on_resize(self) -> None:
        """Everything is cut to the width."""
        self.show(self._of, self._work)
