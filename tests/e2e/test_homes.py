"""Which home of hermes: turn, naming and reading of a task's session all go to the same one."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from qterm.frame import ChatFrame
from qterm.hermes.way import SessionState
from qterm.model import TurnState
from qterm.services import open_services
from qterm.settings.load import load
from tests.e2e.conftest import HermesLine, make_home

# How the home is chosen: config, environment, the root's sticky profile; and where that leads.
WAYS = {
    "a root beside a sticky profile": ('home = "{root}"', {}, "work", ""),
    "hermes.profile": ('profile = "work"', {"HERMES_HOME": "{root}"}, "", "profiles/work"),
    "the sticky profile": ("", {"HERMES_HOME": "{root}"}, "work", "profiles/work"),
    "HERMES_HOME": ("", {"HERMES_HOME": "{root}"}, "", ""),
}


@pytest.mark.parametrize("way", WAYS)
async def test_the_same_home_for_every_child(
    hermes_line: HermesLine, tmp_path: Path, way: str
) -> None:
    setting, variables, sticky, expected = WAYS[way]
    root = make_home(tmp_path / "root", hermes_line.server.base_url)
    (root / "profiles" / "work").mkdir(parents=True)
    shutil.copy(root / "config.yaml", root / "profiles" / "work" / "config.yaml")
    if sticky:
        (root / "active_profile").write_text(f"{sticky}\n")
    config = f'[hermes]\ncommand = ["{hermes_line.program}"]\n{setting.format(root=root)}\n'
    (tmp_path / "config.toml").write_text(config)
    environ = {
        **{k: v for k, v in hermes_line.environ().items() if k != "HERMES_HOME"},
        **{name: value.format(root=root) for name, value in variables.items()},
        "QTERM_DATA_DIR": str(tmp_path / "data"),
        "QTERM_CONFIG": str(tmp_path / "config.toml"),
    }
    services = await open_services(load(environ=environ), environ=environ)
    try:
        task = await services.feed.add_task("x", str(tmp_path))
        async for _ in services.conversation.send(ChatFrame(text="hello", task_id=task.id)):
            pass
        assert [turn.state for turn in await services.feed.page(task.id)] == [TurnState.SENT] * 2
        found = await services.feed.task(task.id)
        assert found is not None
        assert found.session is not None
        home = root / expected
        assert found.session.hermes.endswith(f":{home.resolve()}")
        record = await services.way.read_session(found.session.id)
        assert (record.state, record.title) == (SessionState.THERE, f"q-task-{task.id}")
        databases = {path.parent for path in root.rglob("state.db")}
        assert databases == {home}, "nothing of it is in another home"
    finally:
        await services.close()
