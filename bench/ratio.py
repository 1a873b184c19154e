"""Two things measured in turn, A B A B …, and the ratio pair by pair."""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

Work = Callable[[], Awaitable[object]]


@dataclass(frozen=True, slots=True)
class Ratio:
    """`a` and `b` in seconds or MB, each run in the order in which it was measured."""

    name: str
    aim: float
    a: list[float]
    b: list[float]
    unit: str = "ms"

    @property
    def value(self) -> float:
        """The median of the pairs' ratios: a pair is measured together, so drift cancels out."""
        return statistics.median(a / b for a, b in zip(self.a, self.b, strict=True))

    def __str__(self) -> str:
        """One line for the table."""
        a, b = statistics.median(self.a), statistics.median(self.b)
        verdict = "ok" if self.value <= self.aim else "OVER"
        scale = 1e3 if self.unit == "ms" else 1.0
        spread = f"{min(self.a) * scale:.2f}–{max(self.a) * scale:.2f}"
        return (
            f"{self.name:<66} {self.value:6.3g}  (aim {self.aim:.3g}, {verdict})  "
            f"{a * scale:10.2f} {self.unit} : {b * scale:10.2f} {self.unit}   A {spread}"
        )


async def measure(name: str, aim: float, a: Work, b: Work, *, runs: int) -> Ratio:
    """Run A and B in turn, `runs` times each after one of each that does not count."""
    times: tuple[list[float], list[float]] = ([], [])
    for number in range(runs + 1):
        for work, into in ((a, times[0]), (b, times[1])):
            start = time.perf_counter()
            await work()
            if number:
                into.append(time.perf_counter() - start)
            await asyncio.sleep(0)
    return Ratio(name, aim, *times)
