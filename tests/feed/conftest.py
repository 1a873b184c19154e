from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from qterm.feed.store import Store
from tests.feed.helpers import open_in


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    async with await open_in(tmp_path / "data") as opened:
        yield opened
