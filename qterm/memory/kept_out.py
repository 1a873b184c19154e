"""Entries that hermes keeps out of what it tells the model, as far as that can be foreseen (pure).

hermes 0.19.0 and 0.22.2 scan each entry when they load the memory (`tools/threat_patterns.py`,
scope `strict`) and put a placeholder into the prompt where something is found. Told here: every
hidden character, and those of its patterns that an operator's own notes are likely to meet.
"""

from __future__ import annotations

import re
from typing import Final

from qterm.memory.entries import MARK

SCANNED: Final = 65_536
"""Code points of an entry that hermes looks at."""

HIDDEN: Final = frozenset(
    "\u200b\u200c\u200d\u2060\u2062\u2063\u2064\ufeff"
    "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
)
"""Characters nobody sees, for which both lines keep an entry out."""

_LIKELY: Final = (
    (re.compile(r"authorized_keys", re.IGNORECASE), "names authorized_keys"),
    (re.compile(r"(?:\$HOME|~)/\.ssh", re.IGNORECASE), "names ~/.ssh"),
    (re.compile(r"(?:\$HOME|~)/\.hermes/\.env", re.IGNORECASE), "names ~/.hermes/.env"),
    (re.compile(r"\bcommand\s+and\s+control\b", re.IGNORECASE), "says “command and control”"),
    (
        re.compile(
            r"(?:api[_-]?key|token|secret|password)\s*[=:]\s*[\"'][A-Za-z0-9+/=_-]{20,}",
            re.IGNORECASE,
        ),
        "holds what looks like a secret, word for word",
    ),
    (
        re.compile(
            r"(?:send|post|upload|transmit)\s+[^\n]{0,2048}\s+(?:to|at)\s+https?://", re.IGNORECASE
        ),
        "asks to send something to an address",
    ),
    (
        re.compile(
            r"cat\s+[^\n]{0,2048}(?:\.env|credentials|\.netrc|\.pgpass|\.npmrc|\.pypirc)",
            re.IGNORECASE,
        ),
        "shows how to read a file with secrets",
    ),
    (
        re.compile(
            r"ignore\s+(?:\w+\s+){0,8}(?:previous|all|above|prior)\s+(?:\w+\s+){0,8}instructions",
            re.IGNORECASE,
        ),
        "sounds like an attempt to replace its instructions",
    ),
)


def why_kept_out(entry: str, line: str = "", *, is_first: bool = False) -> str:
    """Why hermes would not tell the model this entry, in one sentence; empty where it would.

    `line` is hermes's (`0.19`, `0.22`, empty: not known); 0.22 takes the byte order mark off a
    file, and with it off its first entry.
    """
    if is_first and line == "0.22":
        entry = entry.removeprefix(MARK)
    start = entry[:SCANNED]
    if found := HIDDEN.intersection(start):
        sign = min(found)
        name = "a byte order mark" if sign == MARK else f"the hidden character U+{ord(sign):04X}"
        more = "" if len(found) == 1 else f" and {len(found) - 1} more"
        return f"hermes keeps this entry out of its prompt: it holds {name}{more}."
    for pattern, what in _LIKELY:
        if pattern.search(start):
            return f"hermes keeps this entry out of its prompt: it {what}."
    return ""
