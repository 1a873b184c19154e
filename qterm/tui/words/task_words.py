"""A task in words: its line in the list, its head above the thread, what can be said in it."""

from __future__ import annotations

import os
from collections.abc import Sequence

from rich.cells import cell_len
from textual.content import Content

from qterm.model import TURNS_CAP, Task, TaskState
from qterm.safe_text import safe_line
from qterm.tui.content import cut_cells, one_line
from qterm.tui.widgets.steps import ThreadWork
from qterm.tui.words.step_words import plan_words, usage_words

_DIM = "$foreground-muted"
_MARKS = {
    TaskState.OPEN: ("●", "$text-success"),
    TaskState.DONE: ("✓", _DIM),
    TaskState.CANCELLED: ("✗", _DIM),
}


LEAST_WORDS = 8
"""A last word is shown from so many cells on."""


def list_line(
    task: Task,
    width: int,
    *,
    who: str = "",
    when: str = "",
    at_work: bool = False,
    is_new: bool = False,
    asks: bool = False,
) -> Content:
    """Two lines, cut to `width` cells: mark, title and when; then what is going on, the last word.

    `who` said the last word, `when` it was.
    """
    mark, style = _MARKS[task.state]
    if at_work:
        style = "$text-warning"
    is_new = is_new or asks
    open_style = "bold" if is_new else "" if task.state is TaskState.OPEN else _DIM
    title = one_line(task.title, max(width - 3 - cell_len(when), 4), open_style)
    gap = max(width - 2 - title.cell_length - cell_len(when), 1)
    news = "Q asks you" if asks else "Q is at work" if at_work else "new" if is_new else ""
    below = [one_line(news, None, "bold $text-warning" if is_new else _DIM)] if news else []
    if task.state is not TaskState.OPEN:
        below.append(Content.styled(task.state.value, _DIM))
    if task.run > 1:
        below.append(Content.styled(f"run {task.run}", _DIM))
    left = width - 2 - sum(part.cell_length + 3 for part in below)
    if left >= LEAST_WORDS or not below:
        below.append(_last_word(task, who, max(left, 4)))
    return Content.assemble(
        Content.styled(f"{mark} ", style),
        title,
        " " * gap,
        Content.styled(when, _DIM),
        "\n  ",
        _joined(below).truncate(max(width - 2, 4), ellipsis=True),
    )


def _last_word(task: Task, who: str, width: int) -> Content:
    if task.last is None:
        return one_line("nothing said yet", width, _DIM)
    lines = (line for line in task.last.text.splitlines() if line.strip())
    return one_line(f"{who}: {next(lines, '')}", width, _DIM)


def _turns(task: Task) -> str:
    if not task.turns:
        return "no turns yet"
    if task.turns >= TURNS_CAP:
        return f"{TURNS_CAP:,} turns or more"
    return "1 turn" if task.turns == 1 else f"{task.turns:,} turns"


def head(task: Task, width: int, live: Sequence[Content] = ()) -> Content:
    """Two lines of `width` cells: title and folder, then `live` (plan, usage, mode), session, run
    and turns."""
    mark, style = _MARKS[task.state]
    is_open = task.state is TaskState.OPEN
    title = one_line(task.title, max(width * 3 // 5, 12), "bold")
    first = [Content.styled(f"{mark} ", style), title]
    if not is_open:
        first.append(Content.styled(f"  {task.state.value}", "$text-warning"))
    left = width - sum(part.cell_length for part in first) - 2
    if left > 5:
        first.append(Content.styled(f"  {folder_words(task.cwd, left)}", _DIM))
    facts = [session_words(task), f"run {task.run}", _turns(task)]
    second = [*live, *(one_line(fact, None, _DIM) for fact in facts)]
    while len(second) > max(len(live), 1) and _joined(second).cell_length > width and live:
        second.pop()  # half of a session's name helps nobody
    return Content.assemble(*first, "\n", _joined(second).truncate(width, ellipsis=True))


def _joined(parts: Sequence[Content]) -> Content:
    return Content.styled(" · ", _DIM).join(parts)


def live_words(work: ThreadWork | None, width: int) -> list[Content]:
    """How the session stands: the plan in short, how full it is, a mode that is not the usual."""
    if work is None:
        return []
    parts = []
    if (plan := plan_words(work.plan, width)) is not None:
        parts.append(plan)
    if usage := usage_words(work.usage):
        parts.append(Content.styled(usage, _DIM))
    if mode := work.mode_name():
        parts.append(one_line(f"mode: {mode}", 24, "$text-warning"))
    return parts


def session_words(task: Task) -> str:
    """The session by its name, with the end of its id; or that there is none yet."""
    bound = task.session
    if bound is None:
        ended = task.state is not TaskState.OPEN
        return "no session" if ended else "session: begins with your first message"
    end = bound.id if len(bound.id) <= 8 else f"…{bound.id[-6:]}"
    return f"session {bound.name or 'not named yet'} ({end})"


def folder_words(folder: str, width: int) -> str:
    """A folder, `~` for the home folder; too long a one keeps its end."""
    line = safe_line(folder)
    own = os.path.expanduser("~")  # noqa: PTH111 - never raises
    if line == own or line.startswith(f"{own}/"):
        line = f"~{line[len(own) :]}"
    if cell_len(line) <= width:
        return line
    backwards = cut_cells(line[::-1], max(width - 1, 1))  # at worst a grapheme is split at its edge
    return f"…{backwards[::-1]}"


def read_only_words(task: Task, key: str) -> str:
    """Why nothing can be written in a task that is over, and how to go on; one short line."""
    return f"{task.state.value.capitalize()}: read only. {key} reopens it."


FIRST_WORDS = (
    "Nothing has been said in this task yet.\n\n"
    "Your first message begins a session of its own, and Q remembers all of it until the task "
    "ends. Nothing else is sent along: the home feed, the facts and the mode are not told here."
)
"""What stands in a task's thread in which nothing has been said."""


def no_tasks_words(key: str) -> str:
    """What stands where there are no tasks."""
    return (
        f"There are no tasks yet: {key} begins one.\n\n"
        "A task is a thread of its own, with a folder, in which Q remembers everything until you "
        "finish or cancel it."
    )
