"""The hive-mind step: its command line is asked to compact, and nothing else.

The tool behind it has modes that delete everything, so the arguments are fixed: no setting, no
variable and no file gets into them.
"""

from __future__ import annotations

import json
import os
import shutil
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from qterm.maintenance.bounded import Ended, run_bounded
from qterm.maintenance.report import Step, StepState
from qterm.private import read_bounded
from qterm.safe_text import safe_line

NAME = "hive-mind"
PROGRAM = "hive-mind-cli"
ARGUMENTS = (
    "mcp",
    "call",
    "cleanup_frames",
    "--args",
    '{"mode":"compact"}',
    "--json",
    "--timeout-ms",
    "8000",
)
SECONDS = 10.0
"""After which the command and all it started are ended: its own time-out is no hard bound."""

COUNTS = ("temporary_pruned", "deprecated_pruned", "pframes_merged")

_WORDS_KEPT = 200


@dataclass(frozen=True, slots=True)
class Command:
    """How hive-mind is called, without the arguments, and what that is from."""

    argv: tuple[str, ...]
    found_by: str


@dataclass(frozen=True, slots=True)
class Missing:
    """There is no hive-mind to call; `is_asked_for` where a setting names one."""

    sentence: str
    is_asked_for: bool = False


def find(configured: str, home: Path, environ: Mapping[str, str]) -> Command | Missing:
    """Find hive-mind's command: the setting, what its installer noted, PATH. Starts nothing."""
    path = environ.get("PATH", os.defpath)
    if configured:
        by = "maintenance.hive_mind_cli"
        found = _program(configured, home, path)
        if isinstance(found, str):
            return Missing(f"{found}: mend {by}, or leave it out.", is_asked_for=True)
        return Command(found, by)
    noted = home / ".hermes" / "hive-mind-install.json"
    if (cli := _noted(noted)) and not isinstance(found := _program(cli, home, path), str):
        return Command(found, str(noted))
    if found_at := shutil.which(PROGRAM, path=path):
        return Command((str(Path(found_at).absolute()),), "PATH")
    return Missing(
        f"hive-mind is not installed (there is no {PROGRAM} on PATH): install it, or name it in "
        "maintenance.hive_mind_cli."
    )


def _noted(path: Path) -> str:
    """The command that hive-mind's installer noted; nothing where that can't be read."""
    try:
        found = json.loads(read_bounded(path).decode("utf-8-sig"))
    except (OSError, ValueError, RecursionError):
        return ""
    cli = found.get("cli_path") if isinstance(found, dict) else None
    return cli if isinstance(cli, str) and "\0" not in cli else ""


def _program(name: str, home: Path, path: str) -> tuple[str, ...] | str:
    """The words that call a program given by path or name; a sentence's beginning if it can't be
    called."""
    if name == "~" or name.startswith("~/"):
        name = str(home / name[2:])
    if "/" not in name:
        found = shutil.which(name, path=path)
        return (str(Path(found).absolute()),) if found else f"There is no {safe_line(name)} on PATH"
    file = Path(os.path.abspath(name))  # noqa: PTH100 - `..` goes, links stay
    if not file.is_file():
        return f"There is no hive-mind at {safe_line(str(file))}"
    if file.suffix == ".js":
        node = shutil.which("node", path=path)
        if node is None:
            return f"There is no node on PATH to run {safe_line(str(file))}"
        return (str(Path(node).absolute()), str(file))
    if not os.access(file, os.X_OK):
        return f"{safe_line(str(file))} can't be executed"
    return (str(file),)


def compact(
    configured: str,
    home: Path,
    environ: Mapping[str, str],
    *,
    stopping: threading.Event,
    seconds: float = SECONDS,
) -> Step:
    """Have hive-mind compact its memory; blocks for about ten seconds at most. Never raises."""
    command = find(configured, home, environ)
    if isinstance(command, Missing):
        state = StepState.FAILED if command.is_asked_for else StepState.SKIPPED
        return Step(NAME, state, command.sentence)
    since = time.monotonic()
    # Compacting embeds nothing: this spares the server a call to a provider when it starts.
    env = {**environ, "HIVE_MIND_EMBEDDING_PROVIDER": "mock"}
    try:
        ended = run_bounded(
            (*command.argv, *ARGUMENTS),
            env=env,
            cwd=home if home.is_dir() else None,
            seconds=seconds,
            stopping=stopping,
        )
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        sentence = f"hive-mind can't be started ({reason}): look at {safe_line(command.argv[0])}."
        return Step(NAME, StepState.FAILED, sentence)
    took = time.monotonic() - since
    found = _why_ended(ended, seconds) or read_answer(ended.out)
    if isinstance(found, str):
        return Step(NAME, StepState.FAILED, found, seconds=took)
    return Step(NAME, StepState.DONE, _said(found), found, took, changed=any(found.values()))


def _why_ended(ended: Ended, seconds: float) -> str:
    if ended.is_stopped:
        return "hive-mind was ended, since qterm was left: it is asked again after a later turn."
    if ended.is_late:
        return (
            f"hive-mind gave no answer within {seconds:g} seconds and was ended: see whether "
            f"`{PROGRAM} status` answers."
        )
    return ""


def _said(counts: Mapping[str, int]) -> str:
    temporary, deprecated, merged = (counts[name] for name in COUNTS)
    if not any(counts.values()):
        return "hive-mind is compact: there was nothing to remove."
    return f"hive-mind: {temporary + deprecated:,} frames removed, {merged:,} merged."


def read_answer(out: bytes) -> dict[str, int] | str:
    """What the command printed: its counts, or one sentence why it is no success.

    The exit code says nothing: it is 0 for a time-out, a dead server and a locked database.
    """
    answer = _json_in(out.decode("utf-8", "replace"))
    if answer is None:
        return f"hive-mind answered what is no JSON{_quoted(out.decode('utf-8', 'replace'))}."
    inner = (answer.get("result"), answer.get("data"))
    holders = [answer, *(holder for holder in inner if isinstance(holder, dict))]
    text = next(filter(None, map(_first_text, holders)), "")
    is_error = any(holder.get("isError") is True for holder in holders)
    if answer.get("ok") is not True or is_error:
        return f"hive-mind could not compact{_quoted(_error_in(answer) or text)}."
    done = _json_in(text)
    if done is None or done.get("action") != "compact":
        return f"hive-mind answered something else than that it compacted{_quoted(text)}."
    return {name: _count(done.get(name)) for name in COUNTS}


def _json_in(text: str) -> dict[str, object] | None:
    """The JSON object in a text, perhaps behind lines of a log."""
    start = 0
    while True:
        try:
            found = json.loads(text[start:])
        except (ValueError, RecursionError):
            next_line = text.find("\n{", start)
            if next_line < 0:
                return None
            start = next_line + 1
            continue
        return found if isinstance(found, dict) else None


def _first_text(holder: Mapping[str, object]) -> str:
    blocks = holder.get("content")
    for block in blocks if isinstance(blocks, list) else ():
        if isinstance(block, dict) and isinstance(block.get("text"), str):
            return str(block["text"])
    return ""


def _error_in(answer: Mapping[str, object]) -> str:
    error = answer.get("error")
    if isinstance(error, dict):
        error = error.get("message")
    return error if isinstance(error, str) else ""


def _quoted(text: str) -> str:
    line = safe_line(text).strip()
    if not line:
        return ""
    return f" (“{line[:_WORDS_KEPT]}{'…' if len(line) > _WORDS_KEPT else ''}”)"


def _count(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else 0
