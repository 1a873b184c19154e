"""Each key of the settings by its dotted name: its default, what it expects, how it is read."""

from __future__ import annotations

import math
import re
import shlex
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from typing import Any, get_type_hints

import msgspec

from qterm.model import Approvals, TransportChoice
from qterm.settings.schema import Settings

THEMES = (
    "textual-dark",
    "textual-light",
    "nord",
    "gruvbox",
    "catppuccin-mocha",
    "dracula",
    "tokyo-night",
    "monokai",
    "flexoki",
    "catppuccin-latte",
    "catppuccin-frappe",
    "catppuccin-macchiato",
    "solarized-light",
    "solarized-dark",
    "rose-pine",
    "rose-pine-moon",
    "rose-pine-dawn",
    "atom-one-dark",
    "atom-one-light",
    "ansi-dark",
    "ansi-light",
)
"""The themes of the Textual that is pinned; a test compares."""


class WrongValueError(Exception):
    """A value that a key doesn't take; the text says what was wrong with it, if that helps."""


@dataclass(frozen=True, slots=True)
class Key:
    """A key that holds one value.

    `expects` completes "has to be …". `choices` are the right values where they can be counted.
    """

    name: str
    type: Any
    default: object
    expects: str
    accepts: Callable[[Any], bool]
    choices: tuple[str, ...] = ()

    @property
    def variable(self) -> str:
        """The environment variable that sets it."""
        return "QTERM_" + self.name.upper().replace(".", "_")

    def read(self, raw: object) -> object:
        """The value from what a file holds; raises WrongValueError."""
        if self.name in {"hermes.command", "memory.backup_command"} and isinstance(raw, str):
            raw = [raw]  # one program, its path may hold spaces
        try:
            value = msgspec.convert(raw, self.type)
        except (msgspec.ValidationError, OverflowError) as error:
            raise WrongValueError from error
        if not self.accepts(value):
            raise WrongValueError
        return value

    def read_text(self, text: str) -> object:
        """The value from the words of an environment variable or a flag; raises WrongValueError."""
        return self.read(self._from_text(text))

    def _from_text(self, text: str) -> object:
        if self.type is bool:
            word = text.strip().casefold()
            if word in {"1", "true", "yes", "on"}:
                return True
            return False if word in {"0", "false", "no", "off"} else text
        if self.type in {int, float}:
            try:
                return int(text) if self.type is int else float(text)
            except ValueError:
                return text
        if self.type == tuple[str, ...]:
            try:
                return _words(text)
            except ValueError as error:
                raise WrongValueError from error
        return text


def _words(text: str) -> object:
    if text.lstrip().startswith("["):
        return tomllib.loads(f"words = {text}")["words"]
    return shlex.split(text)


def _any(_value: object) -> bool:
    return True


def is_one_line(text: str) -> bool:
    """Whether a text is something to read, on one line, and can be stored."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return bool(text.strip()) and len(text.splitlines()) == 1 and text.isprintable()


def _is_command(words: tuple[str, ...]) -> bool:
    return all("\0" not in word for word in words) and (not words or bool(words[0].strip()))


def _is_whole_path(path: str) -> bool:
    return "\0" not in path and (not path or path.startswith(("/", "~")))


def _are_words(words: tuple[str, ...]) -> bool:
    return all(is_one_line(word) for word in words)


def _is_pattern(text: str) -> bool:
    """Whether it is a regular expression on one line; an empty one protects nothing."""
    try:
        re.compile(text)
    except (re.error, RecursionError, OverflowError):
        return False
    return is_one_line(text)


def _is_backup(words: tuple[str, ...]) -> bool:
    return _is_command(words) and (not words or any("{path}" in word for word in words[1:]))


POLICIES = ("tags", "dual", "schema")
"""The policies a plan can follow and apply."""

_WORDS = 'a list of words, such as ["done", "merged"]'


_RULES: Mapping[str, tuple[str, Callable[[Any], bool], tuple[str, ...]]] = {
    "operator": ("a name on one line", lambda name: is_one_line(name) and len(name) <= 80, ()),
    "hermes.command": ('a list of words, such as ["hermes"]', _is_command, ()),
    "hermes.home": ("a folder's path", lambda path: "\0" not in path, ()),
    "hermes.profile": ("the name of a hermes profile", lambda name: "\0" not in name, ()),
    "hermes.approvals": ('"ask", "deny" or "bypass"', _any, tuple(map(str, Approvals))),
    "hermes.transport": ('"auto", "live" or "spawn"', _any, tuple(map(str, TransportChoice))),
    "screen.theme": (
        'the name of a theme, such as "nord"',
        lambda name: name in THEMES,
        THEMES,
    ),
    "screen.side_pane": ("true or false", _any, ()),
    "memory.home": ("a folder's path, from / or ~/", _is_whole_path, ()),
    "memory.policy": ('"tags", "dual" or "schema"', lambda name: name in POLICIES, POLICIES),
    "memory.p2_percent": ("a whole number from 1 to 100", lambda share: 1 <= share <= 100, ()),
    "memory.working_days": (
        "a whole number of days, from 0 to 36,500",
        lambda days: 0 <= days <= 36_500,
        (),
    ),
    "memory.finished_words": (_WORDS, _are_words, ()),
    "memory.waiting_words": (_WORDS, _are_words, ()),
    "memory.legacy_protect": ("a regular expression on one line", _is_pattern, ()),
    "memory.legacy_stale": (_WORDS, _are_words, ()),
    "memory.legacy_limit": ("a whole number, 1 or more", lambda limit: limit >= 1, ()),
    "memory.backup_command": (
        'a list of words with {path} in it, such as ["scp", "{path}", "tower:backups/"]',
        _is_backup,
        (),
    ),
    "maintenance.enabled": ("true or false", _any, ()),
    "maintenance.window_minutes": (
        "a number of minutes, more than 0",
        lambda minutes: minutes > 0 and math.isfinite(minutes * 60_000),
        (),
    ),
    "maintenance.hive_mind_cli": (
        "a program's path or name",
        lambda name: not name or is_one_line(name),
        (),
    ),
    "maintenance.prune_working": ("true or false", _any, ()),
}


def _rule(name: str, default: object) -> tuple[str, Callable[[Any], bool], tuple[str, ...]]:
    section = name.partition(".")[0]
    if section == "caps" and isinstance(default, int):
        largest = default  # rule C2: caps can only be made smaller
        return (
            f"a whole number from 1 to {largest} (a cap can only be made smaller)",
            lambda number: 1 <= number <= largest,
            (),
        )
    if section == "timeouts":
        return (
            "a number of seconds, 0 or more (0: never)",
            lambda seconds: math.isfinite(seconds) and seconds >= 0,
            (),
        )
    return _RULES[name]


@cache
def value_keys() -> Mapping[str, Key]:
    """Every key that holds one value, by its dotted name, in the schema's order."""
    keys: dict[str, Key] = {}
    defaults = Settings()
    for name, hint in get_type_hints(Settings).items():
        default = getattr(defaults, name)
        if name in {"personas", "keys"}:
            continue
        for dotted, kind, value in _leaves(name, hint, default):
            expects, accepts, choices = _rule(dotted, value)
            keys[dotted] = Key(dotted, kind, value, expects, accepts, choices)
    return keys


def _leaves(name: str, hint: Any, default: object) -> Iterable[tuple[str, Any, object]]:
    if is_dataclass(hint) or (isinstance(hint, type) and issubclass(hint, msgspec.Struct)):
        for below, kind in get_type_hints(hint).items():
            yield f"{name}.{below}", kind, getattr(default, below)
    else:
        yield name, hint, default


@cache
def sections() -> frozenset[str]:
    """The names of the tables: `[hermes]` and its like."""
    return frozenset(name.partition(".")[0] for name in value_keys() if "." in name)


@cache
def all_names() -> tuple[str, ...]:
    """Every name that may stand in a config: values, and the two that hold what one likes."""
    return (*value_keys(), "personas", "keys")


def build(values: Mapping[str, object], **whole: object) -> Settings:
    """Settings from values by dotted name (defaults for the rest) and whole fields."""
    parts: dict[str, dict[str, object]] = {}
    top: dict[str, object] = dict(whole)
    for name, value in values.items():
        section, _, below = name.partition(".")
        if below:
            parts.setdefault(section, {})[below] = value
        else:
            top[name] = value
    hints = get_type_hints(Settings)
    for section, given in parts.items():
        top[section] = hints[section](**given)
    return Settings(**top)  # type: ignore[arg-type]


def value_of(settings: Settings, name: str) -> object:
    """The value that is in force for a dotted name; raises KeyError for no key of qterm's."""
    if name not in all_names():
        raise KeyError(name)
    value: object = settings
    for part in name.split("."):
        value = getattr(value, part)
    return value


def nearest(name: str, names: Iterable[str]) -> str | None:
    """The right name that a wrong one was probably meant to be; None when nothing is near."""
    import difflib

    whole = {known.casefold(): known for known in names}
    last = {known.rpartition(".")[2]: known for known in whole}  # `approvals`, out of its table
    wanted = name.casefold()
    for table, word in ((whole, wanted), (last, wanted.rpartition(".")[2])):
        found = difflib.get_close_matches(word, table, n=1, cutoff=0.7)
        if found:
            return whole[table[found[0]].casefold()]
    return None


def plain(value: object) -> object:
    """A value as TOML and JSON know it: enums as words, personas as tables."""
    if is_dataclass(value) and not isinstance(value, type):
        return {part.name: plain(getattr(value, part.name)) for part in fields(value)}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    return str(value) if isinstance(value, str) else value
