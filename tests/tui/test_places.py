"""Every odd text in every place that shows text; the first start; keys and the palette."""

from __future__ import annotations

import io
from contextlib import nullcontext
from pathlib import Path
from typing import Any, cast

import msgspec
import pytest
from rich.console import Console
from textual.widgets import Button, Static

from qterm.model import Persona, TurnState
from qterm.services import FirstStart, StartState
from qterm.settings.keys import THEMES
from qterm.settings.schema import Settings
from qterm.tui.app import Leave
from qterm.tui.screens.first_start import FirstStartScreen
from tests.cases import cases, ids
from tests.tui.stage import NO_HERMES, NO_MODEL, READY, changed, screen_text, stage, until
from tests.tui.test_home import home


def squeezed(text: str) -> str:
    """Without white space: wrapping puts line breaks anywhere."""
    return "".join(text.split())


@pytest.mark.parametrize("case", cases("text.json"), ids=ids)
async def test_an_odd_text_is_shown_everywhere_and_breaks_nothing(
    case: dict[str, Any], tmp_path: Path
) -> None:
    text = case["text"]
    defaults = Settings()
    personas = (*defaults.personas, Persona("odd", text, text))
    state = StartState(FirstStart.READY, text)
    settings = changed(defaults, personas=personas, operator=text)
    async with stage(tmp_path, settings=settings, state=state, notices=(text,)) as on:
        asked = await on.post(
            "odd", text, state=TurnState.FAILED, reason=text, detail=text, elapsed=1.0
        )
        await on.post("q", text, reply_to=asked.id, elapsed=1.0)
        await on.post("you", text, state=TurnState.FAILED, reason=text, detail=text)
        await on.store.add_fact(text)
        await on.store.set_mode(text)
        await on.store.save_draft(None, text)
        async with on.shown((120, 50)) as pilot:
            on.app.notify(text, title=text, severity="error")
            for spot in ((30, 6), (100, 12), (110, 47)):
                await pilot.hover(offset=spot)
                await pilot.click(offset=spot)
            home(on).feed.focus()
            home(on).feed.action_select(1)
            home(on).action_detail()
            await pilot.pause()
            shown = squeezed(screen_text(on.app))
            for bad in case.get("never", []):
                assert bad not in shown
            if "visible" in case and len(text) < 60:
                assert squeezed(case["visible"]) in shown
            assert home(on).composer.message == text.replace("\0", "\ufffd")
            home(on).action_fact()
            await pilot.press("escape")
            home(on).action_mode()
            await pilot.press("escape")
            home(on).action_delete()
            await until(pilot, lambda: on.app.screen.query(Button))
            await pilot.press("n")
            home(on).action_notices()
            await pilot.press("escape")
            assert on.app.is_running


async def test_without_a_model_three_things_are_offered(tmp_path: Path) -> None:
    async with stage(tmp_path, state=NO_MODEL) as on, on.shown() as pilot:
        await until(pilot, lambda: isinstance(on.app.screen, FirstStartScreen))
        shown = screen_text(on.app)
        for words in ("Rehearse", "Set up", "Look around", NO_MODEL.sentence):
            assert words in shown
        await pilot.press("l")
        await until(pilot, lambda: on.app.screen is home(on))
        assert "has no model yet" in screen_text(on.app)
        await pilot.press("f10")
        await until(pilot, lambda: isinstance(on.app.screen, FirstStartScreen))
        await pilot.press("enter")
        await until(pilot, lambda: on.app.return_value is Leave.REHEARSE)


async def test_setting_up_looks_again_afterwards(tmp_path: Path) -> None:
    import sys

    called = tmp_path / "called"
    fake = tmp_path / "hermes"
    script = f"import sys\nopen({str(called)!r}, 'w').write(' '.join(sys.argv))\n"
    fake.write_text(f"#!{sys.executable}\n{script}")
    fake.chmod(0o755)
    defaults = Settings()
    hermes = msgspec.structs.replace(
        defaults.hermes, command=(str(fake),), home=str(tmp_path / "home")
    )
    settings = changed(defaults, hermes=hermes)
    async with stage(tmp_path, state=NO_MODEL, settings=settings) as on, on.shown() as pilot:
        on.app.suspend = nullcontext  # type: ignore[assignment, method-assign]
        await until(pilot, lambda: isinstance(on.app.screen, FirstStartScreen))
        on.services.state = READY
        await pilot.press("s")
        await until(pilot, lambda: on.app.screen is home(on))
        assert called.read_text().endswith("setup")
        await until(pilot, lambda: "Q ● ready" in screen_text(on.app))


async def test_without_hermes_it_says_how_to_get_it(tmp_path: Path) -> None:
    async with stage(tmp_path, state=NO_HERMES) as on, on.shown((80, 24)) as pilot:
        await until(pilot, lambda: isinstance(on.app.screen, FirstStartScreen))
        assert "pipx install hermes-agent" in screen_text(on.app)
        assert "Rehearse" not in screen_text(on.app)
        await pilot.press("r")  # not offered
        assert isinstance(on.app.screen, FirstStartScreen)
        on.services.state = READY
        await pilot.press("enter")
        await until(pilot, lambda: on.app.screen is home(on))
        await until(pilot, lambda: "Q ● ready" in screen_text(on.app))


async def test_keys_are_changed_in_the_config(tmp_path: Path) -> None:
    keys = {"send": "ctrl+s", "newline": "enter", "help": "f4", "told": "f11"}
    settings = changed(Settings(), keys=keys)
    async with stage(tmp_path, settings=settings) as on, on.shown() as pilot:
        assert "ctrl+s send" in screen_text(on.app).splitlines()[-1]
        await pilot.press("a", "enter", "b", "ctrl+s")
        await until(pilot, lambda: len(home(on).feed.window.turns) == 2)
        assert home(on).feed.window.turns[0].text == "a\nb"
        await pilot.press("f4")
        await until(pilot, lambda: "Keys" in screen_text(on.app))
        assert "f11" in screen_text(on.app)


async def test_help_names_every_command(tmp_path: Path) -> None:
    from qterm.tui.commands.registry import COMMANDS

    async with stage(tmp_path) as on, on.shown((120, 80)) as pilot:
        await pilot.press("f1")
        await until(pilot, lambda: "Keys" in screen_text(on.app))
        paper = Console(width=400, file=io.StringIO())
        paper.print(on.app.screen.query_one("#help--table", Static).content)
        words = squeezed(cast("io.StringIO", paper.file).getvalue())
        for command in COMMANDS:
            assert squeezed(command.help) in words
        await pilot.press("escape")
        await until(pilot, lambda: on.app.screen is home(on))


async def test_the_palette_runs_a_command_and_takes_odd_searches(tmp_path: Path) -> None:
    async with stage(tmp_path) as on, on.shown() as pilot:
        await pilot.press("ctrl+p", *"[/] [@click", "escape", "escape")
        await until(pilot, lambda: on.app.screen is home(on))
        await pilot.press("ctrl+p", *"light or", "enter")
        await until(pilot, lambda: not on.app.current_theme.dark)
        await pilot.press("ctrl+p")
        await until(pilot, lambda: "Add a fact" in screen_text(on.app))
        assert "Stop Q" not in screen_text(on.app)
        assert "Delete" not in screen_text(on.app)


async def test_the_doctors_findings_are_listed(tmp_path: Path, monkeypatch: Any) -> None:
    import qterm.doctor
    from qterm.doctor import Check, State

    async def examine(*_: object, **__: object) -> list[Check]:
        return [Check("model", "Model", State.FAIL, "It is [/] away.", "Start it.")]

    monkeypatch.setattr(qterm.doctor, "examine", examine)
    async with stage(tmp_path) as on, on.shown() as pilot:
        await pilot.press("f5")
        await until(pilot, lambda: "It is [/] away." in screen_text(on.app))
        assert "→ Start it." in screen_text(on.app)


async def test_every_theme_can_be_drawn(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        asked = await on.post("you", "no", state=TurnState.FAILED, reason="why", detail="x")
        await on.post("q", "part", reply_to=asked.id, state=TurnState.FAILED)
        async with on.shown() as pilot:
            home(on).notices.add("A notice.")
            for theme in THEMES:
                on.app.theme = theme
                await pilot.pause()
                assert "failed" in screen_text(on.app), theme
            await pilot.press("tab")
            await pilot.pause()
