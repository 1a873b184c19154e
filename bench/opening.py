"""From the command to a screen one can write on, each on a pseudo-terminal of its own."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from bench.feed import fill
from bench.ratio import Ratio
from qterm.private import private_folder
from tests.tui.terminal import Terminal

CONFIG = """model:
  default: mock-1
  provider: custom
  base_url: http://127.0.0.1:9/v1
  api_key: none
"""

EMPTY = """from textual.app import App
from textual.widgets import Static
class Empty(App):
    def compose(self):
        yield Static("An empty app.")
Empty().run()
"""


@dataclass(frozen=True, slots=True)
class Program:
    """What is started, with its environment, and the words that tell it can be used."""

    argv: Sequence[str]
    environ: dict[str, str]
    words: str

    def start(self) -> tuple[float, float]:
        """Seconds until its words are on the screen, and its resident memory then, in MB."""
        began = time.perf_counter()
        with Terminal(*self.argv, environ=self.environ, size=(120, 40)) as terminal:
            terminal.until(lambda: self.words in terminal.text, bound=60)
            seconds = time.perf_counter() - began
            process = psutil.Process(terminal.process.pid)
            size = process.memory_info().rss / 1e6
            for each in [*process.children(recursive=True), process]:
                with suppress(psutil.NoSuchProcess):
                    each.kill()
        return seconds, size


async def _qterm(folder: Path, turns: int) -> Program:
    """qterm with a feed of so many turns, on a home in which hermes has a model."""
    home, data = private_folder(folder / "home"), private_folder(folder / "data")
    private_folder(home / ".hermes")
    (home / ".hermes" / "config.yaml").write_text(CONFIG)
    await fill(data, turns)
    environ = {
        "HOME": str(home),
        "HERMES_HOME": "",
        "XDG_CONFIG_HOME": str(home / "config"),
        "XDG_CACHE_HOME": str(home / "cache"),
        "QTERM_DATA_DIR": str(data),
        "PYTHONDONTWRITEBYTECODE": "",
    }
    return Program(["-m", "qterm"], environ, f"Turn {turns}:")


async def _pairs(name: str, aim: float, a: Program, b: Program, runs: int) -> list[Ratio]:
    """The ratio of the times; then that of the sizes in memory."""
    times: tuple[list[float], list[float]] = ([], [])
    sizes: tuple[list[float], list[float]] = ([], [])
    for number in range(runs + 1):
        for side, program in enumerate((a, b)):
            seconds, size = await asyncio.to_thread(program.start)
            await asyncio.sleep(0.5)  # what it had started ends
            if number:
                times[side].append(seconds)
                sizes[side].append(size)
    return [Ratio(name, aim, *times), Ratio(f"{name}: memory", aim, *sizes, unit="MB")]


async def ratios(folder: Path, *, runs: int = 15) -> list[Ratio]:
    """The ratios; `folder` is a scratch folder."""
    few = await _qterm(folder / "few", 100)
    many = await _qterm(folder / "many", 1_000_000)
    script = folder / "empty.py"
    script.write_text(EMPTY)
    empty = Program([str(script)], few.environ, "An empty app.")
    hermes = Path(sys.executable).with_name("hermes")
    theirs = Program([str(hermes), "--tui"], few.environ, "─ ready │")
    first = "start to a usable screen"
    return [
        (await _pairs(f"{first} : an empty Textual app", 1.5, few, empty, runs))[0],
        (await _pairs(f"{first} : hermes --tui", 0.25, few, theirs, max(runs // 3, 3)))[0],
        *await _pairs(f"{first}, 1,000,000 turns : 100 turns", 1.1, many, few, runs),
    ]
