"""What is wrong with a config, each in one sentence: where, which key, the nearest right one."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass

from qterm.settings.keys import nearest, plain


@dataclass(frozen=True, slots=True)
class Problem:
    """One fault of a config. `where` is a file's path, a variable or a flag; `key` may be empty.

    qterm goes on: an unknown key is ignored, for a wrong value the key's default counts.
    """

    where: str
    key: str
    sentence: str

    def __str__(self) -> str:
        """The sentence."""
        return self.sentence


def unknown_key(where: str, name: str, names: Iterable[str]) -> Problem:
    """A key that qterm doesn't know."""
    return Problem(
        where,
        name,
        f"{where}: there is no key {show(name)}{_hint(name, names)}, so it is ignored.",
    )


def wrong_value(
    where: str,
    name: str,
    expects: str,
    raw: object,
    *,
    default: object,
    choices: Iterable[str] = (),
) -> Problem:
    """A value that its key doesn't take; the default counts."""
    hint = _hint(raw, choices) if isinstance(raw, str) else ""
    return Problem(
        where,
        name,
        f"{where}: {show(name)} has to be {expects}, not {show(raw)}{hint}, "
        f"so its default counts: {show(default)}.",
    )


def show(value: object) -> str:
    """A value as it may stand in a sentence: on one line, and not too long."""
    try:
        text = json.dumps(plain(value), ensure_ascii=False, default=str)
    except (ValueError, RecursionError):
        text = repr(value)
    return text if len(text) <= 60 else text[:59] + "…"


def _hint(wrong: str, names: Iterable[str]) -> str:
    name = nearest(wrong, names)
    return f" (did you mean {show(name)}?)" if name and name != wrong else ""
