"""A disk that is full, and a data folder that can't be written: rule N1 on real file systems."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hermes.fakes import FakeHermes

pytestmark = pytest.mark.system

NOBODY = 65534


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 2 MB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=2m,mode=0777", "tmpfs", str(folder)]
    subprocess.run(mount, check=True)
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    hermes = FakeHermes(tmp_path / "fake")
    config = tmp_path / "config.toml"
    config.write_text(
        f'[hermes]\ncommand = ["{hermes.program}"]\nhome = "{hermes.home}"\ntransport = "spawn"\n'
    )
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "LANG": "C.UTF-8",
        "QTERM_CONFIG": str(config),
    }


# Root without the right to pass over modes: an ordinary user for files that belong to another one.
ORDINARY = ["setpriv", "--bounding-set", "-dac_override,-dac_read_search,-fowner,-chown"]


def qterm(
    environ: dict[str, str], data: Path, *arguments: str, ordinary: bool = False
) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "qterm", "--data-dir", str(data), *arguments]
    return subprocess.run(
        [*(ORDINARY if ordinary else []), *command],
        env=environ,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def fill(disk: Path) -> Path:
    """Write until nothing fits any more; returns the file that takes the room."""
    filler = disk / "filler"
    with filler.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(b"x" * 512)
    return filler


def one_sentence(result: subprocess.CompletedProcess[str]) -> str:
    assert result.returncode == 1, result
    assert result.stdout == ""
    lines = result.stderr.splitlines()
    # Settings that can't be read are a fault of their own, with a sentence of their own.
    assert [line for line in lines if "settings.toml" not in line] == lines[-1:], result.stderr
    assert lines[-1].startswith("qterm: ")
    return lines[-1]


def test_a_full_disk(small_disk: Path, environ: dict[str, str]) -> None:
    """The message is refused with a sentence, hermes is not started, the feed stays whole."""
    data = small_disk / "data"
    assert qterm(environ, data, "send", "before").returncode == 0
    filler = fill(small_disk)
    assert "full" in one_sentence(qterm(environ, data, "send", "x" * 100_000))
    filler.unlink()
    feed = qterm(environ, data, "feed").stdout
    assert "before" in feed
    assert "xxx" not in feed
    assert qterm(environ, data, "send", "after").returncode == 0


def test_a_full_disk_from_the_start(small_disk: Path, environ: dict[str, str]) -> None:
    fill(small_disk)
    assert "full" in one_sentence(qterm(environ, small_disk / "data", "send", "hello"))


@pytest.mark.parametrize("mode", [0o555, 0o000])
def test_a_data_folder_of_somebody_else(tmp_path: Path, environ: dict[str, str], mode: int) -> None:
    data = tmp_path / "theirs"
    data.mkdir(mode=mode)
    os.chown(data, NOBODY, NOBODY)
    assert str(data) in one_sentence(qterm(environ, data, "send", "hello", ordinary=True))


def test_a_store_that_may_only_be_read(tmp_path: Path, environ: dict[str, str]) -> None:
    data = tmp_path / "theirs"
    assert qterm(environ, data, "post", "--as", "mallory", "hello").returncode == 0
    for path in [data, *data.rglob("*")]:
        path.chmod(0o555 if path.is_dir() else 0o444)
        os.chown(path, NOBODY, NOBODY)
    assert str(data) in one_sentence(qterm(environ, data, "send", "hello", ordinary=True))
