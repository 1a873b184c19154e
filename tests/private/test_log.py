"""The log is private, holds no words of anybody, and never breaks or prints anything."""

from __future__ import annotations

import logging
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from qterm.log import KEPT, MAX_BYTES, PrivateLog, start_log

log = logging.getLogger("qterm.test")


@pytest.fixture(autouse=True)
def clean() -> Iterator[None]:
    yield
    root = logging.getLogger()
    for handler in list(root.handlers):
        if isinstance(handler, PrivateLog):
            root.removeHandler(handler)
            handler.close()
    logging.getLogger("qterm").setLevel(logging.NOTSET)


def test_nothing_is_made_before_there_is_something_to_write(tmp_path: Path) -> None:
    start_log(tmp_path / "data" / "qterm.log")
    log.debug("not without --debug")
    assert list(tmp_path.iterdir()) == []
    log.info("something")
    assert (tmp_path / "data" / "qterm.log").read_text().endswith(" qterm.test: something\n")


def test_it_stays_private_when_it_rotates(tmp_path: Path) -> None:
    path = tmp_path / "data" / "qterm.log"
    start_log(path)
    for _ in range(5 * MAX_BYTES // 10_000):
        log.info("x" * 10_000)
    files = sorted(path.parent.iterdir())
    assert [file.name for file in files] == ["qterm.log", "qterm.log.1", "qterm.log.2"][: KEPT + 1]
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert sum(file.stat().st_size for file in files) <= (KEPT + 1) * MAX_BYTES


SAID = " ".join(["what", "Alex", "said"])  # not as it is in a line of this file


def fail(words: str) -> None:
    try:
        raise KeyError(words)
    except KeyError as error:
        raise ValueError(words) from error


def write_failure(path: Path, *, debug: bool) -> str:
    start_log(path, debug=debug)
    try:
        fail(SAID)
    except ValueError:
        log.exception("a turn went wrong")
    logging.getLogger("asyncio").error("Task exception\n%s", SAID)
    return path.read_text()


def test_the_words_of_an_error_are_left_out(tmp_path: Path) -> None:
    text = write_failure(tmp_path / "qterm.log", debug=False)
    assert SAID not in text
    assert "ValueError" in text
    assert "KeyError" in text
    assert "in fail" in text
    assert "asyncio: Task exception\n" in text


def test_debug_tells_more(tmp_path: Path) -> None:
    text = write_failure(tmp_path / "qterm.log", debug=True)
    assert f"ValueError: {SAID}" in text
    log.debug("a step")
    assert "a step" in (tmp_path / "qterm.log").read_text()


def test_the_system_s_own_words_stay(tmp_path: Path) -> None:
    start_log(tmp_path / "qterm.log")
    try:
        (tmp_path / "none").read_text()
    except OSError:
        log.exception("no file")
    assert "No such file" in (tmp_path / "qterm.log").read_text()


def test_the_last_file_counts(tmp_path: Path) -> None:
    start_log(tmp_path / "one.log")
    start_log(tmp_path / "two.log")
    log.warning("here\x1b[2J")
    assert [file.name for file in tmp_path.iterdir()] == ["two.log"]
    assert "\x1b" not in (tmp_path / "two.log").read_text()


def test_a_log_that_cannot_be_written_breaks_and_prints_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    code = (
        "import logging, sys\n"
        "from pathlib import Path\n"
        "from qterm.log import start_log\n"
        "start_log(Path(sys.argv[1]) / 'file' / 'qterm.log')\n"
        "logging.getLogger('qterm.x').error('%d', 'no number')\n"
        "logging.getLogger('qterm.x').error('fine')\n"
        "start_log(Path('/dev/full'))\n"
        "logging.getLogger('asyncio').error('fine')\n"
        "logging.shutdown()\n"
        "print('done')\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert (result.returncode, result.stdout, result.stderr) == (0, "done\n", "")
