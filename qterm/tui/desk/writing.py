"""What the editor of a thread wants done beside it: earlier messages, the operator's own editor."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager

from textual.message import Message

from qterm.feed.source import FeedError, FeedSource
from qterm.model import Turn
from qterm.tui.desk import messages

RECALL_SECONDS = 2.0
"""The longest that the editor waits for an earlier message."""

_SLOW = "The store is busy, so your earlier messages can't be read yet: press the key again."

Lend = Callable[[], AbstractContextManager[None]]
"""Gives the terminal to another program for as long as it lasts."""

Post = Callable[[Message], object]


async def own_message(
    feed: FeedSource, post: Post, task_id: str | None, before: int | None, after: int | None
) -> Turn | None:
    """The operator's message next to a turn; None where there is none, or none can be read.

    Waited for by the editor, whose keys stay in order so: never for long.
    """
    try:
        async with asyncio.timeout(RECALL_SECONDS):
            return await feed.own_message(task_id, before=before, after=after)
    except FeedError as error:
        post(messages.Trouble(str(error)))
    except TimeoutError:
        post(messages.Trouble(_SLOW))
    return None


async def edit(
    environ: Mapping[str, str], post: Post, task_id: str | None, text: str, lend: Lend
) -> None:
    """Have the operator edit a text in their own editor; an `Edited` tells what became of it."""
    from qterm.tui.terminal.own_editor import EditorError, edit_text

    try:
        new = await edit_text(text, environ, lend)
    except EditorError as error:
        post(messages.Edited(task_id, None, sentence=str(error), failed=True))
        return
    said = "" if new is not None else "Nothing was changed in your editor."
    post(messages.Edited(task_id, new, text, said))
