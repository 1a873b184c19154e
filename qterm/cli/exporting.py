"""The feed as Markdown or JSON lines, a chunk at a time."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

import msgspec

from qterm.cli import show
from qterm.cli.run import labels
from qterm.exporting import markdown

if TYPE_CHECKING:
    from qterm.services import Services


async def export_lines(services: Services, form: str, task_id: str | None) -> AsyncIterator[str]:
    """A thread (None: the home feed), oldest first; each piece ends with a newline."""
    names = labels(services)
    if form == "md":
        async for text in markdown(services.feed, task_id, names):
            yield text
        return
    async for turns in services.feed.export(task_id):
        for turn in turns:
            yield msgspec.json.encode(show.turn_json(turn, names)).decode() + "\n"
