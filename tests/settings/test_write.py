"""settings.toml: what the settings screen writes, and nothing else touched."""

from __future__ import annotations

import stat
import subprocess
import sys
from pathlib import Path

import pytest

from qterm.model import Approvals
from qterm.settings.load import load
from qterm.settings.paths import Paths
from qterm.settings.write import SettingsError, write_setting


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    return Paths(tmp_path / "data", tmp_path / "config.toml", tmp_path / "cache")


def test_what_is_written_is_loaded_and_the_config_stays(paths: Paths) -> None:
    config = '# mine\noperator = "Kim"\n[screen]\ntheme = "nord"\n'
    paths.config_file.write_text(config)
    write_setting(paths, "screen.theme", "dracula")
    write_setting(paths, "screen.side_pane", False)
    write_setting(paths, "hermes.approvals", Approvals.ASK)
    write_setting(paths, "hermes.command", ("a b", "c"))
    write_setting(paths, "keys.stop.now", "f5")
    write_setting(paths, "timeouts.home", 30)
    write_setting(paths, "operator", "Ann")
    write_setting(paths, "personas", [{"key": "mallory", "label": "Mal"}])
    loaded = load(config=paths.config_file, data_dir=paths.data_dir, environ={})
    assert loaded.problems == ()
    assert loaded.settings.screen.theme == "dracula"
    assert loaded.settings.screen.side_pane is False
    assert loaded.settings.hermes.approvals is Approvals.ASK
    assert loaded.settings.hermes.command == ("a b", "c")
    assert loaded.settings.keys == {"stop.now": "f5"}
    assert loaded.settings.timeouts.home == 30
    assert loaded.settings.operator == "Ann"
    assert loaded.settings.personas[2].label == "Mal"
    assert loaded.sources["screen.theme"] == str(paths.settings_file)
    assert paths.config_file.read_text() == config


def test_none_lets_go_of_a_setting(paths: Paths) -> None:
    write_setting(paths, "screen.theme", "nord")
    write_setting(paths, "screen.theme", None)
    assert paths.settings_file.read_text() == ""


def test_the_file_and_its_folder_are_private(paths: Paths) -> None:
    write_setting(paths, "operator", "Kim")
    assert stat.S_IMODE(paths.settings_file.stat().st_mode) == 0o600
    assert stat.S_IMODE(paths.data_dir.stat().st_mode) == 0o700


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("screen.thme", "nord", 'did you mean "screen.theme"'),
        ("screen.theme", "norb", 'did you mean "nord"'),
        ("caps.turns", 17, "can only be made smaller"),
        ("personas", [{"key": "mallory", "label": "Q"}], "whatever the case"),
        ("keys.stop", "", "keys as words"),
        ("screen", {"theme": "nord"}, "there is no key"),
    ],
)
def test_a_wrong_setting_is_refused(paths: Paths, name: str, value: object, says: str) -> None:
    with pytest.raises(SettingsError, match=says):
        write_setting(paths, name, value)
    assert not paths.settings_file.exists()


def test_a_broken_settings_file_is_kept_aside(paths: Paths) -> None:
    paths.data_dir.mkdir()
    paths.settings_file.write_text("= broken")
    write_setting(paths, "operator", "Kim")
    assert paths.settings_file.read_text() == 'operator = "Kim"\n'
    assert (paths.data_dir / "settings.toml.broken").read_text() == "= broken"


def test_a_section_that_is_no_table_gives_way(paths: Paths) -> None:
    paths.data_dir.mkdir()
    paths.settings_file.write_text("screen = 3\n")
    write_setting(paths, "screen.theme", "nord")
    assert paths.settings_file.read_text() == '[screen]\ntheme = "nord"\n'


def test_a_folder_that_cannot_be_made_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    paths = Paths(tmp_path / "file" / "data", tmp_path / "c", tmp_path / "cache")
    with pytest.raises(SettingsError, match="can't be written"):
        write_setting(paths, "operator", "Kim")


def test_many_processes_lose_nothing(paths: Paths) -> None:
    code = (
        "import sys\n"
        "from pathlib import Path\n"
        "from qterm.settings.paths import Paths\n"
        "from qterm.settings.write import write_setting\n"
        "base = Path(sys.argv[1])\n"
        "paths = Paths(base / 'data', base / 'config.toml', base / 'cache')\n"
        "for number in range(20):\n"
        "    write_setting(paths, f'keys.{sys.argv[2]}-{number}', 'f5')\n"
    )
    base = str(paths.data_dir.parent)
    runs = [subprocess.Popen([sys.executable, "-c", code, base, name]) for name in "abc"]
    assert [run.wait(timeout=60) for run in runs] == [0, 0, 0]
    loaded = load(config=None, data_dir=paths.data_dir, environ={"QTERM_CONFIG": "/dev/null"})
    assert len(loaded.settings.keys) == 60
