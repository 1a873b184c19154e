"""The settings screen, themes, help, doctor and palette: what they show, keep and refuse."""

from __future__ import annotations

import tomllib
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, OptionList, Static

from qterm.settings.load import load
from qterm.settings.write import write_setting
from qterm.tui.app import make_app
from qterm.tui.screens.settings import SettingsScreen
from tests.tui.stage import Stage, screen_text, stage, until
from tests.tui.test_home import home


@asynccontextmanager
async def on_stage(
    folder: Path,
    *,
    config: str = "",
    kept: Mapping[str, object] | None = None,
    environ: Mapping[str, str] | None = None,
    flags: Mapping[str, object] | None = None,
    size: tuple[int, int] = (120, 40),
) -> AsyncIterator[tuple[Pilot[Any], Stage]]:
    """The app over settings that were really read from files."""
    environ = environ or {}
    (folder / "config.toml").write_text(config)
    async with stage(folder, environ=environ) as on:
        for name, value in (kept or {}).items():
            write_setting(on.services.paths, name, value)
        read(on, folder, environ, flags)
        async with on.shown(size) as pilot:
            yield pilot, on


def read(
    on: Stage,
    folder: Path,
    environ: Mapping[str, str] | None = None,
    flags: Mapping[str, object] | None = None,
) -> None:
    """Have the stage's services run on what the files say."""
    on.services.loaded = load(
        config=folder / "config.toml",
        data_dir=folder / "data",
        environ=environ or {},
        flags=flags,
    )
    on.services.conversation.settings = on.services.settings
    on.app = make_app(on.services)


def written(folder: Path) -> dict[str, Any]:
    path = folder / "data" / "settings.toml"
    return tomllib.loads(path.read_text()) if path.exists() else {}


async def shows(pilot: Pilot[Any], on: Stage, words: str) -> None:
    await until(pilot, lambda: words in screen_text(on.app))


async def says(pilot: Pilot[Any], on: Stage, words: str) -> None:
    """Wait for words in a text of the screen's, however it is wrapped."""

    def texts() -> str:
        return "\n".join(str(text.content) for text in on.app.screen.query(Static))

    await until(pilot, lambda: words in texts())


async def open_settings(pilot: Pilot[Any], on: Stage, words: str = "") -> SettingsScreen:
    await pilot.press("f6")
    await until(pilot, lambda: isinstance(on.app.screen, SettingsScreen))
    screen = on.app.screen
    assert isinstance(screen, SettingsScreen)
    await until(pilot, lambda: screen.chosen is not None)
    if words:
        await pilot.press(*words.replace(" ", "~").replace("~", " "))
        await until(pilot, lambda: screen.filter.value == words)
    await pilot.pause()
    return screen


async def test_a_choice_is_changed_kept_and_set_back(tmp_path: Path) -> None:
    async with on_stage(tmp_path, config='[memory]\npolicy = "dual"\n') as (pilot, on):
        screen = await open_settings(pilot, on, "memory.policy")
        assert screen.chosen is not None
        assert (screen.chosen.value, screen.chosen.source) == ("dual", "config")
        await pilot.press("enter")
        await until(pilot, lambda: screen.editor.display)
        assert isinstance(on.app.focused, OptionList)
        await pilot.press("down", "enter")
        await until(pilot, lambda: written(tmp_path) == {"memory": {"policy": "schema"}})
        await until(pilot, lambda: screen.chosen and screen.chosen.source == "settings")
        assert on.services.settings.memory.policy == "schema"
        assert screen.filter.has_focus
        await pilot.press("ctrl+r")
        await until(pilot, lambda: written(tmp_path) == {})
        await until(pilot, lambda: screen.chosen and screen.chosen.value == "dual")
        assert (tmp_path / "config.toml").read_text() == '[memory]\npolicy = "dual"\n'


async def test_a_wrong_number_gets_its_sentence_and_a_right_one_counts_at_once(
    tmp_path: Path,
) -> None:
    async with on_stage(tmp_path) as (pilot, on):
        screen = await open_settings(pilot, on, "caps.turns")
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(on.app.focused, Input) and screen.editor.display)
        await pilot.press("backspace", "backspace", "9", "9", "enter")
        await says(pilot, on, "It has to be a whole number from 1 to 16")
        assert written(tmp_path) == {}
        await pilot.press("backspace", "backspace", "4", "enter")
        await until(pilot, lambda: written(tmp_path) == {"caps": {"turns": 4}})
        await until(pilot, lambda: on.services.settings.caps.turns == 4)
        for number in range(6):
            await on.post("mallory", f"Report {number}.")
        context = await on.services.conversation.context()
        assert context.turns == 4


async def test_a_list_is_written_as_words(tmp_path: Path) -> None:
    async with on_stage(tmp_path) as (pilot, on):
        screen = await open_settings(pilot, on, "waiting_words")
        await pilot.press("enter")
        await until(pilot, lambda: screen.editor.display)
        await pilot.press("enter")  # what it shows is what it takes
        await until(
            pilot,
            lambda: (
                written(tmp_path)
                == {"memory": {"waiting_words": ["waiting", "queued", "pending", "in progress"]}}
            ),
        )
        await pilot.press("enter", *" [", "enter")
        await until(pilot, lambda: not screen.editor.display or "has to be" in screen_text(on.app))


async def test_escape_leaves_the_value_then_the_filter_then_the_screen(tmp_path: Path) -> None:
    async with on_stage(tmp_path) as (pilot, on):
        screen = await open_settings(pilot, on, "operator")
        await pilot.press("enter", "x", "escape")
        await until(pilot, lambda: not screen.editor.display)
        await pilot.press("escape")
        assert screen.filter.value == ""
        await pilot.press("escape")
        await until(pilot, lambda: on.app.screen is home(on))
        assert written(tmp_path) == {}


async def test_what_a_flag_or_a_variable_overrides_says_so(tmp_path: Path) -> None:
    environ = {"QTERM_CAPS_TURNS": "5"}
    flags = {"hermes.approvals": "deny"}
    async with on_stage(tmp_path, environ=environ, flags=flags) as (pilot, on):
        screen = await open_settings(pilot, on, "caps.turns")
        await says(pilot, on, "QTERM_CAPS_TURNS goes before what is kept here")
        await pilot.press("enter", "backspace", "3", "enter")
        await until(pilot, lambda: written(tmp_path) == {"caps": {"turns": 3}})
        await shows(pilot, on, "Kept; QTERM_CAPS_TURNS goes before it")
        assert on.services.settings.caps.turns == 5
        assert screen.chosen is not None
        assert screen.chosen.is_kept
        screen.filter.value = "hermes.approvals"
        await says(pilot, on, "A flag goes before what is kept here")


async def test_what_hermes_is_counts_from_the_next_start(tmp_path: Path) -> None:
    async with on_stage(tmp_path) as (pilot, on):
        await open_settings(pilot, on, "hermes.approvals")
        await says(pilot, on, "from the next start of qterm on")
        await pilot.press("enter", "down", "enter")
        await until(pilot, lambda: written(tmp_path) == {"hermes": {"approvals": "deny"}})
        await says(pilot, on, "until then it is: ask")
        assert on.services.approvals == "ask"


async def test_the_side_pane_follows_at_once(tmp_path: Path) -> None:
    async with on_stage(tmp_path) as (pilot, on):
        await open_settings(pilot, on, "side_pane")
        await pilot.press("enter", "down", "enter")
        await until(pilot, lambda: home(on).told.has_class("-off"))


async def test_another_qterm_that_keeps_settings_meanwhile_loses_nothing(tmp_path: Path) -> None:
    async with on_stage(tmp_path) as (pilot, on):
        screen = await open_settings(pilot, on, "operator")
        write_setting(on.services.paths, "memory.p2_percent", 70)
        await pilot.press("enter", *"!", "enter")
        await until(
            pilot,
            lambda: written(tmp_path) == {"operator": "Alex!", "memory": {"p2_percent": 70}},
        )
        await until(pilot, lambda: on.app.written.settings.memory.p2_percent == 70)
        assert on.services.settings.operator == "Alex!"
        await until(pilot, lambda: not screen.editor.display)


async def test_a_folder_that_cannot_be_written_is_a_sentence(tmp_path: Path) -> None:
    async with on_stage(tmp_path) as (pilot, on):
        screen = await open_settings(pilot, on, "operator")
        (tmp_path / "data" / "settings.toml").mkdir()
        await pilot.press("enter", *"!", "enter")
        await says(pilot, on, "can't be written")
        assert screen.editor.display
        assert on.services.settings.operator == "Alex"


async def test_a_key_is_pressed_to_set_it_and_works_at_once(tmp_path: Path) -> None:
    async with on_stage(tmp_path) as (pilot, on):
        screen = await open_settings(pilot, on, "keys.told")
        await pilot.press("enter")
        await shows(pilot, on, "Press the new key for “What Q will be told”")
        await pilot.press("ctrl+q")
        await shows(pilot, on, "ctrl+q is the key of “Quit”")
        await pilot.press("x")
        await shows(pilot, on, "“x” is for writing there")
        await pilot.press("f11")
        await until(pilot, lambda: written(tmp_path) == {"keys": {"told": "f11"}})
        await until(pilot, lambda: screen.chosen and screen.chosen.value == "f11")
        await pilot.press("ctrl+n", "ctrl+t")
        await until(pilot, lambda: written(tmp_path) == {"keys": {"told": "f11,ctrl+t"}})
        await pilot.press("escape", "escape")
        await until(pilot, lambda: on.app.screen is home(on))
        await shows(pilot, on, "f11 context")
        await pilot.press("f11")
        await until(pilot, lambda: home(on).told.list.has_focus)


async def test_a_command_that_had_no_key_gets_one(tmp_path: Path) -> None:
    async with on_stage(tmp_path) as (pilot, on):
        await open_settings(pilot, on, "keys.notices")
        await shows(pilot, on, "palette only")
        await pilot.press("enter")
        await shows(pilot, on, "Press the new key")
        await pilot.press("f11")
        await until(pilot, lambda: written(tmp_path) == {"keys": {"notices": "f11"}})
        await pilot.press("escape", "escape")
        await until(pilot, lambda: on.app.screen is home(on))
        await pilot.press("f11")
        await shows(pilot, on, "There is none.")


async def test_keys_of_no_command_are_told_and_can_be_set_back(tmp_path: Path) -> None:
    async with on_stage(tmp_path, kept={"keys.[/]": "f11"}) as (pilot, on):
        assert any("“[/]”" in words for words in home(on).notices.all)
        await open_settings(pilot, on, "no such command")
        await says(pilot, on, "There is no such command")
        await pilot.press("ctrl+r")
        await until(pilot, lambda: written(tmp_path) == {})


async def test_markup_in_values_is_readable(tmp_path: Path) -> None:
    config = 'operator = "[b]A[/b] [/]"\n[hermes]\ncommand = ["[/x]", "[P1]"]\n'
    config += '[[personas]]\nkey = "mallory"\nlabel = "[/]"\n'
    async with on_stage(tmp_path, config=config, environ={"QTERM_[/]": "x"}) as (pilot, on):
        screen = await open_settings(pilot, on)
        await shows(pilot, on, "[b]A[/b] [/]")
        await shows(pilot, on, "You, Q, [/]")
        screen.filter.value = "[/x]"
        await shows(pilot, on, "[P1]")
        await pilot.press("enter")
        await until(pilot, lambda: screen.editor.display)
        await pilot.press("'", "enter")
        await says(pilot, on, "It has to be a list of words")
        await pilot.hover("#settings--list")


async def test_a_theme_is_tried_while_moving_and_escape_brings_the_old_one(
    tmp_path: Path,
) -> None:
    async with on_stage(tmp_path) as (pilot, on):
        on.app.action_choose_theme()
        await shows(pilot, on, "enter keeps it")
        await pilot.press("down", "down")
        await until(pilot, lambda: on.app.theme == "nord")
        await pilot.press("escape")
        await until(pilot, lambda: on.app.theme == "textual-dark")
        assert written(tmp_path) == {}
        on.app.action_choose_theme()
        await shows(pilot, on, "enter keeps it")
        await pilot.press("down", "enter")
        await until(pilot, lambda: written(tmp_path) == {"screen": {"theme": "textual-light"}})
        assert on.app.theme == "textual-light"


async def test_f12_goes_to_the_other_kind_and_back_and_is_kept(tmp_path: Path) -> None:
    async with on_stage(tmp_path, config='[screen]\ntheme = "nord"\n') as (pilot, on):
        await pilot.press("f12")
        await until(pilot, lambda: written(tmp_path) == {"screen": {"theme": "textual-light"}})
        await pilot.press("f12")
        await until(pilot, lambda: written(tmp_path) == {"screen": {"theme": "nord"}})
        assert on.app.theme == "nord"


async def test_f12_under_a_variable_changes_the_screen_all_the_same(tmp_path: Path) -> None:
    environ = {"QTERM_SCREEN_THEME": "solarized-dark"}
    async with on_stage(tmp_path, environ=environ) as (pilot, on):
        await pilot.press("f12")
        await until(pilot, lambda: written(tmp_path) == {"screen": {"theme": "solarized-light"}})
        await pilot.pause()
        assert on.app.theme == "solarized-light"


@pytest.mark.parametrize("size", [(120, 40), (80, 24)])
async def test_f1_begins_with_the_keys_of_this_screen_and_can_be_filtered(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    async with on_stage(tmp_path, kept={"keys.stop": "ctrl+y"}, size=size) as (pilot, on):
        await pilot.press("f3")
        await until(pilot, lambda: on.app.tasks is not None and on.app.screen is on.app.tasks)
        await pilot.press("f1")
        await shows(pilot, on, "Keys: Tasks")
        assert "Writing" in screen_text(on.app)
        await pilot.press(*"stop q")
        await shows(pilot, on, "ctrl+y")
        assert "f12" not in screen_text(on.app).replace("f1 to f12", "")
        await pilot.press("escape")
        await pilot.press("f1")
        await until(pilot, lambda: on.app.screen is on.app.tasks)


async def test_f1_in_the_settings_shows_what_works_there(tmp_path: Path) -> None:
    async with on_stage(tmp_path) as (pilot, on):
        await open_settings(pilot, on)
        await pilot.press("f1")
        await shows(pilot, on, "Keys: Settings")
        text = screen_text(on.app)
        assert text.index("In the settings") < text.index("Everywhere")
        await pilot.press("escape")
        await pilot.press("f3")
        await until(pilot, lambda: on.app.tasks is not None and on.app.screen is on.app.tasks)


async def test_the_palette_shows_keys_and_only_what_works(tmp_path: Path) -> None:
    async with on_stage(tmp_path, kept={"keys.told": "f11"}) as (pilot, on):
        await pilot.press("ctrl+p", *"what q will")
        await shows(pilot, on, "What Q will be told")
        await shows(pilot, on, "f11")
        await pilot.press("escape")
        await until(pilot, lambda: on.app.screen is home(on))
        await open_settings(pilot, on, "keys.told")
        await pilot.press("ctrl+p")
        await shows(pilot, on, "Add a key to the command")
        text = screen_text(on.app)
        assert "Add a fact" not in text
        await pilot.press(*"set back the", "enter")
        await until(pilot, lambda: written(tmp_path) == {})


async def test_the_doctor_looks_again_and_copies_its_report(tmp_path: Path) -> None:
    async with on_stage(tmp_path, kept={"operator": "[/] [P1]"}) as (pilot, on):
        await pilot.press("f5")
        await shows(pilot, on, "r looks again")
        await pilot.press("end")
        await shows(pilot, on, "settings.toml")
        (tmp_path / "config.toml").unlink()
        await pilot.press("r")
        await shows(pilot, on, "r looks again")
        await pilot.press("c")
        await until(pilot, lambda: on.app.clipboard)
        assert 'operator: "[/] [P1]" (from ' in on.app.clipboard
        assert "path: store:" in on.app.clipboard
        await pilot.press("f5")
        await until(pilot, lambda: on.app.screen is home(on))
