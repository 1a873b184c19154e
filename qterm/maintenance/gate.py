"""The time gate: whether a pass runs now (pure). hive-mind's own hook decides the same way.

Times are milliseconds since the epoch, windows milliseconds.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

FLAG = "WAGGLE_HERMES_COMPACT_ON_STOP"
"""The variable that switches the gate; set and not empty it goes before the config."""

WINDOW_VARIABLE = "WAGGLE_HERMES_COMPACT_WINDOW_MIN"
"""The variable that holds the window, in minutes."""

MINUTE = 60_000
DEFAULT_WINDOW = 10.0 * MINUTE

_DIGITS_KEPT = 40
"""More digits than any time has: what is longer lies in the future all the same."""

# What JavaScript takes for white space: not all that Python does, and a byte order mark.
_BLANK = "[\t\n\v\f\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]*"
_NUMBER = re.compile(_BLANK + r"(?P<number>[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)")
_WHOLE = re.compile(_BLANK + r"(?P<number>[0-9]+)")


def flag_says(environ: Mapping[str, str]) -> bool | None:
    """What the flag says: None where it is unset or empty, so that the config decides.

    Off are `0` and `false` in any case, and nothing else: no white space is taken away.
    """
    flag = environ.get(FLAG, "")
    if not flag:
        return None
    return flag != "0" and flag.lower() != "false"


def is_enabled(environ: Mapping[str, str], *, configured: bool = False) -> bool:
    """Whether the gate is on; `configured` is what the config says."""
    said = flag_says(environ)
    return configured if said is None else said


def window(
    environ: Mapping[str, str],
    override: float | None = None,
    configured: float = DEFAULT_WINDOW / MINUTE,
) -> float:
    """The window in milliseconds: the override, the variable, the config (each in minutes).

    The first that is given counts; if it is no number of minutes, ten minutes do.
    """
    if override is not None:
        return _in_milliseconds(override)
    said = environ.get(WINDOW_VARIABLE, "")
    return _in_milliseconds(leading_number(said) if said else configured)


def leading_number(text: str) -> float:
    """The number a text begins with, as JavaScript's `parseFloat` reads it; NaN where there is
    none."""
    found = _NUMBER.match(text)
    return float(found["number"]) if found else math.nan


def _in_milliseconds(minutes: float) -> float:
    milliseconds = minutes * MINUTE
    return milliseconds if math.isfinite(milliseconds) and milliseconds > 0 else DEFAULT_WINDOW


def parse_last(text: str) -> int | None:
    """The time a state file holds: its leading digits; None for “never”."""
    found = _WHOLE.match(text)
    return int(found["number"][:_DIGITS_KEPT]) if found else None


def due(now: int, last: int | None, window: float) -> bool:
    """Whether a pass is due. A last one that lies in the future does not lock the gate: the clock
    was set back."""
    return last is None or last > now or now - last >= window


def back_off(failures: int, window: float) -> float:
    """How long to wait after so many failures in a row: 1, 2, 4, … minutes, at most the window."""
    return min(2.0 ** min(failures - 1, 64) * MINUTE, window) if failures > 0 else 0.0
