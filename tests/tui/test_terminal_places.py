"""Every odd text in every place, on a real terminal: what a person sees there, and nothing raw.

One process shows them all; another one (this) puts them into the feed, as `qterm post` would.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.cells import cell_len

from qterm.feed.source import NewTurn, TurnChange
from qterm.feed.store import Store, open_store
from qterm.model import TurnState
from qterm.safe_text import safe_line
from tests.cases import cases
from tests.tui.terminal import Terminal
from tests.tui.test_terminal import clean, scene

CASES = cases("text.json")
PANE = 77
"""The column of the side pane's border, at 120 columns."""
LIST = 33
"""The column of the border of the tasks' list."""


def squeezed(text: str) -> str:
    return "".join(text.split())


class Seen:
    """What stands in a part of the screen, from a column to another one."""

    def __init__(self, terminal: Terminal, first: int = 0, last: int = 200) -> None:
        self._terminal, self._first, self._last = terminal, first, last

    def __call__(self) -> str:
        return squeezed(self._terminal.part(self._first, self._last))

    def has(self, words: str) -> None:
        wanted = squeezed(words)
        self._terminal.until(lambda: wanted in self())


async def the_store(folder: Path) -> Store:
    return await open_store(folder / "data" / "feed.db", locks_dir=folder / "data" / "locks")


def visible(number: int) -> str | None:
    """What a person sees of a case; None where nobody says, or where it fills the screen."""
    case = CASES[number]
    words = case.get("visible")
    if words is None or len(case["text"]) > 200:
        return None
    if "\0" in case["text"]:
        return "a\ufffdbcd"  # as the feed stores it
    return str(words).partition("\u200d")[0]  # where pyte stops drawing


@pytest.mark.parametrize("where", ["home", "tasks"])
async def test_each_text_is_what_it_should_be_wherever_it_stands(
    tmp_path: Path, where: str
) -> None:
    with scene(tmp_path, "stepped") as terminal:
        terminal.shows("Write to Q")
        store = await the_store(tmp_path)
        try:
            await (at_home if where == "home" else in_tasks)(terminal, store)
        finally:
            await store.close()
        everywhere(terminal)
        terminal.type("\x11")
        assert terminal.ended() == 0
        clean(terminal)


async def at_home(terminal: Terminal, store: Store) -> None:
    """A message, a persona's label, a reply, an error, a fact, the mode."""
    feed, pane = Seen(terminal, 0, PANE - 2), Seen(terminal, PANE + 1, 119)  # no scroll bars
    for number, case in enumerate(CASES):
        text = case["text"]
        for fact in await store.facts():
            await store.remove_fact(fact.id)
        await store.add_fact(f"f{number}:{text}")
        await store.set_mode(f"o{number}:{text}")
        asked = await store.append(
            NewTurn(None, f"p{number}", f"m{number}:{text}:m", TurnState.SENT)
        )
        await store.append(
            NewTurn(None, "q", f"r{number}:\n\n{text}\n\n:r", TurnState.SENT, reply_to=asked.id)
        )
        failed = await store.append(NewTurn(None, "you", f"y{number}", TurnState.FAILED))
        await store.update(failed.id, TurnChange(reason=f"e{number}:{text}:e", detail=text))
        pane.has(f"o{number}:")
        if (words := visible(number)) is None:
            continue
        for letter in "mre":
            feed.has(f"{letter}{number}:{words}")
        pane.has(f"o{number}:{safe_line(words)}")
        pane.has(f"f{number}:{safe_line(words)}")
        label = words.replace("\ufffd", "")
        if cell_len(label) <= 12:
            feed.has(f"{label}m{number}:")

    # back through all of it, loaded again
    def further_up() -> bool:
        terminal.type("\x1b[5~")
        return "m0:" in feed()

    terminal.until(further_up)


async def in_tasks(terminal: Terminal, store: Store) -> None:
    """A task's title in the list and above the thread, its last word, its reply."""
    rows, thread = Seen(terminal, 0, LIST), Seen(terminal, LIST + 1, 119)
    task = await store.add_task("the task", "/srv")
    await store.add_task("beside it", "/srv")
    terminal.type("\x1bOR")  # f3
    terminal.shows("beside it")
    terminal.type("\x1b[1;3B")  # alt+down
    terminal.until(lambda: "the task" in terminal.part(LIST + 1, 120).splitlines()[1])
    for number, case in enumerate(CASES):
        text = case["text"]
        await store.rename_task(task.id, f"t{number}:{text}")
        await store.append(NewTurn(task.id, "q", f"{text}", TurnState.SENT))
        await store.append(NewTurn(task.id, "qterm", f"n{number}:{text}:n", TurnState.SENT))
        rows.has(f"t{number}:")
        if (words := visible(number)) is None:
            continue
        thread.has(f"t{number}:{safe_line(words)}"[:40])
        thread.has(f"n{number}:{words}")
        if cell_len(words) <= 20:
            rows.has(f"t{number}:{safe_line(words)}")
            rows.has(f"Q:{safe_line(words)}")
    terminal.type("\t")
    terminal.shows("enter write")
    terminal.type("/")  # the filter
    for case in CASES:
        terminal.paste(case["text"])
        terminal.read(0.02)
    terminal.shows("0 of 2")
    terminal.type("\x1b")
    terminal.until(lambda: "of 2" not in terminal.text)


def everywhere(terminal: Terminal) -> None:
    """Hover and click all over the screen; tooltips and toasts come."""
    for row in range(2, 39, 3):
        for column in range(3, 120, 13):
            terminal.mouse(column, row)
            if (row + column) % 4 == 0:
                terminal.mouse(column, row, click=True)
            terminal.read(0.005)
    terminal.read(0.5)
    terminal.type("\x1b")
