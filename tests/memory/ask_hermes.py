"""Run by a hermes's own Python: what its memory store makes of files; JSON on the output.

`ask_hermes.py read FOLDER`: the entries of each file, null where it can't be read.
`ask_hermes.py change FOLDER`: whether it replaces an entry of each file, put into HERMES_HOME.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from pathlib import Path
from typing import Any


def read(store: Any, path: Path) -> list[str] | None:
    try:
        return list(store._read_file(path))
    except UnicodeDecodeError:  # 0.19 lets it through
        return None


def can_change(store: Any, path: Path) -> bool:
    memories = Path(os.environ["HERMES_HOME"]) / "memories"
    memories.mkdir(parents=True, exist_ok=True)
    (memories / "MEMORY.md").write_bytes(path.read_bytes())
    try:
        entries = store._read_file(path)
        answer = store().replace("memory", entries[0], "something else")
    except (UnicodeDecodeError, IndexError):
        return False
    return bool(answer["success"])


def main(what: str, folder: Path) -> None:
    store = importlib.import_module("tools.memory_tool").MemoryStore
    work = {"read": read, "change": can_change}[what]
    print(json.dumps({path.name: work(store, path) for path in sorted(folder.iterdir())}))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
