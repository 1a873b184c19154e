"""Reads the settings: flag, environment, settings.toml, config.toml, default, in this order.

Nothing here raises for what an operator wrote: each fault is one sentence, and qterm goes on with
that key's default. The files are only read.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from qterm.private import read_bounded
from qterm.settings.keys import Key, WrongValueError, all_names, build, sections, value_keys
from qterm.settings.paths import Paths, resolve_paths
from qterm.settings.personas import read_personas
from qterm.settings.problems import Problem, show, unknown_key, wrong_value
from qterm.settings.schema import PERSONAS, Settings

__all__ = ["DEFAULT", "FLAG", "Layer", "Loaded", "Paths", "Problem", "load", "load_again"]

DEFAULT = "default"
FLAG = "flag"

OTHER_VARIABLES = frozenset({"QTERM_CONFIG", "QTERM_DATA_DIR"})
"""Variables that are read, but set no key."""


@dataclass(frozen=True, slots=True)
class Layer:
    """One place that sets a key: where (as in `Loaded.sources`), and what to."""

    where: str
    value: object


@dataclass(frozen=True, slots=True)
class Loaded:
    """The settings in force.

    `sources` says for each key by its dotted name where its value is from: `flag`, the variable's
    name, the file's path, or `default` (`keys` has an entry for each command's id that is set).
    `problems` are the faults that were found, each with its sentence. `layers` has for each key
    that is set somewhere every place that does, the weakest first; `flags` are those given to
    `load`.
    """

    settings: Settings
    sources: Mapping[str, str]
    problems: tuple[Problem, ...]
    paths: Paths
    layers: Mapping[str, tuple[Layer, ...]] = field(default_factory=dict)
    flags: Mapping[str, object] = field(default_factory=dict)


@dataclass(slots=True)
class _Reading:
    """What has been found so far; the layers come in from the weakest to the strongest."""

    values: dict[str, object] = field(default_factory=dict)
    whole: dict[str, object] = field(default_factory=dict)
    sources: dict[str, str] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    layers: dict[str, list[Layer]] = field(default_factory=dict)

    def set(self, name: str, value: object, where: str) -> None:
        """Note that a place sets a key: it goes before those that were noted so far."""
        self.sources[name] = where
        self.layers.setdefault(name, []).append(Layer(where, value))

    def take(self, key: Key, raw: object, where: str, *, text: bool = False) -> None:
        """Read one value; a wrong one leaves the key at its default, whatever lies below."""
        try:
            value = key.read_text(raw) if text and isinstance(raw, str) else key.read(raw)
        except WrongValueError:
            self.problems.append(
                wrong_value(
                    where, key.name, key.expects, raw, default=key.default, choices=key.choices
                )
            )
            self.values.pop(key.name, None)
            self.sources.pop(key.name, None)
            return
        self.values[key.name] = value
        self.set(key.name, value, FLAG if where.startswith("the flag") else where)


def load(
    *,
    config: Path | None = None,
    data_dir: Path | None = None,
    flags: Mapping[str, object] | None = None,
    environ: Mapping[str, str],
) -> Loaded:
    """Read every layer and put them together; never raises for a wrong config.

    `config` and `data_dir` are the flags of that name. `flags` maps dotted names to values (words
    are read as a variable's would be); one that is None was not given.
    """
    paths = resolve_paths(config=config, data_dir=data_dir, environ=environ)
    return _load(paths, flags or {}, environ)


def load_again(loaded: Loaded, *, environ: Mapping[str, str]) -> Loaded:
    """Read the same places once more, since the files may be other ones now; never raises."""
    return _load(loaded.paths, loaded.flags, environ)


def _load(paths: Paths, flags: Mapping[str, object], environ: Mapping[str, str]) -> Loaded:
    reading = _Reading()
    for path, needed in ((paths.config_file, paths.config_given), (paths.settings_file, False)):
        table = _read_file(path, reading.problems, needed=needed)
        _take_table(table, str(path), reading)
    _take_environment(environ, reading)
    for name, raw in flags.items():
        if raw is None:
            continue
        where = f'the flag for "{name}"'
        if name in value_keys():
            reading.take(value_keys()[name], raw, where, text=True)
        else:
            reading.problems.append(unknown_key(where, name, all_names()))
    sources = dict.fromkeys(all_names(), DEFAULT) | reading.sources
    return Loaded(
        build(reading.values, **reading.whole),
        sources,
        tuple(reading.problems),
        paths,
        {name: tuple(layers) for name, layers in reading.layers.items()},
        flags,
    )


def _take_environment(environ: Mapping[str, str], reading: _Reading) -> None:
    variables = {key.variable: key for key in value_keys().values()}
    for variable in sorted(environ):
        raw = environ[variable]
        if variable in OTHER_VARIABLES or not variable.startswith("QTERM_") or not raw:
            continue
        if variable in variables:
            reading.take(variables[variable], raw, variable, text=True)
        else:
            known = [*variables, *OTHER_VARIABLES]
            reading.problems.append(unknown_key("the environment", variable, known))


def _take_table(table: Mapping[str, object], where: str, reading: _Reading) -> None:
    keys = value_keys()
    for name, raw in table.items():
        if name in keys:
            reading.take(keys[name], raw, where)
        elif name == "personas":
            personas, problems = read_personas(raw, where)
            reading.whole["personas"] = personas
            reading.problems += problems
            if personas != PERSONAS:
                reading.set("personas", personas, where)
            else:
                reading.sources["personas"] = DEFAULT
        elif name == "keys":
            _take_keys(raw, where, reading)
        elif name in sections():
            _take_section(name, raw, where, reading)
        else:
            reading.problems.append(unknown_key(where, name, [*all_names(), *sections()]))


def _take_section(section: str, raw: object, where: str, reading: _Reading) -> None:
    keys = value_keys()
    if not isinstance(raw, Mapping):
        default = {
            key.name.partition(".")[2]: key.default
            for key in keys.values()
            if key.name.startswith(f"{section}.")
        }
        expects = f"a table ([{section}])"
        reading.problems.append(wrong_value(where, section, expects, raw, default=default))
        return
    for below, value in raw.items():
        name = f"{section}.{below}"
        if name in keys:
            reading.take(keys[name], value, where)
        else:
            reading.problems.append(unknown_key(where, name, all_names()))


def _take_keys(raw: object, where: str, reading: _Reading) -> None:
    """`[keys]`: a command's id and the keys that run it; the screens know which ids there are."""
    if not isinstance(raw, Mapping):
        expects = "a table ([keys])"
        reading.problems.append(wrong_value(where, "keys", expects, raw, default={}))
        return
    found = dict(reading.whole.get("keys", {}))  # type: ignore[call-overload]
    for command, keys in raw.items():
        name = f"keys.{command}"
        if isinstance(keys, str) and keys.strip():
            found[command] = keys
            reading.sources["keys"] = where
            reading.set(name, keys, where)
        else:
            expects = 'keys as words, such as "ctrl+t,f5"'
            problem = f"{where}: {show(name)} has to be {expects}, so its own keys stay."
            reading.problems.append(Problem(where, name, problem))
            found.pop(command, None)
    reading.whole["keys"] = found


def _read_file(path: Path, problems: list[Problem], *, needed: bool) -> dict[str, object]:
    """The file's table; an empty one, and a sentence where it is due, when it can't be read."""

    def fault(what: str) -> dict[str, object]:
        sentence = f"{path}: {what}, so its settings don't count."
        problems.append(Problem(str(path), "", " ".join(sentence.split())))
        return {}

    try:
        data = read_bounded(path)
    except (FileNotFoundError, NotADirectoryError):
        return fault("this config file is not there") if needed else {}
    except IsADirectoryError:
        return fault("this is a folder, not a config file")
    except TimeoutError:
        return fault("this is a pipe into which nobody writes")
    except OSError as error:
        return fault(f"this file can't be read ({os.strerror(error.errno or 0)})")
    try:
        return tomllib.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        return fault(f"line {line} is not UTF-8 (save the file as UTF-8)")
    except RecursionError:
        return fault("this is no valid TOML (it is nested too deeply)")
    except ValueError as error:  # TOMLDecodeError, and a number of thousands of digits
        return fault(f"this is no valid TOML ({error})")
