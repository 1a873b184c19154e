"""`python -m bench [start] [feed] [memory] [turn] [live] [screen] [pane] [open]`: all for none."""

from __future__ import annotations

import asyncio
import sys
import tempfile
from pathlib import Path

from bench import feed, live, memory, opening, pane, screen, start, turn
from bench.ratio import Ratio
from qterm.private import private_folder

LINES = (
    ("0.19", Path(sys.executable).with_name("hermes")),
    ("0.22", Path(__file__).parents[1] / ".venv-newer" / "bin" / "hermes"),
)


async def main(wanted: set[str]) -> int:
    """Measure; returns 1 when a ratio is over its aim."""
    found: list[Ratio] = []
    with tempfile.TemporaryDirectory(prefix="qterm-bench-") as name:
        folder = Path(name)
        if "start" in wanted:
            found += await start.ratios()
        if "feed" in wanted:
            found += await feed.ratios(folder)
        if "memory" in wanted:
            found += await memory.ratios(folder)
        if "turn" in wanted:
            for line, hermes in LINES:
                found += await turn.ratios(folder / line, hermes, line)
        if "live" in wanted:
            for line, hermes in LINES:
                found += await live.ratios(folder / f"live-{line}", hermes, line)
        if "screen" in wanted:
            found += await screen.ratios(folder / "screen")
        if "pane" in wanted:
            found += await pane.ratios(private_folder(folder / "pane"))
        if "open" in wanted:
            found += await opening.ratios(private_folder(folder / "open"))
    for ratio in found:
        print(ratio)
    return int(any(ratio.value > ratio.aim for ratio in found))


if __name__ == "__main__":
    everything = {"start", "feed", "memory", "turn", "live", "screen", "pane", "open"}
    sys.exit(asyncio.run(main(set(sys.argv[1:]) or everything)))
