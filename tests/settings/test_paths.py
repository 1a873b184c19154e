"""Where things lie, and that looking makes nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from qterm.settings.paths import resolve_paths


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    for kind in ("DATA", "CONFIG", "CACHE"):
        monkeypatch.delenv(f"XDG_{kind}_HOME", raising=False)
    return tmp_path


def test_looking_makes_nothing(home: Path) -> None:
    paths = resolve_paths(environ={})
    assert all(path.is_absolute() for path in paths.named().values())
    assert all(path.is_relative_to(home) for path in paths.named().values())
    assert list(home.iterdir()) == []
    assert not paths.config_given


def test_xdg_folders_count_when_they_are_absolute() -> None:
    environ = {"XDG_DATA_HOME": "/d", "XDG_CONFIG_HOME": "/c", "XDG_CACHE_HOME": "/x"}
    paths = resolve_paths(environ=environ)
    assert paths.data_dir == Path("/d/qterm")
    assert paths.config_file == Path("/c/qterm/config.toml")
    assert paths.cache_dir == Path("/x/qterm")
    assert resolve_paths(environ={"XDG_DATA_HOME": "d"}) == resolve_paths(environ={})


def test_a_flag_goes_before_the_variable_and_that_before_xdg(home: Path) -> None:
    environ = {"QTERM_DATA_DIR": "~/data", "QTERM_CONFIG": "/e/c.toml", "XDG_DATA_HOME": "/d"}
    paths = resolve_paths(environ=environ)
    assert paths.data_dir == home / "data"
    assert paths.config_file == Path("/e/c.toml")
    assert paths.config_given
    flagged = resolve_paths(data_dir=Path("/f"), config=Path("/g/c.toml"), environ=environ)
    assert (flagged.data_dir, flagged.config_file) == (Path("/f"), Path("/g/c.toml"))


def test_a_named_data_folder_holds_everything_but_the_config() -> None:
    paths = resolve_paths(data_dir=Path("/f"), environ={})
    inside = {name for name, path in paths.named().items() if path.is_relative_to("/f")}
    assert inside == set(paths.named()) - {"config"}


def test_a_relative_folder_is_one_below_here(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    monkeypatch.chdir(home)
    assert resolve_paths(data_dir=Path("d"), environ={}).data_dir == home / "d"
