"""Every key of the config, with its type and its default. Every key is optional."""

from __future__ import annotations

import msgspec

from qterm.context import Caps
from qterm.model import Approvals, Persona

PERSONAS = (
    Persona("you", "You", "cyan"),
    Persona("q", "Q", "green"),
    Persona("mallory", "Mallory", "magenta"),
    Persona("moneypenny", "Moneypenny", "yellow"),
)
"""Who speaks in the feed where the config says nothing else."""


class HermesSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[hermes]`: which hermes, which home, what it may do unasked.

    `command` empty: `hermes` on PATH, else the one beside qterm's Python. `home` and `profile`
    empty: as hermes itself would choose (docs/hermes.md, *Which home*).
    """

    command: tuple[str, ...] = ()
    home: str = ""
    profile: str = ""
    approvals: Approvals = Approvals.DENY


class TimeoutSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[timeouts]`: seconds after which a turn is ended; 0 means never."""

    home: float = 600.0
    task: float = 0.0


class ScreenSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[screen]`: how it looks."""

    theme: str = "textual-dark"
    side_pane: bool = True


class Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All of it. `operator` is the operator's name; `keys` maps a command's id to its keys."""

    operator: str = "Alex"
    personas: tuple[Persona, ...] = PERSONAS
    caps: Caps = Caps()
    hermes: HermesSettings = HermesSettings()
    timeouts: TimeoutSettings = TimeoutSettings()
    screen: ScreenSettings = ScreenSettings()
    keys: dict[str, str] = {}
