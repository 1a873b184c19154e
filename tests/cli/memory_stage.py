"""A hermes home with a memory in it, for the tests of `qterm memory`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.cases import DATA

CASES = DATA / "memory"
ROOT = Path(__file__).parents[2]
FIRST_RUN = json.loads((CASES / "first-run.json").read_text())


def put(home: Path, *entries: str, store: str = "MEMORY") -> Path:
    path = home / "memories" / f"{store}.md"
    path.write_bytes("\n§\n".join(entries).encode())
    return path


def entries(path: Path) -> list[str]:
    return path.read_text().split("\n§\n")


TAGGED = (CASES / "first-run-tagged.md").read_bytes()


def state(home: Path) -> dict[str, Any]:
    """Bytes, times, modes and names of everything in a folder."""
    found: dict[str, Any] = {}
    for path in [home, *sorted(home.rglob("*"))]:
        about = path.lstat()
        data = path.read_bytes() if path.is_file() else None
        names = sorted(each.name for each in path.iterdir()) if path.is_dir() else None
        found[str(path)] = (about.st_mtime_ns, about.st_ctime_ns, about.st_mode, data, names)
    return found
