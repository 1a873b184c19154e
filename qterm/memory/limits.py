"""How much hermes lets a store hold: read from the home's config, never written."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import msgspec

from qterm.hermes.home_config import read_config
from qterm.memory.stores import DEFAULT_LIMITS, StoreName


class Limit(msgspec.Struct, frozen=True):
    """A store's limit in code points; `problem` is a sentence where the config's can't be used."""

    chars: int
    is_default: bool
    problem: str = ""


def limits(home: Path) -> dict[StoreName, Limit]:
    """The limits of MEMORY.md and USER.md in this home; what can't be used becomes the default."""
    try:
        section = read_config(home).get("memory")
    except ValueError as error:
        return {
            store: Limit(chars, True, f"{error} qterm reckons with the default, {chars:,}.")
            for store, chars in DEFAULT_LIMITS.items()
        }
    found = section if isinstance(section, dict) else {}
    return {store: _limit(found, store, home) for store in DEFAULT_LIMITS}


def _limit(section: dict[str, object], store: StoreName, home: Path) -> Limit:
    name, default = f"{store.value}_char_limit", DEFAULT_LIMITS[store]
    value = section.get(name)
    if value is None:
        return Limit(default, True)
    if isinstance(value, int | float) and not isinstance(value, bool) and 1 <= value < math.inf:
        return Limit(min(int(value), sys.maxsize), False)
    shown = repr(value)[:40] if isinstance(value, str | int | float) else "a list or a table"
    sentence = (
        f"memory.{name} in {home / 'config.yaml'} is {shown}, which is no limit: qterm "
        f"reckons with the default, {default:,}. Set it to a whole number."
    )
    return Limit(default, True, sentence)
