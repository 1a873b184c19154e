"""Reading and planning 50,000 entries against hermes's own reading of the same file."""

from __future__ import annotations

import importlib
from datetime import UTC, datetime
from pathlib import Path

from bench.ratio import Ratio, measure
from qterm.memory.archive import Archive
from qterm.memory.book import MemoryBook
from qterm.memory.entries import serialise
from qterm.settings.schema import MemorySettings


def filled(path: Path, entries: int) -> Path:
    """A file with so many entries, two in three tagged: 50,000 make 9 MB."""
    tags = ("[P1] ", "[P2] ", "[P3] ", "", "[P2] ", "")
    path.write_text(
        serialise(
            [
                f"{tags[number % 6]}Build {number} of the importer: {number * 7919 % 100003} rows, "
                "see the runbook." + " It ran at night and nobody was called." * 3
                for number in range(entries)
            ]
        ),
        encoding="utf-8",
    )
    return path


async def ratios(folder: Path, *, entries: int = 50_000, runs: int = 30) -> list[Ratio]:
    """The ratios; `folder` is a scratch folder."""
    store = importlib.import_module("tools.memory_tool").MemoryStore  # hermes-agent's own

    path = folder / "memories" / "MEMORY.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    filled(path, entries)
    archive = Archive(folder / "archive")
    book = MemoryBook(folder, archive, MemorySettings(), now=lambda: datetime.now(UTC))

    async def hermes() -> None:
        assert len(store._read_file(path)) == entries

    async def read_and_plan() -> None:
        assert len(book.preview("tags").proposal.decisions) == entries

    async def saved_form() -> None:
        assert len(book.preview("tags").plan.entries) == entries

    against = f"{entries:,} entries : hermes reads them"
    return [
        await measure(f"read and plan {against}", 4.0, read_and_plan, hermes, runs=runs),
        await measure(
            f"the same, in the saved form, {against}", 5.0, saved_form, hermes, runs=runs
        ),
    ]
