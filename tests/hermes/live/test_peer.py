"""How a hermes that is kept running is called, and how long it waits."""

from __future__ import annotations

from pathlib import Path

import pytest

from qterm.hermes.live.peer import acp_command
from qterm.hermes.live.waiting import approval_seconds
from qterm.hermes.place import Capabilities, HermesPlace

OLD = Capabilities(version="0.19.0", version_line="x")
NEW = Capabilities(version="0.22.0", version_line="x", query_file=True)


def program(path: Path) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def place(home: Path, *command: str, is_root: bool = True) -> HermesPlace:
    return HermesPlace(command, home, is_root, "test", "test")


def test_the_quick_program_is_taken_where_it_is_beside(tmp_path: Path) -> None:
    hermes = program(tmp_path / "venv" / "hermes")
    assert acp_command(place(tmp_path, str(hermes)), OLD) == (str(hermes), "-p", "default", "acp")
    beside = program(tmp_path / "venv" / "hermes-acp")
    assert acp_command(place(tmp_path, str(hermes)), OLD) == (str(beside),)
    config = place(tmp_path, str(hermes)).home / "config.yaml"
    config.parent.mkdir(exist_ok=True)
    for text, is_quick in (
        ("hooks: {}\n", True),
        ("hooks:\n  pre_tool_call:\n    - command: /bin/guard\n", False),
        ("hooks: [\n", False),
        ("model: x\n", True),
    ):
        config.write_text(text)
        assert (acp_command(place(tmp_path, str(hermes)), OLD) == (str(beside),)) is is_quick
    (config.parent / "plugins" / "mine").mkdir(parents=True)
    assert acp_command(place(tmp_path, str(hermes)), OLD)[-1] == "acp"
    (config.parent / "plugins" / "mine").rmdir()
    link = tmp_path / "hermes"
    link.symlink_to(hermes)
    assert acp_command(place(tmp_path, str(link)), OLD) == (str(beside),)
    beside.chmod(0o644)
    assert acp_command(place(tmp_path, str(hermes)), OLD)[-1] == "acp"


def test_a_command_of_several_words_and_a_profile(tmp_path: Path) -> None:
    hermes = program(tmp_path / "venv" / "hermes")
    program(tmp_path / "venv" / "hermes-acp")
    words = ("/usr/bin/nice", str(hermes))
    assert acp_command(place(tmp_path, *words), OLD) == (*words, "-p", "default", "acp")
    assert acp_command(place(tmp_path, *words, is_root=False), OLD) == (*words, "acp")


@pytest.mark.parametrize(
    ("config", "seconds"),
    [
        ("", 300),
        ("approvals: {timeout: 20}", 20),
        ("approvals: {timeout: .inf}", 300),
        ("approvals: {timeout: -1}", 300),
        ("approvals: {timeout: true}", 300),
        ("approvals: [1]", 300),
        ("approvals: {timeout: ", 300),
    ],
)
def test_how_long_hermes_waits(tmp_path: Path, config: str, seconds: float) -> None:
    (tmp_path / "config.yaml").write_text(config)
    assert approval_seconds(tmp_path, NEW) == seconds
    assert approval_seconds(tmp_path, OLD) == 60
