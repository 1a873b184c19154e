"""What the tests of the screens share."""

from __future__ import annotations

import pytest


@pytest.fixture
def calm(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same ids each time, and nothing in the environment that changes how it looks."""
    ids = iter(f"7f3kq2m{letter}" for letter in "abcdefghijklmnop")
    monkeypatch.setattr("qterm.feed.tasks.new_id", lambda: next(ids))
    for name in ("NO_COLOR", "TEXTUAL_THEME", "COLORTERM"):
        monkeypatch.delenv(name, raising=False)
