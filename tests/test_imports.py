"""What is loaded when: the core without the screen, and the version without nearly anything."""

from __future__ import annotations

import subprocess
import sys

import pytest

from qterm import __version__


def loaded_by(code: str, *arguments: str) -> set[str]:
    """The modules in `sys.modules` after this code, in a process of its own."""
    script = f"import sys\n{code}\nprint('\\n' + '\\n'.join(sys.modules))"
    result = subprocess.run(
        [sys.executable, "-c", script, *arguments], capture_output=True, text=True, check=True
    )
    return set(result.stdout.split())


SCREEN = {"textual", "rich"}


@pytest.mark.parametrize(
    "module",
    [
        "qterm.conversation",
        "qterm.services",
        "qterm.doctor",
        "qterm.maintenance.after_turn",
        "qterm.rehearsal.demo",
        "qterm.feed.store",
        "qterm.hermes.spawn",
        "qterm.settings.load",
        "qterm.settings.write",
    ],
)
def test_the_core_loads_no_screen_and_no_command_line(module: str) -> None:
    assert not loaded_by(f"import {module}") & {*SCREEN, "click"}


def test_the_version_is_answered_before_anything_is_imported() -> None:
    names = loaded_by("from qterm.__main__ import main\nmain()", "--version")
    assert not names & {*SCREEN, "click", "asyncio", "msgspec", "sqlite3", "httpx"}
    assert {name for name in names if name.startswith("qterm")} == {
        "qterm",
        "qterm.__main__",
        "qterm.streams",
    }


def test_a_command_loads_no_screen() -> None:
    code = "from qterm.__main__ import main\ntry:\n    main()\nexcept SystemExit:\n    pass"
    names = loaded_by(code, "--help")
    assert "click" in names
    assert not names & SCREEN


def test_settings_are_light() -> None:
    names = loaded_by("import qterm.settings")
    assert not names & {"msgspec", "tomllib", "platformdirs", "tomli_w"}
    names = loaded_by("import qterm.settings.load, qterm.settings.paths")
    assert not names & {"platformdirs", "tomli_w", "difflib", "httpx", "sqlite3", "asyncio"}


def test_the_version_of_the_command() -> None:
    result = subprocess.run(
        [sys.executable, "-m", "qterm", "--version"], capture_output=True, text=True, check=True
    )
    assert result.stdout == f"qterm {__version__}\n"
    assert result.stderr == ""
