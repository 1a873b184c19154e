"""Who speaks in the feed: the built-in personas, what differs, and others (rule C4).

Labels head the lines of the transcript that Q gets. Two that look alike, or one that looks like
a part of the block, would let one persona speak as another: such a label is refused.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, replace

from qterm.context import FRAME_WORDS
from qterm.model import RESERVED_PERSONAS, Persona
from qterm.settings.keys import is_one_line
from qterm.settings.problems import Problem, show, unknown_key, wrong_value
from qterm.settings.schema import PERSONAS

COLOURS = (
    "black",
    "red",
    "green",
    "yellow",
    "blue",
    "magenta",
    "cyan",
    "white",
    "grey",
    "orange",
    "pink",
    "purple",
    "violet",
    "teal",
    "lime",
    "gold",
    "salmon",
    "olive",
    "navy",
    "maroon",
    "silver",
    "turquoise",
)
"""The colours that have a name here; any other is `#rrggbb`."""

LABEL_CHARS = 40

_KEY = re.compile(r"[a-z][a-z0-9_-]{0,31}")
_RGB = re.compile(r"#[0-9a-fA-F]{6}")
_FIELDS = ("key", "label", "colour")
_LABEL = f"a name on one line, at most {LABEL_CHARS} characters, without a colon"


def fold(label: str) -> str:
    """What a label is compared by: case, width, variants and runs of space don't count."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", label).casefold())
    seen = "".join(char for char in folded if not "\ufe00" <= char <= "\ufe0f")
    return " ".join(seen.split())


def is_label(label: str) -> bool:
    """Whether a text can head a turn: one line, no colon, no frame word at its start."""
    return (
        is_one_line(label)
        and len(label) <= LABEL_CHARS
        and bool(fold(label))
        and ":" not in unicodedata.normalize("NFKC", label)
        and not _begins_a_frame(label)
    )


def _begins_a_frame(label: str) -> bool:
    """Whether a line that begins with this label would look like one of the block's own."""
    start = re.sub(r"^[\W_]+", "", fold(label))
    return any(re.match(rf"{re.escape(fold(word))}\b", start) for word in FRAME_WORDS)


@dataclass(slots=True)
class _Entry:
    """A persona on its way in; `number` counts the operator's entries from 1, 0: built in."""

    persona: Persona
    number: int = 0
    own_label: bool = False


def read_personas(
    raw: object, where: str, builtin: tuple[Persona, ...] = PERSONAS
) -> tuple[tuple[Persona, ...], list[Problem]]:
    """The personas from what a config lists: a table each, with `key`, `label` and `colour`.

    The built-in ones are always there; the list changes what it names and adds others in its
    order. A wrong field keeps its default, an entry without a right key is left out; each is one
    problem.
    """
    problems: list[Problem] = []
    entries = {persona.key: _Entry(persona) for persona in builtin}
    if not isinstance(raw, list | tuple):
        expects = "a list of tables ([[personas]])"
        names = [persona.label for persona in builtin]
        return builtin, [wrong_value(where, "personas", expects, raw, default=names)]
    seen: set[str] = set()
    for number, item in enumerate(raw, 1):
        name = f"personas[{number}]"
        if not isinstance(item, Mapping):
            sentence = f"{where}: {show(name)} has to be a table, not {show(item)}"
            problems.append(Problem(where, name, f"{sentence}, so it is ignored."))
            continue
        problems += [
            unknown_key(where, f"{name}.{field}", [f"{name}.{known}" for known in _FIELDS])
            for field in item
            if field not in _FIELDS
        ]
        key = item.get("key")
        if not isinstance(key, str) or not _KEY.fullmatch(key) or key in seen:
            problems.append(_wrong_key(where, name, key, again=key in seen, known=list(entries)))
            continue
        seen.add(key)
        entry = entries.get(key) or _Entry(Persona(key, key.capitalize()))
        entry.number = number
        entries[key] = entry
        _read_label(item, where, entry, problems)
        _read_colour(item, where, entry, problems)
    _make_unique(entries, where, {persona.key: persona for persona in builtin}, problems)
    return tuple(entry.persona for entry in entries.values()), problems


def _wrong_key(where: str, name: str, key: object, *, again: bool, known: list[str]) -> Problem:
    from qterm.settings.keys import nearest

    if again:
        why = f"names {show(key)} a second time"
    elif key is None:
        why = "has no key"
    else:
        near = nearest(key, known) if isinstance(key, str) else None
        hint = f" (did you mean {show(near)}?)" if near else ""
        why = f"needs a key of small letters, digits, - and _, not {show(key)}{hint}"
    return Problem(where, name, f"{where}: {show(name)} {why}, so it is ignored.")


def _read_label(
    item: Mapping[str, object], where: str, entry: _Entry, problems: list[Problem]
) -> None:
    label = item.get("label", entry.persona.label)
    name = f"personas[{entry.number}].label"
    default = entry.persona.label
    if not isinstance(label, str) or not is_label(label):
        expects = _LABEL
        if isinstance(label, str) and _begins_a_frame(label):
            expects = "a name that begins unlike the lines that frame what Q is told"
        problems.append(wrong_value(where, name, expects, label, default=default))
        return
    entry.own_label = "label" in item
    entry.persona = replace(entry.persona, label=" ".join(label.split()))


def _read_colour(
    item: Mapping[str, object], where: str, entry: _Entry, problems: list[Problem]
) -> None:
    colour = item.get("colour", entry.persona.colour)
    if isinstance(colour, str) and (colour in {"", *COLOURS} or _RGB.fullmatch(colour)):
        entry.persona = replace(entry.persona, colour=colour)
        return
    name = f"personas[{entry.number}].colour"
    expects = 'a colour, such as "cyan" or "#00afd7"'
    default = entry.persona.colour
    problems.append(wrong_value(where, name, expects, colour, default=default, choices=COLOURS))


def _make_unique(
    entries: dict[str, _Entry],
    where: str,
    builtin: Mapping[str, Persona],
    problems: list[Problem],
) -> None:
    """Take back labels until no two are alike; built-in labels in their own place win.

    "You" and "Q" belong to the operator and to Q, also where these have other labels.
    """
    while (clash := _clash(entries, builtin)) is not None:
        loser, other = clash
        name = f"personas[{loser.number}].label"
        key = loser.persona.key
        expects = f"unlike the label of {show(other)}, whatever the case"
        if key in builtin and loser.own_label:
            default = builtin[key].label
            problems.append(wrong_value(where, name, expects, loser.persona.label, default=default))
            loser.persona = replace(loser.persona, label=default)
            loser.own_label = False
            continue
        sentence = f"{where}: {show(name)} has to be {expects}, not {show(loser.persona.label)}"
        problems.append(Problem(where, name, f"{sentence}, so this persona is left out."))
        del entries[key]


def _clash(
    entries: Mapping[str, _Entry], builtin: Mapping[str, Persona]
) -> tuple[_Entry, str] | None:
    """The entry that has to give way, and the key whose label it takes; None when all is well."""
    taken = {fold(builtin[key].label): key for key in RESERVED_PERSONAS if key in builtin}

    def rank(entry: _Entry) -> tuple[bool, bool, int]:
        return (entry.persona.key not in builtin, entry.own_label, entry.number)

    for entry in sorted(entries.values(), key=rank):
        label = fold(entry.persona.label)
        key = entry.persona.key
        if taken.setdefault(label, key) != key:
            return entry, taken[label]
    return None
