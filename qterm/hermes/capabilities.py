"""What the installed hermes can do: asked of itself once, and remembered (rule S4)."""

from __future__ import annotations

import asyncio
import re
import shutil
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec

from qterm.hermes import launch, processes
from qterm.hermes.place import Capabilities, HermesPlace, HermesUnusable
from qterm.private import private_folder, read_bounded, write_private

__all__ = ["Capabilities", "HermesUnusable", "acp_check", "forget", "probe", "recall", "remember"]

PROBE_SECONDS = 30.0

_CACHE = "hermes.json"
_KEPT = 16  # hermes installations that are remembered


class _Remembered(msgspec.Struct, frozen=True):
    """One look at one hermes: how it is started and the state its file was in."""

    command: tuple[str, ...]
    size: int
    mtime_ns: int
    capabilities: Capabilities


async def probe(
    place: HermesPlace,
    environ: Mapping[str, str],
    cache_dir: Path,
    *,
    seconds: float = PROBE_SECONDS,
) -> Capabilities:
    """Ask hermes what it can do: `--version`, `--help` and `chat --help`, at the same time.

    They run in a home of qterm's own below `cache_dir`, because even looking writes into a home.
    `seconds` is how long each may take. Raises HermesUnusable.
    """
    answers = await asyncio.gather(
        *(
            _ask(place, words, environ, cache_dir, seconds)
            for words in (("--version",), ("--help",), ("chat", "--help"))
        ),
        return_exceptions=True,  # none is left running when one goes wrong
    )
    texts: list[str] = []
    for answer in answers:
        if isinstance(answer, BaseException):
            raise answer
        texts.append(answer)
    return _read(place, *texts)


async def version_line(
    place: HermesPlace,
    environ: Mapping[str, str],
    cache_dir: Path,
    *,
    seconds: float = PROBE_SECONDS,
) -> str:
    """The first line of `hermes --version`, to see whether what is remembered still holds.

    Raises HermesUnusable.
    """
    return _first_line(await _ask(place, ("--version",), environ, cache_dir, seconds))


async def acp_check(
    place: HermesPlace,
    environ: Mapping[str, str],
    cache_dir: Path,
    *,
    seconds: float = PROBE_SECONDS,
) -> bool:
    """Whether this hermes can be kept running (`hermes acp --check`); takes about 2 s.

    Raises HermesUnusable when it hangs or can't be started.
    """
    finished = await _run(place, ("acp", "--check"), environ, cache_dir, seconds)
    return finished.code == 0


def recall(place: HermesPlace, cache_dir: Path) -> Capabilities | None:
    """What is remembered of this very file (path, size and time); None when there is nothing."""
    found = _stat(place)
    if found is None:
        return None
    for entry in _load(cache_dir):
        if (entry.command, entry.size, entry.mtime_ns) == (place.command, *found):
            return entry.capabilities
    return None


def remember(place: HermesPlace, capabilities: Capabilities, cache_dir: Path) -> None:
    """Keep what was learned, readable by the operator only. Raises OSError."""
    found = _stat(place)
    others = [entry for entry in _load(cache_dir) if entry.command != place.command]
    if found is not None:
        others.append(_Remembered(place.command, *found, capabilities))
    _save(others, cache_dir)


def forget(place: HermesPlace, cache_dir: Path) -> None:
    """Drop what is remembered of this hermes. Raises OSError."""
    _save([entry for entry in _load(cache_dir) if entry.command != place.command], cache_dir)


def _read(place: HermesPlace, version: str, general: str, chat: str) -> Capabilities:
    line = _first_line(version)
    number = re.search(r"\d+\.\d+(?:\.\d+)?[\w.]*", line)
    if number is None or not (_has(chat, "--query") and _has(chat, "--quiet")):
        raise HermesUnusable(
            f"{_name(place)} does not answer like a hermes: "
            "see what `hermes --version` prints, or set hermes.command to the right one."
        )
    return Capabilities(
        version=number[0],
        version_line=line,
        query_file=_has(chat, "--query-file"),
        stream_json=_has(chat, "--format") and "stream-json" in chat,
        create_if_missing=_has(chat, "--create-if-missing"),
        source=_has(chat, "--source"),
        no_restore_cwd=_has(chat, "--no-restore-cwd"),
        oneshot=_has(general, "--oneshot"),
        usage_file=_has(general, "--usage-file"),
    )


def _has(text: str, option: str) -> bool:
    return re.search(rf"(?<![\w-]){re.escape(option)}(?![\w-])", text) is not None


def _first_line(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "")


def _name(place: HermesPlace) -> str:
    return " ".join(place.command)


async def _ask(
    place: HermesPlace,
    words: tuple[str, ...],
    environ: Mapping[str, str],
    cache_dir: Path,
    seconds: float,
) -> str:
    finished = await _run(place, words, environ, cache_dir, seconds)
    if finished.code == 0:
        return finished.out
    how = f"with exit code {finished.code}" if finished.code > 0 else f"by signal {-finished.code}"
    said = _first_line(finished.err) or _first_line(finished.out)
    raise HermesUnusable(
        f"`{_name(place)} {' '.join(words)}` ended {how}"
        + (f" ({said[:200].rstrip('.')})" if said else "")
        + ": run it in a terminal to see why, or install hermes again."
    )


async def _run(
    place: HermesPlace,
    words: tuple[str, ...],
    environ: Mapping[str, str],
    cache_dir: Path,
    seconds: float,
) -> processes.Finished:
    with ExitStack() as stack:
        try:
            home = await asyncio.to_thread(private_folder, cache_dir / "probe-home")
        except OSError:  # without a cache it is asked all the same
            made = TemporaryDirectory(prefix="qterm-probe-", ignore_cleanup_errors=True)
            home = Path(stack.enter_context(made))
        call = [*(place.remote.command if place.remote else place.command), *words]
        try:
            return await launch.ask(place, call, home=home, environ=environ, seconds=seconds)
        except TimeoutError as error:
            raise HermesUnusable(
                f"`{_name(place)} {' '.join(words)}` gave no answer in {seconds:g} s: "
                "run it in a terminal to see why."
            ) from error
        except OSError as error:
            raise HermesUnusable(cannot_start(place, error)) from error


def cannot_start(place: HermesPlace, error: OSError) -> str:
    """The sentence for a hermes that the system refuses to start."""
    what = error.strerror or type(error).__name__
    return f"{_name(place)} can't be started ({what}): install hermes, or mend hermes.command."


def _stat(place: HermesPlace) -> tuple[int, int] | None:
    program = Path(shutil.which(place.command[0]) or place.command[0])
    try:
        found = program.stat()
    except OSError:
        return None
    return found.st_size, found.st_mtime_ns


def _load(cache_dir: Path) -> list[_Remembered]:
    """What is remembered; a cache that can't be read is no reason to stop."""
    try:
        return msgspec.json.decode(read_bounded(cache_dir / _CACHE), type=list[_Remembered])
    except (OSError, msgspec.MsgspecError):
        return []


def _save(entries: list[_Remembered], cache_dir: Path) -> None:
    private_folder(cache_dir)
    write_private(cache_dir / _CACHE, msgspec.json.encode(entries[-_KEPT:]))
