"""The typed form of an entry, with a day on which it expires, and the way there and back (pure).

An entry in this form is a YAML mapping with four keys, all of them needed: `type`, `priority` (p1,
p2, p3), `expires` (a day, or never) and `content`. Entries in another form stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from typing import Final

import msgspec

from qterm.memory.entries import SIGN, unwritable
from qterm.memory.tags import (
    TAG_LENGTH,
    Kind,
    Priority,
    retag,
    suggest_text,
    tag_of,
    without_near_tag,
)
from qterm.memory.typed_yaml import OddYAML, read_mapping
from qterm.settings.schema import MemorySettings

KEYS: Final = ("type", "priority", "expires", "content")
NEVER: Final = "never"
MOST_READ: Final = 50_000
"""Code points beyond which an entry is not read as YAML."""

_BEGINNINGS: Final = ("type", "priority", "expires", "content", '"', "'", "{", "---")
_KEY = re.compile(
    r"""(?:^|[{,])\s{0,8}["']?(type|priority|expires|content)["']?\s{0,8}:""", re.MULTILINE
)
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_PLAIN_FORM = re.compile(
    # what most entries look like, read without YAML: a content of plain words, more than one
    r"type: (?P<type>[a-z]+)\npriority: (?P<priority>p[123])\n"
    r"expires: (?P<expires>never|[0-9]{4}-[0-9]{2}-[0-9]{2})\n"
    r"content: (?P<content>[A-Za-z]+ [A-Za-z][A-Za-z0-9 ,.;()/+'-]*)"
)
_FALLBACK: Final = {
    Priority.P1: Kind.RULE,
    Priority.P2: Kind.PREFERENCE,
    Priority.P3: Kind.TASK,
}


class SchemaEntry(msgspec.Struct, frozen=True, gc=False):
    """A typed entry; `expires` None means never."""

    type: Kind
    priority: Priority
    expires: date | None
    content: str

    def past(self, today: date) -> bool:
        """Whether its day is over: the day itself still counts."""
        return self.expires is not None and self.expires < today


def inspect(entry: str) -> SchemaEntry | str | None:
    """The typed entry; or why it isn't one, in words; or None where it doesn't even look so."""
    if not entry.startswith(_BEGINNINGS):
        return None
    if (plain := _plain(entry)) is not None:
        return plain
    if len({found[1] for found in _KEY.finditer(entry[:MOST_READ])}) < 2:
        return None
    if len(entry) > MOST_READ:
        return f"longer than {MOST_READ:,} characters"
    return _read(entry)


def read_schema(entry: str) -> SchemaEntry | None:
    """The typed entry; None where it isn't in this form."""
    found = inspect(entry)
    return found if isinstance(found, SchemaEntry) else None


def priority_of(entry: str) -> Priority | None:
    """The entry's priority, whichever form it is in: its tag's, or the typed one's."""
    tag = tag_of(entry)
    if tag is not None:
        return tag
    found = read_schema(entry)
    return found.priority if found is not None else None


def with_priority(entry: str, priority: Priority | None) -> str:
    """The entry with another priority, in the form it is in; what looks like a tag is replaced.

    Raises ValueError with words where that can't be: a typed entry has to have one, and an entry
    needs more than its tag.
    """
    found = read_schema(entry)
    if found is None:
        return retag(without_near_tag(entry), priority)
    if priority is None:
        raise ValueError("it is typed, and that form needs a priority: migrate it to tags first")
    text = write_schema(msgspec.structs.replace(found, priority=priority))
    if text is None:
        raise ValueError("its text can't be written in the typed form: edit it instead")
    return text


def why_not(entry: str) -> str | None:
    """Why an entry that looks like the form isn't in it, in words ("`priority` is missing")."""
    found = inspect(entry)
    return found if isinstance(found, str) else None


def write_schema(wanted: SchemaEntry) -> str | None:
    """The text of a typed entry: short and readable where that reads back exactly, else quoted.

    None where no text reads back as exactly this entry, or hermes would change it.
    """
    try:
        wanted.content.encode()
    except UnicodeEncodeError:  # half a character, which no file can hold
        return None
    expires = NEVER if wanted.expires is None else wanted.expires.isoformat()
    head = f"type: {wanted.type}\npriority: {wanted.priority.lower()}\nexpires: {expires}\n"
    for content in _ways_to_write(wanted.content):
        text = f"{head}content: {content}"
        if not unwritable((text,)) and inspect(text) == wanted:
            return text
    return None


def _ways_to_write(content: str) -> Iterator[str]:
    """YAML for a text, the most readable first; the reader decides which of them will do."""
    lines = content.split("\n")
    # JSON's strings are YAML's double-quoted ones; what YAML reads otherwise is escaped
    escaped = msgspec.json.encode(content).decode().translate(_ESCAPES)
    invisible = "\\u" in escaped
    if len(lines) == 1 and not invisible:
        yield content
    elif not invisible and not content[0].isspace():
        yield "|-\n" + "\n".join(f"  {line}" if line else "" for line in lines)
    yield escaped


_ESCAPES: Final = {
    number: f"\\u{number:04x}"
    for number in (*range(0x7F, 0xA0), 0xAD, 0x2028, 0x2029, 0xFEFF, 0xFFFE, 0xFFFF)
}


def _plain(entry: str) -> SchemaEntry | None:
    """The entry, if it is as plain as most are; this only saves time."""
    found = _PLAIN_FORM.fullmatch(entry)
    if found is None or found["content"].endswith(" "):
        return None
    read = _entry(found.groupdict())
    return read if isinstance(read, SchemaEntry) else None


def _read(entry: str) -> SchemaEntry | str:
    """The typed entry by a YAML parser, or why it isn't one."""
    try:
        values = read_mapping(entry, KEYS)
    except OddYAML as odd:
        return str(odd)
    if not values["content"][1]:
        return "“content” is no text for YAML: put it in quotes"
    return _entry({key: value for key, (value, _) in values.items()})


def _entry(values: Mapping[str, str]) -> SchemaEntry | str:
    """The typed entry with these values, or why they don't make one."""
    try:
        kind = Kind(values["type"])
    except ValueError:
        return f"“type” must be one of {', '.join(Kind)}"
    if values["priority"] not in {"p1", "p2", "p3"}:
        return "“priority” must be p1, p2 or p3"
    expires = None
    if values["expires"] != NEVER:
        try:
            if not _DAY.fullmatch(values["expires"]):
                return "“expires” must be a day such as 2026-12-31, or never"
            expires = date.fromisoformat(values["expires"])
        except ValueError:
            return "“expires” is no day of the calendar"
    return SchemaEntry(kind, Priority(values["priority"].upper()), expires, values["content"])


class Step(msgspec.Struct, frozen=True, gc=False):
    """What a migration makes of an entry: `sentence` says what changes, or why nothing does.

    `lost` names what the new form can't hold; `cost` counts the code points it is longer by.
    """

    index: int
    before: str
    after: str
    sentence: str
    lost: tuple[str, ...] = ()

    @property
    def changed(self) -> bool:
        """Whether the entry is written anew."""
        return self.before != self.after

    @property
    def cost(self) -> int:
        """Code points more (or, below 0, fewer) than before."""
        return len(self.after) - len(self.before)


class Migration(msgspec.Struct, frozen=True):
    """What a migration would write, and a step for every entry; nothing is written by it (M2)."""

    steps: tuple[Step, ...]

    @property
    def entries(self) -> tuple[str, ...]:
        """The entries afterwards, in the same order."""
        return tuple([step.after for step in self.steps])

    @property
    def cost(self) -> int:
        """Code points more (or, below 0, fewer) than before, of all entries together."""
        return sum([step.cost for step in self.steps])


def to_schema(entries: Sequence[str], settings: MemorySettings) -> Migration:
    """Tagged entries in the typed form, expiring never; their type is that of the suggestion.

    Untagged entries stay, as does one that couldn't be written so that it reads back exactly.
    """
    return Migration(
        tuple([_to_schema(index, entry, settings) for index, entry in enumerate(entries)])
    )


def _to_schema(index: int, entry: str, settings: MemorySettings) -> Step:
    priority = tag_of(entry)
    if priority is None:
        same = "stays: it is in this form" if read_schema(entry) else "stays: no tag"
        return Step(index, entry, entry, same)
    content = _behind_tag(entry)
    found = suggest_text(content, settings)
    kind = found.kind if found is not None else _FALLBACK[priority]
    if len(entry) > MOST_READ // 2:
        sentence = f"stays tagged: it is longer than {MOST_READ // 2:,} characters"
        return Step(index, entry, entry, sentence)
    written = write_schema(SchemaEntry(kind, priority, None, content))
    if written is None or _with_tag(priority, content) != entry:
        sentence = "stays tagged: this text can't be written in the form and read back exactly"
        return Step(index, entry, entry, sentence)
    return Step(index, entry, written, f"{priority} becomes {kind}, {priority.lower()}, never")


def to_tags(entries: Sequence[str]) -> Migration:
    """Typed entries as tagged ones; type and day are lost, which the steps list.

    Other entries stay, as does one whose text hermes would change.
    """
    last = len(entries) - 1
    return Migration(
        tuple([_to_tags(index, entry, index == last) for index, entry in enumerate(entries)])
    )


def _to_tags(index: int, entry: str, is_last: bool) -> Step:
    found = inspect(entry)
    if not isinstance(found, SchemaEntry):
        return Step(index, entry, entry, f"stays: {found}" if found else "stays: not in this form")
    text = _with_tag(found.priority, found.content)
    why = unwritable((text,))
    if not why and text.endswith(f"\n{SIGN}") and not is_last:
        why = f"it ends with a line of nothing but {SIGN}"
    if not why and tag_of(text) is None:
        why = "its tag would not be read"
    if why:
        return Step(index, entry, entry, f"stays in this form: as a tagged entry, {_lower(why)}")
    lost = [f"type {found.type}"]
    if found.expires is not None:
        lost.append(f"expires {found.expires}")
    return Step(index, entry, text, f"becomes {found.priority}", tuple(lost))


def _lower(sentence: str) -> str:
    return (sentence[:1].lower() + sentence[1:]).rstrip(".")


def _behind_tag(entry: str) -> str:
    """A tagged entry's text. White space behind the tag that isn't one blank is part of it, so
    that nothing of the entry is lost; `_with_tag` turns it back."""
    rest = entry[TAG_LENGTH:]
    return rest[1:] if rest[:1] == " " and not rest[1:2].isspace() and rest[1:] else rest


def _with_tag(priority: Priority, content: str) -> str:
    if not content or content[0].isspace():
        return f"[{priority}]{content}"
    return f"[{priority}] {content}"
