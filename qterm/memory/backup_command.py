"""The operator's own command that copies a backup off the machine (`memory.backup_command`)."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

_SECONDS = 60.0
_TAIL = 4096
"""Bytes of what it says that are kept: its last line is what we show."""
_POLL = 0.05


def run_backup_command(
    command: Sequence[str], path: Path, *, seconds: float = _SECONDS
) -> str | None:
    """Run the command for the backup at `path`; None when it went well, else one sentence.

    `{path}` in each word becomes the path. No shell, nothing on its input, its output is not shown;
    it gets a session of its own, and after `seconds` it is ended with all that belongs to it.
    Call it once the locks are released. Never raises: the backup stays where it is in any case.
    """
    if not command:
        return None
    words = [word.replace("{path}", str(path)) for word in command]
    where = f"the backup stays at {path}"
    try:
        process = subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        said = getattr(error, "strerror", None) or str(error)
        return f"The backup command {words[0]!r} can't be run ({said}): check memory.backup_command; {where}."  # noqa: E501 # fmt: skip
    try:
        tail, is_done = _listen(process, time.monotonic() + seconds)
    finally:
        if process.poll() is None:
            _kill(process)
        if process.stderr is not None:
            process.stderr.close()
    if not is_done:
        return f"The backup command took longer than {seconds:g} s and was ended; {where}."
    if process.returncode == 0:
        return None
    lines = tail.decode("utf-8", "replace").split("\n")
    last = next((line.strip() for line in reversed(lines) if line.strip()), "it said nothing")
    return (
        f"The backup command failed ({_ending(process.returncode)}: {last.rstrip('.')}); {where}."
    )


def _listen(process: subprocess.Popen[bytes], give_up: float) -> tuple[bytes, bool]:
    """The last of what it said, and whether it ended in time.

    A child of its own that runs on may hold the pipe open: its own end is what counts.
    """
    assert process.stderr is not None
    pipe = process.stderr.fileno()
    tail = b""
    is_open = True
    while time.monotonic() < give_up:
        has_ended = process.poll() is not None
        if is_open and select.select([pipe], [], [], 0 if has_ended else _POLL)[0]:
            part = os.read(pipe, 1 << 16)
            is_open = bool(part)
            tail = (tail + part)[-_TAIL:]
            continue
        if has_ended:
            return tail, True
        if not is_open:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(_POLL)
    return tail, False


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End the whole session at once: it was given its time."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _ending(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"ended by {signal.Signals(-code).name}"
    except ValueError:  # most of the real-time ones have no name
        return f"ended by signal {-code}"
