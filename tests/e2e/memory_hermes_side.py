"""hermes's side of test_memory_together: runs in hermes's own Python, without qterm.

Makes so many edits of MEMORY.md with the real `MemoryStore`, never more than a few ahead of qterm
(which sends a line for each of its own): unhindered, hermes is so quick that the two would hardly
meet. Then says when each edit was made, and what has to be left of its entries.
"""

from __future__ import annotations

import json
import sys
import time

from tools.memory_tool import MemoryStore  # type: ignore

AHEAD = 4


def main(edits: int) -> None:
    store = MemoryStore(memory_char_limit=10_000_000)
    store.load_from_disk()
    print("ready", flush=True)
    sys.stdin.readline()
    mine: list[str] = []
    times: list[float] = []
    faults: list[object] = []
    for number in range(edits):
        if number >= AHEAD:
            sys.stdin.readline()
        if number % 5 in {1, 3}:
            old, new = mine[-1], f"{mine[-1]} changed {number}"
            done = store.replace("memory", old, new)
            mine[-1] = new
        elif number % 5 == 4:
            done = store.remove("memory", mine[-2])
            del mine[-2]
        else:
            text = f"hermes keeps <{number:04}> in mind\nover two lines"
            done = store.add("memory", text)
            mine.append(text)
        times.append(time.monotonic())
        if not done.get("success"):
            faults.append(done)
            break
    print(json.dumps({"mine": mine, "times": times, "faults": faults}), flush=True)
    for _ in range(AHEAD + 1):
        sys.stdin.readline()
    old = mine[0]
    print(json.dumps(store.replace("memory", old, "hermes had the last word")), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]))
