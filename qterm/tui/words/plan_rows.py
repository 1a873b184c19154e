"""A preview in rows and words: what would go, why, and how full the files would be (no widget)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from textual.content import Content

from qterm.memory.look import Look, Preview, can_be_cleaned, cleaned
from qterm.memory.proposal import Action, Decision, Proposal
from qterm.memory.schema import Migration, priority_of
from qterm.memory.stores import Document, StoreName
from qterm.memory.tags import Priority
from qterm.memory.writer import Written
from qterm.tui.content import one_line, plain, with_controls
from qterm.tui.words.entry_rows import (
    FULL,
    MUTED,
    WARN,
    first_words,
    percent,
    short_path,
    tag_words,
)

LOST = "bold $text-error"
GOES = "$text-warning"
WIDE = 100
"""From so many cells on a row has its reason, too."""

STORE_LETTERS = {StoreName.MEMORY: "M", StoreName.USER: "U", StoreName.WORKING: "W"}


EXPLAINED = {
    "tags": "P3 goes; P1 and what has no tag never do; P2 is offered while it stays too full.",
    "dual": "P3 moves to WORKING.md, stamped with the day; old or finished notes there go.",
    "schema": "Typed entries: P3 and what is past its day goes; a P1 past its day is only offered.",
    "legacy": "The earlier pruner, to compare with: it can’t be applied.",
}


def matters(decision: Decision, text: str) -> bool:
    """Whether an entry would be missed: P1, P2 or without a tag."""
    return decision.ticked and priority_of(text) is not Priority.P3


def box(decision: Decision, *, ticked: bool) -> Content:
    """The tick of a row; a bullet where there is nothing to choose."""
    if decision.action is Action.KEEP:
        return Content("  ")
    return Content.styled("☑ " if ticked else "☐ ", GOES if ticked else "bold")


@dataclass(frozen=True)
class PlanRows:
    """The rows of a preview. `ticked` are entries whose tick was just changed, with what it is."""

    preview: Preview
    ticked: dict[tuple[StoreName, int], bool]

    @classmethod
    def of(cls, preview: Preview) -> PlanRows:
        """With all that looks at every entry: made in a thread, as 50,000 take a while."""
        made = cls(preview, {})
        for part in ("lost", "notable", "sizes", "offered", "_going_at_first"):
            getattr(made, part)
        return made

    @property
    def proposal(self) -> Proposal:
        """What the policy proposes."""
        return self.preview.proposal

    def is_ticked(self, decision: Decision) -> bool:
        """Whether an entry goes, as the operator sees it."""
        return self.ticked.get((decision.store, decision.index), decision.ticked)

    def is_lost(self, decision: Decision) -> bool:
        """Whether the earlier pruner would have lost an entry that matters (rule M4)."""
        return (decision.store, decision.index) in self.lost

    @cached_property
    def lost(self) -> frozenset[tuple[StoreName, int]]:
        """The entries that matter which the earlier pruner would have lost."""
        if self.proposal.can_apply:
            return frozenset()
        return frozenset(
            (each.store, each.index)
            for each in self.proposal.decisions
            if matters(each, self.proposal.text(each))
        )

    @cached_property
    def notable(self) -> list[Decision]:
        """The entries that go, are offered, or would be lost."""
        return [
            each
            for each in self.proposal.decisions
            if each.action is not Action.KEEP or self.is_lost(each)
        ]

    @cached_property
    def sizes(self) -> list[Content]:
        """A line a file: its size now, and afterwards, against its limit."""
        return sizes(self.preview)

    def row(self, decision: Decision, width: int) -> Content:
        """One entry: tick, what happens, tag, first words, and why."""
        ticked, text = self.is_ticked(decision), self.proposal.text(decision)
        style = GOES if ticked else MUTED if decision.action is Action.KEEP else ""
        word = "LOST" if self.is_lost(decision) else decision.action.value
        store = ""
        if len(self.proposal.documents) > 1:
            store = f"{STORE_LETTERS[decision.store]} "
        head = Content.assemble(
            box(decision, ticked=ticked),
            Content.styled(f"{word:<6}", LOST if word == "LOST" else style),
            Content.styled(store, MUTED),
            tag_words(priority_of(text)),
            " " * (3 - len(str(priority_of(text) or "—"))),
        )
        room = width - head.cell_length
        if width < WIDE:
            return Content.assemble(head, first_words(text, max(room, 8)))
        wide = min(max(room * 2 // 5, 20), 46)
        words = first_words(text, max(room - wide - 2, 8))
        gap = " " * max(room - wide - words.cell_length, 1)
        return Content.assemble(head, words, gap, one_line(decision.reason, wide, MUTED))

    def detail(self, decision: Decision) -> Content:
        """The whole entry, and why it stays or goes."""
        text = self.proposal.text(decision)
        number = f"{decision.store.file_name}, entry {decision.index + 1}: "
        ticked = self.is_ticked(decision)
        verb, end = "stays", ""
        if self.is_lost(decision):
            verb, end = "would be lost", " It matters."
        elif decision.action is Action.KEEP:
            end = " There is nothing to choose."
        elif ticked:
            verb = "moves to WORKING.md" if decision.action is Action.MOVE else "goes"
            end = " Unticked, it stays."
        else:
            end = " Ticked, it goes."
        what = Content.styled(f"{number}{verb}. ", "bold")
        why = plain(f"{decision.reason}.{end}", MUTED)
        return Content.assemble(what, why, "\n", with_controls(text[:20_000]))

    @cached_property
    def offered(self) -> list[Decision]:
        """The entries that are only offered."""
        return [each for each in self.proposal.decisions if each.action is Action.OFFER]

    @cached_property
    def _going_at_first(self) -> int:
        return len(self.proposal.going)

    @property
    def has_going(self) -> bool:
        """Whether any entry goes; asked at every key, of as many as 50,000."""
        return bool(self._going_at_first) or any(self.ticked.values())

    def going(self) -> list[Decision]:
        """The entries that go."""
        return [each for each in self.proposal.decisions if self.is_ticked(each)]


def sizes(preview: Preview) -> list[Content]:
    """A line a file: its size now, and afterwards, against its limit."""
    pairs = zip(preview.proposal.documents, preview.proposal.after, strict=True)
    is_one = len(preview.proposal.documents) == 1
    return [_size(before, after, is_one=is_one) for before, after in pairs]


def _size(before: Document, after: Document, *, is_one: bool) -> Content:
    """With several files, each begins with the letter its rows have."""
    letter = STORE_LETTERS[before.store]
    name = before.store.file_name if is_one else f"{letter} = {before.store.file_name}"
    entries = f"{len(before.entries):,} → {len(after.entries):,} entries"
    if before.limit is None:
        return Content(f"{name}  {before.size:,} → {after.size:,} characters · {entries}")
    share = percent(after.size, before.limit)
    style = (
        "bold $text-error"
        if share > 100
        else f"bold {WARN}"
        if share > FULL
        else "bold $text-success"
    )
    return Content.assemble(
        f"{name}  {before.size:,} → {after.size:,} of {before.limit:,} characters · ",
        f"{percent(before.size, before.limit)} % → ",
        Content.styled(f"{share} %", style),
        f" · {entries}",
    )


def policy_tabs(policies: Sequence[str], here: str) -> Content:
    """The policies side by side; the one that is shown stands out."""
    parts = [
        Content.styled(f" {name} ", "bold reverse" if name == here else MUTED) for name in policies
    ]
    return Content(" ").join(parts)


def lost_words(rows: PlanRows) -> str:
    """What the earlier pruner would have lost; empty for any other policy."""
    if rows.proposal.can_apply:
        return ""
    lost = rows.lost
    if not lost:
        return "It would lose nothing that matters here."
    many = "1 entry that matters" if len(lost) == 1 else f"{len(lost):,} entries that matter"
    return f"It would lose {many} (P1, P2 or without a tag), marked LOST."


# -- applying ----------------------------------------------------------------------------------


def apply_question(rows: PlanRows, backups: str) -> Content:
    """What is asked before a plan is applied: what goes, and where the copy lies."""
    going = rows.going()
    pruned = [each for each in going if each.action is not Action.MOVE]
    moved = [each for each in going if each.action is Action.MOVE]
    heads = []
    if pruned:
        heads.append(f"Prune {_many(len(pruned))}?")
    if moved:
        heads.append(f"Move {_many(len(moved))} to WORKING.md?")
    lines = [Content.styled(" ".join(heads), "bold"), Content("")]
    for each in going[:500]:
        text = rows.proposal.text(each)
        tag = priority_of(text)
        sign = "→" if each.action is Action.MOVE else "−"
        lines.append(Content.assemble(f" {sign} ", tag_words(tag), "  ", first_words(text, 58)))
    if len(going) > 500:
        lines.append(Content.styled(f" … and {len(going) - 500:,} more", MUTED))
    lines += [Content(""), *rows.sizes, Content("")]
    lines.append(
        plain(
            "Each entry is archived first, and the whole file is kept as it is in "
            f"{backups}. It can be undone.",
            MUTED,
        )
    )
    return Content("\n").join(lines)


def _many(count: int) -> str:
    return "1 entry" if count == 1 else f"{count:,} entries"


def applied_words(preview: Preview, written: Sequence[Written], home: str) -> Content:
    """What applying did; `home` is the operator's."""
    gone = sum(len(each.removed) for each in written)
    lines = [
        Content.styled(f"Done: {_many(gone)} archived.", "bold $text-success"),
        Content(""),
        *sizes(preview),
        Content(""),
    ]
    kept = [each for each in written if each.backup is not None]
    if kept:
        lines.append(Content.styled("The files as they were:", MUTED))
        lines += [plain(f"  {short_path(str(each.backup), home)}", MUTED) for each in kept]
    return Content("\n").join(lines)


def changed_words(before: Sequence[Document], now: Sequence[Document]) -> str:
    """What has changed in the files since a preview was made."""
    parts = []
    for old, new in zip(before, now, strict=False):
        gone = sum((Counter(old.entries) - Counter(new.entries)).values())
        come = sum((Counter(new.entries) - Counter(old.entries)).values())
        if not gone and not come:
            continue
        said = [f"{_many(come)} new or changed"] if come else []
        said += [f"{gone:,} gone or changed"] if gone else []
        parts.append(f"{old.store.file_name}: {', '.join(said)}")
    return "; ".join(parts) or "only the layout of the file"


# -- turning one form into the other -----------------------------------------------------------


def migration_words(migration: Migration, form: str) -> Content:
    """What turning the file into another form does and costs, entry by entry."""
    changed = [step for step in migration.steps if step.changed]
    lines = [
        Content.styled(
            f"Write {_many(len(changed))} in the form “{form}”: {migration.cost:+,} characters?",
            "bold",
        ),
        Content(""),
    ]
    for step in migration.steps[:500]:
        lost = f" Lost: {', '.join(step.lost)}." if step.lost else ""
        lines.append(
            Content.assemble(
                Content.styled(f"{step.index + 1:>4} {step.cost:+5,}  ", MUTED),
                first_words(step.before, 44),
                plain(f"  {step.sentence}.{lost}", WARN if step.lost else MUTED),
            )
        )
    if len(migration.steps) > 500:
        lines.append(Content.styled(f"… and {len(migration.steps) - 500:,} more", MUTED))
    return Content("\n").join(lines)


# -- cleaning ----------------------------------------------------------------------------------


def clean_question(look: Look) -> Content:
    """What cleaning a file mends, and what would change in it."""
    entries, gone = cleaned(look.entries)
    lines = [Content.styled(f"Write {look.store.file_name} clean?", "bold"), Content("")]
    lines += [plain(f" · {fault.sentence}") for fault in can_be_cleaned(look)[:20]]
    lines.append(Content(""))
    if gone:
        lines.append(Content("What goes is archived first:"))
        lines += [
            Content.assemble(" − ", first_words(each.text, 60), plain(f"  {each.reason}", MUTED))
            for each in gone[:100]
        ]
    else:
        lines.append(Content("Every entry stays as it is; only the layout of the file changes."))
    are = "is" if len(entries) == 1 else "are"
    lines.append(
        Content.styled(f"{_many(len(entries))} {are} in it afterwards. It can be undone.", MUTED)
    )
    return Content("\n").join(lines)
