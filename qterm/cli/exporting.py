"""The feed as Markdown or JSON lines, a chunk at a time."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

import msgspec

from qterm.cli import show
from qterm.cli.run import labels

if TYPE_CHECKING:
    from qterm.services import Services


async def export_lines(services: Services, form: str, task_id: str | None) -> AsyncIterator[str]:
    """A thread (None: the home feed), oldest first; each piece ends with a newline."""
    names, day, run = labels(services), "", 0
    async for turns in services.feed.export(task_id):
        for turn in turns:
            if form == "jsonl":
                yield msgspec.json.encode(show.turn_json(turn, names)).decode() + "\n"
                continue
            if turn.run > run:
                run = turn.run
                yield f"# Run {run}\n\n"
            if (line := show.day_line(turn)) != day:
                day = line
                yield f"# {day}\n\n"
            note = f" *({turn.state.value})*" if turn.state.value != "sent" else ""
            label = names.get(turn.persona, turn.persona)
            yield f"**{label}** {turn.created_at.astimezone():%H:%M}{note}\n\n{turn.text}\n\n"
