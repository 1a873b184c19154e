"""A store that is newer, corrupt, or something else: one sentence, nothing of it touched."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from tests.cli.conftest import Qterm
from tests.cli.stage import Stage


def store(tmp_path: Path) -> Path:
    (tmp_path / "data").mkdir(exist_ok=True)
    return tmp_path / "data" / "feed.db"


def test_a_newer_store_is_refused_and_not_touched(qterm: Qterm, tmp_path: Path) -> None:
    qterm("post", "--as", "mallory", "hello")
    path = store(tmp_path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 999")
    before = path.read_bytes()
    result = qterm("feed")
    assert result.code == 1
    assert "999" in result.err
    assert result.err.count("\n") == 1
    assert path.read_bytes() == before


def test_a_corrupt_store_moves_aside_and_a_new_one_begins(qterm: Qterm, tmp_path: Path) -> None:
    path = store(tmp_path)
    path.write_bytes(b"not a database, whatever its name says" * 200)
    result = qterm("post", "--as", "mallory", "hello")
    assert result.code == 0
    assert result.err.count("\n") == 1
    (aside,) = path.parent.glob("feed*damaged*")
    assert str(aside) in result.err
    assert aside.read_bytes().startswith(b"not a database")
    assert "hello" in qterm("feed").out
    assert qterm("feed").err == ""


def test_a_folder_in_the_stores_place(qterm: Qterm, tmp_path: Path) -> None:
    store(tmp_path).mkdir()
    result = qterm("feed")
    assert (result.code, result.err.count("\n")) == (1, 1)


@pytest.mark.parametrize(
    "config",
    [
        b"\xff\xfe",
        b"operator = ",
        b"operator = 5\n",
        b"unknown = 1\n",
        b'[hermes]\nhome = "/x\\u0000y"\n',
        b'[[personas]]\nkey = "eve"\nlabel = "You"\n',
        b'[[personas]]\nkey = "eve"\nlabel = "Eve: x"\n',
        b"[caps]\nturns = -1\n",
        b"[caps]\nturns = 1000\n",
    ],
)
def test_a_wrong_config(qterm: Qterm, tmp_path: Path, config: bytes) -> None:
    """One sentence that names the file, and qterm goes on."""
    (tmp_path / "config.toml").write_bytes(config)
    result = qterm("post", "--as", "mallory", "hello")
    assert result.code == 0, result.err
    assert result.err.count("\n") == 1
    assert "config.toml" in result.err
    assert "hello" in qterm("feed").out


def test_no_room_for_the_file_beside_the_feeds(stage: Stage) -> None:
    """A limit on the size of files stands for the full disk: SQLite ends with the same code."""
    assert stage.run("post", "--as", "mallory", "hello").returncode == 0
    line = f"ulimit -f 8; exec {sys.executable} -m qterm feed"
    done = subprocess.run(
        ["sh", "-c", line], check=False, env=stage.environ, capture_output=True, text=True
    )
    assert done.returncode == 1
    assert done.stderr.startswith("qterm: The disk is full, so nothing was stored: free some")
    assert stage.states() == [("hello", "sent")]
