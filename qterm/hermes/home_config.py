"""Reads the config of a hermes home, `config.yaml`; never writes it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from qterm.private import read_bounded

_LIMIT = 16 << 20
"""Bytes that are read; it is hermes's own file, so there is room."""

_DEEPEST, _MOST_EVENTS = 100, 200_000
"""A config is no deeper and no longer: the parser would end the program, or take minutes."""
_PARSER_FAULTS = (
    *(ValueError, TypeError, AttributeError, AssertionError),
    *(LookupError, ArithmeticError, RecursionError),
)
"""What ruamel.yaml lets through on odd values (`!!int ""`), beside its own errors."""


def read_config(home: Path) -> Mapping[str, Any]:
    """The config of this home; empty when there is none. Raises ValueError with a sentence."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    path = home / "config.yaml"
    try:
        text = read_bounded(path, limit=_LIMIT).decode("utf-8-sig")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "not UTF-8"
        raise ValueError(f"{path} can't be read ({why}): mend it, or run `hermes setup`.") from None
    try:
        _see_that_it_is_small(text)
        found = YAML(typ="safe").load(text)
    except YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f" in line {mark.line + 1}" if mark is not None else ""
        raise ValueError(f"{path} is broken{line}: mend it, or run `hermes setup`.") from None
    except _PARSER_FAULTS as error:
        why = str(error) or type(error).__name__
        raise ValueError(f"{path} is broken ({why}): mend it.") from None
    return found if isinstance(found, dict) else {}


def has_own_code(home: Path) -> bool:
    """Whether this home has hooks or plugins; a config that can't be read may have some."""
    try:
        hooks = read_config(home).get("hooks")
        if hooks and (not isinstance(hooks, Mapping) or any(hooks.values())):
            return True
        return any((home / "plugins").iterdir())
    except ValueError:
        return True
    except OSError:
        return False


def _see_that_it_is_small(text: str) -> None:
    """Raises ValueError with words for a config that is too deep or too long to be built.

    Reading the parser's events one by one takes no stack, whatever the file holds.
    """
    from ruamel.yaml import YAML
    from ruamel.yaml.events import CollectionEndEvent, CollectionStartEvent

    depth = 0
    for number, event in enumerate(YAML(typ="safe").parse(text)):
        depth += isinstance(event, CollectionStartEvent)
        depth -= isinstance(event, CollectionEndEvent)
        if depth > _DEEPEST:
            raise ValueError(f"it is nested more than {_DEEPEST} levels deep")
        if number > _MOST_EVENTS:
            raise ValueError(f"it holds more than {_MOST_EVENTS:,} values")
