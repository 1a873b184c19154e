"""Working notes: the newest entries of WORKING.md, which hermes does not read (rules C2, M5)."""

from __future__ import annotations

import logging
from collections.abc import Mapping

from qterm.memory.errors import MemoryFault
from qterm.memory.files import MemoryFolder
from qterm.memory.opening import memory_home
from qterm.memory.policies import dual
from qterm.memory.stores import StoreName
from qterm.memory.tags import strip_tag
from qterm.settings.load import Loaded

log = logging.getLogger(__name__)


def working_notes(loaded: Loaded, environ: Mapping[str, str]) -> list[str]:
    """The notes a home message carries, newest first, without their tags.

    Reads one file and never raises: without notes a message goes all the same (rule N1).
    """
    try:
        snapshot = MemoryFolder(memory_home(loaded, environ)).read(StoreName.WORKING)
    except MemoryFault as error:
        log.info("no working notes: %s", type(error).__name__)
        return []
    if not snapshot.is_text:
        log.info("no working notes: not UTF-8")
        return []
    newest = dual.working_notes(snapshot.entries, len(snapshot.entries))
    return [strip_tag(entry) for entry in newest]
