"""A turn of hermes with the hook in its config against one without, and the hook's own start."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

from bench.ratio import Ratio, measure
from bench.turn import CONFIG
from qterm.hermes.place import HermesPlace
from qterm.maintenance.hook import ask_consent, hook_command, install, write
from qterm.private import private_folder
from qterm.rehearsal.model_server import Answer, ModelServer


async def ratios(folder: Path, hermes: Path, line: str, *, runs: int = 10) -> list[Ratio]:
    """The ratio for one hermes; `folder` is a scratch folder. The gate is off: the hook asks it."""
    private_folder(folder)
    environ = {"PATH": os.environ["PATH"], "HOME": str(folder), "LANG": "C.UTF-8"}
    options = ["--data-dir", str(folder / "data")]
    with ModelServer(lambda _request: Answer(("All green.",))) as model:
        homes = []
        for name in ("with", "without"):
            home = private_folder(folder / name)
            (home / "config.yaml").write_text(CONFIG.format(url=model.base_url))
            homes.append(home)
        edit = install(homes[0], options)
        write(edit, folder / "data")
        place = HermesPlace((str(hermes),), homes[0], True, "bench", "bench")
        refused = await asyncio.to_thread(ask_consent, place, environ, edit.command)
        assert not refused, refused

        async def run(*argv: str, home: Path) -> None:
            process = await asyncio.create_subprocess_exec(
                *argv,
                cwd=folder,
                env={**environ, "HERMES_HOME": str(home)},
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.DEVNULL,
            )
            assert await process.wait() == 0

        async def hooked() -> None:
            await run(str(hermes), "-z", "Is the deploy green?", home=homes[0])

        async def bare() -> None:
            await run(str(hermes), "-z", "Is the deploy green?", home=homes[1])
            await run("/bin/sh", "-c", hook_command(options), home=homes[1])

        name = f"{line}: a turn with the hook : one without, and the hook's own start"
        return [await measure(name, 1.05, hooked, bare, runs=runs)]
