"""`qterm --version` against `python -c pass`."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from bench.ratio import Ratio, measure


async def _run(*argv: str) -> None:
    process = await asyncio.create_subprocess_exec(*argv, stdout=asyncio.subprocess.DEVNULL)
    await process.wait()


async def ratios(*, runs: int = 30) -> list[Ratio]:
    """The one ratio."""
    qterm = Path(sys.executable).with_name("qterm")
    return [
        await measure(
            "qterm --version : python -c pass",
            4.0,
            lambda: _run(str(qterm), "--version"),
            lambda: _run(sys.executable, "-c", "pass"),
            runs=runs,
        )
    ]
