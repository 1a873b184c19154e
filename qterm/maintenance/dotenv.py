"""The two variables of the gate in hermes's `.env`, which there goes before the environment."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from pathlib import Path

from qterm.private import read_bounded

_LINE = re.compile(
    r"""\s*(?:export\s+)?(?P<name>[A-Za-z_][A-Za-z0-9_]*)\s*=[^\S\n]*
    (?:'(?P<single>(?:[^'\\]|\\.)*)'|"(?P<double>(?:[^"\\]|\\.)*)"|(?P<plain>.*))""",
    re.VERBOSE,
)


def read_dotenv(path: Path, names: Collection[str]) -> tuple[Mapping[str, str], str]:
    """The values of these names, as hermes would read them, and one sentence if it can't be read.

    The last line of a name counts. No file is no trouble.
    """
    try:
        text = read_bounded(path).decode("utf-8-sig", "replace")
    except FileNotFoundError:
        return {}, ""
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        return {}, f"{path} can't be read ({reason}): mend that, or its settings don't count here."
    found: dict[str, str] = {}
    for line in text.splitlines():
        match = _LINE.match(line)
        if match is not None and match["name"] in names:
            found[match["name"]] = _value(match)
    return found, ""


def _value(match: re.Match[str]) -> str:
    for quoted in (match["single"], match["double"]):
        if quoted is not None:
            return re.sub(r"\\(['\"\\])", r"\1", quoted)
    return re.sub(r"\s+#.*", "", match["plain"]).rstrip()
