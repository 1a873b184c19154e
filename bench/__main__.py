"""`python -m bench [PART …]`: all of them for none; the parts are the names in `PARTS`."""

from __future__ import annotations

import asyncio
import sys
import tempfile
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

from bench import feed, hook, live, memory, opening, pane, screen, start, turn
from bench.ratio import Ratio
from qterm.private import private_folder

LINES = (
    ("0.19", Path(sys.executable).with_name("hermes")),
    ("0.22", Path(__file__).parents[1] / ".venv-newer" / "bin" / "hermes"),
)


async def _lines(
    part: Callable[[Path, Path, str], Awaitable[list[Ratio]]], folder: Path
) -> list[Ratio]:
    found: list[Ratio] = []
    for line, hermes in LINES:
        found += await part(folder / line, hermes, line)
    return found


PARTS: dict[str, Callable[[Path], Awaitable[list[Ratio]]]] = {
    "start": lambda _folder: start.ratios(),
    "feed": feed.ratios,
    "memory": memory.ratios,
    "turn": partial(_lines, turn.ratios),
    "live": partial(_lines, live.ratios),
    "screen": screen.ratios,
    "pane": pane.ratios,
    "open": opening.ratios,
    "hook": partial(_lines, hook.ratios),
}


async def main(wanted: set[str]) -> int:
    """Measure; returns 1 when a ratio is over its aim."""
    found: list[Ratio] = []
    with tempfile.TemporaryDirectory(prefix="qterm-bench-") as name:
        for part, ratios in PARTS.items():
            if part in wanted:
                found += await ratios(private_folder(Path(name) / part))
    for ratio in found:
        print(ratio)
    return int(any(ratio.value > ratio.aim for ratio in found))


if __name__ == "__main__":
    sys.exit(asyncio.run(main(set(sys.argv[1:]) or set(PARTS))))
