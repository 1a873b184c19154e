"""Where qterm keeps its files. Resolving makes nothing: the rooms make what they write."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

APP = "qterm"


@dataclass(frozen=True, slots=True)
class Paths:
    """Every path qterm uses, all absolute.

    `home_cwd` is the empty folder in which hermes runs for a home turn (rule S8). `config_given`
    is true where the operator named the config file: then it has to be there.
    """

    data_dir: Path
    config_file: Path
    cache_dir: Path
    config_given: bool = False

    @property
    def settings_file(self) -> Path:
        """What the settings screen writes."""
        return self.data_dir / "settings.toml"

    @property
    def store_file(self) -> Path:
        """The feed."""
        return self.data_dir / "feed.db"

    @property
    def locks_dir(self) -> Path:
        """One lock a thread."""
        return self.data_dir / "locks"

    @property
    def running_dir(self) -> Path:
        """A note for each process of hermes's that runs (`hermes/left_behind.py`)."""
        return self.data_dir / "running"

    @property
    def log_file(self) -> Path:
        """The rotating log."""
        return self.data_dir / "qterm.log"

    @property
    def home_cwd(self) -> Path:
        """Where hermes runs for a home turn."""
        return self.data_dir / "home"

    def named(self) -> dict[str, Path]:
        """Each path with its name, for the doctor."""
        return {
            "data folder": self.data_dir,
            "store": self.store_file,
            "settings": self.settings_file,
            "config": self.config_file,
            "log": self.log_file,
            "locks": self.locks_dir,
            "notes of running processes": self.running_dir,
            "cache": self.cache_dir,
            "folder of home turns": self.home_cwd,
        }


def resolve_paths(
    *,
    config: Path | None = None,
    data_dir: Path | None = None,
    environ: Mapping[str, str],
) -> Paths:
    """Say where everything lies; makes nothing.

    A flag (`config`, `data_dir`) goes before `QTERM_CONFIG` and `QTERM_DATA_DIR`, these before the
    platform's folders. `XDG_DATA_HOME`, `XDG_CONFIG_HOME` and `XDG_CACHE_HOME` count everywhere
    when they are absolute. Where the data folder was named, the cache lies in it: one folder to
    keep, one to remove.
    """
    given_data = data_dir or _named(environ, "QTERM_DATA_DIR")
    given_config = config or _named(environ, "QTERM_CONFIG")
    if given_data is not None:
        data = _absolute(given_data)
        cache = data / "cache"
    else:
        data = _platform(environ, "data")
        cache = _platform(environ, "cache")
    if given_config is not None:
        config_file = _absolute(given_config)
    else:
        config_file = _platform(environ, "config") / "config.toml"
    return Paths(data, config_file, cache, config_given=given_config is not None)


def _named(environ: Mapping[str, str], name: str) -> Path | None:
    value = environ.get(name, "")
    return Path(value) if value else None


def _absolute(path: Path) -> Path:
    with contextlib.suppress(RuntimeError):  # `~nobody`: the name stays as it was typed
        path = path.expanduser()
    return path.absolute()


def _platform(environ: Mapping[str, str], kind: str) -> Path:
    base = environ.get(f"XDG_{kind.upper()}_HOME", "")
    if base and Path(base).is_absolute():  # a relative one is invalid, says the XDG standard
        return Path(base) / APP
    import platformdirs

    folder = getattr(platformdirs, f"user_{kind}_path")(APP, appauthor=False)
    return Path(folder).absolute()
