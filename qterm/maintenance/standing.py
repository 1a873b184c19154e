"""What the gate's decision needs: the flag and the window, each with where it is from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from qterm.hermes.locate import find_home
from qterm.hermes.place import HermesNotFound
from qterm.hermes.remote import is_ssh
from qterm.maintenance import gate
from qterm.maintenance.dotenv import read_dotenv
from qterm.settings.load import Loaded


@dataclass(frozen=True, slots=True)
class Standing:
    """Whether the gate is on and how long the window is (milliseconds), each with where that is
    from: a variable's name, a file's path, `flag` or `default`. `trouble` is one sentence where
    hermes's `.env` can't be read."""

    is_on: bool
    is_on_by: str
    window: float
    window_by: str
    trouble: str = ""


def standing(loaded: Loaded, environ: Mapping[str, str], override: float | None = None) -> Standing:
    """Read how the gate stands: hermes's `.env` and what is in the settings; nothing else.

    `override` is a window in minutes. Never raises.
    """
    path, said, trouble = _dotenv(loaded, environ)
    merged = {**environ, **said}

    def source(name: str, key: str) -> str:
        if not merged.get(name):
            return loaded.sources.get(key, "default")
        return str(path) if name in said else name

    chosen = loaded.settings.maintenance
    return Standing(
        gate.is_enabled(merged, configured=chosen.enabled),
        source(gate.FLAG, "maintenance.enabled"),
        gate.window(merged, override, chosen.window_minutes),
        "flag"
        if override is not None
        else source(gate.WINDOW_VARIABLE, "maintenance.window_minutes"),
        trouble,
    )


def _dotenv(
    loaded: Loaded, environ: Mapping[str, str]
) -> tuple[Path | None, Mapping[str, str], str]:
    """hermes's `.env` on this machine, and what it says; a hermes elsewhere has none here."""
    if is_ssh(loaded.settings.hermes.command):
        return None, {}, ""
    try:
        path = find_home(loaded.settings.hermes, environ)[0] / ".env"
        said, trouble = read_dotenv(path, (gate.FLAG, gate.WINDOW_VARIABLE))
    except (HermesNotFound, OSError, ValueError, RuntimeError):  # the doctor says what is wrong
        return None, {}, ""
    return path, said, trouble
