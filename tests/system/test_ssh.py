"""The real hermes of both lines through a real ssh and a real sshd on loopback."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shlex
import socket
import subprocess
import time
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from qterm.doctor import examine
from qterm.events import Began, Finished, ReplyText
from qterm.frame import ChatFrame
from qterm.model import Task, TurnState
from qterm.rehearsal.model_server import Answer, ModelServer, content_text, user_text
from qterm.services import FirstStart, Services, open_services
from qterm.settings.load import load
from tests.e2e.conftest import PROGRAMS, make_home

pytestmark = pytest.mark.system

BOUND = 60.0
ODD = (
    "-z \"quotes\" 'single' $(touch x) `y` \\n \\ %s {0} !! ~\n\n"
    "日本語 🎉👩\u200d👩\u200d👧 e\u0301 \u200f\u202e --query=x"
)


async def until(so: Callable[[], bool]) -> None:
    end = time.monotonic() + BOUND
    while not so():
        assert time.monotonic() < end
        await asyncio.sleep(0.05)


class OtherMachine:
    """An sshd of its own on 127.0.0.1, with one key made for it; its user's home is `home`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home = folder / "far"
        self.temp = folder / "far-tmp"
        for path in (self.home, self.temp):
            path.mkdir()
        for name in ("host_key", "user_key"):
            self._keygen(folder / name)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = int(free.getsockname()[1])
        self.known = folder / "known_hosts"
        host_key = (folder / "host_key.pub").read_text()
        self.known.write_text(f"[127.0.0.1]:{self.port} {host_key}")
        config = folder / "sshd_config"
        config.write_text(
            f"ListenAddress 127.0.0.1\nPort {self.port}\nHostKey {folder / 'host_key'}\n"
            f"AuthorizedKeysFile {folder / 'user_key.pub'}\nPidFile none\n"
            "UsePAM no\nStrictModes no\nPermitRootLogin prohibit-password\n"
            "PasswordAuthentication no\nKbdInteractiveAuthentication no\n"
            f"SetEnv HOME={self.home} TMPDIR={self.temp} HERMES_YOLO_MODE=1\n"
        )
        sshd = Path("/usr/sbin/sshd")
        assert sshd.exists(), "sshd is missing: install openssh-server (.ci/run does)"
        Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)  # sshd demands it
        self.log = folder / "sshd.log"
        with self.log.open("wb") as log:
            self.process = subprocess.Popen([sshd, "-D", "-e", "-f", config], stderr=log)

    @staticmethod
    def _keygen(file: Path) -> None:
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", file], check=True)

    def is_up(self) -> bool:
        assert self.process.poll() is None, self.log.read_text()
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def close(self) -> None:
        below = psutil.Process(self.process.pid).children(recursive=True)
        self.process.terminate()
        self.process.wait(10)
        for process in below:
            if process.is_running():
                process.kill()

    def command(self, *hermes: str, port: int = 0) -> list[str]:
        """A hermes.command; no file of the machine's owner counts."""
        return [
            "ssh", "-F", "/dev/null", "-i", str(self.folder / "user_key"),
            "-o", f"UserKnownHostsFile={self.known}", "-p", str(port or self.port),
            "127.0.0.1", *hermes,
        ]  # fmt: skip

    def running(self) -> list[psutil.Process]:
        """What runs with its user's home: what a lost connection leaves is no child of sshd."""
        found = []
        for process in psutil.process_iter():
            with contextlib.suppress(psutil.Error):
                is_its_own = process.environ().get("HOME") == str(self.home)
                if is_its_own and process.status() != psutil.STATUS_ZOMBIE:
                    found.append(process)
        return found


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OtherMachine]:
    made = OtherMachine(tmp_path_factory.mktemp("ssh"))
    try:
        end = time.monotonic() + BOUND
        while not made.is_up():
            assert time.monotonic() < end
            time.sleep(0.05)
        yield made
    finally:
        made.close()


class Line:
    """One line of hermes on the other machine, with a model."""

    def __init__(self, name: str, machine: OtherMachine, server: ModelServer) -> None:
        self.name, self.machine, self.server = name, machine, server
        self.program = PROGRAMS[name]
        assert self.program.exists(), f"{self.program} is missing: run `make env`"
        self.home = machine.home / f"hermes {name}"  # a blank in it, on purpose
        make_home(self.home, server.base_url)

    def received(self) -> list[list[tuple[str, str]]]:
        """What the model got in each turn: role and text of every message but the system's."""

        def spoken(request: dict[str, Any]) -> list[tuple[str, str]]:
            messages = request["messages"]
            return [
                (m["role"], content_text(m["content"])) for m in messages if m["role"] != "system"
            ]

        return [spoken(request) for request in self.server.turns]


@pytest.fixture(scope="module", params=list(PROGRAMS))
def shared_line(request: pytest.FixtureRequest, machine: OtherMachine) -> Iterator[Line]:
    with ModelServer() as server:
        yield Line(request.param, machine, server)


@pytest.fixture
def line(shared_line: Line) -> Line:
    shared_line.server.requests.clear()
    shared_line.server.script = lambda _request: Answer()
    return shared_line


async def opened(folder: Path, command: list[str], home: str = "") -> Services:
    """qterm here, with an empty home of its own: nothing of hermes is on this side."""
    import tomli_w

    (folder / "here").mkdir(exist_ok=True)
    config = folder / "config.toml"
    config.write_text(tomli_w.dumps({"hermes": {"command": command, "home": home}}))
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder / "here"),
        "LANG": "C.UTF-8",
        "QTERM_DATA_DIR": str(folder / "data"),
        "QTERM_CONFIG": str(config),
        "XDG_CACHE_HOME": str(folder / "cache"),
    }
    return await open_services(load(environ=environ), environ=environ)


@pytest.fixture
async def services(line: Line, tmp_path: Path) -> AsyncIterator[Services]:
    command = line.machine.command(str(line.program))
    found = await opened(tmp_path, command, f"~/{line.home.name}")
    yield found
    await found.close()
    assert not (tmp_path / "here" / ".hermes").exists()


async def send(services: Services, text: str, task: Task | None = None) -> Finished:
    frame = ChatFrame(text=text, task_id=task.id if task else None)
    end = [event async for event in services.conversation.send(frame)][-1]
    assert isinstance(end, Finished)
    return end


async def test_turns(line: Line, services: Services) -> None:
    """A home turn, two of a task, odd and large texts: by what the model received."""
    assert services.first_start().kind is FirstStart.READY
    block = (await services.conversation.context()).text
    first = await send(services, ODD)
    assert (first.turn.state, first.turn.reason) == (TurnState.SENT, "")
    assert first.reply is not None
    assert first.reply.text == "Hi."
    assert line.received() == [[("user", f"{block}\n\n{ODD}" if block else ODD)]]

    work = line.machine.home / "it's a $(folder)"
    work.mkdir(exist_ok=True)
    task = await services.feed.add_task("Ship it", f"~/{work.name}")
    for text in (ODD, "x" * 100_000):
        end = await send(services, text, task)
        assert (end.turn.state, end.turn.reason) == (TurnState.SENT, "")
    _, one, two = line.received()
    assert one == [("user", ODD)]
    assert two == [("user", ODD), ("assistant", "Hi."), ("user", "x" * 100_000)]
    bound = await services.feed.task(task.id)
    assert bound is not None
    assert bound.session is not None
    assert bound.session.name == f"q-task-{task.id}"
    assert bound.session.hermes == f"127.0.0.1:{line.machine.port}:~/{line.home.name}"
    # Nothing is left there but what hermes keeps in its home.
    await until(lambda: not line.machine.running())
    await until(lambda: not list(line.machine.temp.glob("qterm-*")))
    assert list(work.iterdir()) == []


async def test_stopping_in_mid_turn(line: Line, services: Services) -> None:
    """The other side is told, and what it said of its end is what the operator is told."""
    line.server.script = lambda _request: Answer(("One. ",) * 600, delay=0.2)
    began = asyncio.Event()

    async def talk() -> Finished:
        end: object = None
        async for event in services.conversation.send(ChatFrame(text="Count.")):
            if isinstance(event, Began | ReplyText):
                began.set()
            end = event
        assert isinstance(end, Finished)
        return end

    talking = asyncio.create_task(talk())
    await began.wait()
    await until(lambda: bool(line.server.turns))
    assert await services.conversation.stop()
    end = await talking
    assert end.turn.state is TurnState.STOPPED
    # The script's other half is still tidying up; hermes and its tools are not there any more.
    left = [process.name() for process in line.machine.running()]
    if end.turn.reason:  # it did not end in time, so it could not be said that it has
        assert "on 127.0.0.1 may still run there" in end.turn.reason
    else:
        assert set(left) <= {"sh", "sleep", "rmdir"}
    await until(lambda: not line.machine.running())


async def test_a_connection_that_is_cut(line: Line, services: Services) -> None:
    """One sentence here; and hermes ends there, though nobody is left to tell it."""
    line.server.script = lambda _request: Answer(("One. ",) * 600, delay=0.2)
    talking = asyncio.create_task(send(services, "Count."))
    await until(lambda: bool(line.server.turns))
    for process in psutil.Process().children():
        if process.name() == "ssh":
            process.kill()
    end = await talking
    assert end.turn.state is TurnState.FAILED
    assert "The call to hermes on 127.0.0.1 broke off" in end.turn.reason
    await until(lambda: not line.machine.running())


async def test_the_fallback_when_the_session_is_gone(line: Line, services: Services) -> None:
    """S5 over ssh: provably gone is found out over there, too."""
    task = await services.feed.add_task("Lose it", "~")
    await send(services, "one", task)
    bound = await services.feed.task(task.id)
    assert bound is not None
    assert bound.session is not None
    done = subprocess.run(
        [line.program, "-p", "default", "sessions", "delete", "--yes", bound.session.id],
        env={"PATH": os.environ["PATH"], "HERMES_HOME": str(line.home), "HOME": "/nonexistent"},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done
    end = await send(services, "two", task)
    assert end.turn.state is TurnState.SENT
    assert end.turn.degraded is not None
    assert "You: one" in user_text(line.server.turns[-1])


async def test_a_host_that_is_not_there(machine: OtherMachine, tmp_path: Path) -> None:
    with socket.socket() as taken:  # bound, and nobody listens
        taken.bind(("127.0.0.1", 0))
        services = await opened(tmp_path, machine.command(port=taken.getsockname()[1]))
        end = await send(services, "hello")
        await services.close()
    assert end.turn.state is TurnState.FAILED
    assert "ssh could not reach 127.0.0.1 (" in end.turn.reason
    assert "Connection refused" in end.turn.reason


async def test_a_key_that_is_not_known(machine: OtherMachine, tmp_path: Path) -> None:
    """It never asks: neither for a password nor whether to trust a host."""
    command = machine.command()
    changes = {
        str(machine.folder / "user_key"): "/dev/null",
        f"UserKnownHostsFile={machine.known}": "UserKnownHostsFile=/dev/null",
    }
    for old, new in changes.items():
        changed = [new if word == old else word for word in command]
        services = await opened(tmp_path, changed)
        end = await send(services, "hello")
        await services.close()
        assert "ssh could not reach 127.0.0.1 (" in end.turn.reason
        assert "Permission denied" in end.turn.reason or "verification" in end.turn.reason


async def test_no_hermes_there(machine: OtherMachine, tmp_path: Path) -> None:
    services = await opened(tmp_path, machine.command("no-such-hermes"))
    end = await send(services, "hello")
    await services.close()
    assert "There is no no-such-hermes on 127.0.0.1" in end.turn.reason


async def test_the_doctor(line: Line, services: Services) -> None:
    """What can't be looked at from here is one sentence each."""
    checks = {check.id: check for check in await examine(services.loaded, environ=services.environ)}
    assert checks["hermes.version"].details["version"]
    for name in ("hermes.home", "model", "model.reachable"):
        assert "can't be looked at from here" in checks[name].sentence
    assert str(line.home) not in shlex.join(str(c.details) for c in checks.values())
    await until(lambda: not list(line.machine.temp.glob("qterm-*")))  # a probe's throw-away home
