"""Writes settings.toml, the machine's own file in the data folder. config.toml stays untouched."""

from __future__ import annotations

import fcntl
import os
import tomllib
from collections.abc import Mapping

from qterm.private import private_folder, read_bounded, touch_private, write_private
from qterm.settings.keys import WrongValueError, all_names, plain, value_keys
from qterm.settings.paths import Paths
from qterm.settings.personas import read_personas
from qterm.settings.problems import unknown_key, wrong_value


class SettingsError(Exception):
    """A setting that can't be written; the text is one sentence with what to do."""


def write_setting(paths: Paths, name: str, value: object) -> None:
    """Keep one setting in settings.toml, or let go of it (None); the other ones stay.

    `name` is dotted (`screen.theme`, `keys.stop`, `personas`). The file is replaced in one step,
    mode 0600; a lock lets two qterms write one after the other. A settings.toml that is no TOML is
    moved aside first. Raises SettingsError: an unknown name, a wrong value, a folder that can't be
    written. A flag or a variable still goes before what is written here.
    """
    import tomli_w

    checked = None if value is None else plain(_checked(name, value))
    try:
        private_folder(paths.data_dir)
        private_folder(paths.locks_dir)
        lock = touch_private(paths.locks_dir / "settings.lock")
        with lock.open("rb") as handle:
            fcntl.flock(handle, fcntl.LOCK_EX)
            table = _existing(paths)
            _put(table, name, checked)
            write_private(paths.settings_file, tomli_w.dumps(table).encode())
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error)
        raise SettingsError(
            f"{paths.settings_file} can't be written ({reason}): "
            "make its folder writable, or name another with --data-dir."
        ) from error


def _checked(name: str, value: object) -> object:
    section, _, command = name.partition(".")
    if section == "keys" and command:
        if isinstance(value, str) and value.strip():
            return value
        raise SettingsError(f'"{name}" has to be keys as words, such as "ctrl+t,f5".')
    if name == "personas":
        _, problems = read_personas(plain(value), "settings")
        if problems:
            raise SettingsError(problems[0].sentence)
        return value
    key = value_keys().get(name)
    if key is None:
        raise SettingsError(unknown_key("settings", name, all_names()).sentence)
    try:
        return key.read(plain(value))
    except WrongValueError as error:
        problem = wrong_value(
            "settings", name, key.expects, value, default=key.default, choices=key.choices
        )
        raise SettingsError(problem.sentence) from error


def _existing(paths: Paths) -> dict[str, object]:
    try:
        return tomllib.loads(read_bounded(paths.settings_file).decode("utf-8-sig"))
    except FileNotFoundError:
        return {}
    except (ValueError, RecursionError):
        paths.settings_file.replace(paths.settings_file.with_name("settings.toml.broken"))
        return {}


def _put(table: dict[str, object], name: str, value: object) -> None:
    section, _, below = name.partition(".")
    if below:
        kept = table.get(section)
        inner: dict[str, object] = dict(kept) if isinstance(kept, Mapping) else {}
        _put(inner, below, value) if section != "keys" else _set(inner, below, value)
        table.pop(section, None)
        if inner:
            table[section] = inner
    else:
        _set(table, name, value)


def _set(table: dict[str, object], name: str, value: object) -> None:
    if value is None:
        table.pop(name, None)
    else:
        table[name] = value
