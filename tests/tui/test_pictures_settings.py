"""Pictures: settings, themes, help, doctor and palette; a light screen, and one without colour."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from syrupy.assertion import SnapshotAssertion
from textual.pilot import Pilot
from textual.widgets import Input

from qterm.doctor import Check, State
from qterm.doctor.config_checks import config_checks, path_checks, setting_checks
from qterm.settings.load import Layer, Loaded, Paths, load
from qterm.settings.write import write_setting
from qterm.tui.app import make_app
from tests.tui.pictures import (
    MARKS,
    NARROW,
    WIDE,
    Before,
    Scene,
    Then,
    as_it_is,
    at_tasks,
    busy,
    picture,
    shows,
    some_tasks,
)
from tests.tui.stage import READY, Stage, until
from tests.tui.test_live import COMMAND
from tests.tui.test_snapshots import asking

pytestmark = MARKS

HOME = Path("/home/alex")
CONFIG = """
operator = "Alex [Ops]"
[hermes]
command = ["ssh", "tower", "hermes"]
[screen]
theme = "textual-dark"
[memory]
policy = "dual"
p2_percent = 800
"""


def settled(folder: Path) -> Loaded:
    """Settings out of every layer, as if they lay in Alex's home."""
    paths = Paths(folder / "data", folder / "config.toml", folder / "cache")
    paths.config_file.write_text(CONFIG)
    write_setting(paths, "caps.turns", 12)
    write_setting(paths, "keys.told", "f11")
    loaded = load(
        config=paths.config_file,
        data_dir=paths.data_dir,
        environ={"QTERM_TIMEOUTS_TASK": "900"},
        flags={"hermes.approvals": "deny"},
    )
    there = Paths(
        HOME / ".local/share/qterm", HOME / ".config/qterm/config.toml", HOME / ".cache/qterm"
    )
    words = {
        str(paths.settings_file): str(there.settings_file),
        str(paths.config_file): str(there.config_file),
    }

    def moved(text: str) -> str:
        for here, name in words.items():
            text = text.replace(here, name)
        return text

    layers: Mapping[str, tuple[Layer, ...]] = {
        name: tuple(Layer(moved(layer.where), layer.value) for layer in those)
        for name, those in loaded.layers.items()
    }
    return replace(
        loaded,
        paths=there,
        layers=layers,
        sources={name: moved(source) for name, source in loaded.sources.items()},
        problems=tuple(
            replace(each, where=moved(each.where), sentence=moved(each.sentence))
            for each in loaded.problems
        ),
    )


def anew(on: Stage) -> None:
    """The app once more, over what the services have by now."""
    on.app = make_app(on.services)
    on.app.animation_level = "none"


async def from_layers(on: Stage) -> None:
    await busy(on)
    loaded = settled(on.services.paths.data_dir.parent)
    on.services.loaded = replace(loaded, problems=())
    anew(on)
    on.app._written = loaded
    on.app.desk.read_settings = lambda: None  # type: ignore[method-assign]


def without_colour(before: Before) -> Before:
    async def also(on: Stage) -> None:
        os.environ["NO_COLOR"] = "1"
        try:
            anew(on)
            await before(on)
        finally:
            del os.environ["NO_COLOR"]

    return also


def themed(name: str, before: Before, then: Then = as_it_is) -> Scene:
    async def also(pilot: Pilot[Any], on: Stage) -> None:
        on.app.theme = name
        await then(pilot, on)

    return (WIDE, READY, before, also)


async def still(pilot: Pilot[Any], on: Stage) -> None:
    for field in on.app.screen.query(Input):
        field.cursor_blink = False
    await pilot.pause()


def in_settings(*keys: str, words: str = "", until_words: str = "") -> Then:
    async def then(pilot: Pilot[Any], on: Stage) -> None:
        await pilot.press("f6")
        await shows(pilot, on, "operator")
        await still(pilot, on)
        if words:
            await pilot.press(*words)
            await shows(pilot, on, words)
        await pilot.press(*keys)
        await shows(pilot, on, until_words or words or "type to filter")

    return then


def pressing_still(*keys: str, words: str) -> Then:
    async def press(pilot: Pilot[Any], on: Stage) -> None:
        await pilot.press(*keys)
        await shows(pilot, on, words)
        await still(pilot, on)

    return press


def checks(loaded: Loaded) -> list[Check]:
    return [
        Check("qterm", "qterm", State.INFO, "This is qterm 0.1.0 on Python 3.11.7 (/usr/bin/p)."),
        Check("hermes", "hermes", State.OK, "Hermes Agent v0.19.0, at /home/alex/bin/hermes."),
        Check(
            "model",
            "model",
            State.FAIL,
            "hermes has no model [/] yet, so Q can't answer.",
            "Run `hermes setup`.",
        ),
        Check("store", "store", State.OK, "The feed holds 4,211 turns."),
        *config_checks(loaded),
        *setting_checks(loaded),
        *path_checks(loaded.paths),
    ]


def with_doctor(*keys: str) -> Then:
    async def then(pilot: Pilot[Any], on: Stage) -> None:
        async def examine(loaded: Loaded, **_: object) -> list[Check]:
            return checks(on.app.written)

        with patch("qterm.doctor.examine", examine):
            await pilot.press("f5")
            await shows(pilot, on, "c copies")
        await pilot.press(*keys)

    return then


async def help_of_tasks(pilot: Pilot[Any], on: Stage) -> None:
    await at_tasks(pilot, on)
    await pressing_still("f1", words="Keys: Tasks")(pilot, on)


async def help_of_settings(pilot: Pilot[Any], on: Stage) -> None:
    await in_settings()(pilot, on)
    await pressing_still("f1", words="Keys: Settings")(pilot, on)


async def choosing(pilot: Pilot[Any], on: Stage) -> None:
    on.app.action_choose_theme()
    await shows(pilot, on, "enter keeps it")
    await pilot.press("down", "down", "down")
    await until(pilot, lambda: on.app.theme == "gruvbox")


async def palette_of_settings(pilot: Pilot[Any], on: Stage) -> None:
    await in_settings(words="keys.told", until_words="f11")(pilot, on)
    await pressing_still("ctrl+p", words="Add a key to the command")(pilot, on)


PICTURES: dict[str, Scene] = {
    "settings": (WIDE, READY, from_layers, in_settings()),
    "settings-80": (NARROW, READY, from_layers, in_settings()),
    "settings-filter-80": (NARROW, READY, from_layers, in_settings(words="percent")),
    "settings-choice": (
        WIDE,
        READY,
        from_layers,
        in_settings("enter", "down", words="memory.policy", until_words="enter keeps it"),
    ),
    "settings-choice-80": (
        NARROW,
        READY,
        from_layers,
        in_settings("enter", "down", words="memory.policy", until_words="enter keeps it"),
    ),
    "settings-wrong": (
        WIDE,
        READY,
        from_layers,
        in_settings("enter", *"0", "enter", words="caps.turns", until_words='not "120"'),
    ),
    "settings-wrong-80": (
        NARROW,
        READY,
        from_layers,
        in_settings("enter", *"0", "enter", words="caps.turns", until_words='not "120"'),
    ),
    "settings-overridden": (
        WIDE,
        READY,
        from_layers,
        in_settings(words="timeouts.task", until_words="without it"),
    ),
    "settings-keys": (
        WIDE,
        READY,
        from_layers,
        in_settings(words="keys: home", until_words="Keys: home"),
    ),
    "settings-press-key": (
        WIDE,
        READY,
        from_layers,
        in_settings("enter", "f9", words="keys.told", until_words="f9 is the key"),
    ),
    "themes": (WIDE, READY, busy, choosing),
    "themes-80": (NARROW, READY, busy, choosing),
    "help-home": (WIDE, READY, busy, pressing_still("f1", words="Keys: Home")),
    "help-home-80": (NARROW, READY, busy, pressing_still("f1", words="Keys: Home")),
    "help-tasks": (WIDE, READY, some_tasks, help_of_tasks),
    "help-tasks-80": (NARROW, READY, some_tasks, help_of_tasks),
    "help-settings-80": (NARROW, READY, from_layers, help_of_settings),
    "help-filtered": (WIDE, READY, busy, pressing_still("f1", *"theme", words="Try the colours")),
    "doctor": (WIDE, READY, from_layers, with_doctor()),
    "doctor-80": (NARROW, READY, from_layers, with_doctor()),
    "doctor-end": (WIDE, READY, from_layers, with_doctor("end")),
    "palette-80": (NARROW, READY, busy, pressing_still("ctrl+p", words="Go to the newest turn")),
    "palette-settings": (WIDE, READY, from_layers, palette_of_settings),
    "light-tasks": themed("textual-light", some_tasks, at_tasks),
    "light-settings": themed("textual-light", from_layers, in_settings()),
    "light-approval": themed("textual-light", busy, asking(COMMAND)),
    "ansi-dark": themed("ansi-dark", busy),
    "ansi-dark-tasks": themed("ansi-dark", some_tasks, at_tasks),
    "ansi-light": themed("ansi-light", busy),
    "ansi-light-settings": themed("ansi-light", from_layers, in_settings()),
    "no-colour": (WIDE, READY, without_colour(busy), as_it_is),
    "no-colour-tasks": (WIDE, READY, without_colour(some_tasks), at_tasks),
    "no-colour-settings": (WIDE, READY, without_colour(from_layers), in_settings()),
    "no-colour-approval": (WIDE, READY, without_colour(busy), asking(COMMAND)),
    "no-colour-palette": (
        WIDE,
        READY,
        without_colour(busy),
        pressing_still("ctrl+p", words="Add a fact"),
    ),
}


@pytest.mark.parametrize("name", PICTURES)
async def test_picture(name: str, tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    await picture(name, PICTURES[name], tmp_path, snapshot)
