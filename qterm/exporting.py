"""A thread as Markdown, and as a file that only the operator can read: for both faces."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import ExitStack
from pathlib import Path

from qterm.feed.source import FeedSource
from qterm.model import Turn, TurnState
from qterm.private import private_file


def day_line(turn: Turn) -> str:
    """The day on which a turn was said, in local time."""
    return f"{turn.created_at.astimezone():%A %d %B %Y}"


async def markdown(
    feed: FeedSource, task_id: str | None, labels: Mapping[str, str]
) -> AsyncIterator[str]:
    """A thread (None: the home feed), oldest first, a chunk of it at a time. Raises FeedError.

    `labels` are the personas' by key. The words are as they were said: nothing is left out.
    """
    day, run = "", 0
    async for turns in feed.export(task_id):
        parts = []
        for turn in turns:
            if turn.run > run:
                run = turn.run
                parts.append(f"# Run {run}\n\n")
            if (line := day_line(turn)) != day:
                day = line
                parts.append(f"# {day}\n\n")
            note = "" if turn.state is TurnState.SENT else f" *({turn.state.value})*"
            label = labels.get(turn.persona, turn.persona)
            time = f"{turn.created_at.astimezone():%H:%M}"
            parts.append(f"**{label}** {time}{note}\n\n{turn.text}\n\n")
        yield "".join(parts)


async def write_text(path: Path, pieces: AsyncIterator[str], *, fresh: bool) -> int:
    """Write pieces into a private file (0600), which is there whole or not at all.

    Returns its bytes. `fresh`: raises FileExistsError where there is a file already. Raises
    OSError, and what the pieces raise. Nothing waits for the disk but the caller.
    """
    size = 0
    with ExitStack() as stack:
        file = await asyncio.to_thread(stack.enter_context, private_file(path, fresh=fresh))
        async for piece in pieces:
            data = piece.encode("utf-8", "replace")
            await asyncio.to_thread(file.write, data)
            size += len(data)
        await asyncio.to_thread(stack.close)
    return size
