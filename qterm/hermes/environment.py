"""The environment a hermes process gets: pure, on a mapping."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

DROPPED = frozenset({"HERMES_YOLO_MODE", "HERMES_ACCEPT_HOOKS", "HERMES_SAFE_MODE", "TERMINAL_CWD"})
# A session's name, an ignored config or a board's task of the shell qterm was started in would
# change what this turn is; a board's task even attaches pictures to it.
DROPPED_PREFIXES = ("HERMES_SESSION_", "HERMES_IGNORE_", "HERMES_KANBAN_", "HERMES_SINGLE_QUERY_")


def child_environment(environ: Mapping[str, str], home: Path) -> dict[str, str]:
    """What hermes is started with: `environ` without what weakens or changes a turn.

    Dropped are the variables that skip approvals and hooks, those that carry a session, and the
    one that moves the tools to another folder (docs/hermes.md, *Which arguments*). `HERMES_HOME`
    is always set. Texts go in and out as UTF-8 whatever the locale.
    """
    return {**without_dropped(environ), "HERMES_HOME": str(home), "PYTHONUTF8": "1"}


def without_dropped(environ: Mapping[str, str]) -> dict[str, str]:
    """The same environment without what weakens or changes a turn."""
    return {
        name: value
        for name, value in environ.items()
        if name not in DROPPED and not name.startswith(DROPPED_PREFIXES)
    }
