"""The pictures in the README, taken of qterm itself with the real hermes: `make pictures`.

A rehearsal is opened, a question is asked at home and two in a task, and the screens are written to
docs/pictures/. Then the memory of the rehearsal is looked at.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from textual.pilot import Pilot

from qterm.rehearsal.demo import Rehearsal
from qterm.services import open_services
from qterm.settings.load import load
from qterm.tui.app import QtermApp, make_app
from qterm.tui.memory.preview import PreviewScreen

FOLDER = Path(__file__).with_name("pictures")
SIZE = (120, 38)
BOUND = 60.0
"""The longest a state is waited for, in seconds."""


async def until(pilot: Pilot[Any], reached: Callable[[], object]) -> None:
    """Wait for a state."""
    end = time.monotonic() + BOUND
    while not reached():
        if time.monotonic() > end:
            raise TimeoutError("the screen did not get there")
        await pilot.pause(0.1)


async def ask(pilot: Pilot[Any], app: QtermApp, words: str) -> None:
    """Say something to Q, and wait for the whole answer."""
    await pilot.press(*words, "enter")
    busy = app.services.conversation.busy
    await until(pilot, busy)
    await until(pilot, lambda: not busy())
    await pilot.pause(1.5)  # the numbers beside it follow


def keep(app: QtermApp, name: str) -> None:
    """Write the screen as it is."""
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / f"{name}.svg").write_text(app.export_screenshot(title="qterm"), "utf-8")


async def take(app: QtermApp) -> None:
    """Go through the screens."""
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, lambda: app.home is not None and app.home.told_is_known)
        assert app.home is not None
        app.home.composer.cursor_blink = False
        await until(pilot, lambda: app.common.version and app.common.standing)
        await ask(pilot, app, "What did Mallory say?")
        keep(app, "home")
        await pilot.press("f3")
        await until(pilot, lambda: app.tasks is not None and app.tasks.page_is_read)
        assert app.tasks is not None
        app.tasks.composer.cursor_blink = False
        await ask(pilot, app, "Start with the CSV reader.")
        await ask(pilot, app, "Good. Now the writer.")
        keep(app, "task")
        await pilot.press("f4")
        await until(pilot, lambda: app.memory is not None and app.memory.seen is not None)
        await pilot.press("p")
        await until(pilot, lambda: isinstance(app.screen, PreviewScreen))
        await pilot.press(*["down"] * 6)
        await pilot.pause(1.0)
        keep(app, "preview")


async def main() -> None:
    """Open the rehearsal, take the pictures, end it."""
    with Rehearsal(dict(os.environ)) as stage:
        loaded = load(config=stage.config, data_dir=stage.data_dir, environ=stage.environ)
        services = await open_services(loaded, environ=stage.environ, is_demo=True)
        try:
            await take(make_app(services))
        finally:
            await services.close()


if __name__ == "__main__":
    asyncio.run(main())
