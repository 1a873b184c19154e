"""hermes's config on the disk: links, mode, a backup; what can't be written stays byte for byte."""

from __future__ import annotations

import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from qterm.maintenance.hook import HookError, hook_state, install, remove, write

OPTIONS = ("--data-dir", "/tmp/q term")
TEXT = b"# mine\r\nmodel: x\r\n"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    found = tmp_path / "hermes"
    found.mkdir()
    return found


def test_a_link_and_its_targets_mode_stay_and_the_old_bytes_are_kept(
    home: Path, tmp_path: Path
) -> None:
    real = tmp_path / "dotfiles.yaml"
    real.write_bytes(TEXT)
    real.chmod(0o640)
    (home / "config.yaml").symlink_to(real)
    kept = write(install(home, OPTIONS), tmp_path / "data")
    assert (home / "config.yaml").is_symlink()
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    assert real.read_bytes().startswith(TEXT)
    assert b"\n" not in real.read_bytes().replace(b"\r\n", b"")
    assert kept is not None
    assert kept.read_bytes() == TEXT
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert "/tmp/q term" in hook_state(home).command
    assert not install(home, OPTIONS).changes
    write(remove(home), tmp_path / "data")
    assert real.read_bytes() == TEXT
    assert not remove(home).changes


def test_a_byte_order_mark_stays_in_front(home: Path, tmp_path: Path) -> None:
    config = home / "config.yaml"
    config.write_bytes(b"\xef\xbb\xbf" + TEXT)
    write(install(home, OPTIONS), tmp_path / "data")
    assert config.read_bytes().startswith(b"\xef\xbb\xbf" + TEXT)
    write(remove(home), tmp_path / "data")
    assert config.read_bytes() == b"\xef\xbb\xbf" + TEXT


def test_a_config_that_is_not_there_is_made_for_the_operator_alone(
    home: Path, tmp_path: Path
) -> None:
    assert write(install(home, OPTIONS), tmp_path / "data") is None
    assert stat.S_IMODE((home / "config.yaml").stat().st_mode) == 0o600
    write(remove(home), tmp_path / "data")
    assert (home / "config.yaml").read_bytes() == b""


def _folder(config: Path) -> None:
    config.unlink()
    config.mkdir()


def _loop(config: Path) -> None:
    config.unlink()
    config.symlink_to(config)


@pytest.mark.parametrize(
    "make",
    [
        _folder,
        _loop,
        lambda config: config.write_bytes(b"model: \xff\n"),
        lambda config: config.write_bytes(b"- a list\n"),
        lambda config: config.write_bytes(b"model: [\n"),
        lambda config: config.write_bytes(b"model: \x00\n"),
        lambda config: config.write_bytes(b"hooks: {post_llm_call: [{command: /x}]}\n"),
    ],
    ids=["folder", "loop", "not UTF-8", "a list", "broken", "binary", "braces"],
)
def test_an_odd_config_is_left_alone(home: Path, make: Callable[[Path], object]) -> None:
    config = home / "config.yaml"
    config.write_bytes(TEXT)
    make(config)
    before = config.read_bytes() if config.is_file() else None
    with pytest.raises(HookError) as refused:
        install(home, OPTIONS)
    said = str(refused.value)
    assert str(config) in said
    assert said.endswith(".")
    assert "\n" not in said
    assert (config.read_bytes() if config.is_file() else None) == before


def test_a_read_only_config_is_left_alone(home: Path, tmp_path: Path) -> None:
    config = home / "config.yaml"
    config.write_bytes(TEXT)
    config.chmod(0o444)
    with pytest.raises(HookError, match="read-only: make it writable"):
        write(install(home, OPTIONS), tmp_path / "data")
    assert config.read_bytes() == TEXT


def test_what_somebody_wrote_since_the_diff_is_not_written_over(home: Path, tmp_path: Path) -> None:
    config = home / "config.yaml"
    config.write_bytes(TEXT)
    edit = install(home, OPTIONS)
    config.write_bytes(TEXT + b"theirs: 1\r\n")
    with pytest.raises(HookError, match="has changed just now"):
        write(edit, tmp_path / "data")
    assert config.read_bytes() == TEXT + b"theirs: 1\r\n"
    assert list(home.iterdir()) == [config]
