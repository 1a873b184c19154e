from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from qterm.feed import owner
from qterm.feed.owner import current_owner, is_alive, read_stat
from qterm.model import Owner


def test_this_process_is_alive_and_an_earlier_one_of_its_id_is_not() -> None:
    me = current_owner()
    assert me.pid == os.getpid()
    assert is_alive(me)
    assert Owner.parse(str(me)) == me
    assert not is_alive(Owner(me.pid, me.started + "1"))


def test_a_process_that_has_ended_is_not_alive_even_before_it_is_reaped() -> None:
    show = "from qterm.feed.owner import current_owner; print(current_owner(), flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", show], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as child:
        assert child.stdout is not None
        there = Owner.parse(child.stdout.readline().decode().strip())
        assert there is not None
        assert is_alive(there)
        child.kill()
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)  # ended, and not yet reaped
        assert not is_alive(there)
    assert not is_alive(there)


@pytest.mark.parametrize("name", ["cat", "a b", "(sd-pam)", "x) R 1 (y", "line\nend) Z 3", ")"])
def test_the_programs_name_does_not_mislead(name: str) -> None:
    rest = "S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 86186 19 20"
    assert read_stat(f"4711 ({name}) {rest}".encode()) == ("S", 86186)


@pytest.mark.skipif(sys.platform != "linux", reason="the token of Linux")
def test_on_linux_the_token_is_ticks_since_boot_and_no_clock_time() -> None:
    boot, ticks = current_owner().started.split("/")
    assert boot == Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
    assert int(ticks) == read_stat(Path("/proc/self/stat").read_bytes())[1]


def test_without_a_proc_folder_psutil_is_asked(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(owner, "_PROC", tmp_path / "none")
    me = current_owner()
    assert is_alive(me)
    assert not is_alive(Owner(me.pid, "1.00"))
    assert not is_alive(Owner(2**22 + 1, me.started))
