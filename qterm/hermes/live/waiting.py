"""How long hermes waits for an answer to its request before it denies by itself."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path

from qterm.hermes.home_config import read_config
from qterm.hermes.place import Capabilities

log = logging.getLogger(__name__)

FIXED = 60.0
DEFAULT = 300.0


def approval_seconds(home: Path, known: Capabilities) -> float:
    """Seconds until hermes denies by itself; reads hermes's config. Never raises.

    0.19 waits a minute whatever its config says. The line that takes a text by `--query-file`
    follows `approvals.timeout`; answered too early a request is denied a little sooner, too late it
    would seem to stand when it does not.
    """
    if not known.query_file:
        return FIXED
    try:
        approvals = read_config(home).get("approvals")
    except ValueError as error:
        log.debug("hermes's config can't be read: %s", error)
        return DEFAULT
    given = approvals.get("timeout") if isinstance(approvals, Mapping) else None
    if isinstance(given, bool) or not isinstance(given, int | float) or not 0 < given < 1e7:
        return DEFAULT
    return float(given)
