"""Puts the doctor's findings together."""

from __future__ import annotations

import asyncio
import platform
import sys
from collections.abc import Mapping

from qterm import __version__
from qterm.doctor.check import Check, State
from qterm.doctor.config_checks import config_checks, path_checks, setting_checks
from qterm.doctor.hermes_checks import hermes_checks
from qterm.doctor.maintenance_checks import maintenance_checks
from qterm.doctor.memory_checks import memory_checks
from qterm.doctor.store_checks import store_checks
from qterm.settings.load import Loaded


async def examine(
    loaded: Loaded, *, environ: Mapping[str, str], python: str = sys.executable
) -> list[Check]:
    """Look at hermes, its model, the store, the config and every path; never raises for a fault.

    `python` is the interpreter beside which a hermes may live. Takes as long as hermes needs for
    its help (about a second or two) and at most 3 s for the model's address.
    """
    hermes, store, memory, maintenance, config, paths = await asyncio.gather(
        hermes_checks(loaded, environ=environ, python=python),
        asyncio.to_thread(store_checks, loaded.paths),
        asyncio.to_thread(memory_checks, loaded, environ),
        asyncio.to_thread(maintenance_checks, loaded, environ),
        asyncio.to_thread(config_checks, loaded),
        asyncio.to_thread(path_checks, loaded.paths),
    )
    found = [*hermes, *store, *memory, *maintenance, *config]
    return [_own(python), *found, *setting_checks(loaded), *paths]


def _own(python: str) -> Check:
    version = platform.python_version()
    return Check(
        "qterm",
        "qterm",
        State.INFO,
        f"This is qterm {__version__} on Python {version} ({python}).",
        details={"version": __version__, "python": version, "executable": python},
    )
