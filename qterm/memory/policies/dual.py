"""The policy `dual`: what lasts in MEMORY.md, what passes in WORKING.md (pure, rule M5).

Nothing in MEMORY.md is pruned; its P3 entries move to the end of WORKING.md, stamped with the day:
`[P3] 2026-11-30 · text`. hermes doesn't read WORKING.md. There only P3 entries ever go: by their
age, or (in a preview) because they say that they are finished.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Sequence
from datetime import date
from typing import Final

from qterm.memory import words
from qterm.memory.errors import Refused
from qterm.memory.policies.policy import UNTAGGED, without
from qterm.memory.proposal import NO_TICKS, Action, Decision, Proposal, Ticks
from qterm.memory.stores import Document, StoreName
from qterm.memory.tags import TAG_LENGTH, Priority, tag_of
from qterm.settings.schema import MemorySettings

NAME: Final = "dual"

_STAMP = re.compile(r"\[P3\](?P<stamp> (?P<day>[0-9]{4}-[0-9]{2}-[0-9]{2}) ·)(?!\S)")
_KEPT: Final = {
    Priority.P1: "P1: always kept",
    Priority.P2: "P2: kept, only P3 passes",
    None: UNTAGGED,
}


def stamp(entry: str, day: date) -> str:
    """A P3 entry with the day behind its tag; everything else of it stays as it is.

    Raises ValueError for an entry that isn't P3.
    """
    if tag_of(entry) is not Priority.P3:
        raise ValueError("Only P3 entries are stamped.")
    return f"{entry[:TAG_LENGTH]} {day.isoformat()} ·{entry[TAG_LENGTH:]}"


def unstamp(entry: str) -> str:
    """What `stamp` was given; an entry that isn't stamped comes back as it is."""
    found = _stamped(entry)
    return entry if found is None else entry[:TAG_LENGTH] + entry[found[0] :]


def stamped_on(entry: str) -> date | None:
    """The day of the stamp; None where there is none, or no such day."""
    found = _stamped(entry)
    return None if found is None else found[1]


def _stamped(entry: str) -> tuple[int, date] | None:
    """Where the stamp ends, and its day."""
    found = _STAMP.match(entry)
    if found is None:
        return None
    try:
        return found.end("stamp"), date.fromisoformat(found["day"])
    except ValueError:  # there is no 31st of November
        return None


def working_notes(entries: Sequence[str], count: int) -> list[str]:
    """The newest entries of WORKING.md, newest first, as they are; `count` at most.

    Newest by stamp; of one day, the later in the file first; unstamped ones count as the oldest.
    """

    def newness(item: tuple[int, str]) -> tuple[date, int]:
        return (stamped_on(item[1]) or date.min, item[0])

    return [entry for _, entry in heapq.nlargest(count, enumerate(entries), key=newness)]


def plan(
    documents: Sequence[Document],
    settings: MemorySettings,
    today: date,
    ticks: Ticks,
    *,
    by_words: bool = True,
) -> Proposal:
    """Takes MEMORY with WORKING, in this order; raises Refused for anything else.

    `by_words` false: WORKING is pruned by age alone, as the automatic pass does it.
    """
    if [document.store for document in documents] != [StoreName.MEMORY, StoreName.WORKING]:
        raise Refused(
            "The policy “dual” takes MEMORY.md together with WORKING.md and nothing else; "
            "use --store memory."
        )
    memory, working = documents
    in_working = _prune(working, settings, today, ticks, by_words=by_words)
    left = without(working, in_working)
    there = {unstamp(entry) for entry in left.entries}
    in_memory, moved = [], []
    for index, entry in enumerate(memory.entries):
        tag = tag_of(entry)
        if tag is not Priority.P3:
            in_memory.append(
                Decision(memory.store, index, Action.KEEP, _KEPT_IN_MEMORY[tag], False)
            )
            continue
        ticked = ticks.of(memory.store, index, Action.MOVE)
        reason = "P3: passing state"
        if entry in there:
            reason = "P3: in WORKING.md already, leaves MEMORY.md"
        elif ticked:
            there.add(entry)
            moved.append(stamp(entry, today))
        in_memory.append(Decision(memory.store, index, Action.MOVE, reason, ticked))
    after = (
        without(memory, in_memory),
        Document(working.store, (*left.entries, *moved), working.limit),
    )
    return Proposal(NAME, (memory, working), (*in_memory, *in_working), after)


_KEPT_IN_MEMORY: Final = {
    Priority.P1: "P1: always kept",
    Priority.P2: "P2: lasts, kept here",
    None: "no tag: never moved",
}


def aged(working: Document, settings: MemorySettings, today: date) -> Proposal:
    """What the automatic pass does with WORKING: its old P3 entries go, by age alone."""
    decisions = _prune(working, settings, today, NO_TICKS, by_words=False)
    return Proposal(NAME, (working,), tuple(decisions), (without(working, decisions),))


def _prune(
    working: Document, settings: MemorySettings, today: date, ticks: Ticks, *, by_words: bool
) -> list[Decision]:
    """The decisions about WORKING."""
    finished = words.finished_pattern(settings.finished_words) if by_words else None
    decisions = []
    for index, entry in enumerate(working.entries):
        tag = tag_of(entry)
        action, reason = Action.KEEP, _KEPT.get(tag, "")
        if tag is Priority.P3:
            action, reason = _passing(entry, settings.working_days, today, finished)
        ticked = ticks.of(working.store, index, action)
        decisions.append(Decision(working.store, index, action, reason, ticked))
    return decisions


def _passing(
    entry: str, working_days: int, today: date, finished: re.Pattern[str] | None
) -> tuple[Action, str]:
    """What happens to a P3 entry of WORKING, and why."""
    day = stamped_on(entry)
    if day is not None and day > today:
        return Action.KEEP, f"P3: kept, its day ({day}) is still to come"
    if day is not None and (age := (today - day).days) > working_days:
        return Action.PRUNE, f"P3: {age} days old, more than {working_days}"
    if finished is not None and (found := finished.search(entry[: words.LOOKED_AT])):
        return Action.PRUNE, f"P3: says that it is finished (“{found[0]}”)"
    if day is None:
        return Action.KEEP, "P3: kept, it has no day to tell its age by"
    return Action.KEEP, f"P3: kept until it is more than {working_days} days old"
