"""A finding of the doctor's."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class State(StrEnum):
    """How it stands: `FAIL` keeps something from working, `WARN` is worth knowing."""

    OK = "ok"
    INFO = "info"
    WARN = "warn"
    FAIL = "fail"


_MARKS = {State.OK: "ok  ", State.INFO: "    ", State.WARN: "warn", State.FAIL: "FAIL"}


@dataclass(frozen=True, slots=True)
class Check:
    """One finding: what was looked at, how it stands, one sentence, and what mends it.

    `id` stays the same between versions; `details` holds the plain values behind the sentence.
    Each `FAIL` and each `WARN` has a `mend`.
    """

    id: str
    title: str
    state: State
    sentence: str
    mend: str = ""
    details: Mapping[str, object] = field(default_factory=dict)

    def lines(self) -> list[str]:
        """The finding as `qterm doctor` prints it, the mend on a line of its own."""
        lines = [f"{_MARKS[self.state]}  {self.title}: {self.sentence}"]
        return [*lines, f"      -> {self.mend}"] if self.mend else lines

    def as_json(self) -> dict[str, object]:
        """The finding in the documented form (docs/command-line.md, *JSON*)."""
        return {
            "id": self.id,
            "title": self.title,
            "state": self.state.value,
            "sentence": self.sentence,
            "mend": self.mend or None,
            "details": {_camel(name): value for name, value in self.details.items()},
        }


def _camel(name: str) -> str:
    return re.sub(r"_(\w)", lambda match: match[1].upper(), name)
