"""How `qterm memory plan` and `apply` show a plan: whole, what goes first (rule M2)."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from qterm.cli import show
from qterm.cli.memory_show import notices, untagged_hint
from qterm.cli.memory_words import count, fitted, note, say, whole

if TYPE_CHECKING:
    from qterm.cli.memory_run import Place
    from qterm.memory.book import MemoryBook
    from qterm.memory.look import Look
    from qterm.memory.plan import Plan, PlannedEntry, PlannedStore
    from qterm.memory.stores import StoreName

PREVIEW = "Preview: nothing has been written."
TO_DO = "This is what is to be done."

_HEADINGS = {
    ("prune", True): "would go",
    ("move", True): "would move to WORKING.md",
    ("offer", True): "would go, as ticked",
    ("offer", False): "offered, not ticked",
    ("prune", False): "stays, as unticked",
    ("move", False): "stays, as unticked",
    ("keep", False): "stays",
}


def print_plan(plan: Plan, heading: str, looks: Sequence[Look], book: MemoryBook) -> None:
    """A plan, whole: what would go or is offered with its full text, then what stays."""
    say(f"{heading} Policy: {plan.policy}")
    for planned in plan.stores:
        say(_sizes(planned))
    groups: dict[tuple[int, str, str], list[PlannedEntry]] = {}
    order = list(_HEADINGS)
    for entry in plan.entries:
        place = order.index((entry.action.value, entry.ticked))
        groups.setdefault((place, entry.store.file_name, entry.reason), []).append(entry)
    several = len(plan.stores) > 1
    for place, name, reason in sorted(groups, key=lambda key: key[0]):
        action = order[place]
        store = f"{name}: " if several else ""
        show.out("")
        say(f"{store}{_HEADINGS[action]} — {reason}")
        for entry in groups[place, name, reason]:
            head = f"{'x' if entry.ticked else ' '} {entry.number:>4} {len(entry.text):>5}  "
            is_kept = action == ("keep", False)
            show.out(fitted(head, entry.text) if is_kept else whole(head, entry.text))
    show.out("")
    say(_summary(plan))
    for look in looks:
        untagged = sum(
            entry.priority is None
            and entry.store is look.store
            and entry.reason.startswith("no tag")
            for entry in plan.entries
        )
        if untagged:
            say(untagged_hint(untagged, look))
        if look.snapshot.exists or look.limit is not None:
            for sentence in notices(look, book):
                note(sentence)


def _summary(plan: Plan) -> str:
    if not plan.has_work:
        return "Nothing to do."
    going, offered = plan.going, plan.offered
    moved = sum(entry.action.value == "move" for entry in going)
    parts = [
        f"{len(going) - moved} would go" if len(going) > moved else "",
        f"{moved} would move" if moved else "",
        f"{len(offered)} offered" if offered else "",
        f"{len(plan.entries) - len(going) - len(offered)} stay",
    ]
    size = sum(len(entry.text) for entry in going)
    freed = f" ({size:,} characters)" if going else ""
    entries = count(len(plan.entries), "entry", "entries")
    return f"Of {entries}: {', '.join(filter(None, parts))}{freed}."


def _sizes(planned: PlannedStore) -> str:
    change = f"{planned.before:,}"
    if planned.after != planned.before:
        change += f" → {planned.after:,}"
    if planned.limit is None:
        return f"{planned.path}: {change} characters"
    before, after = (size * 100 // planned.limit for size in (planned.before, planned.after))
    share = f"{before} %" if before == after else f"{before} % → {after} %"
    return f"{planned.path}: {change} of {planned.limit:,} characters ({share})"


def print_next_step(plan: Plan, output: Path | None, place: Place, *, is_demo: bool) -> None:
    """How the plan is applied: the command, ready to be copied."""
    if not plan.can_apply:
        say("This policy is there to compare with: it can't be applied.")
        return
    if not plan.has_work:
        return
    words = ["qterm", *(["demo"] if is_demo else []), "memory", "apply"]
    words += [str(output)] if output is not None and plan.going else _as_given(plan, place)
    words += ["--home", str(place.home)] if place.home is not None else []
    if plan.emptied is not None:
        words += ["--allow-empty"]
    if plan.going:
        how = "at once, and nothing else" if output is not None else "it shows this again, and asks"
        say(f"To do it ({how}):")
        show.out(f"  {shlex.join(words)}")
        say("What goes is archived; `qterm memory restore` brings it back.")
    if plan.offered and output is None:
        ticks = _ticks([(entry.store, entry.number) for entry in plan.offered], place.store)
        say("To prune what is offered as well:" if plan.going else "To prune what is offered:")
        show.out(f"  {shlex.join([*words, '--tick', ticks])}")


def _as_given(plan: Plan, place: Place) -> list[str]:
    """The options that make the same plan again."""
    words = ["--policy", plan.policy]
    words += ["--store", place.store.value] if place.store.value != "memory" else []
    for option, ticks in (("--tick", plan.ticks.ticked), ("--untick", plan.ticks.unticked)):
        if ticks:
            words += [option, _ticks(ticks, place.store)]
    return words


def _ticks(ticks: Sequence[tuple[StoreName, int]], main: StoreName) -> str:
    return ",".join(
        str(number) if store is main else f"{store.value}:{number}" for store, number in ticks
    )
