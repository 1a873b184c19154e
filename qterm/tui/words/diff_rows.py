"""What would change in a memory file, line by line (no widget here)."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Sequence

from textual.content import Content

from qterm.memory.entries import serialise
from qterm.memory.look import Preview
from qterm.tui.content import with_controls
from qterm.tui.words.entry_rows import MUTED

DIFF_LINES = 4_000
"""Up to so many lines a diff has its context; beyond, only what changes is told."""


def diff(name: str, before: Sequence[str], after: Sequence[str]) -> list[tuple[str, str]]:
    """The lines of a unified diff, each with its sign: `+`, `-`, `@` or a blank.

    Beyond `DIFF_LINES` without context: only the entries that go and come.
    """
    old, new = serialise(before).split("\n"), serialise(after).split("\n")
    if len(old) + len(new) <= DIFF_LINES:
        made = list(difflib.unified_diff(old, new, lineterm=""))[2:]
        lines = [(line[:1], line[1:]) for line in made]
        lines = [_place(line) if sign == "@" else (sign, line) for sign, line in lines]
        return [("@", f"{name}, now and afterwards"), *lines] if lines else []
    gone, come = Counter(before) - Counter(after), Counter(after) - Counter(before)
    found = [("@", f"{name}: only what changes, since it is long")]
    found += [("-", line) for text in gone.elements() for line in text.split("\n")]
    found += [("+", line) for text in come.elements() for line in text.split("\n")]
    return found


def _place(hunk: str) -> tuple[str, str]:
    """Where the lines that follow stand in the file."""
    found = re.search(r"-(\d+)", hunk)
    return ("@", f"from line {found[1]} on" if found else "")


def diff_content(lines: Sequence[tuple[str, str]], most: int = 2_000) -> Content:
    """The lines of a diff, coloured, and with their signs."""
    if not lines:
        return Content.styled("Nothing would change.", MUTED)
    styles = {"+": "$text-success", "-": "$text-error", "@": "bold $text-primary"}
    shown = [
        Content.assemble(
            Content.styled(f"{sign} ", styles.get(sign, MUTED)),
            with_controls(line[:2_000], styles.get(sign, "")),
        )
        for sign, line in lines[:most]
    ]
    if len(lines) > most:
        shown.append(Content.styled(f"… {len(lines) - most:,} more lines", MUTED))
    return Content("\n").join(shown)


def preview_diff(preview: Preview) -> list[tuple[str, str]]:
    """What applying a preview would change, of all its files."""
    pairs = zip(preview.proposal.documents, preview.proposal.after, strict=True)
    return [
        line
        for before, after in pairs
        for line in diff(before.store.file_name, before.entries, after.entries)
    ]


COMPARED = 4_000
"""Code points of a text whose words are compared; behind them nothing is marked."""


def changed_in(text: str, before: str | None, style: str) -> Content:
    """Foreign text, with the words bold and underlined that were not there before.

    Nothing is marked where there was nothing before.
    """
    if before is None or text == before:
        return with_controls(text, style)
    words = _WORDS.findall(text[:COMPARED])
    matcher = difflib.SequenceMatcher(None, _WORDS.findall(before[:COMPARED]), words)
    parts = [
        with_controls(
            "".join(words[start:end]), style if tag == "equal" else f"bold underline {style}"
        )
        for tag, _, _, start, end in matcher.get_opcodes()
    ]
    return Content.assemble(*parts, with_controls(text[COMPARED:], style))


_WORDS = re.compile(r"\s+|\S+")
