"""What the screens share: the parts of qterm, how Q is, the notices, the tasks (no widget here)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from qterm.hermes.way import Standing
from qterm.model import Task, TaskState, Turn
from qterm.services import Services, StartState
from qterm.tui.desk.outgoing import Outgoing
from qterm.tui.look import Look
from qterm.tui.news import News
from qterm.tui.requests import Requests
from qterm.tui.widgets.progress import Progress
from qterm.tui.words.task_order import in_place, sorted_anew


@dataclass(slots=True)
class NoticeList:
    """Sentences until they are dismissed, and all of them; `watchers` are called on a change."""

    waiting: list[str] = field(default_factory=list)
    all: list[str] = field(default_factory=list)
    watchers: list[Callable[[], None]] = field(default_factory=list)

    def add(self, sentence: str) -> None:
        """Show a sentence; the same one is not shown twice at once."""
        if sentence not in self.waiting:
            self.waiting.append(sentence)
            self.all.append(sentence)
            self._tell()

    def dismiss(self) -> None:
        """Put the oldest one away."""
        del self.waiting[:1]
        self._tell()

    def _tell(self) -> None:
        for watcher in self.watchers:
            watcher()


@dataclass(slots=True)
class Common:
    """`state` is what the start found of hermes, `version` which one it is.

    `task_look` is the look of a task's thread, in which only two speak. `requests` are those that
    stand, `standing` is which transport the next turn takes; `told_of_deny`: it was said that
    `ask` acts as `deny`; `searched`: the words of the last search;
    `memory_percent`: how full MEMORY.md is, once that is known, `memory_unsaved`: there
    are edits of it that are not saved.
    """

    services: Services
    look: Look
    task_look: Look
    state: StartState
    version: str = ""
    tasks: Sequence[Task] = ()
    tasks_are_known: bool = False
    notices: NoticeList = field(default_factory=NoticeList)
    requests: Requests = field(init=False)
    standing: Standing | None = None
    told_of_deny: bool = False
    searched: str = ""
    memory_percent: int | None = None
    memory_unsaved: bool = False
    news: News = field(init=False)

    def __post_init__(self) -> None:
        self.news = News(self.task)
        self.requests = Requests(self.services.conversation.clock)

    def task(self, task_id: str | None) -> Task | None:
        """The task with this id, as it was last read."""
        return next((task for task in self.tasks if task.id == task_id), None)

    def take(self, tasks: Sequence[Task], *, stay: bool = False) -> None:
        """Take the tasks as they were read; `stay`: nothing moves in the list."""
        self.tasks = in_place(self.tasks, tasks) if stay else sorted_anew(tasks)
        self.tasks_are_known = True

    def sort(self) -> None:
        """Put the tasks into their order anew, since somebody comes to the list."""
        self.tasks = sorted_anew(self.tasks)

    def put(self, task: Task) -> None:
        """Take a task as it is now, until all are read anew."""
        rest = [each for each in self.tasks if each.id != task.id]
        self.tasks = in_place(self.tasks, [*rest, task])

    def is_at_work(self, task: Task) -> bool:
        """Whether this qterm has a turn under way in a task."""
        return self.services.conversation.is_at_work(task.id)

    def is_new(self, task: Task) -> bool:
        """Whether something has ended in a task that was not on the screen yet."""
        return task.is_unread and not self.is_at_work(task)

    def asks_in(self, task_id: str | None) -> bool:
        """Whether hermes waits for an answer in a thread."""
        return bool(self.requests.of(task_id))

    def open_count(self) -> int:
        """How many tasks are open."""
        return sum(task.state is TaskState.OPEN for task in self.tasks)

    def new_count(self) -> int:
        """In how many tasks there is something new."""
        return sum(self.is_new(task) for task in self.tasks)


@dataclass(slots=True)
class OpenThread:
    """A thread that is or was on a screen, with what is not in the store.

    `draft` is what was in the editor when the thread left the screen, `seen` the newest turn that
    was on it. `is_changing` while its task is being ended or reopened. `goal` is a turn that is to
    be looked at, until it is on the screen.
    """

    task_id: str | None
    progress: Progress
    outgoing: Outgoing = field(default_factory=Outgoing)
    draft: str = ""
    draft_is_known: bool = False
    page_is_read: bool = False
    seen: int = 0
    is_changing: bool = False
    goal: Turn | None = None
