"""A hermes on another machine: what ssh is given, what arrives there, and what is said of it."""

from __future__ import annotations

import asyncio
import json
import re
import shlex
import sys
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from pathlib import Path

import psutil
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from qterm.hermes import processes
from qterm.hermes.place import HermesPlace
from qterm.hermes.remote import Remote, Where, parse_remote, quote, remote_argv
from qterm.hermes.remote_reply import Preamble
from qterm.hermes.spawn import SpawnWay
from qterm.hermes.turn import RunningTurn
from qterm.hermes.way import (
    Approvals,
    Failed,
    FailureKind,
    HermesRequest,
    Outcome,
    Replied,
    SessionState,
    Started,
    Stopped,
    TextDelta,
)
from tests.hermes.fakes import ID, FakeHermes, environ, is_gone, streamed

WORD = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]))


def fake_ssh(folder: Path) -> Path:
    program = folder / "ssh"
    fake = shlex.join([sys.executable, "-IS", str(Path(__file__).with_name("fake_ssh.py"))])
    program.write_text(f'#!/bin/sh\nexec {fake} "$@"\n')
    program.chmod(0o755)
    return program


@pytest.mark.parametrize(
    ("words", "options", "host", "command", "address"),
    [
        (("tower",), (), "tower", ("hermes",), "tower"),
        (("al@tower", "/o/hermes", "-x"), (), "al@tower", ("/o/hermes", "-x"), "al@tower"),
        (("-p", "22", "tower", "h"), ("-p", "22"), "tower", ("h",), "tower:22"),
        (("-4p22", "-lal", "tower"), ("-4p22", "-lal"), "tower", ("hermes",), "al@tower:22"),
        (("-oPort=22", "tower"), ("-oPort=22",), "tower", ("hermes",), "tower:22"),
        (("-o", "user al", "tower"), ("-o", "user al"), "tower", ("hermes",), "al@tower"),
        (("tower", "-i", "k", "h"), ("-i", "k"), "tower", ("h",), "tower"),
        (("-i", "k", "--", "tower", "-h"), ("-i", "k"), "tower", ("-h",), "tower"),
        (("-i", "k", "tower", "--", "h"), ("-i", "k"), "tower", ("h",), "tower"),
    ],
)
def test_the_setting_is_read_as_ssh_reads_it(
    words: tuple[str, ...],
    options: tuple[str, ...],
    host: str,
    command: tuple[str, ...],
    address: str,
) -> None:
    assert parse_remote("/bin/ssh", words) == Remote("/bin/ssh", options, host, command, address)


def test_ssh_never_asks_and_the_operator_s_options_count() -> None:
    remote = parse_remote("/bin/ssh", ("-o", "ConnectTimeout=60", "-t", "tower"))
    argv = remote_argv(remote, ["hermes"], where=Where.HOME)
    before, host, _ = argv[: argv.index("--")], *argv[argv.index("--") + 1 :]
    assert host == "tower"
    assert before[:3] == ("/bin/ssh", "-o", "BatchMode=yes")
    assert before.index("ConnectTimeout=60") < before.index("ConnectTimeout=15")
    assert before.index("-t") < before.index("-T")


async def over(
    machine: Path, words: list[str], *, stdin: str = "", shell: str = "sh", **more: str
) -> list[str]:
    """What a call over the fake ssh prints: its arguments, its input, its folder, its home."""
    told = (
        "import json, os, sys; print(json.dumps([*sys.argv[1:], "
        "sys.stdin.buffer.read().decode(), os.getcwd(), "
        "os.environ.get('HERMES_HOME')]))"
    )
    remote = Remote(str(fake_ssh(machine)), (), "tower", (), "tower", more.get("home", ""))
    argv = remote_argv(
        remote,
        [sys.executable, "-c", told, *words],
        where=Where(more.get("where", "fresh")),
        folder=more.get("folder", ""),
        size=len(stdin.encode()),
        how=more.get("how", "stdin" if stdin else ""),
    )
    env = environ(machine) | {"SSH_SHELL": shell, "TMPDIR": str(machine), "HERMES_YOLO_MODE": "1"}
    child = await processes.Child.start(argv, env=env, stdin=stdin, tethered=True)
    printed = [data async for stream, data in child.chunks() if stream is processes.Stream.OUT]
    assert await child.wait() == 0
    found: list[str] = json.loads(Preamble().feed(b"".join(printed)))
    return found


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(words=st.lists(WORD), text=WORD.filter(bool), how=st.sampled_from(["stdin", "--query="]))
def test_any_word_and_any_text_arrives(
    tmp_path: Path, words: list[str], text: str, how: str
) -> None:
    *got, stdin, _, _ = asyncio.run(over(tmp_path, words, stdin=text, how=how))
    if how == "stdin":
        assert (got, stdin) == (words, text)
    else:
        assert (got, stdin) == ([*words, how + text], "")


@pytest.mark.parametrize("shell", ["sh", "bash"])
async def test_folders_and_homes(tmp_path: Path, shell: str) -> None:
    odd = tmp_path / 'it\'s a \\ "$(x)" 日本'
    odd.mkdir()
    at = await over(tmp_path, [], shell=shell, where="folder", folder=str(odd), home="~/a b")
    assert at == ["", str(odd), str(tmp_path / "a b")]
    assert await over(tmp_path, [], shell=shell, where="folder", folder="~") == [
        "", str(tmp_path), None,
    ]  # fmt: skip
    _, fresh, _ = await over(tmp_path, [], shell=shell, stdin="x")
    _, probe, home = await over(tmp_path, [], shell=shell, where="probe")
    assert probe == home
    assert len({fresh, probe, str(tmp_path)}) == 3
    await until(lambda: not list(tmp_path.glob("qterm-*")))  # nothing is left there


def test_a_login_shell_s_words_are_not_hermes_s() -> None:
    said = b"Welcome!\nqterm:beg\nmailqterm:begun\nHi. qterm:begun\n"
    for size in range(1, len(said)):
        preamble = Preamble()
        parts = [said[at : at + size] for at in range(0, len(said), size)]
        assert b"".join(map(preamble.feed, parts)) == b"Hi. qterm:begun\n"
        assert preamble.begun


def test_quoting_holds_for_fish_too() -> None:
    """fish reads a backslash inside of quotes: there is none."""
    assert quote("a'b\\") == "'a'\\''b'\\\\''"


@pytest.mark.parametrize(
    ("command", "home", "profile", "call"),
    [
        ("hermes", "", "", "hermes setup"),
        ("~/b in/hermes", "/h", "", "env HERMES_HOME='/h' \"$HOME\"'/b in/hermes' setup"),
        ("hermes", "", "work", "hermes -p work setup"),
    ],
)
def test_the_line_to_type_in_a_terminal(command: str, home: str, profile: str, call: str) -> None:
    remote = parse_remote("/bin/ssh", ("-p", "22", "tower", command), home=home, profile=profile)
    words = shlex.split(remote.in_terminal("setup"))
    assert words == ["ssh", "-p", "22", "-t", "tower", call]


async def until(so: Callable[[], bool], seconds: float = 20.0) -> None:
    end = time.monotonic() + seconds
    while not so():
        assert time.monotonic() < end
        await asyncio.sleep(0.02)


class Tower:
    """A fake hermes behind the fake ssh."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.hermes = FakeHermes(folder / "far")
        self.log = folder / "ssh.log"
        self.environ = environ(folder) | {"SSH_LOG": str(self.log), "TMPDIR": str(folder)}
        ssh = fake_ssh(folder)
        self.remote = parse_remote(str(ssh), ("tower", str(self.hermes.program)), home="~/h")
        place = HermesPlace((str(ssh), "tower"), Path("~/h"), True, "t", "t", self.remote)
        self.way = SpawnWay(
            lambda: place,
            approvals=Approvals.BYPASS,
            cache_dir=folder / "cache",
            environ=self.environ,
        )

    async def send(self, text: str = "hi", cwd: str = "~", **more: object) -> Outcome:
        request = HermesRequest("k", text, Path(cwd), **more)  # type: ignore[arg-type]
        events = [event async for event in self.way.send(request)]
        assert isinstance(events[-1], Replied | Failed | Stopped)
        return events[-1]


@pytest.fixture
async def tower(tmp_path: Path) -> AsyncIterator[Tower]:
    tower = Tower(tmp_path)
    yield tower
    await tower.way.close()


@pytest.mark.parametrize("newer", [True, False])
async def test_turns(tower: Tower, newer: bool) -> None:
    tower.hermes.newer = newer
    tower.hermes.turns = [
        streamed("Hi.") if newer else [["out", "Hi.\n"], ["err", f"\nsession_id: {ID}\n"]]
    ]
    tower.hermes.write()
    tower.environ["SSH_SAYS"] = "Welcome to tower!\n"
    text = '/a.png is "odd" $(x)\n\''
    assert await tower.send(text) == Replied("Hi.", ID)
    assert await tower.send(text, str(tower.folder), is_task=True) == Replied("Hi.", ID)
    home, task = tower.hermes.calls
    # A path that may be a picture there is kept a text; bypass is denied; no file is asked for.
    assert text in (home["stdin"] or home["argv"][-1])
    assert "--usage-file" not in home["argv"]
    assert home["env"]["HERMES_HOME"] == f"{tower.folder}/h"
    assert Path(home["cwd"]).name.startswith("qterm-")
    assert task["cwd"] == str(tower.folder)
    assert await tower.way.identity() == "tower:~/h"
    await until(lambda: not list(tower.folder.glob("qterm-*")))


async def test_bypass_is_denied(tower: Tower) -> None:
    """A1: whether such a call went well is in a file that stays over there."""
    tower.hermes.newer = False
    tower.hermes.turns = [[["out", "Hi.\n"]]]
    tower.hermes.write()
    await tower.send()
    (call,) = tower.hermes.calls
    assert "chat" in call["argv"]
    assert not [word for word in call["argv"] if "oneshot" in word]


async def test_large_texts(tower: Tower) -> None:
    """The limit is that of hermes's own argument, whatever has to be quoted on the way."""
    tower.hermes.newer = False
    tower.hermes.turns = [[["out", "Hi.\n"]]]
    tower.hermes.write()
    assert isinstance(await tower.send("'\\\n" * 33_000), Replied)
    assert await tower.way.carries("'\\\n" * 33_000)
    assert not await tower.way.carries("x" * 131_072)


@pytest.mark.parametrize(
    ("fails", "code", "kind", "words"),
    [
        ("ssh: connect to host tower port 22: Connection refused", "255",
         FailureKind.CRASHED, "ssh could not reach tower .*refused.*`ssh -t tower "),
        ("This account is not available", "1",
         FailureKind.CRASHED, "tower took the connection but did not start hermes .*account"),
    ],
)  # fmt: skip
async def test_no_way_there(
    tower: Tower, fails: str, code: str, kind: FailureKind, words: str
) -> None:
    tower.environ |= {"SSH_FAILS": fails, "SSH_CODE": code}
    outcome = await tower.send()
    assert isinstance(outcome, Failed)
    assert outcome.kind is kind
    assert re.search(words, outcome.reason), outcome.reason
    # Not being told is no proof that a session is gone (S5).
    assert (await tower.way.read_session(ID)).state is SessionState.UNKNOWN


async def test_a_way_that_is_gone_after_a_first_turn(tower: Tower) -> None:
    """S5: neither a lost way nor a login that says no is a lost session."""
    assert isinstance(await tower.send(), Replied)
    for code in ("255", "1"):
        tower.environ |= {"SSH_FAILS": "No route to host", "SSH_CODE": code}
        outcome = await tower.send(session=ID, is_task=True)
        assert isinstance(outcome, Failed)
        assert outcome.kind is FailureKind.NO_HERMES
        assert "No route to host" in outcome.reason
        assert (await tower.way.read_session(ID)).state is SessionState.UNKNOWN


async def test_what_is_not_there(tower: Tower) -> None:
    assert isinstance(await tower.send(), Replied)
    outcome = await tower.send("hi", "/no/such", is_task=True)
    assert isinstance(outcome, Failed)
    assert "The folder /no/such on tower can't be entered" in outcome.reason
    tower.hermes.program.unlink()
    outcome = await tower.send()
    assert isinstance(outcome, Failed)
    assert outcome.kind is FailureKind.NO_HERMES
    assert f"There is no {tower.hermes.program} on tower" in outcome.reason


async def test_no_model_there(tower: Tower) -> None:
    tower.hermes.turns = [[["out", "No inference provider configured\n"], ["exit", 1]]]
    tower.hermes.write()
    outcome = await tower.send()
    assert isinstance(outcome, Failed)
    assert outcome.kind is FailureKind.NO_MODEL
    assert "hermes on tower has no model yet: run `ssh -t tower" in outcome.reason


async def stopped(
    tower: Tower, end: Callable[[], Coroutine[None, None, None]]
) -> tuple[Outcome, int]:
    """A turn that `end` ends once it has said its process id."""
    pid, outcome = 0, None
    ending: asyncio.Task[None] | None = None
    async for event in tower.way.send(HermesRequest("k", "hi", Path("~"))):
        if isinstance(event, TextDelta) and not pid:
            pid = int(event.text)
            ending = asyncio.create_task(end())
        outcome = event
    assert ending is not None
    await ending
    assert outcome is not None
    assert not isinstance(outcome, Started | TextDelta)
    return outcome, pid  # type: ignore[return-value]


async def test_stopping_ends_it_over_there(tower: Tower) -> None:
    """Closing its input is what tells the other side; then nothing is left to warn of."""
    tower.hermes.turns = [[["exit_on", "SIGINT", 130], ["pid"], ["sleep", 60]]]
    tower.hermes.write()
    outcome, pid = await stopped(tower, lambda: tower.way.stop("k"))
    assert outcome == Stopped(f"{pid}\n")
    assert is_gone(pid)


async def test_one_that_does_not_end_is_told(tower: Tower) -> None:
    tower.hermes.turns = [[["ignore", "SIGINT"], ["pid"], ["sleep", 60]]]
    tower.hermes.write()
    outcome, _ = await stopped(tower, lambda: tower.way.stop("k"))
    assert isinstance(outcome, Stopped)
    assert "on tower may still run there" in outcome.note


async def test_a_connection_that_goes_ends_it_over_there(tower: Tower) -> None:
    tower.hermes.turns = [[["exit_on", "SIGINT", 130], ["pid"], ["sleep", 60]]]
    tower.hermes.write()

    async def cut() -> None:
        for process in psutil.Process().children():
            if "fake_ssh.py" in " ".join(process.cmdline()):
                process.kill()

    outcome, pid = await stopped(tower, cut)
    assert isinstance(outcome, Failed)
    assert "The call to hermes on tower broke off" in outcome.reason
    await until(lambda: is_gone(pid))


async def test_a_crash_after_the_whole_reply_is_a_reply(tower: Tower) -> None:
    """The newer line now and then ends in a segmentation fault; ssh makes 255 of it."""
    tower.hermes.turns = [[*streamed("Hi."), ["kill", 11]]]
    tower.hermes.write()
    assert await tower.send() == Replied("Hi.", ID)


def test_a_time_out_says_what_is_not_known_to_have_ended() -> None:
    turn = RunningTurn(HermesRequest("k", "hi", Path("~"), timeout=3.0))
    turn.why = "timeout"
    outcome = turn.judged(Stopped(note="It may still run there."))
    assert isinstance(outcome, Failed)
    assert outcome.reason.endswith("allow more time. It may still run there.")
