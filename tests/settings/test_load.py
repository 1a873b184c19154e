"""The order of the layers, and one sentence for each fault of a config."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from qterm.context import Caps
from qterm.model import Approvals
from qterm.settings.keys import value_of
from qterm.settings.load import FLAG, Loaded, load, load_again
from qterm.settings.schema import Settings


class Place:
    """A config file and a data folder of the test's own."""

    def __init__(self, folder: Path) -> None:
        self.config = folder / "config.toml"
        self.data = folder / "data"
        self.data.mkdir()

    def load(
        self,
        config: str | bytes | None = None,
        settings: str | None = None,
        flags: Mapping[str, Any] | None = None,
        environ: Mapping[str, str] | None = None,
        **variables: str,
    ) -> Loaded:
        if config is not None:
            self.config.write_bytes(config.encode() if isinstance(config, str) else config)
        if settings is not None:
            (self.data / "settings.toml").write_text(settings)
        given_config = self.config if config is not None else None
        return load(
            config=given_config,
            data_dir=self.data,
            flags=flags,
            environ={**(environ or {}), **variables},
        )


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    monkeypatch.setenv("HOME", str(tmp_path))
    return Place(tmp_path)


def sentence(loaded: Loaded) -> str:
    """The one sentence of the one problem."""
    assert len(loaded.problems) == 1, [problem.sentence for problem in loaded.problems]
    text = loaded.problems[0].sentence
    assert "\n" not in text
    assert text.endswith(".")
    return text


def test_without_any_file_the_defaults_count(place: Place) -> None:
    loaded = place.load()
    assert loaded.settings == Settings()
    assert loaded.problems == ()
    assert set(loaded.sources.values()) == {"default"}


def test_each_layer_goes_before_the_one_below(place: Place) -> None:
    layers: list[dict[str, Any]] = [
        {"config": '[hermes]\napprovals = "ask"\nprofile = "from-config"'},
        {"settings": '[hermes]\napprovals = "bypass"'},
        {"QTERM_HERMES_APPROVALS": "deny"},
        {"flags": {"hermes.approvals": "ask"}},
    ]
    wanted = [
        (Approvals.ASK, str(place.config)),
        (Approvals.BYPASS, str(place.data / "settings.toml")),
        (Approvals.DENY, "QTERM_HERMES_APPROVALS"),
        (Approvals.ASK, "flag"),
    ]
    given_layers: dict[str, Any] = {}
    for layer, (value, source) in zip(layers, wanted, strict=True):
        given_layers |= layer
        loaded = place.load(**given_layers)
        assert loaded.problems == ()
        assert loaded.settings.hermes.approvals is value
        assert loaded.sources["hermes.approvals"] == source
        assert loaded.settings.hermes.profile == "from-config"
        assert loaded.sources["hermes.profile"] == str(place.config)


def test_a_flag_that_was_not_given_changes_nothing(place: Place) -> None:
    loaded = place.load('operator = "Kim"', flags={"operator": None})
    assert loaded.settings.operator == "Kim"


@pytest.mark.parametrize(
    ("written", "key", "near"),
    [
        ('oprator = "Kim"', "oprator", "operator"),
        ('Operator = "Kim"', "Operator", "operator"),
        ('[hermes]\naprovals = "ask"', "hermes.aprovals", "hermes.approvals"),
        ('approvals = "ask"', "approvals", "hermes.approvals"),
        ('[hermse]\napprovals = "ask"', "hermse", "hermes"),
        ("[timeouts]\nhoem = 3", "timeouts.hoem", "timeouts.home"),
        ("[caps]\nturn = 3", "caps.turn", "caps.turns"),
        ("[screen]\nside-pane = true", "screen.side-pane", "screen.side_pane"),
    ],
)
def test_an_unknown_key_names_file_key_and_nearest(
    place: Place, written: str, key: str, near: str
) -> None:
    loaded = place.load(f"{written}\n")
    text = sentence(loaded)
    assert text.startswith(f"{place.config}: ")
    assert f'"{key}"' in text
    assert f'did you mean "{near}"' in text
    assert loaded.settings == Settings()


def test_a_key_near_to_nothing_gets_no_guess(place: Place) -> None:
    assert "did you mean" not in sentence(place.load("zzzzzz = 1"))


@pytest.mark.parametrize(
    ("written", "key"),
    [
        ("operator = 3", "operator"),
        ('operator = ""', "operator"),
        ('operator = "Al\\nex"', "operator"),
        ("[timeouts]\nhome = true", "timeouts.home"),
        ('[timeouts]\nhome = "ten"', "timeouts.home"),
        ("[timeouts]\nhome = -1", "timeouts.home"),
        ("[timeouts]\nhome = nan", "timeouts.home"),
        ("[timeouts]\ntask = inf", "timeouts.task"),
        ("[caps]\nturns = 0", "caps.turns"),
        ("[caps]\nturns = 17", "caps.turns"),
        ("[caps]\nturns = 3.5", "caps.turns"),
        ("[caps]\nblock_chars = 12001", "caps.block_chars"),
        ("[caps]\nnotes = 99999999999999999999999999", "caps.notes"),
        ("[caps]\nfacts = true", "caps.facts"),
        ('[hermes]\napprovals = "DENY!"', "hermes.approvals"),
        ("[hermes]\ncommand = [1]", "hermes.command"),
        ('[hermes]\ncommand = [" "]', "hermes.command"),
        ('[hermes]\nhome = "a\\u0000b"', "hermes.home"),
        ('[screen]\ntheme = "norb"', "screen.theme"),
        ('[screen]\nside_pane = "yes"', "screen.side_pane"),
        ("hermes = 3", "hermes"),
        ("keys = 3", "keys"),
        ("personas = 3", "personas"),
        ("[keys]\nstop = 3", "keys.stop"),
    ],
)
def test_a_wrong_value_leaves_its_default_and_the_rest_counts(
    place: Place, written: str, key: str
) -> None:
    loaded = place.load(written)
    text = sentence(loaded)
    assert text.startswith(f"{place.config}: ")
    assert f'"{key}"' in text
    assert loaded.settings == Settings()
    # another key of the same file counts all the same
    if "hermes" not in written:
        loaded = place.load(f'{written}\n[hermes]\nprofile = "work"\n')
        assert loaded.settings.hermes.profile == "work"


def test_a_wrong_word_names_the_nearest_right_one(place: Place) -> None:
    assert 'did you mean "bypass"' in sentence(place.load('[hermes]\napprovals = "bypas"'))
    assert 'did you mean "nord"' in sentence(place.load('[screen]\ntheme = "norb"'))


def test_a_wrong_value_leaves_its_neighbours(place: Place) -> None:
    loaded = place.load("[caps]\nturns = 99\nfacts = 3\n")
    assert loaded.settings.caps == Caps(facts=3)
    assert loaded.sources["caps.turns"] == "default"
    assert loaded.sources["caps.facts"] == str(place.config)


def test_a_cap_can_be_made_smaller_but_not_larger(place: Place) -> None:
    assert place.load("[caps]\nturns = 1\nfact_chars = 200").settings.caps == Caps(turns=1)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"operator = ", "no valid TOML"),
        (b"x = " + b"[" * 100_000, "no valid TOML"),
        (b"x = " + b"9" * 10_000, "no valid TOML"),
        (b'a = "b"\noperator = "\xff"', "line 2 is not UTF-8"),
        (b"\x00\x01\x02", "no valid TOML"),
    ],
)
def test_a_broken_file_is_one_sentence(place: Place, data: bytes, says: str) -> None:
    loaded = place.load(data)
    assert says in sentence(loaded)
    assert str(place.config) in sentence(loaded)
    assert loaded.settings == Settings()


def test_a_broken_settings_file_leaves_the_config(place: Place) -> None:
    loaded = place.load('operator = "Kim"', settings="= broken")
    assert "settings.toml" in sentence(loaded)
    assert loaded.settings.operator == "Kim"


def test_a_mark_at_the_start_and_windows_lines_are_fine(place: Place) -> None:
    loaded = place.load('\ufeffoperator = "Kim"\r\n[caps]\r\nturns = 3\r\n')
    assert loaded.problems == ()
    assert loaded.settings.operator == "Kim"


def test_a_folder_for_a_config(place: Place) -> None:
    place.config.mkdir()
    loaded = load(config=place.config, data_dir=place.data, environ={})
    assert "is a folder" in sentence(loaded)


def test_a_config_that_was_named_has_to_be_there(place: Place) -> None:
    loaded = load(config=place.config, data_dir=place.data, environ={})
    assert "not there" in sentence(loaded)
    named = load(data_dir=place.data, environ={"QTERM_CONFIG": str(place.config)})
    assert "not there" in sentence(named)


def test_an_unreadable_config_is_one_sentence(place: Place) -> None:
    """As another user, in a process of its own: root may read everything."""
    if os.geteuid() != 0:
        pytest.skip("needs root, to become another user")
    place.config.write_text('operator = "Kim"')
    place.config.chmod(0o000)
    for folder in (place.data.parent, *place.data.parent.parents):
        if folder.stat().st_mode & 0o005 != 0o005:
            folder.chmod(folder.stat().st_mode | 0o005)
    code = (
        "import os, sys\n"
        "from pathlib import Path\n"
        "from qterm.settings.load import load\n"
        "import difflib, qterm.settings.paths  # before this user may read no more\n"
        "os.setgid(65534); os.setuid(65534)\n"
        "loaded = load(config=Path(sys.argv[1]), data_dir=Path(sys.argv[2]), environ={})\n"
        "print(*loaded.problems, sep='\\n')\n"
        "print(loaded.settings.operator)\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", code, str(place.config), str(place.data)],
        capture_output=True,
        text=True,
        check=False,
    )
    lines = result.stdout.splitlines()
    assert result.stderr == ""
    assert len(lines) == 2
    assert "can't be read (Permission denied)" in lines[0]
    assert lines[1] == "Alex"


@pytest.mark.parametrize(
    ("variable", "text", "name", "value"),
    [
        ("QTERM_OPERATOR", "Kim", "operator", "Kim"),
        ("QTERM_HERMES_COMMAND", "ssh 'a b' hermes", "hermes.command", ("ssh", "a b", "hermes")),
        ("QTERM_HERMES_COMMAND", '["/my app/h"]', "hermes.command", ("/my app/h",)),
        ("QTERM_HERMES_HOME", "/h", "hermes.home", "/h"),
        ("QTERM_TIMEOUTS_HOME", "2.5", "timeouts.home", 2.5),
        ("QTERM_CAPS_TURN_CHARS", "10", "caps.turn_chars", 10),
        ("QTERM_SCREEN_SIDE_PANE", "off", "screen.side_pane", False),
        ("QTERM_SCREEN_THEME", "nord", "screen.theme", "nord"),
    ],
)
def test_every_kind_of_value_from_the_environment(
    place: Place, variable: str, text: str, name: str, value: object
) -> None:
    loaded = place.load(environ={variable: text})
    assert loaded.problems == ()
    assert value_of(loaded.settings, name) == value
    assert loaded.sources[name] == variable


@pytest.mark.parametrize(
    ("variable", "text"),
    [
        ("QTERM_TIMEOUTS_HOME", "ten"),
        ("QTERM_CAPS_TURNS", "1.5"),
        ("QTERM_HERMES_COMMAND", "a 'b"),
        ("QTERM_HERMES_COMMAND", "[1"),
        ("QTERM_SCREEN_SIDE_PANE", "maybe"),
    ],
)
def test_a_wrong_variable_is_one_sentence(place: Place, variable: str, text: str) -> None:
    loaded = place.load(environ={variable: text})
    assert sentence(loaded).startswith(variable)
    assert loaded.settings == Settings()


def test_an_unknown_variable_names_the_nearest(place: Place) -> None:
    text = sentence(place.load(QTERM_HERMES_APROVALS="ask"))
    assert '"QTERM_HERMES_APROVALS"' in text
    assert '"QTERM_HERMES_APPROVALS"' in text


def test_an_empty_variable_is_none(place: Place) -> None:
    assert place.load(QTERM_HERMES_APPROVALS="").problems == ()


def test_a_plain_word_is_a_command_of_one_program(place: Place) -> None:
    loaded = place.load('[hermes]\ncommand = "/my app/hermes"')
    assert loaded.settings.hermes.command == ("/my app/hermes",)


def test_a_wrong_value_above_a_right_one_means_the_default(place: Place) -> None:
    loaded = place.load("[timeouts]\nhome = 30", QTERM_TIMEOUTS_HOME="soon")
    assert "its default counts: 600.0" in sentence(loaded)
    assert loaded.settings.timeouts.home == 600.0
    assert loaded.sources["timeouts.home"] == "default"


def test_keys_of_both_files_come_together(place: Place) -> None:
    loaded = place.load('[keys]\nstop = "f5"\nquit = "f6"', settings='[keys]\nstop = "f7"')
    assert loaded.settings.keys == {"stop": "f7", "quit": "f6"}
    assert loaded.sources["keys.quit"] == str(place.config)
    assert loaded.sources["keys.stop"] == str(place.data / "settings.toml")


@hypothesis_settings(deadline=None)  # a busy machine is no fault
@given(st.binary(max_size=200))
def test_no_file_whatever_breaks_loading(data: bytes) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "config.toml"
        path.write_bytes(data)
        loaded = load(config=path, data_dir=Path(folder), environ={})
        assert isinstance(loaded.settings, Settings)


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


@hypothesis_settings(deadline=None)
@given(st.sampled_from([*msgspec.structs.asdict(Settings())]), _VALUES)
@example("keys", {"\n": False})
def test_no_value_whatever_breaks_loading(name: str, value: object) -> None:
    import tempfile

    import tomli_w

    try:
        written = tomli_w.dumps({name: value})
    except (TypeError, AttributeError, UnicodeError):
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "config.toml"
        path.write_bytes(written.encode(errors="replace"))
        loaded = load(config=path, data_dir=Path(folder), environ={})
        assert isinstance(loaded.settings, Settings)
        assert all("\n" not in problem.sentence for problem in loaded.problems)


def test_every_place_that_sets_a_key_is_known_the_weakest_first(tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    config.write_text('[screen]\ntheme = "nord"\n[keys]\nstop = "f4"\n')
    (tmp_path / "settings.toml").write_text('[screen]\ntheme = "dracula"\n')
    loaded = load(
        config=config,
        data_dir=tmp_path,
        environ={"QTERM_SCREEN_THEME": "monokai"},
        flags={"screen.theme": "flexoki", "operator": None},
    )
    assert [(layer.where, layer.value) for layer in loaded.layers["screen.theme"]] == [
        (str(config), "nord"),
        (str(tmp_path / "settings.toml"), "dracula"),
        ("QTERM_SCREEN_THEME", "monokai"),
        (FLAG, "flexoki"),
    ]
    assert [layer.where for layer in loaded.layers["keys.stop"]] == [str(config)]
    assert "operator" not in loaded.layers
    (tmp_path / "settings.toml").write_text('operator = "Kim"\n')
    again = load_again(loaded, environ={})
    assert again.settings.operator == "Kim"
    assert again.settings.screen.theme == "flexoki"
    assert [layer.value for layer in again.layers["screen.theme"]] == ["nord", "flexoki"]
