"""Entries that hermes keeps out of what it tells the model, and why (pure).

hermes 0.19.0 and 0.22.2 scan each entry when they load the memory and put a placeholder into the
prompt where something is found: hidden characters, or words that attacks are made of (`threats`).
The same is looked for here, so that the operator learns which entry is not heard, and why.
"""

from __future__ import annotations

import unicodedata
from typing import Final

from qterm.memory.entries import MARK
from qterm.memory.threats import NEEDS

SCANNED: Final = 65_536
"""Code points of an entry that hermes looks at."""

PASSED: Final = "[BLOCKED:"
"""What hermes takes for its own placeholder, and does not scan."""

HIDDEN: Final = frozenset(
    "\u200b\u200c\u200d\u2060\u2062\u2063\u2064\ufeff"
    "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
)
"""Characters nobody sees, for which both lines keep an entry out."""

_AS_I: Final = str.maketrans("İı", "ii")
"""What a pattern that is blind to case takes for an i, and `str.lower` does not."""


def why_kept_out(entry: str, line: str = "", *, is_first: bool = False) -> str:
    """Why hermes would not tell the model this entry, in one sentence; empty where it would.

    `line` is hermes's (`0.19`, `0.22`; empty: not known, then 0.19's rules count, which find more);
    0.22 takes the byte order mark off a file, and with it off its first entry.
    """
    if is_first and line == "0.22":
        entry = entry.removeprefix(MARK).lstrip()
    if entry.startswith(PASSED):
        return ""
    text = entry[:SCANNED]
    if not text.isascii():
        if found := HIDDEN.intersection(text):
            sign = min(found)
            name = (
                "a byte order mark" if sign == MARK else f"the hidden character U+{ord(sign):04X}"
            )
            more = "" if len(found) == 1 else f" and {len(found) - 1} more"
            return _sentence(f"holds {name}{more}")
        text = unicodedata.normalize("NFKC", text)  # as hermes does: full-width letters are letters
    lowered = (text if text.isascii() else text.translate(_AS_I)).lower()
    for word, threat in NEEDS:
        if word in lowered and threat.is_in(text, line):
            return _sentence(threat.what)
    return ""


def _sentence(what: str) -> str:
    return f"hermes keeps this entry out of its prompt: it {what}."
