"""The operator's own command that copies a backup off the machine."""

from __future__ import annotations

import signal
import sys
import time
from pathlib import Path

import psutil
import pytest

from qterm.memory.writer import run_backup_command

BACKUP = Path("/data/backups/abc.md")


def run(code: str, *arguments: str, seconds: float = 30) -> str | None:
    return run_backup_command([sys.executable, "-c", code, *arguments], BACKUP, seconds=seconds)


def test_the_path_is_put_into_each_word(tmp_path: Path) -> None:
    code = "import sys; open(sys.argv[1], 'w').write(repr(sys.argv[2:]) + repr(sys.stdin.read()))"
    said = run(code, str(tmp_path / "out"), "{path}", "host:{path}.{path}", "{other} $HOME")
    assert said is None
    words = [str(BACKUP), f"host:{BACKUP}.{BACKUP}", "{other} $HOME"]
    assert (tmp_path / "out").read_text() == repr(words) + "''"


def test_none_is_set() -> None:
    assert run_backup_command((), BACKUP) is None


def test_a_failure_shows_its_last_line() -> None:
    said = run(
        "import sys; print('no\\n\\n\\x1b[31mhost is down.\\n', file=sys.stderr); sys.exit(3)"
    )
    assert said == (
        "The backup command failed (exit code 3: \x1b[31mhost is down); "
        "the backup stays at /data/backups/abc.md."
    )


def test_a_failure_that_says_nothing_and_one_by_a_signal() -> None:
    assert "(exit code 1: it said nothing)" in str(run("raise SystemExit(1)"))
    assert "ended by SIGKILL" in str(run("import os; os.kill(os.getpid(), 9)"))
    if hasattr(signal, "SIGRTMIN"):  # one without a name
        code = "import os, signal; os.kill(os.getpid(), signal.SIGRTMIN + 2)"
        assert f"ended by signal {signal.SIGRTMIN + 2}:" in str(run(code))


@pytest.mark.parametrize("word", ["/not/there", "/", "a\0b", ""])
def test_a_command_that_cannot_be_run(word: str) -> None:
    said = run_backup_command([word, "{path}"], BACKUP)
    assert said is not None
    assert "can't be run" in said
    assert "check memory.backup_command; the backup stays at" in said


def test_floods_are_bounded() -> None:
    code = "import os\nfor _ in range(300): os.write(2, b'x' * 65536)\nos.write(2, b'\\nend\\n'); exit(1)"  # noqa: E501
    said = run(code)
    assert said is not None
    assert "exit code 1: end)" in said


def test_it_is_ended_with_all_that_belongs_to_it(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    code = (
        "import os, signal, sys, time\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "child = os.fork()\n"
        "if child: open(sys.argv[1], 'w').write(f'{os.getpid()} {child}')\n"
        "time.sleep(60)\n"
    )
    started = time.monotonic()
    said = run(code, str(pids), seconds=1.5)
    assert said == (
        f"The backup command took longer than 1.5 s and was ended; the backup stays at {BACKUP}."
    )
    assert time.monotonic() - started < 10
    own = [int(word) for word in pids.read_text().split()]
    psutil.wait_procs([psutil.Process(pid) for pid in own if psutil.pid_exists(pid)], timeout=10)
    alive = [pid for pid in own if psutil.pid_exists(pid)]
    assert [pid for pid in alive if psutil.Process(pid).status() != psutil.STATUS_ZOMBIE] == []


def test_a_child_that_runs_on_is_not_waited_for(tmp_path: Path) -> None:
    code = (
        "import os, subprocess, sys\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(20)'])\n"
        "open(sys.argv[1], 'w').write(str(child.pid))\n"
        "sys.exit(0)\n"
    )
    started = time.monotonic()
    assert run(code, str(tmp_path / "pid")) is None
    assert time.monotonic() - started < 15
    psutil.Process(int((tmp_path / "pid").read_text())).kill()
