"""Which texts are worth drawing as Markdown, and small enough for it (pure, linear)."""

from __future__ import annotations

import re
from typing import Final

MOST_CHARS: Final = 20_000
"""The longest answer that is drawn as Markdown, in code points."""

MOST_PARTS: Final = 300
"""The most parts of one: each is a widget, and their number is what costs."""

MOST_DRAWN: Final = 12
MOST_DRAWN_PARTS: Final = 160
"""At most so many answers are drawn at a time, with so many parts in all: the newest.

A drawn token costs the same with any number, but each answer of fifty parts adds about a tenth of a
second to the first page and to a resize; with the 32 answers of a full window drawn, a resize took
eleven times as long as with none. So much fills a screen of forty rows, so few change in sight.
"""

_ITEM = re.compile(r"^[ \t>]*(?:[-*+]|\d{1,9}[.)]) ", re.MULTILINE)

_SIGNS = re.compile(
    r"^ {0,3}(?:```|~~~|#{1,6} +\S|>|[-*+] +\S|\d{1,9}[.)] +\S"  # code, heading, quote, list
    r"|\|?(?: *:?-+:? *\|)+ *(?::?-+:?)? *$)"  # the line below a table's head
    r"|\*\*[^\s*]|`[^`\n]|\*[^\s*][^*\n]{0,200}\*"  # emphasis, code in a line
    r"|\[[^\[\]\n]{1,200}\]\([^()\s]",  # link
    re.MULTILINE,
)
_TOO_DEEP = re.compile(
    r"^(?:[ \t]*(?:>|[-*+](?=[ \t])|\d{1,9}[.)](?=[ \t]))){7}|^ {18,}[-*+\d]", re.MULTILINE
)


def parts(text: str) -> int:
    """About how many widgets it takes as Markdown; 0: it is not worth it, or too much for it."""
    if len(text) > MOST_CHARS or not _SIGNS.search(text):
        return 0
    count = 1 + text.count("\n\n") + text.count("|") + 4 * len(_ITEM.findall(text))
    return 0 if count > MOST_PARTS or _TOO_DEEP.search(text) else count
