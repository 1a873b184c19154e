"""Every key of the config, with its type and its default. Every key is optional."""

from __future__ import annotations

import msgspec

from qterm.context import Caps
from qterm.model import Approvals, Persona, TransportChoice

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
    empty: as hermes itself would choose (docs/hermes.md, *Which home*). `transport`: how it is
    reached, kept running or started for each turn.
    """

    command: tuple[str, ...] = ()
    home: str = ""
    profile: str = ""
    approvals: Approvals = Approvals.ASK
    transport: TransportChoice = TransportChoice.AUTO


class TimeoutSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[timeouts]`: seconds after which a turn is ended; 0 means never."""

    home: float = 600.0
    task: float = 0.0


class ScreenSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[screen]`: how it looks."""

    theme: str = "textual-dark"
    side_pane: bool = True


class MemorySettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[memory]`: how hermes's long-term memory is reviewed (docs/memory.md).

    `home`: a hermes home on this machine; empty: the one hermes would use. `policy`: what a plan
    follows where nothing else is said. `p2_percent`: of the limit, over which P2 entries are
    offered (rule M1). `working_days`: after which an entry of WORKING.md goes. `finished_words` and
    `waiting_words` tell passing state from what lasts. `legacy_*` is the earlier pruner (rule M4).
    `backup_command` runs after each write; `{path}` in it is the backup.
    """

    home: str = ""
    policy: str = "tags"
    p2_percent: int = 80
    working_days: int = 7
    finished_words: tuple[str, ...] = (
        "complete",
        "completed",
        "done",
        "finished",
        "resolved",
        "closed",
        "shipped",
        "merged",
    )
    waiting_words: tuple[str, ...] = ("waiting", "queued", "pending", "in progress")
    legacy_protect: str = "rule|credentials|server|password|team"
    legacy_stale: tuple[str, ...] = ("complete", "done", "resolved", "finished", "shipped")
    legacy_limit: int = 7_000
    backup_command: tuple[str, ...] = ()


class MaintenanceSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[maintenance]`: what is tidied after a turn, at most once a window (docs/maintenance.md).

    `window_minutes` lie between two passes. `hive_mind_cli` is hive-mind's command; empty: what its
    installer noted, else the one on PATH. `prune_working`: whether a pass prunes WORKING.md by age.
    """

    enabled: bool = False
    window_minutes: float = 10.0
    hive_mind_cli: str = ""
    prune_working: bool = False


class Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All of it. `operator` is the operator's name; `keys` maps a command's id to its keys."""

    operator: str = "Alex"
    personas: tuple[Persona, ...] = PERSONAS
    caps: Caps = Caps()
    hermes: HermesSettings = HermesSettings()
    timeouts: TimeoutSettings = TimeoutSettings()
    screen: ScreenSettings = ScreenSettings()
    memory: MemorySettings = MemorySettings()
    maintenance: MaintenanceSettings = MaintenanceSettings()
    keys: dict[str, str] = {}
