"""A stage with a hermes home whose memory a test writes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec

from qterm.memory.entries import serialise
from qterm.memory.stores import StoreName
from qterm.settings.schema import Settings
from qterm.tui.memory.pane import MemoryScreen
from tests.tui.stage import Stage, stage


def hermes_home(folder: Path) -> Path:
    """The hermes home of a stage on this folder."""
    return folder / "hermes"


def write_store(
    folder: Path, entries: Sequence[str] | bytes, store: StoreName = StoreName.MEMORY
) -> Path:
    """Write a memory file, as hermes would; bytes are written as they are."""
    path = hermes_home(folder) / "memories" / store.file_name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(entries if isinstance(entries, bytes) else serialise(entries).encode())
    return path


@asynccontextmanager
async def memory_stage(
    folder: Path,
    stores: Mapping[StoreName, Sequence[str] | bytes],
    *,
    settings: Settings | None = None,
    **more: Any,
) -> AsyncIterator[Stage]:
    """A stage on a hermes home with these files."""
    for store, entries in stores.items():
        write_store(folder, entries, store)
    hermes_home(folder).mkdir(exist_ok=True)
    settings = settings or Settings()
    memory = msgspec.structs.replace(settings.memory, home=str(hermes_home(folder)))
    settings = msgspec.structs.replace(settings, memory=memory)
    async with stage(folder, settings=settings, **more) as on:
        yield on


def pane(on: Stage) -> MemoryScreen:
    """The memory screen."""
    assert on.app.memory is not None
    return on.app.memory
