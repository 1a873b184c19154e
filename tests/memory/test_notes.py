"""Working notes: the newest entries of WORKING.md in the home feed's block (rules C2, M5)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from qterm.conversation import Conversation
from qterm.feed.owner import current_owner
from qterm.feed.store import open_store
from qterm.frame import ChatFrame
from qterm.memory.notes import working_notes
from qterm.settings.load import Loaded, load
from qterm.settings.schema import Settings
from tests.ways import ScriptedWay


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return {
        "HOME": str(tmp_path),
        "HERMES_HOME": str(tmp_path / "hermes"),
        "QTERM_DATA_DIR": str(tmp_path / "data"),
        "QTERM_CONFIG": str(tmp_path / "config.toml"),
    }


@pytest.fixture
def loaded(environ: dict[str, str]) -> Loaded:
    return load(environ=environ)


@pytest.fixture
def working(tmp_path: Path) -> Path:
    path = tmp_path / "hermes" / "memories" / "WORKING.md"
    path.parent.mkdir(parents=True)
    return path


DAYS = "\n§\n".join(f"[P3] 2026-11-{day:02} · note {day}" for day in range(1, 15))


def test_the_newest_come_first(loaded: Loaded, environ: dict[str, str], working: Path) -> None:
    working.write_text(DAYS)
    notes = working_notes(loaded, environ)
    assert notes[0] == "2026-11-14 · note 14"
    assert len(notes) == 14


@pytest.mark.parametrize("spoil", ["missing", "folder", "not-utf8", "far"])
def test_without_notes_a_message_goes_all_the_same(
    loaded: Loaded, environ: dict[str, str], working: Path, spoil: str, tmp_path: Path
) -> None:
    if spoil == "folder":
        working.mkdir()
    elif spoil == "not-utf8":
        working.write_bytes(b"caf\xe9")
    elif spoil == "far":
        working.write_text(DAYS)
        (tmp_path / "config.toml").write_text('[hermes]\ncommand = ["ssh", "tower", "hermes"]\n')
        loaded = load(environ=environ)
    assert working_notes(loaded, environ) == []


def test_a_pipe_in_its_place_holds_nothing_up(
    loaded: Loaded, environ: dict[str, str], working: Path
) -> None:
    os.mkfifo(working)
    assert working_notes(loaded, environ) == []


async def test_they_go_to_q_at_home_and_never_in_a_task(
    loaded: Loaded, environ: dict[str, str], working: Path, tmp_path: Path
) -> None:
    working.write_text(DAYS)
    store = await open_store(tmp_path / "feed.db", locks_dir=tmp_path / "locks")
    way = ScriptedWay()
    conversation = Conversation(
        store,
        way,
        Settings(),
        current_owner(),
        tmp_path / "home",
        notes=lambda: working_notes(loaded, environ),
    )
    task = await store.add_task("Ship the importer", str(tmp_path))
    try:
        async for _ in conversation.send(ChatFrame(text="hello")):
            pass
        async for _ in conversation.send(ChatFrame(text="hello", task_id=task.id)):
            pass
        at_home, in_task = [request.prompt for request in way.requests]
        assert "Working notes:\n- 2026-11-14 · note 14\n" in at_home
        assert "2026-11-05 · note 5\n(4 more notes left out)" in at_home
        assert in_task == "hello"
    finally:
        await conversation.close()
        await store.close()
