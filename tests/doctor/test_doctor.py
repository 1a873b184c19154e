"""The doctor: each fault is found, in one sentence, with a mend; and looking changes nothing."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from qterm.doctor import Check, examine
from qterm.doctor.store_checks import size
from qterm.feed.store import open_store
from qterm.rehearsal.model_server import ModelServer
from qterm.settings.keys import all_names
from qterm.settings.load import load

BIN = Path(sys.executable).parent
OLDER = BIN / "hermes"
NEWER = Path(__file__).parents[2] / ".venv-newer" / "bin" / "hermes"

FAKE = """#!/bin/sh
case "$*" in
  *--version*) echo "Hermes Agent v0.30.0" ;;
  acp*) exit {acp} ;;
  *) echo "  --query TEXT  --quiet  --oneshot --usage-file  {more}" ;;
esac
"""


class Patient:
    """A machine to look at: a home, a hermes home with a model, a data folder, a hermes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home = folder / "home"
        self.home.mkdir()
        self.hermes_home = self.home / ".hermes"
        self.hermes_home.mkdir()
        self.data = folder / "data"
        self.config = folder / "config.toml"
        self.config.write_text("")
        self.hermes = folder / "hermes"
        self.fake(FAKE.format(more="--query-file --format stream-json", acp=0))

    def fake(self, script: str) -> None:
        self.hermes.write_text(script)
        self.hermes.chmod(0o755)

    def model(self, base_url: str = "http://127.0.0.1:9/v1") -> None:
        (self.hermes_home / "config.yaml").write_text(
            f"model:\n  default: mock-1\n  provider: custom\n  base_url: {base_url}\n"
            "  api_key: none\n"
        )

    @property
    def environ(self) -> dict[str, str]:
        return {"HOME": str(self.home), "PATH": "/usr/bin:/bin"}

    async def look(self, **variables: str) -> dict[str, Check]:
        environ = {**self.environ, "QTERM_HERMES_COMMAND": str(self.hermes), **variables}
        environ = {name: value for name, value in environ.items() if value}
        loaded = load(config=self.config, data_dir=self.data, environ=environ)
        python = str(self.folder / "bin" / "python")
        checks = await examine(loaded, environ=environ, python=python)
        for check in checks:
            assert bool(check.mend) == (check.state in {"warn", "fail"}), check
            assert "\n" not in check.sentence
            assert check.sentence
        found = {check.id: check for check in checks}
        assert len(found) == len(checks)
        return found


@pytest.fixture
def patient(tmp_path: Path) -> Patient:
    return Patient(tmp_path)


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as server:
        yield server


def tree(folder: Path) -> Mapping[str, Any]:
    return {
        str(path): (path.lstat().st_mtime_ns, path.lstat().st_size) for path in folder.rglob("*")
    }


async def test_all_is_well(patient: Patient, server: ModelServer) -> None:
    patient.model(server.base_url)
    feed = await open_store(patient.data / "feed.db", locks_dir=patient.data / "locks")
    await feed.close()
    before = tree(patient.folder)
    found = await patient.look()
    assert tree(patient.folder) == before, "looking changed something"
    wanted = ["hermes", "hermes.version", "hermes.abilities", "approvals", "hermes.home", "model",
              "model.reachable", "data", "disk", "store"]  # fmt: skip
    assert {name: found[name].state.value for name in wanted} == dict.fromkeys(wanted, "ok")
    assert found["hermes"].details["command"] == [str(patient.hermes)]
    assert found["hermes"].details["found_by"] == "hermes.command"
    assert found["hermes.version"].details["version"] == "0.30.0"
    assert found["hermes.home"].details["path"] == str(patient.hermes_home)
    assert found["model"].details["model"] == "mock-1"
    assert found["store"].details["version"] == found["store"].details["known_version"]
    assert not [check for check in found.values() if check.state in {"warn", "fail"}]


async def test_before_the_first_start_nothing_is_made(patient: Patient) -> None:
    before = tree(patient.folder)
    found = await patient.look()
    assert tree(patient.folder) == before
    assert found["store"].state == found["data"].state == "info"
    assert found["model"].state == "fail"
    assert "hermes" in found["model"].mend
    assert "setup" in found["model"].mend
    assert found["model.reachable"].state == "info"


async def test_no_hermes(patient: Patient) -> None:
    found = await patient.look(QTERM_HERMES_COMMAND="")
    assert found["hermes"].state == "fail"
    assert "pip install" in found["hermes"].mend
    assert "store" in found
    missing = await patient.look(QTERM_HERMES_COMMAND="/nowhere/hermes")
    assert "/nowhere/hermes" in missing["hermes"].sentence


async def test_a_hermes_that_cannot_be_talked_with(patient: Patient) -> None:
    patient.fake("#!/bin/sh\necho rubbish\n")
    assert (await patient.look())["hermes.version"].state == "fail"
    patient.fake("#!/bin/sh\nkill -9 $$\n")
    assert "signal 9" in (await patient.look())["hermes.version"].sentence
    patient.hermes.chmod(0o644)
    assert (await patient.look())["hermes"].state == "fail"


async def test_texts_in_the_argument_list_are_told(patient: Patient) -> None:
    patient.fake(FAKE.format(more="", acp=0))
    check = (await patient.look())["hermes.abilities"]
    assert check.state == "warn"
    assert "argument list" in check.sentence
    assert "--query-file" in check.mend


@pytest.mark.parametrize(
    ("hermes", "version", "state"),
    [(OLDER, "0.19.0", "warn"), (NEWER, "0.22.2.post1", "ok")],
    ids=["0.19", "newer"],
)
async def test_the_real_ones(patient: Patient, hermes: Path, version: str, state: str) -> None:
    before = tree(patient.home)
    found = await patient.look(QTERM_HERMES_COMMAND=str(hermes))
    assert found["hermes.version"].details["version"] == version
    assert found["hermes.abilities"].state == state
    assert found["hermes.abilities"].details["query_file"] is (state == "ok")
    assert tree(patient.home) == before, "asking wrote into the home"


@pytest.mark.parametrize(
    ("value", "state", "in_force"),
    [("deny", "ok", "deny"), ("ask", "ok", "ask"), ("bypass", "warn", "bypass")],
)
async def test_what_hermes_may_do_unasked(
    patient: Patient, value: str, state: str, in_force: str
) -> None:
    check = (await patient.look(QTERM_HERMES_APPROVALS=value))["approvals"]
    assert check.state == state
    assert check.details == {"set": value, "in_force": in_force}


@pytest.mark.parametrize(
    ("choice", "acp", "state", "transport"),
    [
        ("auto", 0, "ok", "live"),
        ("auto", 1, "warn", "spawn"),
        ("live", 0, "ok", "live"),
        ("live", 1, "fail", "spawn"),
        ("spawn", 0, "info", "spawn"),
    ],
)
async def test_how_hermes_is_reached(
    patient: Patient, choice: str, acp: int, state: str, transport: str
) -> None:
    patient.fake(FAKE.format(more="", acp=acp))
    found = await patient.look(QTERM_HERMES_TRANSPORT=choice)
    check = found["hermes.transport"]
    assert (check.state, check.details["transport"]) == (state, transport)
    assert bool(check.mend) == (state in {"warn", "fail"})
    in_force = "ask" if transport == "live" else "deny"
    assert found["approvals"].details["in_force"] == in_force


async def test_a_hermes_on_another_machine(patient: Patient) -> None:
    """What can't be looked at from here is one sentence each, and bypass is not in force."""
    patient.fake("#!/bin/sh\necho 'No route to host' >&2\nexit 255\n")
    ssh = patient.folder / "ssh"
    patient.hermes.rename(ssh)
    found = await patient.look(QTERM_HERMES_COMMAND=f"{ssh} tower", QTERM_HERMES_APPROVALS="bypass")
    assert "ssh could not reach tower (No route to host)" in found["hermes.version"].sentence
    assert "ssh -t tower" in found["hermes.version"].mend
    assert found["approvals"].details == {"set": "bypass", "in_force": "deny"}
    for name in ("hermes.home", "model", "model.reachable"):
        assert found[name].state == "info"
        assert "can't be looked at from here" in found[name].sentence


async def test_a_model_that_is_down(patient: Patient) -> None:
    patient.model("http://127.0.0.1:9/v1")
    check = (await patient.look())["model.reachable"]
    assert check.state == "fail"
    assert "127.0.0.1:9" in check.sentence


async def test_a_home_that_is_a_file(patient: Patient) -> None:
    home = patient.folder / "file"
    home.write_text("")
    check = (await patient.look(QTERM_HERMES_HOME=str(home)))["hermes.home"]
    assert check.state == "fail"
    assert check.details["chosen_by"] == "hermes.home"


async def test_a_home_that_can_t_be_looked_at(patient: Patient) -> None:
    checks = await patient.look(QTERM_HERMES_HOME="/" + "x" * 300)
    assert checks["hermes.home"].state == "fail"
    assert "File name too long" in checks["hermes.home"].sentence


async def test_a_newer_store_is_told_with_its_version(patient: Patient) -> None:
    feed = await open_store(patient.data / "feed.db", locks_dir=patient.data / "locks")
    await feed.close()
    with sqlite3.connect(patient.data / "feed.db") as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    before = (patient.data / "feed.db").read_bytes()
    check = (await patient.look())["store"]
    assert check.state == "fail"
    assert "version 99" in check.sentence
    assert (patient.data / "feed.db").read_bytes() == before


@pytest.mark.parametrize("rubbish", [b"no database" * 100, b"SQLite format 3\0" + b"\xff" * 5000])
async def test_a_damaged_store(patient: Patient, rubbish: bytes) -> None:
    patient.data.mkdir()
    (patient.data / "feed.db").write_bytes(rubbish)
    check = (await patient.look())["store"]
    assert check.state == "fail"
    assert (patient.data / "feed.db").read_bytes() == rubbish


async def test_another_program_s_database(patient: Patient) -> None:
    patient.data.mkdir()
    with sqlite3.connect(patient.data / "feed.db") as connection:
        connection.execute("PRAGMA user_version = 3")
    connection.close()
    assert "another program's" in (await patient.look())["store"].sentence


async def test_a_folder_in_the_store_s_place(patient: Patient) -> None:
    (patient.data / "feed.db").mkdir(parents=True)
    assert "not a file" in (await patient.look())["store"].sentence


async def test_a_file_in_the_data_folder_s_place(patient: Patient) -> None:
    patient.data.write_text("")
    found = await patient.look()
    assert found["data"].state == "fail"
    assert "--data-dir" in found["data"].mend


async def test_each_value_with_where_it_is_from(patient: Patient) -> None:
    patient.config.write_text('operator = "Kim"\n[caps]\nturns = 99\n')
    found = await patient.look(QTERM_TIMEOUTS_HOME="5")
    assert {f"setting.{name}" for name in all_names()} <= set(found)
    assert found["setting.operator"].details == {"value": "Kim", "source": str(patient.config)}
    assert found["setting.timeouts.home"].details["source"] == "QTERM_TIMEOUTS_HOME"
    assert found["setting.caps.turns"].details == {"value": 16, "source": "default"}
    fault = found["config.problem.1"]
    assert fault.state == "warn"
    assert "caps.turns" in fault.sentence


async def test_every_path_and_what_others_can_read(patient: Patient) -> None:
    patient.data.mkdir(mode=0o755)
    patient.data.chmod(0o755)
    found = await patient.look()
    paths = {name for name in found if name.startswith("path.")}
    assert len(paths) == 9
    check = found["path.data-folder"]
    assert check.state == "warn"
    assert check.mend == f"Close it: `chmod 700 {patient.data}`."
    assert found["path.config"].state == "info"


async def test_it_is_json(patient: Patient) -> None:
    import msgspec

    found = await patient.look()
    for check in found.values():
        plain = msgspec.json.decode(msgspec.json.encode(check.as_json()))
        assert set(plain) == {"id", "title", "state", "sentence", "mend", "details"}
    assert "foundBy" in found["hermes"].as_json()["details"]  # type: ignore[operator]


def test_a_data_folder_that_cannot_be_written(tmp_path: Path) -> None:
    """As another user, in a process of its own: root may write everything."""
    if os.geteuid() != 0:
        pytest.skip("needs root, to become another user")
    data = tmp_path / "data"
    data.mkdir(mode=0o755)
    for folder in (tmp_path, *tmp_path.parents):
        if folder.stat().st_mode & 0o005 != 0o005:
            folder.chmod(folder.stat().st_mode | 0o005)
    code = (
        "import os, sys\n"
        "from pathlib import Path\n"
        "from qterm.settings.paths import Paths\n"
        "import qterm.doctor.store_checks as checks\n"
        "base = Path(sys.argv[1])\n"
        "os.setgid(65534); os.setuid(65534)\n"
        "for data in (base / 'data', base / 'data' / 'new'):\n"
        "    found = checks.store_checks(Paths(data, base / 'c', base / 'cache'))\n"
        "    print(found[0].state.value, found[0].sentence)\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert result.stderr == ""
    lines = result.stdout.splitlines()
    assert len(lines) == 2
    assert all(line.startswith("fail ") and "can't be written" in line for line in lines)


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0 bytes"), (999, "999 bytes"), (1500, "1.5 kB"), (84_400_000_000, "84.4 GB"),
     (123_456_789, "123 MB"), (5 * 10**15, "5,000 TB")],
)  # fmt: skip
def test_sizes(count: int, text: str) -> None:
    assert size(count) == text
