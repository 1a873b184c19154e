"""The policies side by side, in rows and words (no widget here)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from textual.content import Content

from qterm.memory.policies.registry import Comparison
from qterm.memory.proposal import Action
from qterm.memory.schema import priority_of
from qterm.tui.words.entry_rows import MUTED, first_words, percent, tag_words
from qterm.tui.words.plan_rows import GOES, LOST, matters


@dataclass(frozen=True)
class Compared:
    """A comparison, with what takes a look at every entry; made in a thread (`of`).

    `words` are a line a policy, `differing` the rows in which the policies don't agree.
    """

    comparison: Comparison
    words: list[Content]
    differing: list[int]

    @classmethod
    def of(cls, comparison: Comparison) -> Compared:
        """All of it; of 50,000 entries it takes a while."""
        return cls(comparison, comparison_words(comparison), differing(comparison))


def comparison_row(comparison: Comparison, index: int, width: int) -> Content:
    """One entry, and what each policy would do with it."""
    row = comparison.rows[index]
    cells = []
    for policy, decision in zip(comparison.policies, row.decisions, strict=True):
        lost = policy == "legacy" and matters(decision, row.entry)
        word = "LOST" if lost else decision.action.value
        style = LOST if lost else GOES if decision.ticked else MUTED
        if decision.action is Action.OFFER:
            style = "bold"
        cells.append(Content.styled(f"{word:<8}", style))
    head = Content.assemble(
        Content.styled(f"{row.index + 1:>5} ", MUTED),
        tag_words(priority_of(row.entry)),
        " " * (4 - len(str(priority_of(row.entry) or "—"))),
    )
    columns = Content("").join(cells)
    room = max(width - head.cell_length - columns.cell_length - 1, 8)
    words = first_words(row.entry, room)
    gap = " " * max(room - words.cell_length + 1, 1)
    return Content.assemble(head, words, gap, columns)


def comparison_heads(comparison: Comparison, width: int) -> Content:
    """The names of the policies, above their columns."""
    names = "".join(f"{name:<8}" for name in comparison.policies)
    return Content.styled(" " * max(width - len(names), 0) + names, "bold")


def comparison_words(comparison: Comparison) -> list[Content]:
    """A line a policy: how many would go, how full the file would be, what would be lost."""
    return list(_summaries(comparison))


def _summaries(comparison: Comparison) -> Iterator[Content]:
    for number, proposal in enumerate(comparison.proposals):
        going = [row for row in comparison.rows if row.decisions[number].ticked]
        lost = []
        if not proposal.can_apply:
            lost = [row for row in going if matters(row.decisions[number], row.entry)]
        after = proposal.after[0]
        line = f"{proposal.policy:<7} {len(going):>4,} go, {after.size:,} characters are left"
        if after.limit:
            line += f" ({percent(after.size, after.limit)} %)"
        if lost:
            mark = Content.styled(f" · {len(lost):,} that matter would be LOST", LOST)
            yield Content.assemble(line, mark)
        else:
            yield Content(line)


def differing(comparison: Comparison) -> list[int]:
    """The rows in which the policies don't agree."""
    return [
        row.index
        for row in comparison.rows
        if len({(each.action, each.ticked) for each in row.decisions}) > 1
    ]
