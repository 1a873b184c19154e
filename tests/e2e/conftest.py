"""The real hermes, on both lines, against a scripted model on loopback."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from qterm.hermes.place import HermesPlace
from qterm.hermes.spawn import SpawnWay
from qterm.hermes.way import Approvals
from qterm.rehearsal.model_server import Answer, ModelServer, Script
from tests.hermes.fakes import pids_below

ROOT = Path(__file__).parents[2]
PROGRAMS = {
    "0.19": Path(sys.executable).parent / "hermes",
    "newer": ROOT / ".venv-newer" / "bin" / "hermes",
}
# What a hermes home needs to talk with the scripted model. hermes's look at the machine's own
# Python costs a second a call, and its guess at the model's size a request: both are off.
CONFIG = """\
model:
  default: mock-1
  provider: custom
  base_url: {base_url}
  api_key: none
  context_length: 2000000
agent:
  environment_probe: false
"""


@dataclass
class HermesLine:
    """One installed hermes with a home of its own and a model; shared by a session's tests."""

    name: str
    program: Path
    home: Path
    cache: Path
    server: ModelServer

    @property
    def newer(self) -> bool:
        return self.name == "newer"

    @property
    def place(self) -> HermesPlace:
        return HermesPlace((str(self.program),), self.home, True, "test", "test")

    def environ(self) -> dict[str, str]:
        """An environment in which no key of the machine's owner counts."""
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home.parent),
            "HERMES_HOME": str(self.home),
            "LANG": "C.UTF-8",
        }

    def answers(self, script: Script | Answer) -> None:
        """What the model does from now on; what it has received is forgotten."""
        self.server.requests.clear()
        self.server.script = script if callable(script) else lambda _request: script


def make_home(folder: Path, base_url: str) -> Path:
    """A hermes home whose model is the one at this address."""
    folder.mkdir(parents=True)
    (folder / "config.yaml").write_text(CONFIG.format(base_url=base_url))
    return folder


@pytest.fixture(scope="session", params=list(PROGRAMS))
def shared_line(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[HermesLine]:
    name = request.param
    assert PROGRAMS[name].exists(), f"{PROGRAMS[name]} is missing: run `make env`"
    folder = tmp_path_factory.mktemp(f"hermes-{name}")
    with ModelServer() as server:
        home = make_home(folder / "home", server.base_url)
        yield HermesLine(name, PROGRAMS[name], home, folder / "cache", server)


@pytest.fixture
def hermes_line(shared_line: HermesLine) -> HermesLine:
    """The line under test; its model says "Hi." until told otherwise."""
    shared_line.answers(Answer())
    return shared_line


MakeWay = Callable[..., SpawnWay]


@pytest.fixture
async def make_way(hermes_line: HermesLine) -> AsyncIterator[MakeWay]:
    """Makes spawned ways to the line; closes them, and sees that nothing of them is left."""
    before = pids_below()
    async with AsyncExitStack() as stack:

        def make(
            approvals: Approvals = Approvals.DENY, place: HermesPlace | None = None
        ) -> SpawnWay:
            way = SpawnWay(
                lambda: place or hermes_line.place,
                approvals=approvals,
                cache_dir=hermes_line.cache,
                environ=hermes_line.environ(),
            )
            stack.push_async_callback(way.close)
            return way

        yield make
    assert pids_below() <= before
