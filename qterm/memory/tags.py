"""The tag at the start of an entry, and which one an entry might deserve (pure, rule M1).

A tag is `[P1]`, `[P2]` or `[P3]` at the very start of an entry, then white space or the entry's
end. White space is what `str.isspace` calls so, which is what hermes strips. A suggested tag is
never written unless the operator accepts it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import StrEnum
from functools import lru_cache
from operator import itemgetter
from typing import Final

import msgspec

from qterm.memory import words
from qterm.memory.entries import MARK
from qterm.memory.words import LOOKED_AT
from qterm.settings.schema import MemorySettings


class Priority(StrEnum):
    """How much an entry matters: P1 is never pruned, P3 goes first (rule M1)."""

    P1 = "P1"
    P2 = "P2"
    P3 = "P3"


class Kind(StrEnum):
    """What an entry is about: the types of the typed form (docs/memory.md, *schema*)."""

    INFRASTRUCTURE = "infrastructure"
    RULE = "rule"
    PREFERENCE = "preference"
    TASK = "task"
    PERSONAL = "personal"
    TEAM = "team"


class Suggestion(msgspec.Struct, frozen=True):
    """A tag for an entry, the rule that fired as words for the operator, and what it fired on."""

    priority: Priority
    rule: str
    words: tuple[str, ...]
    kind: Kind


class _Rule(msgspec.Struct, frozen=True):
    priority: Priority
    kind: Kind
    sentence: str
    pattern: re.Pattern[str]


MOST_WORDS: Final = 5
"""How many of the words found a suggestion names."""
TAG_LENGTH: Final = 4
TAGS: Final = {f"[{priority}]": priority for priority in Priority}
WHITE_SPACE: Final = (
    "\t\n\v\f\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007"
    "\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
)
"""What `str.isspace` and `str.strip` take for white space."""
_HEADS: Final = {
    tag + behind: priority for tag, priority in TAGS.items() for behind in ("", *WHITE_SPACE)
}
_HEAD: Final = TAG_LENGTH + 1
_HEAD_OF = itemgetter(slice(_HEAD))

_BEFORE_PASSING = (
    _Rule(
        Priority.P1, Kind.INFRASTRUCTURE, "names credentials, or where they are", words.CREDENTIALS
    ),
    _Rule(
        Priority.P1,
        Kind.INFRASTRUCTURE,
        "names infrastructure (a host, an address, a capacity, a system)",
        words.HOSTS,
    ),
    _Rule(Priority.P1, Kind.RULE, "sounds like a standing rule", words.STANDING),
    _Rule(Priority.P1, Kind.PERSONAL, "says who somebody is", words.IDENTITY),
    _Rule(Priority.P1, Kind.TEAM, "is about the team", words.TEAM),
    _Rule(Priority.P2, Kind.PREFERENCE, "is a preference or a convention", words.PREFERENCES),
    _Rule(Priority.P1, Kind.INFRASTRUCTURE, "is about a machine", words.MACHINES),
)
_FACTS = _Rule(Priority.P2, Kind.TASK, "is a fact about a project or its rhythm", words.FACTS)
_TYPED = ("type:", "priority:", "expires:", "content:")
_NEARLY = re.compile(r"[\[(]\s{0,3}[Pp]\s?(?P<number>[0-9]{1,3})\s{0,3}[\])]")
_LATER = re.compile(r"\[P[123]\]")
_SO = "so this entry counts as untagged"


def tag_of(entry: str) -> Priority | None:
    """The entry's priority; None where it has no tag."""
    return _HEADS.get(entry[:_HEAD])


def tags_of(entries: Iterable[str]) -> list[Priority | None]:
    """The same for many at once."""
    return list(map(_HEADS.get, map(_HEAD_OF, entries)))


def strip_tag(entry: str) -> str:
    """The entry without its tag and the white space behind it; as it is where it has none."""
    return entry if tag_of(entry) is None else entry[TAG_LENGTH:].lstrip()


def retag(entry: str, priority: Priority | None) -> str:
    """The entry with another tag: only the tag's four characters change, where there is one.

    An untagged entry gets tag and blank put before it; None takes tag and white space away.
    Raises ValueError where nothing would be left.
    """
    if priority is None:
        text = strip_tag(entry)
        if not text.strip():
            raise ValueError("without its tag nothing is left of it, so delete it instead")
        return text
    if tag_of(entry) is None:
        return f"[{priority}] {entry}"
    return f"[{priority}]{entry[TAG_LENGTH:]}"


def without_near_tag(entry: str) -> str:
    """The entry without a byte order mark and without what only looks like a tag at its start.

    For giving it a real one; as it is where nothing would be left. A tagged entry keeps its tag.
    """
    text = entry.removeprefix(MARK)
    if tag_of(text) is not None:
        return text
    found = _NEARLY.match(text)
    cut = found.end() if found else TAG_LENGTH if text[:TAG_LENGTH] in TAGS else 0
    return text[cut:].lstrip() or text


def near_tag(entry: str) -> str | None:
    """A sentence that points at what only looks like a tag; None where nothing does.

    Tagged entries have nothing to point at. Only the first `LOOKED_AT` code points are looked at.
    """
    if tag_of(entry) is not None:
        return None
    text = entry[:LOOKED_AT]
    if text.startswith(MARK):
        bare = text.lstrip(MARK)
        if tag_of(bare) is not None:
            return f"A byte order mark stands before {bare[:TAG_LENGTH]}, {_SO}."
        text = bare
    if text[:TAG_LENGTH] in TAGS:
        return f"{text[:TAG_LENGTH]} needs a blank behind it, {_SO}."
    if found := _NEARLY.match(text):
        if found["number"] in {"1", "2", "3"}:
            return f"{found[0]!r} is not written [P{found['number']}], {_SO}."
        return f"{found[0]!r} is no tag ([P1], [P2] and [P3] are), {_SO}."
    if found := _LATER.search(text):
        return f"{found[0]} counts only at the very start of an entry, {_SO}."
    return None


@lru_cache(maxsize=8)
def _rules(finished: tuple[str, ...], waiting: tuple[str, ...]) -> tuple[_Rule, ...]:
    """All rules, the one that wins first: P1, what loses less, passing state, the rest."""
    passing = []
    if (pattern := words.finished_pattern(finished)) is not None:
        passing.append(_Rule(Priority.P3, Kind.TASK, "says that it is finished", pattern))
    if (pattern := words.whole_words(waiting)) is not None:
        passing.append(_Rule(Priority.P3, Kind.TASK, "waits for something", pattern))
    return (*_BEFORE_PASSING, *passing, _FACTS)


def suggest(entry: str, settings: MemorySettings) -> Suggestion | None:
    """The tag an untagged entry might deserve; None where no rule fires.

    Where a P1 rule and a P3 word meet, P1 wins; so does a preference, as the milder tag loses
    less. A tagged entry gets none, nor does one that begins like the typed form, which has its
    priority in it.
    """
    if tag_of(entry) is not None or entry.startswith(_TYPED):
        return None
    return suggest_text(entry, settings)


def suggest_text(text: str, settings: MemorySettings) -> Suggestion | None:
    """The same for any text, whatever it begins with."""
    start = text[:LOOKED_AT]
    for rule in _rules(settings.finished_words, settings.waiting_words):
        if rule.pattern.search(start):
            fired = dict.fromkeys(found[0] for found in rule.pattern.finditer(start))
            return Suggestion(rule.priority, rule.sentence, tuple(fired)[:MOST_WORDS], rule.kind)
    return None
