"""How the memory commands show entries, plans and what was removed: lines and JSON."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from qterm.cli import show
from qterm.safe_text import safe_line, safe_lines

if TYPE_CHECKING:
    from qterm.memory.archive import Backup, Removed
    from qterm.memory.book import Look, MemoryBook
    from qterm.memory.plan import Plan, PlannedEntry, PlannedStore
    from qterm.memory.policies.registry import Comparison
    from qterm.memory.proposal import Decision
    from qterm.memory.schema import Migration
    from qterm.memory.tags import Suggestion
    from qterm.memory.writer import Gone

_NONE = "—"


# A store.


def print_look(look: Look, book: MemoryBook) -> None:
    """The entries of a store, a line each, and what is odd about the file."""
    from qterm.memory.tags import near_tag, strip_tag, suggest, tag_of

    show.out(f"{look.snapshot.path}")
    show.out(f"{_usage(look)}, {_count(len(look.entries), 'entry', 'entries')}")
    for number, text in enumerate(look.entries, 1):
        tag = tag_of(text)
        line = f"{number:>4}  {tag or _NONE:<2}  {len(text):>5}  "
        suggestion = suggest(text, book.settings) if look.snapshot.is_text else None
        if tag is None and suggestion:
            line += f"({suggestion.priority}?) "
        show.out(_fitted(line, strip_tag(text)))
        if point := near_tag(text):
            show.out(f"{'':17}{point}")
    for sentence in notices(look, book):
        show.diagnostic(sentence)


def notices(look: Look, book: MemoryBook) -> list[str]:
    """What the operator should know about a store's file, each one sentence."""
    from qterm.memory.stores import StoreName

    found = []
    name = look.store.file_name
    if not look.snapshot.exists:
        maker = "hermes makes it when it notes something"
        if look.store is StoreName.WORKING:
            maker = "the policy “dual” makes it when something moves there"
        found.append(f"{look.snapshot.path} is not there yet: {maker}.")
    if not look.snapshot.is_text:
        found.append(
            f"{name} is not UTF-8, so it can only be shown, and hermes reads nothing of it: save "
            "it as UTF-8 with an editor."
        )
    if look.limit is not None and look.limit.problem:
        found.append(look.limit.problem)
    refused = look.refusals(book.hermes_line)
    hermes = "hermes" if book.hermes_line else "hermes 0.19"
    for fault in look.faults:
        if fault in refused:
            mend = "" if fault.kind == "too-long" else ": `qterm memory clean` mends it"
            found.append(f"{hermes} can't change {name} ({fault.sentence}){mend}.")
        elif not fault.refused_by:
            found.append(f"{name}: {fault.sentence}.")
    if look.store is StoreName.WORKING and look.snapshot.exists:
        found.append(
            "hermes does not read WORKING.md: its newest entries go to Q with each home message."
        )
    return found


def look_json(look: Look, book: MemoryBook) -> dict[str, Any]:
    """A store in the documented form (docs/command-line.md, *JSON*)."""
    from qterm.memory.tags import near_tag, suggest, tag_of

    entries = []
    for number, text in enumerate(look.entries, 1):
        suggestion = suggest(text, book.settings) if look.snapshot.is_text else None
        entries.append(
            {
                "number": number,
                "priority": tag_of(text),
                "size": len(text),
                "text": text,
                "suggestion": _suggestion_json(suggestion),
                "nearTag": near_tag(text),
            }
        )
    return {
        "store": look.store.value,
        "path": str(look.snapshot.path),
        "home": str(book.home),
        "exists": look.snapshot.exists,
        "isText": look.snapshot.is_text,
        "sha256": look.snapshot.sha256 or None,
        "size": look.document.size,
        "limit": look.limit.chars if look.limit else None,
        "limitIsDefault": look.limit.is_default if look.limit else None,
        "entries": entries,
        "faults": [
            {
                "kind": fault.kind,
                "number": fault.number,
                "sentence": fault.sentence,
                "refusedBy": list(fault.refused_by),
            }
            for fault in look.faults
        ],
        "notices": notices(look, book),
    }


def _usage(look: Look) -> str:
    size = look.document.size
    if look.limit is None:
        return f"{size:,} characters (no limit: hermes does not read it)"
    share = size * 100 // look.limit.chars
    default = ", default" if look.limit.is_default else ""
    return f"{size:,} of {look.limit.chars:,} characters ({share} %{default})"


# A plan.

_HEADINGS = {
    ("prune", True): "would go",
    ("move", True): "would move to WORKING.md",
    ("offer", True): "would go, as ticked",
    ("offer", False): "offered, not ticked",
    ("prune", False): "stays, as unticked",
    ("move", False): "stays, as unticked",
    ("keep", False): "stays",
}


def print_plan(plan: Plan, looks: Sequence[Look], book: MemoryBook) -> None:
    """A plan, whole: what would go with its full text first, what stays last (rule M2)."""
    show.out(f"Preview: nothing has been written. Policy: {plan.policy}")
    for planned in plan.stores:
        show.out(_sizes(planned))
    groups: dict[tuple[int, str, str], list[PlannedEntry]] = {}
    order = list(_HEADINGS)
    for entry in plan.entries:
        place = order.index((entry.action.value, entry.ticked))
        groups.setdefault((place, entry.store.file_name, entry.reason), []).append(entry)
    several = len(plan.stores) > 1
    for place, name, reason in sorted(groups, key=lambda key: key[0]):
        action = order[place]
        store = f"{name}: " if several else ""
        show.out(f"\n{store}{_HEADINGS[action]} — {reason}")
        for entry in groups[place, name, reason]:
            _print_planned(entry, is_whole=action != ("keep", False))
    show.out("")
    if not plan.has_work:
        show.out("Nothing to do.")
    for look in looks:
        if look.snapshot.exists or look.limit is not None:
            for sentence in notices(look, book):
                show.diagnostic(sentence)


def _print_planned(entry: PlannedEntry, *, is_whole: bool) -> None:
    mark = "x" if entry.ticked else " "
    head = f"{mark} {entry.number:>4}  "
    if not is_whole:
        show.out(_fitted(head, entry.text))
        return
    show.out(_whole(head, entry.text))


def _sizes(planned: PlannedStore) -> str:
    change = f"{planned.before:,}"
    if planned.after != planned.before:
        change += f" → {planned.after:,}"
    if planned.limit is None:
        return f"{planned.path}: {change} characters"
    share = planned.after * 100 // planned.limit
    return f"{planned.path}: {change} of {planned.limit:,} characters ({share} %)"


def print_comparison(look: Look, found: Comparison) -> None:
    """A row an entry, a column a policy (rule M4)."""
    show.out(f"{look.snapshot.path}: {_usage(look)}")
    show.out("")
    show.out("      " + "".join(f"{name:<8}" for name in found.policies) + "entry")
    for row in found.rows:
        cells = "".join(f"{_cell(decision):<8}" for decision in row.decisions)
        show.out(_fitted(f"{row.index + 1:>4}  {cells}", row.entry))
    show.out("")
    for policy, lost in _lost(found).items():
        if lost:
            numbers = ", ".join(str(index + 1) for index in lost)
            show.out(
                f"{policy} would lose {_count(len(lost), 'entry', 'entries')} that matter (P1, P2 "
                f"or without a tag): {numbers}"
            )


def _cell(decision: Decision) -> str:
    action = decision.action.value
    return action if action != "offer" else "offer?"


def _lost(found: Comparison) -> dict[str, list[int]]:
    """The entries that matter (P1, P2 or without a tag) and would go, by policy; a move keeps."""
    from qterm.memory.proposal import Action
    from qterm.memory.tags import Priority, tag_of

    return {
        name: [
            row.index
            for row in found.rows
            if row.decisions[column].ticked
            and row.decisions[column].action is not Action.MOVE
            and tag_of(row.entry) is not Priority.P3
        ]
        for column, name in enumerate(found.policies)
    }


def comparison_json(look: Look, found: Comparison) -> dict[str, Any]:
    """The comparison in the documented form."""
    return {
        "store": look.store.value,
        "path": str(look.snapshot.path),
        "policies": list(found.policies),
        "entries": [
            {
                "number": row.index + 1,
                "text": row.entry,
                "decisions": {
                    name: {
                        "action": made.action.value,
                        "ticked": made.ticked,
                        "reason": made.reason,
                    }
                    for name, made in zip(found.policies, row.decisions, strict=True)
                },
            }
            for row in found.rows
        ],
        "lost": {name: [index + 1 for index in lost] for name, lost in _lost(found).items()},
    }


# Tags, cleaning and migrating.


def print_suggestions(look: Look, found: Mapping[int, Suggestion], as_json: bool) -> None:
    """The suggested tags, each with the rule that fired."""
    if as_json:
        show.out_json(
            {
                "store": look.store.value,
                "suggestions": [
                    {"number": index + 1, "text": look.entries[index], **_suggested(suggestion)}
                    for index, suggestion in found.items()
                ],
            }
        )
        return
    for index, suggestion in found.items():
        show.out(_fitted(f"{index + 1:>4}  {suggestion.priority}?  ", look.entries[index]))
        words = ", ".join(f"“{word}”" for word in suggestion.words)
        show.out(f"{'':11}{suggestion.rule}: {words}")
    if not found:
        show.out("No suggestions: each entry has a tag, or no rule fired.")
    else:
        show.out(
            "Nothing has been written: `qterm memory tag N P1` tags one, --suggested --yes all."
        )


def _suggestion_json(suggestion: Suggestion | None) -> dict[str, Any] | None:
    return _suggested(suggestion) if suggestion else None


def _suggested(suggestion: Suggestion) -> dict[str, Any]:
    return {
        "priority": suggestion.priority,
        "rule": suggestion.rule,
        "words": list(suggestion.words),
    }


def print_cleaning(
    look: Look, entries: Sequence[str], gone: Sequence[Gone], book: MemoryBook, *, as_json: bool
) -> None:
    """What cleaning would change."""
    from qterm.memory.book import can_be_cleaned

    mended = can_be_cleaned(look)
    if as_json:
        show.out_json(
            {
                "store": look.store.value,
                "path": str(look.snapshot.path),
                "faults": [fault.sentence for fault in mended],
                "entries": len(entries),
                "removed": [
                    {"number": each.index + 1, "text": each.text, "reason": each.reason}
                    for each in gone
                ],
            }
        )
        return
    show.out(f"{look.snapshot.path}: {_count(len(look.entries), 'entry', 'entries')}")
    for fault in mended:
        show.out(f"  {fault.sentence}")
    if not mended:
        show.out("Nothing to clean: hermes writes this file as it is.")
        return
    show.out(f"Cleaned, it has {_count(len(entries), 'entry', 'entries')}; what goes is archived.")


def print_migration(look: Look, found: Migration, form: str, *, as_json: bool) -> None:
    """What migrating would change, cost and lose (rule M5)."""
    from qterm.memory.entries import size

    before, after = look.document.size, size(found.entries)
    if as_json:
        show.out_json(
            {
                "store": look.store.value,
                "path": str(look.snapshot.path),
                "form": form,
                "sizeBefore": before,
                "sizeAfter": after,
                "entries": [
                    {
                        "number": step.index + 1,
                        "before": step.before,
                        "after": step.after,
                        "sentence": step.sentence,
                        "lost": list(step.lost),
                        "cost": step.cost,
                    }
                    for step in found.steps
                ],
            }
        )
        return
    show.out(f"Preview: nothing has been written. To {form}: {look.snapshot.path}")
    limit = f" of {look.limit.chars:,}" if look.limit else ""
    show.out(f"{before:,} → {after:,}{limit} characters ({after - before:+,})")
    for step in found.steps:
        if not step.changed:
            show.out(_fitted(f"{step.index + 1:>4}  ", step.before))
            show.out(f"{'':6}({step.sentence})")
            continue
        show.out(_whole(f"{step.index + 1:>4}  ", step.after))
        lost = f"; lost: {', '.join(step.lost)}" if step.lost else ""
        show.out(f"{'':6}({step.sentence}, {step.cost:+,} characters{lost})")
    if found.entries == look.entries:
        show.out("Nothing to do.")


# The archive.


def print_archive(found: Sequence[Removed]) -> None:
    """What was removed or replaced."""
    for each in found:
        head = (
            f"{each.id}  {_moment(each.time)}  {each.store.file_name}, by {each.by}: {each.reason}"
        )
        show.out(head)
        show.out(_whole(" " * 10, each.text))
    if not found:
        show.out("Nothing was removed so far.")


def print_backups(found: Iterable[Backup]) -> None:
    """The whole files that were kept."""
    is_empty = True
    for each in found:
        is_empty = False
        name = each.store.file_name if each.store else "?"
        show.out(f"{each.sha256[:12]}  {_moment(each.time)}  {name:<10} {each.size:>9,} bytes")
    if is_empty:
        show.out("No backups so far.")


def _moment(moment: datetime) -> str:
    return f"{moment.astimezone():%Y-%m-%d %H:%M}"


def _count(number: int, one: str, several: str) -> str:
    return f"{number:,} {one if number == 1 else several}"


def _whole(head: str, text: str) -> str:
    """Head and all lines of a text, set in behind the head; on a terminal, wrapped to its width."""
    lines = safe_lines(text)
    if sys.stdout.isatty():
        width = max(shutil.get_terminal_size().columns - len(head), 20)
        lines = [part for line in lines for part in textwrap.wrap(line, width) or [""]]
    return head + ("\n" + " " * len(head)).join(lines)


def _fitted(head: str, text: str) -> str:
    """Head and text on one line; on a terminal within its width, whatever the letters' width."""
    line = head + safe_line(text)
    if not sys.stdout.isatty():
        return line
    width = shutil.get_terminal_size().columns
    from rich.cells import cell_len, set_cell_size

    return line if cell_len(line) <= width else set_cell_size(line, width - 1).rstrip() + "…"
