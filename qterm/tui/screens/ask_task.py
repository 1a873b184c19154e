"""Questions about a task that are answered with words: title and folder, another title."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, Static

from qterm.tui.content import plain
from qterm.tui.screens.ask import Words

LOOK_SECONDS = 3.0
"""The longest that a look at a folder may take."""

FAR_HOME = "~"
"""The user's home on another machine."""


@dataclass(frozen=True, slots=True)
class NewTask:
    """A task to begin; `folder` is there, and absolute."""

    title: str
    folder: str


class AskTask(Words):
    """A new task's title and folder; dismissed with a NewTask, or with None.

    `is_far`: hermes is on another machine, so the folder is one there and can't be looked at.
    """

    def __init__(self, folder: str, *, is_far: bool = False) -> None:
        super().__init__()
        self._folder = FAR_HOME if is_far else folder
        self._is_far = is_far

    def compose(self) -> ComposeResult:
        """Two lines."""
        with Vertical(classes="dialog"):
            yield Static(Content("What is the task?"), markup=False, classes="dialog--text")
            yield self.line("", hint="Ship the importer", name="title")
            yield Static(Content("The folder Q works in"), markup=False, classes="dialog--text")
            yield self.line(self._folder, hint="/home/alex/importer", name="folder")
            yield Static(Content(""), markup=False, id="dialog--wrong")
            yield Static(
                Content("enter begins it · tab goes to the other line · esc leaves"),
                markup=False,
                classes="dialog--hint",
            )

    async def on_input_submitted(self) -> None:
        """Enter begins it, if there is a title and the folder is there."""
        title = self.said("title")
        if not title:
            self._wrong("A task needs a title: say in a few words what it is about.", "title")
            return
        folder = self.said("folder")
        fault = _far_fault(folder) if self._is_far else await _fault(folder)
        if fault:
            self._wrong(fault, "folder")
            return
        self.dismiss(NewTask(title, folder if self._is_far else _absolute(folder)))

    def _wrong(self, sentence: str, name: str) -> None:
        self.query_one("#dialog--wrong", Static).update(plain(sentence))
        self.query_one(f"#{name}", Input).focus()


def _far_fault(folder: str) -> str:
    """What is wrong with a folder of another machine, as far as that can be seen from here."""
    if folder == FAR_HOME or folder.startswith(("/", "~/")):
        return ""
    return "The folder is one on hermes's machine: begin it with / or ~/."


def _absolute(folder: str) -> str:
    return str(Path(folder).expanduser().absolute())


async def _fault(folder: str) -> str:
    """What is wrong with a folder, in one sentence; empty where nothing is."""
    if not folder:
        return "Q needs a folder to work in: name one."
    try:
        async with asyncio.timeout(LOOK_SECONDS):
            there = await asyncio.to_thread(lambda: Path(folder).expanduser().is_dir())
    except TimeoutError:
        return f"“{folder}” does not answer: name another folder."
    except (OSError, ValueError, RuntimeError):  # too long a name, a NUL, no such user's home
        there = False
    return "" if there else f"“{folder}” is no folder here: name one that is there."


class AskTitle(Words):
    """Another title for a task; dismissed with it, or with None."""

    def __init__(self, title: str) -> None:
        super().__init__()
        self._before = title

    def compose(self) -> ComposeResult:
        """One line."""
        with Vertical(classes="dialog"):
            yield Static(
                Content("What should the task be called?"), markup=False, classes="dialog--text"
            )
            yield self.line(self._before, hint="Ship the importer", name="title")
            yield Static(
                Content("enter renames it · esc leaves"), markup=False, classes="dialog--hint"
            )

    def on_input_submitted(self) -> None:
        """Enter renames it."""
        self.dismiss(self.said("title") or None)
