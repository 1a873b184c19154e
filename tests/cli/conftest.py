"""The command line, run in this process on a data folder of its own."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from qterm.cli.app import run
from qterm.cli.run import Invocation
from tests.cli.memory_stage import TAGGED
from tests.cli.stage import Stage
from tests.hermes.fakes import FakeHermes


@dataclass
class Result:
    """What a command line printed, and its exit code."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Standard output as one JSON document."""
        return json.loads(self.out)

    @property
    def json_lines(self) -> list[Any]:
        """Standard output as one JSON document a line."""
        return [json.loads(line) for line in self.out.splitlines()]


Qterm = Callable[..., Result]


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """An environment in which nothing of the operator's is found: no hermes, no config."""
    return {
        "HOME": str(tmp_path / "user"),
        "PATH": "/nowhere",
        "QTERM_CONFIG": str(tmp_path / "config.toml"),
        "QTERM_DATA_DIR": str(tmp_path / "data"),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
    }


@pytest.fixture
def qterm(
    tmp_path: Path, environ: dict[str, str], capfdbinary: pytest.CaptureFixture[bytes]
) -> Qterm:
    """Run one command line."""
    (tmp_path / "config.toml").touch()

    def call(*arguments: str) -> Result:
        code = run(list(arguments), Invocation(environ=environ))
        captured = capfdbinary.readouterr()
        return Result(code, captured.out.decode(), captured.err.decode())

    return call


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    hermes = FakeHermes(tmp_path / "fake")
    (tmp_path / "config.toml").write_text(
        f'[hermes]\ncommand = ["{hermes.program}"]\nhome = "{hermes.home}"\ntransport = "spawn"\n'
    )
    made = Stage(tmp_path, hermes)
    yield made
    for process in made.started:
        if process.poll() is None:
            process.kill()
            process.wait()
    for child in made.children():
        child.kill()


@pytest.fixture
def home(tmp_path: Path, environ: dict[str, str]) -> Path:
    """A hermes home, chosen by HERMES_HOME."""
    home = tmp_path / "hermes"
    (home / "memories").mkdir(parents=True)
    environ["HERMES_HOME"] = str(home)
    return home


@pytest.fixture
def memory(home: Path) -> Path:
    path = home / "memories" / "MEMORY.md"
    path.write_bytes(TAGGED)
    return path
