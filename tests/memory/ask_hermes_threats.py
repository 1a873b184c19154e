"""Run by a hermes's own Python: what it keeps out of its prompt; JSON on the output.

`ask_hermes_threats.py patterns`: its patterns (`[pattern, name]`), characters and bound.
`ask_hermes_threats.py prompt`: for each text of the JSON list on the input, written as the only
entry of a MEMORY.md in HERMES_HOME and loaded, whether its snapshot for the prompt has it.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from pathlib import Path
from typing import Any


def patterns() -> dict[str, Any]:
    threats = importlib.import_module("tools.threat_patterns")
    return {
        "patterns": [[found.pattern, name] for found, name in threats._COMPILED["strict"]],
        "invisible": sorted(threats.INVISIBLE_CHARS),
        "scanned": threats.MAX_SCAN_CHARS,
    }


def in_prompt(texts: list[str]) -> list[bool]:
    """All at once, each an entry behind a first one, but for the first text, which leads."""
    path = Path(os.environ["HERMES_HOME"]) / "memories" / "MEMORY.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    store = importlib.import_module("tools.memory_tool").MemoryStore(memory_char_limit=10**9)
    found = []
    for text in texts:
        path.write_text(f"{text}\n§\nplain", encoding="utf-8")
        store.load_from_disk()
        snapshot = store._system_prompt_snapshot["memory"]
        found.append("contained threat pattern" not in snapshot)
    return found


if __name__ == "__main__":
    work = patterns if sys.argv[1] == "patterns" else lambda: in_prompt(json.load(sys.stdin))
    print(json.dumps(work()))
