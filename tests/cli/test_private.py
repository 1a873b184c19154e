"""P1: whatever the umask, only the operator can read what qterm writes."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator

import pytest

from tests.cli.stage import Stage


@pytest.fixture(params=[0o000, 0o022, 0o777], ids=oct)
def umask(request: pytest.FixtureRequest) -> Iterator[None]:
    before = os.umask(request.param)
    yield
    os.umask(before)


def test_modes(stage: Stage, umask: None) -> None:
    assert stage.run("--debug", "send", "secret words").returncode == 0
    assert stage.run("facts", "add", "secret fact").returncode == 0
    assert stage.run("export", "-o", str(stage.folder / "data" / "export.md")).returncode == 0
    modes = {
        path: stat.S_IMODE(path.lstat().st_mode)
        for path in [stage.folder / "data", *(stage.folder / "data").rglob("*")]
        if "probe-home" not in str(path)  # hermes's own files, in a folder closed to others
    }
    assert len(modes) > 5
    wrong = {
        str(path): oct(mode)
        for path, mode in modes.items()
        if mode != (0o700 if path.is_dir() else 0o600)
    }
    assert wrong == {}


def test_the_log_holds_nobodys_words(stage: Stage) -> None:
    stage.hermes.turns = [[["err", "words of hermes\n"], ["exit", 1]]]
    stage.hermes.write()
    assert stage.run("--debug", "send", "secret words").returncode == 3
    log = stage.folder / "data" / "qterm.log"
    text = log.read_text() if log.exists() else ""
    assert "secret" not in text
    assert "words of hermes" not in text


def test_deleted_words_are_gone_from_every_file(stage: Stage) -> None:
    stage.run("post", "--as", "mallory", "an unmistakableword in here")
    stage.run("post", "--as", "mallory", "something else")
    assert stage.run("delete", "1", "--yes").returncode == 0
    data = stage.folder / "data"
    holding = [
        path for path in data.rglob("*") if path.is_file() and b"unmistakable" in path.read_bytes()
    ]
    assert holding == []
