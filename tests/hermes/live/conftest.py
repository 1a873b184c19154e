from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.hermes.fakes import pids_below
from tests.hermes.live.stage import Stage


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    """A stage to open a way on; afterwards nothing of it runs."""
    before = pids_below()
    made = Stage(tmp_path)
    yield made
    await made.close()
    assert pids_below() <= before
