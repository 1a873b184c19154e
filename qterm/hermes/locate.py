"""Which hermes, and which home of hermes: resolved once, the way hermes itself does it."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from qterm.hermes.place import HermesNotFound, HermesPlace
from qterm.hermes.remote import is_ssh, parse_remote
from qterm.private import read_bounded

__all__ = ["INSTALL", "PACKAGE", "HermesChoice", "HermesNotFound", "HermesPlace", "locate"]

PACKAGE = "hermes-agent[acp]==0.19.0"
"""What qterm is tested with (the `hermes` extra in pyproject.toml; a test compares)."""

INSTALL = f"pip install '{PACKAGE}'"

_PROFILE = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")


class HermesChoice(Protocol):
    """What the settings say about hermes; empty means: as hermes itself would choose."""

    @property
    def command(self) -> tuple[str, ...]:
        """How hermes is started."""
        ...

    @property
    def home(self) -> str:
        """The home's folder."""
        ...

    @property
    def profile(self) -> str:
        """The profile's name."""
        ...


def locate(
    settings: HermesChoice, environ: Mapping[str, str], *, python: str = sys.executable
) -> HermesPlace:
    """Find hermes and its home; reads a few files' names, starts nothing.

    `python` is the interpreter beside which a hermes may live. Raises HermesNotFound.
    """
    if is_ssh(settings.command):
        return _find_far(settings, environ)
    try:
        command, found_by = find_command(settings.command, environ, python=python)
        home, home_by = find_home(settings, environ)
        is_root = _root_of(home, environ).resolve() == home.resolve()
    except OSError as error:
        raise HermesNotFound(
            f"hermes can't be looked for: {error.filename} can't be looked at ({error.strerror}). "
            "Mend the path in hermes.command, hermes.home or HERMES_HOME, or that folder's mode."
        ) from error
    return HermesPlace(command, home, is_root, found_by, home_by)


def find_command(
    wanted: tuple[str, ...], environ: Mapping[str, str], *, python: str = sys.executable
) -> tuple[tuple[str, ...], str]:
    """How hermes is started, and where that came from: the setting, PATH, or beside `python`.

    Raises HermesNotFound.
    """
    path = environ.get("PATH", os.defpath)
    if wanted:
        first, *rest = wanted
        return (_named(first, path, environ), *rest), "hermes.command"
    if found := shutil.which("hermes", path=path):
        return (str(Path(found).absolute()),), "PATH"
    beside = Path(python).absolute().parent / "hermes"
    if beside.is_file():
        return (_executable(beside),), "beside qterm's Python"
    raise HermesNotFound(
        f"There is no hermes on this machine: install it with `{INSTALL}`, "
        "or set hermes.command to where it is."
    )


def find_home(settings: HermesChoice, environ: Mapping[str, str]) -> tuple[Path, str]:
    """The home hermes works in, absolute, and what chose it (docs/hermes.md, *Which home*).

    Raises HermesNotFound for a profile that is not there.
    """
    if settings.home:
        return _absolute(settings.home, environ), "hermes.home"
    given = environ.get("HERMES_HOME", "").strip()
    named = _absolute(given, environ) if given else None
    root = _root_of(named, environ) if named is not None else _native_home(environ)
    if settings.profile:
        return _profile(root, settings.profile, "hermes.profile"), "hermes.profile"
    if named is not None and named.parent.name == "profiles":
        return named, "HERMES_HOME"
    sticky = _sticky_profile(root)
    if sticky:
        return _profile(root, sticky, str(root / "active_profile")), "active_profile"
    if named is not None:
        return named, "HERMES_HOME"
    return root, "default"


def _find_far(settings: HermesChoice, environ: Mapping[str, str]) -> HermesPlace:
    """A hermes on another machine: nothing there is looked at, and no variable of here counts."""
    first, *rest = settings.command
    program = _named(first, environ.get("PATH", os.defpath), environ, what="ssh")
    home, profile = settings.home, settings.profile
    if profile and not home and not _PROFILE.fullmatch(profile):
        raise HermesNotFound(f"“{profile}” is no name for a hermes profile: mend hermes.profile.")
    try:
        remote = parse_remote(program, rest, home=home, profile="" if home else profile)
    except ValueError as error:
        raise HermesNotFound(str(error)) from None
    chosen = "hermes.home" if home else "hermes.profile" if profile else f"hermes on {remote.host}"
    path = Path(remote.home_in_words)
    is_root = bool(home) and path.parent.name != "profiles"
    return HermesPlace((program, *rest), path, is_root, "hermes.command", chosen, remote)


def _named(first: str, path: str, environ: Mapping[str, str], what: str = "hermes") -> str:
    if "/" in first or first.startswith("~"):
        file = _absolute(first, environ)
        if file.is_dir():
            raise HermesNotFound(f"hermes.command is a folder: {file}. Set it to {what} itself.")
        if not file.is_file():
            raise HermesNotFound(
                f"There is no {what} at {file}: mend hermes.command, or leave it out."
            )
        return _executable(file)
    found = shutil.which(first, path=path)
    if found is None:
        raise HermesNotFound(
            f"There is no {first} on PATH: mend hermes.command, or give the whole path."
        )
    return str(Path(found).absolute())


def _executable(file: Path) -> str:
    if not os.access(file, os.X_OK):
        raise HermesNotFound(f"{file} can't be executed: run `chmod +x {file}`.")
    return str(file)


def _absolute(text: str, environ: Mapping[str, str]) -> Path:
    """The path, absolute and in its own spelling: a link stays a link."""
    path = Path(text)
    if path.parts[:1] == ("~",):
        path = Path(_user_home(environ), *path.parts[1:])
    return Path(os.path.abspath(path))  # noqa: PTH100 - `..` goes, links stay


def _user_home(environ: Mapping[str, str]) -> Path:
    return Path(environ["HOME"]) if environ.get("HOME") else Path.home()


def _native_home(environ: Mapping[str, str]) -> Path:
    return _user_home(environ) / ".hermes"


def _root_of(home: Path, environ: Mapping[str, str]) -> Path:
    """The root a home belongs to, as hermes reckons it: a profile lives in its root's `profiles`.

    Whatever lies below `~/.hermes` belongs to that.
    """
    native = _native_home(environ)
    if native.resolve() in (home.resolve(), *home.resolve().parents):
        return native
    return home.parent.parent if home.parent.name == "profiles" else home


def _sticky_profile(root: Path) -> str:
    try:
        name = read_bounded(root / "active_profile").decode("utf-8-sig").strip()
    except (OSError, UnicodeDecodeError):
        return ""
    return "" if name == "default" else name


def _profile(root: Path, name: str, chosen_by: str) -> Path:
    if name == "default":
        return root
    if not _PROFILE.fullmatch(name):
        raise HermesNotFound(f"“{name}” is no name for a hermes profile: mend {chosen_by}.")
    home = root / "profiles" / name
    if not home.is_dir():
        raise HermesNotFound(
            f"The hermes profile “{name}” ({chosen_by}) does not exist: "
            f"run `hermes profile create {name}`, or `hermes profile use default`."
        )
    return home
