"""The text of a memory file and its entries, the way hermes reads and writes them (pure).

hermes 0.19.0 and 0.22.2: entries are separated by exactly `\\n§\\n`; each is stripped, blank ones
are dropped (docs/memory.md, *The file*).
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

import msgspec

SIGN = "§"
DELIMITER = f"\n{SIGN}\n"
MARK = "\ufeff"
"""A byte order mark."""


def decode(data: bytes) -> str:
    """A file's text: UTF-8 with universal newlines, a byte order mark kept.

    Raises UnicodeDecodeError.
    """
    text = data.decode("utf-8")
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text


def parse(text: str) -> tuple[str, ...]:
    """The entries of a file's text, in order; duplicates stay (hermes drops the later ones)."""
    return tuple([entry for part in text.split(DELIMITER) if (entry := part.strip())])


def serialise(entries: Sequence[str]) -> str:
    """The text of a file with these entries; no final newline."""
    return DELIMITER.join(entries)


def size(entries: Sequence[str]) -> int:
    """Code points of the joined text, without joining it."""
    return sum(map(len, entries)) + len(DELIMITER) * (len(entries) - 1) if entries else 0


def unwritable(entries: Sequence[str]) -> str:
    """Why these entries can't be written as they are, in one sentence; empty when they can.

    They can when parsing what would be written gives back exactly them.
    """
    text = serialise(entries)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return "It holds half a character (a lone surrogate), which no file can hold."
    if parse(decode(text.encode("utf-8"))) == tuple(entries):
        return ""
    for number, entry in enumerate(entries, 1):
        if not entry.strip():
            return f"Entry {number} is blank: hermes would drop it."
        if entry != entry.strip():
            return f"Entry {number} begins or ends with white space, which hermes would strip."
        if "\r" in entry:
            return f"Entry {number} holds a carriage return, which hermes makes a new line."
        if DELIMITER in entry:
            return (
                f"Entry {number} has a line with nothing but {SIGN}: hermes would read it as two "
                "entries. Put another character on that line."
            )
    return (
        f"An entry ends or begins with a line of nothing but {SIGN}, so hermes would split it and "
        "its neighbour elsewhere. Put another character on that line."
    )


class FaultKind(StrEnum):
    """What is odd about a file."""

    BLANK = "blank"
    SPACE = "space"
    TOO_LONG = "too-long"
    DUPLICATE = "duplicate"
    BOM = "byte-order-mark"


class Fault(msgspec.Struct, frozen=True):
    """Something odd: `number` counts from 1; `sentence` says what it is.

    For BLANK and SPACE it counts the parts between delimiters, for the others the entries.
    `refused_by` names the hermes lines that replace and remove nothing while it is so: `0.19`,
    `0.22`, both or none.
    """

    kind: FaultKind
    number: int
    sentence: str
    refused_by: tuple[str, ...] = ()


def faults(text: str, entries: Sequence[str], limit: int | None) -> list[Fault]:
    """What is odd about a file, in its order, at most one of a kind but for duplicates.

    `entries` are those of `text`; `limit` in code points, None where there is none.
    """
    found = []
    if text.strip() != serialise(entries) and (layout := _layout_fault(text)):
        found.append(layout)
    if limit is not None and entries and max(map(len, entries)) > limit:
        number, length = next(
            (number, len(entry)) for number, entry in enumerate(entries, 1) if len(entry) > limit
        )
        sentence = (
            f"entry {number} is longer ({length:,} characters) than the whole file may be "
            f"({limit:,}): shorten or split it"
        )
        refused_by: tuple[str, ...] = ("0.19", "0.22")
        # 0.22 takes the mark off before it measures
        if text.startswith(MARK) and max(map(len, parse(text[1:])), default=0) <= limit:
            refused_by = ("0.19",)
        found.append(Fault(FaultKind.TOO_LONG, number, sentence, refused_by))
    if text.startswith(MARK):
        sentence = (
            "the file begins with a byte order mark, which sticks to its first entry: hermes 0.19 "
            "keeps that entry out of what it tells the model"
        )
        found.append(Fault(FaultKind.BOM, 1, sentence))
    if len(set(entries)) < len(entries):
        seen: dict[str, int] = {}
        for number, entry in enumerate(entries, 1):
            first = seen.setdefault(entry, number)
            if first != number:
                sentence = (
                    f"entry {number} is the same as entry {first}: hermes drops it when it next "
                    "writes this file"
                )
                found.append(Fault(FaultKind.DUPLICATE, number, sentence))
    return found


def _layout_fault(text: str) -> Fault | None:
    """The first part that hermes 0.19 can't write back as it is."""
    parts = text.split(DELIMITER)
    for number, part in enumerate(parts, 1):
        if not part.strip():
            return Fault(FaultKind.BLANK, number, f"blank entry at {number}", ("0.19",))
    for number, part in enumerate(parts, 1):
        at_start = number > 1 and part != part.lstrip()
        at_end = number < len(parts) and part != part.rstrip()
        if at_start or at_end:
            where = "before" if at_start else "behind"
            return Fault(FaultKind.SPACE, number, f"white space {where} entry {number}", ("0.19",))
    return None
