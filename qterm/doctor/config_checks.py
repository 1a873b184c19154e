"""Looks at the config: its faults, each value with where it came from, and every path."""

from __future__ import annotations

import shlex
import stat
from pathlib import Path

from qterm.doctor.check import Check, State
from qterm.settings.keys import all_names, plain, value_of
from qterm.settings.load import DEFAULT, FLAG, Loaded
from qterm.settings.paths import Paths
from qterm.settings.problems import show


def config_checks(loaded: Loaded) -> list[Check]:
    """The files of the config, and each of their faults."""
    found = [
        _file("config", "config", loaded.paths.config_file),
        _file("settings", "settings", loaded.paths.settings_file),
    ]
    for number, problem in enumerate(loaded.problems, 1):
        what = f"“{problem.key}” " if problem.key else ""
        found.append(
            Check(
                f"config.problem.{number}",
                "config fault",
                State.WARN,
                problem.sentence,
                f"Mend {what}in {problem.where}; config.example.toml has every key.",
                {"where": problem.where, "key": problem.key},
            )
        )
    return found


def _file(check_id: str, title: str, path: Path) -> Check:
    there = _exists(path)
    sentence = f"{path} is read." if there else f"{path} is not there: it need not be."
    return Check(
        check_id, title, State.INFO, sentence, details={"path": str(path), "exists": there}
    )


def setting_checks(loaded: Loaded) -> list[Check]:
    """Each setting: its value and where it is from."""
    checks = []
    for name in all_names():
        value = plain(value_of(loaded.settings, name))
        source = loaded.sources.get(name, DEFAULT)
        words = {DEFAULT: "the default", FLAG: "a flag"}.get(source, source)
        checks.append(
            Check(
                f"setting.{name}",
                name,
                State.INFO,
                f"{_short(name, value)} (from {words})",
                details={"value": value, "source": source},
            )
        )
    return checks


def _short(name: str, value: object) -> str:
    if name == "personas" and isinstance(value, list):
        return ", ".join(f"{persona['label']} ({persona['key']})" for persona in value)
    return show(value)


def path_checks(paths: Paths) -> list[Check]:
    """Every path qterm uses, and whether others can read what is private."""
    return [_path(name, path, paths) for name, path in paths.named().items()]


def _path(name: str, path: Path, paths: Paths) -> Check:
    details: dict[str, object] = {"path": str(path), "exists": _exists(path)}
    check_id = f"path.{name.replace(' ', '-')}"
    title = f"path: {name}"
    if not details["exists"]:
        return Check(check_id, title, State.INFO, f"{path} (not there yet)", details=details)
    try:
        found = path.stat()
    except OSError as error:
        sentence = f"{path} can't be looked at ({error.strerror})."
        mend = "Mend the mode of the folder above it."
        return Check(check_id, title, State.WARN, sentence, mend, details)
    mode = stat.S_IMODE(found.st_mode)
    details["mode"] = f"{mode:04o}"
    own = path != paths.config_file  # the operator's own file: its mode is the operator's choice
    if own and mode & 0o077 and not mode & stat.S_ISVTX:
        wanted = "700" if stat.S_ISDIR(found.st_mode) else "600"
        return Check(
            check_id,
            title,
            State.WARN,
            f"{path} is open to other users of this machine (mode {mode:04o}).",
            f"Close it: `chmod {wanted} {shlex.quote(str(path))}`.",
            details,
        )
    return Check(check_id, title, State.INFO, str(path), details=details)


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:
        return True  # it can't be looked at, so something is there
