"""Which tasks the list shows, and in which order (pure)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from qterm.model import Task, TaskState


class Part(StrEnum):
    """Which tasks are wanted, by their state."""

    ALL = "all"
    OPEN = "open"
    OVER = "over"

    @property
    def next(self) -> Part:
        """The one that comes after it, round and round."""
        parts = list(Part)
        return parts[(parts.index(self) + 1) % len(parts)]


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the list is narrowed to: every one of the words, in title or last word, and a state."""

    words: str = ""
    part: Part = Part.ALL

    def __bool__(self) -> bool:
        """Whether it narrows anything."""
        return bool(self.words.strip()) or self.part is not Part.ALL

    def choose(self, tasks: Sequence[Task]) -> Sequence[Task]:
        """The tasks that are wanted, in their order."""
        if not self:
            return tasks
        words = self.words.casefold().split()
        return [task for task in tasks if self._wants(task, words)]

    def _wants(self, task: Task, words: Iterable[str]) -> bool:
        if self.part is not Part.ALL and is_over(task) is not (self.part is Part.OVER):
            return False
        said = f"{task.title}\n{task.last.text if task.last else ''}".casefold()
        return all(word in said for word in words)


def is_over(task: Task) -> bool:
    """Whether a task is done or cancelled."""
    return task.state is not TaskState.OPEN


def sorted_anew(tasks: Iterable[Task]) -> list[Task]:
    """The open ones first, of these the ones that wait for their first words; then the newest."""
    return sorted(tasks, key=_place)


def _place(task: Task) -> tuple[bool, bool, int, float]:
    over = is_over(task)
    return over, over or bool(task.newest), -task.newest, -task.created_at.timestamp()


def in_place(before: Sequence[Task], tasks: Iterable[Task]) -> list[Task]:
    """The tasks as they are now, each where it was: nothing moves below the operator's hands.

    Only what is new, was ended or reopened goes to the top of its part.
    """
    places = {task.id: (is_over(task), index) for index, task in enumerate(before)}

    def place(task: Task) -> tuple[bool, int]:
        over, index = places.get(task.id, (None, -1))
        return is_over(task), index if over is is_over(task) else -1

    return sorted(sorted_anew(tasks), key=place)
