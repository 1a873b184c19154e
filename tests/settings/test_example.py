"""config.example.toml: every key with a sentence and its default, and the themes of Textual."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from textual.theme import BUILTIN_THEMES

from qterm.settings.keys import THEMES, plain, value_keys
from qterm.settings.load import load
from qterm.settings.schema import PERSONAS, Settings

EXAMPLE = Path(__file__).parents[2] / "config.example.toml"


def uncommented() -> str:
    """The example with each default taken in: a comment that is followed by no space."""
    lines = EXAMPLE.read_text().splitlines()
    return "\n".join(
        line[1:] if line.startswith("#") and line[1:2].strip() else line for line in lines
    )


@pytest.mark.parametrize("text", [EXAMPLE.read_text(), uncommented()], ids=["as is", "all"])
def test_it_loads_without_a_problem_and_equals_the_defaults(tmp_path: Path, text: str) -> None:
    path = tmp_path / "config.toml"
    path.write_text(text)
    loaded = load(config=path, data_dir=tmp_path, environ={})
    assert loaded.problems == ()
    assert loaded.settings == Settings()


def test_every_key_is_in_it_with_its_default() -> None:
    table = tomllib.loads(uncommented())
    assert table.pop("personas") == plain(PERSONAS)
    assert table.pop("keys") == {}
    found: dict[str, object] = {}
    for name, value in table.items():
        if isinstance(value, dict):
            found |= {f"{name}.{below}": inner for below, inner in value.items()}
        else:
            found[name] = value
    assert found == {name: plain(key.default) for name, key in value_keys().items()}


def test_every_key_has_a_sentence_above_it() -> None:
    lines = EXAMPLE.read_text().splitlines()
    for name in value_keys():
        word = name.rpartition(".")[2]
        places = [number for number, line in enumerate(lines) if line.startswith(f"#{word} = ")]
        assert places, name
        assert all(lines[place - 1].startswith("# ") for place in places), name


def test_the_themes_are_those_of_textual() -> None:
    assert set(THEMES) == set(BUILTIN_THEMES)
