"""Reading and planning 50,000 entries against hermes's own reading of the same file."""

from __future__ import annotations

import hashlib
import importlib
from datetime import date
from pathlib import Path

from bench.ratio import Ratio, measure
from qterm.memory.entries import decode, faults, parse, serialise
from qterm.memory.policies.registry import propose
from qterm.memory.stores import Document, StoreName
from qterm.settings.schema import MemorySettings

TODAY = date(2026, 11, 30)


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

    path = filled(folder / "MEMORY.md", entries)
    settings = MemorySettings()

    async def hermes() -> None:
        assert len(store._read_file(path)) == entries

    async def read_and_plan() -> None:
        data = path.read_bytes()
        hashlib.sha256(data).hexdigest()
        text = decode(data)
        found = parse(text)
        assert not faults(text, found, 2_200)
        proposal = propose("tags", [Document(StoreName.MEMORY, found, 2_200)], settings, TODAY)
        assert len(proposal.decisions) == entries

    name = f"read and plan {entries:,} entries : hermes reads them"
    return [await measure(name, 4.0, read_and_plan, hermes, runs=runs)]
