"""The working-store step: WORKING.md loses what is older than `memory.working_days`.

By age alone, archived first, under hermes's lock. MEMORY.md and USER.md are not even looked at.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from datetime import datetime

from qterm.maintenance.report import Step, StepState
from qterm.memory.book import MemoryBook
from qterm.memory.errors import ChangedMeanwhile, MemoryFault
from qterm.memory.opening import memory_home, open_memory
from qterm.memory.writer import Written
from qterm.settings.load import Loaded

NAME = "working"

_ELSEWHERE = (
    "WORKING.md is not pruned, since hermes is on another machine: run `qterm compact` there, or "
    "set memory.home to its folder where it is on this machine too."
)


def prune(loaded: Loaded, environ: Mapping[str, str], *, now: Callable[[], datetime]) -> Step:
    """Prune WORKING.md, if the settings say so; never raises for a fault."""
    if not loaded.settings.maintenance.prune_working:
        return Step(NAME, StepState.SKIPPED)
    if why := refusal(loaded, environ):
        return Step(NAME, StepState.SKIPPED, why)
    since = time.monotonic()
    try:
        book = open_memory(loaded, environ, now=now)
        written = _pruned(book)
        complaints = book.copy_off(written)
    except MemoryFault as error:
        took = time.monotonic() - since
        return Step(NAME, StepState.FAILED, f"WORKING.md was not pruned: {error}", seconds=took)
    took = time.monotonic() - since
    count = sum(len(each.removed) for each in written)
    return Step(
        NAME,
        StepState.DONE,
        " ".join([_said(count), *complaints]),
        {"pruned": count},
        took,
        changed=bool(count),
    )


def refusal(loaded: Loaded, environ: Mapping[str, str]) -> str:
    """Why WORKING.md can't be pruned from here, in one sentence; nothing where it can."""
    from qterm.hermes.remote import is_ssh

    if is_ssh(loaded.settings.hermes.command) and not loaded.settings.memory.home:
        return _ELSEWHERE
    try:
        memory_home(loaded, environ)
    except MemoryFault as error:
        return f"WORKING.md is not pruned: {error}"
    return ""


def _pruned(book: MemoryBook) -> tuple[Written, ...]:
    """Prune; where another program was quicker, look once more."""
    try:
        return book.prune_working()
    except ChangedMeanwhile:
        return book.prune_working()


def _said(count: int) -> str:
    if not count:
        return "WORKING.md: nothing in it is old enough to go."
    what = "1 old entry" if count == 1 else f"{count:,} old entries"
    return f"WORKING.md: {what} archived and taken out; `qterm memory archive` shows them."
