"""Memory entries as rows, and what there is to say of them and of their store (no widget here)."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache

from textual.content import Content
from textual.style import Style

from qterm.memory.draft import Draft
from qterm.memory.kept_out import why_kept_out
from qterm.memory.look import Look, can_be_cleaned
from qterm.memory.schema import priority_of, read_schema, why_not
from qterm.memory.stores import StoreName
from qterm.memory.tags import Priority, near_tag, strip_tag, suggest
from qterm.settings.schema import MemorySettings
from qterm.tui.content import one_line, plain, with_controls

MUTED = "$foreground-muted"
WARN = "$text-warning"
TAG_STYLES = {
    Priority.P1: "bold $text-success",
    Priority.P2: "$text-primary",
    Priority.P3: "$text-warning",
}
MEANS = {
    Priority.P1: "P1: never pruned",
    Priority.P2: "P2: offered only when the file stays too full",
    Priority.P3: "P3: goes first",
    None: "no tag: never pruned",
}
STORE = "store"
"""The key in a style's meta: which store a click there chooses."""

FULL = 80
"""Percent from which on a gauge warns."""

FIRST_CHARS = 400
"""Code points of an entry that its row looks at."""


def tag_words(priority: Priority | None) -> Content:
    """The tag as a word with its colour, three cells wide at most."""
    return Content.styled(
        str(priority or "—"), TAG_STYLES.get(priority, MUTED) if priority else MUTED
    )


def first_words(text: str, width: int | None = None) -> Content:
    """The beginning of an entry on one line, without its tag."""
    found = read_schema(text) if text.startswith("type:") else None
    shown = found.content if found is not None else strip_tag(text)
    return one_line(shown[:FIRST_CHARS], width)


@lru_cache(maxsize=4_000)
def odd_words(text: str, line: str, is_first: bool) -> str:
    """Why an entry needs a look: kept out of the prompt, or only nearly tagged; else empty."""
    if why := why_kept_out(text, line, is_first=is_first):
        return why
    return near_tag(text) or _why_not_typed(text)


def _why_not_typed(text: str) -> str:
    why = why_not(text)
    return f"Not in the typed form: {why}." if why else ""


@lru_cache(maxsize=4_000)
def _suggested(text: str, settings: MemorySettings) -> str:
    found = suggest(text, settings)
    return f"{found.priority}? {found.kind}" if found is not None else ""


@dataclass(frozen=True, slots=True)
class RowWords:
    """What rows need beside the entry: the settings, and which hermes line (`0.19`) there is."""

    settings: MemorySettings
    line: str = ""

    def row(self, draft: Draft, index: int, width: int, *, marked: bool) -> Content:
        """One entry: mark, tag, size, what is odd, its first words, a suggested tag."""
        entry = draft.entries[index]
        odd = odd_words(entry.text, self.line, index == 0)
        sign = Content.styled("!", f"bold {WARN}") if odd else Content(" ")
        change = Content.styled("*", WARN) if draft.changed(index) else Content(" ")
        head = Content.assemble(
            Content.styled("●" if marked else " ", "$text-primary"),
            " ",
            tag_words(priority_of(entry.text)),
            " " * (4 - len(str(priority_of(entry.text) or "—"))),
            Content.styled(f"{len(entry.text):>6,} ", MUTED),
            change,
            sign,
            " ",
        )
        hint = _suggested(entry.text, self.settings)
        room = width - head.cell_length - (len(hint) + 2 if hint else 0)
        text = first_words(entry.text, max(room, 8))
        if not hint:
            return Content.assemble(head, text)
        gap = " " * max(room - text.cell_length + 2, 1)
        return Content.assemble(head, text, gap, Content.styled(hint, f"italic {MUTED}"))

    def notes(self, draft: Draft, index: int) -> list[Content]:
        """What is to be said below the whole entry, a line each."""
        entry = draft.entries[index]
        priority = priority_of(entry.text)
        share = f"{len(entry.text):,} characters"
        limit = draft.look.limit
        if limit is not None and len(entry.text) * 100 >= limit.chars:
            share += f", {len(entry.text) * 100 // limit.chars} % of the limit"
        notes = [Content.styled(f"{share} · {MEANS[priority]}", MUTED)]
        if odd := odd_words(entry.text, self.line, index == 0):
            notes.append(plain(f"! {odd}", WARN))
        found = suggest(entry.text, self.settings)
        if found is not None:
            fired = ", ".join(found.words)
            notes.append(
                Content.assemble(
                    Content.styled(f"Suggested: {found.priority}. ", "bold"),
                    plain(f"It {found.rule} ({fired})."),
                )
            )
        if entry.origin is None:
            notes.append(Content.styled("New, not saved yet.", WARN))
        elif draft.changed(index):
            old = draft.look.entries[entry.origin]
            notes.append(Content.styled("Changed, not saved yet. In the file:", WARN))
            notes.append(with_controls(old[:2_000], MUTED))
        return notes


def store_tabs(
    fills: Sequence[tuple[StoreName, Look | None]],
    here: StoreName,
    unsaved: Collection[StoreName] = (),
) -> Content:
    """The stores side by side, with how full each is; the one that is shown stands out.

    One with edits that are not saved has a star. Each is what a click there chooses (`STORE`).
    """
    parts = []
    for store, look in fills:
        style = "bold reverse" if store is here else MUTED
        fill = _fill(look)
        star = Content.styled("*", WARN) if store in unsaved else Content("")
        words = Content.assemble(f" {store.file_name}{fill}", star, " ").stylize(style)
        parts.append(words.stylize(Style.from_meta({STORE: str(store)})))
    return Content(" ").join(parts)


def _fill(look: Look | None) -> str:
    if look is None:
        return ""
    if look.limit is None:
        return f" {len(look.entries):,}"
    return f" {percent(look.document.size, look.limit.chars)}%"


def percent_of(look: Look) -> int | None:
    """How full the store is, in percent; None where there is no file, or no limit."""
    if look.limit is None or not look.snapshot.exists:
        return None
    return percent(look.document.size, look.limit.chars)


def percent(size: int, limit: int) -> int:
    """How full a store is; over 100 where it is too full."""
    return round(size * 100 / limit)


def short_path(path: str, home: str) -> str:
    """A path with `~` for the operator's home."""
    if home and (path == home or path.startswith(home + os.sep)):
        return f"~{path[len(home) :]}"
    return path


def shorten(sentence: str, home: str) -> str:
    """A sentence in which `~` stands for the operator's home."""
    return sentence.replace(f"{home}{os.sep}", f"~{os.sep}") if len(home) > 1 else sentence


def path_words(path: str, home: str, width: int) -> Content:
    """A path with `~` for the operator's home; cut in the middle where it is too long."""
    line = one_line(short_path(path, home))
    if line.cell_length <= width or width < 20:
        return line
    words = line.plain
    keep = (width - 1) // 2
    return one_line(f"{words[: width - 1 - keep]}…{words[-keep:]}")


def gauge(size: int, limit: int | None, cells: int) -> Content:
    """A bar of so many cells; nothing where there is no limit."""
    if limit is None:
        return Content("")
    full = min(round(size * cells / limit), cells)
    share = percent(size, limit)
    style = "$text-error" if share > 100 else WARN if share > FULL else "$text-success"
    return Content.assemble(
        Content.styled("━" * full, style), Content.styled("─" * (cells - full), MUTED)
    )


def size_words(draft: Draft) -> Content:
    """How large a store is, against hermes's own limit, and how many entries it holds."""
    look, size = draft.look, draft.size
    count = len(draft.entries)
    entries = "1 entry" if count == 1 else f"{count:,} entries"
    if look.limit is None:
        return Content(f"{size:,} characters · {entries}")
    share = percent(size, look.limit.chars)
    default = " (default)" if look.limit.is_default else ""
    style = "bold $text-error" if share > 100 else f"bold {WARN}" if share > FULL else "bold"
    return Content.assemble(
        f"{size:,} of {look.limit.chars:,}{default} characters · ",
        Content.styled(f"{share} %", style),
        f" · {entries}",
    )


def state_words(draft: Draft, line: str, keys: dict[str, str]) -> list[Content]:
    """What is to be known of the file before one edits it, a line each; mostly none."""
    look = draft.look
    name = look.store.file_name
    if not look.snapshot.is_text:
        return [
            plain(
                f"{name} is not UTF-8: hermes reads nothing of it, and it can only be shown here. "
                "Save it as UTF-8 with an editor.",
                "$text-error",
            )
        ]
    found = []
    if look.limit is not None and look.limit.problem:
        found.append(plain(look.limit.problem, WARN))
    if look.limit is not None and draft.size > look.limit.chars:
        over = draft.size - look.limit.chars
        found.append(
            plain(
                f"{over:,} characters over hermes's limit: it takes no new entry until some go "
                f"({keys['preview']} shows what a prune would take).",
                "$text-error",
            )
        )
    if refusals := look.refusals(line):
        which = f"hermes {line}" if line else "hermes 0.19"
        found.append(
            plain(
                f"{which} can't change this file: {refusals[0].sentence}."
                + (f" {keys['clean']} cleans it." if can_be_cleaned(look) else ""),
                WARN,
            )
        )
    elif faults := can_be_cleaned(look):
        more = f" ({len(faults) - 1} more like it)" if len(faults) > 1 else ""
        sentence = faults[0].sentence
        found.append(
            plain(f"{sentence[0].upper()}{sentence[1:]}{more}. {keys['clean']} cleans it.", WARN)
        )
    if look.store is StoreName.WORKING:
        found.append(
            plain("hermes does not read this file; Q is told its newest entries at home.", MUTED)
        )
    return found


def empty_words(draft: Draft, keys: dict[str, str]) -> str:
    """What stands where a store has no entry."""
    name = draft.store.file_name
    match draft.store:
        case StoreName.MEMORY:
            what = "what Q notes for later: servers, rules, how things are done"
        case StoreName.USER:
            what = "what Q notes about you"
        case StoreName.WORKING:
            what = "passing notes that the policy “dual” moved out of MEMORY.md"
    there = "is empty" if draft.look.snapshot.exists else "is not there yet"
    return (
        f"{name} {there}. In it hermes keeps {what}. {keys['add']} adds an entry; "
        "it is written when you save."
    )
