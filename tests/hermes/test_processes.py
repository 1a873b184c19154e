"""Starting, draining and ending processes: with real ones, and nothing left of them."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from qterm.hermes import processes
from qterm.hermes.processes import CLOSING, Child, Patience, Stream
from tests.hermes.fakes import is_gone, pids_below

HURRIED = Patience(interrupt=0.3, term=0.3)


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    before = pids_below()
    yield
    assert pids_below() <= before


async def python(source: str, stdin: str | None = None) -> Child:
    return await Child.start([sys.executable, "-ISu", "-c", source], stdin=stdin)


async def drained(child: Child) -> tuple[bytes, bytes]:
    parts: dict[Stream, list[bytes]] = {Stream.OUT: [], Stream.ERR: []}
    async for stream, data in child.chunks():
        parts[stream].append(data)
    return b"".join(parts[Stream.OUT]), b"".join(parts[Stream.ERR])


async def first_line(chunks: AsyncIterator[tuple[Stream, bytes]]) -> str:
    text = b""
    async for _, data in chunks:
        text += data
        if b"\n" in text:
            return text.decode().strip()
    raise AssertionError("it ended without a line")


def test_texts_are_passed_in_utf_8_whatever_the_locale() -> None:
    source = """
import asyncio, sys
from qterm.hermes.processes import Child
async def main():
    child = await Child.start([sys.executable, '-c', 'import sys; print(ascii(sys.argv[1]))',
                               '\\u65e5 \\U0001f389'], env={'PYTHONUTF8': '1'})
    async for _, data in child.chunks():
        print(data.decode())
asyncio.run(main())
"""
    done = subprocess.run(
        [sys.executable, "-X", "utf8=0", "-c", source],
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "LC_ALL": "POSIX", "PYTHONCOERCECLOCALE": "0"},
    )
    assert done.stdout.strip() == r"'\u65e5 \U0001f389'", done.stderr


async def test_both_streams_and_the_exit_code() -> None:
    child = await python("import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)")
    assert await drained(child) == (b"out\n", b"err\n")
    assert await child.wait() == child.returncode == 3


async def test_a_signal_is_a_negative_exit_code() -> None:
    child = await python("import os; os.kill(os.getpid(), 11)")
    await drained(child)
    assert await child.wait() == -11


async def test_10_mb_on_both_streams_do_not_block() -> None:
    child = await python(
        "import sys\n"
        "for _ in range(160):\n"
        "  sys.stdout.write('o' * 65536); sys.stderr.write('e' * 65536)\n"
    )
    out, err = await asyncio.wait_for(drained(child), 30)
    assert (len(out), len(err)) == (160 * 65536, 160 * 65536)


async def test_3_mb_go_in_while_as_much_comes_out() -> None:
    text = "日本 🎉 $(x)\n" * 150_000
    child = await python(
        "import sys; data = sys.stdin.buffer.read(); sys.stdout.buffer.write(data)", text
    )
    out, _ = await asyncio.wait_for(drained(child), 30)
    assert out.decode() == text


async def test_a_process_that_does_not_read_its_input() -> None:
    child = await python("print('done')", "x" * 1_000_000)
    out, _ = await asyncio.wait_for(drained(child), 30)
    assert out == b"done\n"
    assert await child.wait() == 0


async def test_the_pipe_that_a_grandchild_holds_is_not_waited_for() -> None:
    child = await python(
        "import subprocess\n"
        "p = subprocess.Popen(['sleep', '60'], start_new_session=True)\n"
        "print(p.pid)\n"
    )
    begun = time.monotonic()
    out, _ = await asyncio.wait_for(drained(child), 30)
    assert time.monotonic() - begun < processes.DRAIN + 10
    os.kill(int(out), signal.SIGKILL)


async def test_the_interrupt_goes_to_the_whole_group() -> None:
    child = await python(
        "import subprocess, sys\n"
        "up = \"print('up', flush=True); input()\"\n"
        "pipe = subprocess.PIPE\n"
        "p = subprocess.Popen([sys.executable, '-c', up], stdin=pipe, stdout=pipe)\n"
        "p.stdout.readline()\n"
        "try: print(p.pid); p.wait()\n"
        "except KeyboardInterrupt: p.wait(); print('ended'); sys.exit(130)\n"
    )
    chunks = child.chunks()
    grandchild = int(await first_line(chunks))
    await child.end(Patience(interrupt=30))
    assert await child.wait() == 130
    assert is_gone(grandchild)
    await chunks.aclose()


async def test_who_ignores_the_signals_is_killed_with_all_it_started() -> None:
    child = await python(
        "import signal, subprocess, time\n"
        "signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "p = subprocess.Popen(['sleep', '60'], start_new_session=True)\n"
        "print(p.pid)\n"
        "time.sleep(60)\n"
    )
    chunks = child.chunks()
    tool = int(await first_line(chunks))
    await child.end(HURRIED)
    assert await child.wait() == -9
    assert is_gone(tool)
    await chunks.aclose()


async def test_a_tool_whose_parent_has_obeyed_is_ended_too() -> None:
    child = await python(
        "import signal, os, subprocess, time\n"
        "signal.signal(signal.SIGINT, lambda *_: os._exit(130))\n"
        "p = subprocess.Popen(['sleep', '60'], start_new_session=True)\n"
        "print(p.pid)\n"
        "time.sleep(60)\n"
    )
    chunks = child.chunks()
    tool = int(await first_line(chunks))
    await child.end(Patience(interrupt=30))
    assert is_gone(tool)
    await chunks.aclose()


async def test_closing_takes_over_from_a_patient_end() -> None:
    child = await python(
        "import signal, time\n"
        "signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
        "print('ready')\n"
        "time.sleep(60)\n"
    )
    chunks = child.chunks()
    await first_line(chunks)
    patient = asyncio.create_task(child.end(Patience(interrupt=600)))
    await asyncio.sleep(0)
    await asyncio.wait_for(child.end(CLOSING), 30)
    patient.cancel()
    await asyncio.gather(patient, return_exceptions=True)
    assert await child.wait() == -9
    await chunks.aclose()


async def test_ending_what_has_ended() -> None:
    child = await python("pass")
    await drained(child)
    await child.wait()
    await asyncio.wait_for(child.end(), 5)


async def test_run_says_what_was_printed(tmp_path: Path) -> None:
    finished = await processes.run(
        ["/bin/sh", "-c", "echo out; echo err >&2; pwd; exit 4"], env={}, cwd=tmp_path, seconds=30
    )
    assert (finished.code, finished.err) == (4, "err\n")
    assert finished.out == f"out\n{tmp_path.resolve()}\n"


async def test_run_keeps_only_so_much_and_says_so(tmp_path: Path) -> None:
    command = [sys.executable, "-ISc", "print('x' * 1_000_000)"]
    whole = await processes.run(command, env={}, cwd=tmp_path, seconds=30)
    cut = await processes.run(command, env={}, cwd=tmp_path, seconds=30, limit=100_000)
    assert (len(whole.out), whole.cut) == (1_000_001, False)
    assert cut.cut
    assert len(cut.out) < 300_000


async def test_run_leaves_nothing_after_its_time(tmp_path: Path) -> None:
    with pytest.raises(TimeoutError):
        await processes.run(
            [sys.executable, "-ISc", "import time; time.sleep(60)"],
            env={},
            cwd=tmp_path,
            seconds=0.5,
        )


async def test_what_can_t_be_started(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No such file"):
        await Child.start([str(tmp_path / "missing")])
    (tmp_path / "plain").write_text("x")
    with pytest.raises(PermissionError):
        await Child.start([str(tmp_path / "plain")])


ENDINGS = {
    "end of the program": "",
    "exception": "raise RuntimeError",
    "SIGTERM with a handler": "os.kill(os.getpid(), signal.SIGTERM); time.sleep(60)",
    "sys.exit in the loop": "sys.exit(3)",
}


@pytest.mark.parametrize("ending", ENDINGS.values(), ids=ENDINGS.keys())
def test_nothing_outlives_qterm(ending: str) -> None:
    """However qterm ends, short of SIGKILL: also hermes's tools, and also without a loop."""
    source = f"""
import asyncio, os, signal, sys, time
from qterm.hermes.processes import Child, kill_all_now
def gone(number, frame):
    kill_all_now()
    os._exit(1)
signal.signal(signal.SIGTERM, gone)
async def main():
    child = await Child.start([sys.executable, '-ISuc', '''
import signal, subprocess, os, time
signal.signal(signal.SIGINT, lambda *_: os._exit(130))
p = subprocess.Popen(["sleep", "60"], start_new_session=True)
print(str(os.getpid()) + ' ' + str(p.pid) + chr(10), end='')
time.sleep(60)
'''])
    async for _, data in child.chunks():
        print(data.decode(), end="", flush=True)
        if b"\\n" in data:
            break
    {ending}
asyncio.run(main())
"""
    done = subprocess.run(
        [sys.executable, "-c", source], check=False, capture_output=True, text=True, timeout=60
    )
    pids = [int(word) for word in done.stdout.split()]
    assert len(pids) == 2, done.stderr
    assert all(is_gone(pid) for pid in pids)
