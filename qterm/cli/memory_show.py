"""How the memory commands show entries, plans and what was removed: lines and JSON."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from qterm.cli import show
from qterm.cli.memory_words import count, fitted, note, say, whole

if TYPE_CHECKING:
    from qterm.memory.archive import Backup, Removed
    from qterm.memory.book import MemoryBook
    from qterm.memory.look import Look
    from qterm.memory.policies.registry import Comparison
    from qterm.memory.proposal import Decision
    from qterm.memory.schema import Migration
    from qterm.memory.tags import Suggestion
    from qterm.memory.writer import Gone

_NONE = "—"


# A store.


def print_look(look: Look, book: MemoryBook, chosen: Sequence[int] = ()) -> None:
    """The entries of a store, a line each, and what is odd about the file.

    `chosen` are places from 0: then only these, whole.
    """
    from qterm.memory.schema import priority_of
    from qterm.memory.tags import near_tag, strip_tag, suggest

    say(f"{look.snapshot.path}")
    say(f"{usage(look)}, {count(len(look.entries), 'entry', 'entries')}")
    untagged = 0
    for index in chosen or range(len(look.entries)):
        text = look.entries[index]
        tag = priority_of(text)
        untagged += tag is None
        line = f"{index + 1:>4}  {tag or _NONE:<2}  {len(text):>5}  "
        suggestion = suggest(text, book.settings) if look.snapshot.is_text else None
        if tag is None and suggestion:
            line += f"({suggestion.priority}?) "
        show.out(whole(line, strip_tag(text)) if chosen else fitted(line, strip_tag(text)))
        if point := near_tag(text):
            say(f"{'':17}{point}")
        if point := look.kept_out(index, book.hermes_line):
            say(f"{'':17}{point}")
    if untagged and not chosen and look.snapshot.is_text:
        say(untagged_hint(untagged, look))
    for sentence in notices(look, book):
        note(sentence)


def untagged_hint(number: int, look: Look) -> str:
    """What to do about entries without a tag."""
    words = "qterm memory tag --suggested"
    if look.store.value != "memory":
        words += f" --store {look.store.value}"
    have = "entry has" if number == 1 else "entries have"
    return f"{number:,} {have} no tag ({_NONE}): `{words}` says which each might deserve."


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


def look_json(look: Look, book: MemoryBook, chosen: Sequence[int] = ()) -> dict[str, Any]:
    """A store in the documented form (docs/command-line.md, *JSON*)."""
    from qterm.memory.schema import priority_of
    from qterm.memory.tags import near_tag, suggest

    entries = []
    for index in chosen or range(len(look.entries)):
        number, text = index + 1, look.entries[index]
        suggestion = suggest(text, book.settings) if look.snapshot.is_text else None
        entries.append(
            {
                "number": number,
                "priority": priority_of(text),
                "size": len(text),
                "text": text,
                "suggestion": _suggestion_json(suggestion),
                "nearTag": near_tag(text),
                "keptOut": look.kept_out(index, book.hermes_line) or None,
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


def usage(look: Look) -> str:
    """How full a store is, in words."""
    size = look.document.size
    if look.limit is None:
        return f"{size:,} characters (no limit: hermes does not read it)"
    share = size * 100 // look.limit.chars
    of = "hermes's default limit" if look.limit.is_default else "the limit"
    return f"{size:,} of {look.limit.chars:,} characters, {share} % of {of}"


# The comparison.


def print_comparison(look: Look, found: Comparison) -> None:
    """A row an entry, a column a policy (rule M4)."""
    show.out(f"{look.snapshot.path}: {usage(look)}")
    show.out("")
    show.out("      " + "".join(f"{name:<8}" for name in found.policies) + "entry")
    for row in found.rows:
        cells = "".join(f"{_cell(decision):<8}" for decision in row.decisions)
        show.out(fitted(f"{row.index + 1:>4}  {cells}", row.entry))
    show.out("")
    for policy, lost in _lost(found).items():
        if lost:
            numbers = ", ".join(str(index + 1) for index in lost)
            show.out(
                f"{policy} would lose {count(len(lost), 'entry', 'entries')} that matter (P1, P2 "
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


def print_suggestions(
    look: Look, found: Mapping[int, Suggestion], *, as_json: bool, is_accepted: bool
) -> None:
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
        show.out(whole(f"{index + 1:>4}  {suggestion.priority}?  ", look.entries[index]))
        words = ", ".join(f"“{word}”" for word in suggestion.words)
        say(f"{'':11}{suggestion.rule}: {words}")
    if not found:
        show.out("No suggestions: each entry has a tag, or no rule fired.")
        return
    if not is_accepted:
        store = f" --store {look.store.value}" if look.store.value != "memory" else ""
        say("Nothing has been written.")
        say(f"One of them:  qterm memory tag N P1{store}")
        say(f"All of them:  qterm memory tag --suggested --yes{store}")


def _suggestion_json(suggestion: Suggestion | None) -> dict[str, Any] | None:
    return _suggested(suggestion) if suggestion else None


def _suggested(suggestion: Suggestion) -> dict[str, Any]:
    return {
        "priority": suggestion.priority,
        "rule": suggestion.rule,
        "words": list(suggestion.words),
    }


def print_cleaning(
    look: Look, entries: Sequence[str], gone: Sequence[Gone], *, as_json: bool
) -> None:
    """What cleaning would change."""
    from qterm.memory.look import can_be_cleaned

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
    say(f"{look.snapshot.path}: {count(len(look.entries), 'entry', 'entries')}")
    for fault in mended:
        say(f"  {fault.sentence}")
    for each in gone:
        show.out(
            whole(
                f"  {'replaces' if each.replaced_by else 'drops'} {each.index + 1:>3}  ", each.text
            )
        )
        say(f"{'':15}{each.reason}")
    left = [fault.sentence for fault in look.faults if fault not in mended]
    for sentence in left:
        note(f"Cleaning can't mend this: {sentence}.")
    if not look.snapshot.exists:
        say("There is nothing to clean yet.")
    elif mended:
        say(f"Cleaned, it would have {count(len(entries), 'entry', 'entries')}.")
    elif not left:
        say("Nothing to clean: hermes writes this file as it is.")


def print_migration(
    look: Look, found: Migration, form: str, *, as_json: bool, is_accepted: bool
) -> None:
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
    heading = "This is what is to be done." if is_accepted else "Preview: nothing has been written."
    say(f"{heading} To {form}: {look.snapshot.path}")
    limit = f" of {look.limit.chars:,}" if look.limit else ""
    show.out(f"{before:,} → {after:,}{limit} characters ({after - before:+,})")
    for step in found.steps:
        if not step.changed:
            show.out(fitted(f"{step.index + 1:>4}  ", step.before))
            show.out(f"{'':6}({step.sentence})")
            continue
        show.out(whole(f"{step.index + 1:>4}  ", step.after))
        lost = f"; lost: {', '.join(step.lost)}" if step.lost else ""
        show.out(f"{'':6}({step.sentence}, {step.cost:+,} characters{lost})")
    if found.entries == look.entries:
        show.out("Nothing to do.")
    elif look.limit is not None and after > look.limit.chars:
        note(
            f"{look.store.file_name} would be over its limit ({after:,} of {look.limit.chars:,} "
            "characters): until it is shorter, hermes adds nothing to it."
        )
    if form == "schema" and found.entries != look.entries:
        say("Typed entries are pruned by `qterm memory plan --policy schema`.")


# The archive.


def removed_json(removed: Removed) -> dict[str, Any]:
    """An archived entry in the documented form."""
    return {
        "id": removed.id,
        "time": show.moment_json(removed.time),
        "store": removed.store.value,
        "by": removed.by,
        "reason": removed.reason,
        "text": removed.text,
        "index": removed.index,
        "write": removed.write,
        "replacedBy": removed.replaced_by,
    }


def print_archive(found: Sequence[Removed]) -> None:
    """What was removed or replaced."""
    for each in found:
        head = (
            f"{each.id}  {_moment(each.time)}  {each.store.file_name}, by {each.by}: {each.reason}"
        )
        show.out(head)
        show.out(whole(" " * 10, each.text))
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
