"""The inputs that must work, as data: one place to read them from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

DATA = Path(__file__).parent / "data"


def cases(name: str) -> list[dict[str, Any]]:
    """The cases of a file in tests/data."""
    loaded: list[dict[str, Any]] = json.loads((DATA / name).read_text("utf-8"))["cases"]
    return loaded


def ids(case: dict[str, Any]) -> str:
    """A case's name, for pytest."""
    return str(case["id"])
