"""The list of tasks, and the head above a task's thread."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from qterm.model import Task
from qterm.tui.commands.registry import Place, bindings
from qterm.tui.common import Common
from qterm.tui.widgets.options import Options
from qterm.tui.widgets.steps import ThreadWork
from qterm.tui.words.task_order import Part, Wanted
from qterm.tui.words.task_words import head, list_line, live_words

DEFAULT_WIDTH = 30
"""Cells, before the list has been laid out."""


class TaskList(Options):
    """The tasks, the open ones first. Only the operator's moves post `OptionHighlighted`."""

    BINDINGS = bindings(Place.LIST)

    def __init__(self, common: Common) -> None:
        super().__init__(id="task--list", markup=False, compact=True)
        self._common = common
        self._tasks: Sequence[Task] = ()
        self._shown: dict[str, tuple[object, Content]] = {}
        self._chosen: str | None = None

    @property
    def chosen(self) -> str | None:
        """The id of the highlighted task."""
        return None if self.highlighted is None else self.options[self.highlighted].id

    def show(self, tasks: Sequence[Task]) -> None:
        """Show these; the highlight stays on the task it is on."""
        now = self._common.look.now()
        width = self.scrollable_content_region.width or DEFAULT_WIDTH
        lines = {task.id: self._line(task, width, now) for task in tasks}
        if list(lines) == list(self._shown):
            for task_id, (_, line) in lines.items():
                if line is not self._shown[task_id][1]:
                    self.replace_option_prompt(task_id, line)
        else:
            with self.prevent(OptionList.OptionHighlighted):
                self.set_options(Option(line, id=task_id) for task_id, (_, line) in lines.items())
                self._highlight(self._chosen)
        self._tasks, self._shown = tasks, lines

    def highlight(self, task_id: str | None) -> None:
        """Move the highlight to a task; to one that is not in the list, once it is."""
        self._chosen = task_id
        if task_id != self.chosen:
            with self.prevent(OptionList.OptionHighlighted):
                self._highlight(task_id)

    def _highlight(self, task_id: str | None) -> None:
        there = task_id is not None and any(option.id == task_id for option in self.options)
        self.highlighted = self.get_option_index(task_id) if there and task_id else None

    def beside(self, task_id: str | None, step: int) -> str | None:
        """The task so many lines below another one; from one that is not in the list, the first."""
        ids = [task.id for task in self._tasks]
        index = ids.index(task_id) + step if task_id in ids else 0
        return ids[index] if 0 <= index < len(ids) else None

    def _line(self, task: Task, width: int, now: datetime) -> tuple[object, Content]:
        """What the line is made of, and the line: the old one where it would be the same."""
        look = self._common.look
        last = task.last
        parts = (
            task,
            width,
            look.label(last.persona).plain if last else "",
            look.when(last.said_at if last else task.created_at, now),
            self._common.is_at_work(task),
            self._common.is_new(task),
            self._common.asks_in(task.id),
        )
        known = self._shown.get(task.id)
        if known is not None and known[0] == parts:
            return known
        _, _, who, when, at_work, is_new, asks = parts
        line = list_line(task, width, who=who, when=when, at_work=at_work, is_new=is_new, asks=asks)
        return parts, line

    def on_resize(self) -> None:
        """Titles are cut to the width."""
        self.show(self._tasks)


class FilterInput(Input):
    """The words the list is narrowed to."""

    BINDINGS = bindings(Place.FILTER)

    def __init__(self) -> None:
        super().__init__(id="task--filter", compact=True, select_on_focus=False)


class TaskPane(Vertical):
    """The list of tasks with its filter, and how many it leaves."""

    def __init__(self, common: Common) -> None:
        super().__init__(id="tasks")
        self.list = TaskList(common)
        self._clear_key = common.look.key("clear-filter")
        self._input = FilterInput()
        self._row = Horizontal(
            Static(Content("/"), id="task--filter-mark", markup=False),
            self._input,
            id="task--filter-row",
        )
        self._row.display = False
        self._count = Static(Content(""), id="task--count", markup=False)
        self._count.display = False
        self._part = Part.ALL

    def compose(self) -> ComposeResult:
        """The filter is above the list, and there only where it is wanted."""
        yield self._row
        yield self._count
        yield self.list

    @property
    def wanted(self) -> Wanted:
        """What the list is narrowed to."""
        return Wanted(self._input.value, self._part)

    def show(self, tasks: Sequence[Task]) -> None:
        """Show what the filter leaves of these."""
        wanted = self.wanted
        left = wanted.choose(tasks)
        self.list.show(left)
        self._count.display = bool(wanted)
        part = f" · {wanted.part.value}" if wanted.part is not Part.ALL else ""
        words = f"{len(left):,} of {len(tasks):,}{part}"
        if not left:
            words += f"\n{self._clear_key} shows all"
        self._count.update(Content(words))

    def beside(self, task_id: str | None, step: int) -> str | None:
        """The task above or below another one, of those that are shown."""
        return self.list.beside(task_id, step)

    def ask(self) -> None:
        """Let the operator write the words."""
        self._row.display = True
        self._input.focus()

    def narrow(self) -> None:
        """Go on to the next of: all, open, over."""
        self._part = self._part.next

    def clear(self) -> None:
        """Let go of words and state."""
        self._part = Part.ALL
        self._input.value = ""
        self._row.display = False


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
