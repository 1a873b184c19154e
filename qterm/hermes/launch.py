"""Starting hermes, here or on another machine: the one place that does it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from qterm.hermes import processes
from qterm.hermes.argv import Call
from qterm.hermes.environment import child_environment, without_dropped
from qterm.hermes.place import HermesPlace, HermesUnusable
from qterm.hermes.remote import Where, remote_argv
from qterm.hermes.remote_reply import Preamble, went_wrong


def environment(place: HermesPlace, environ: Mapping[str, str], home: Path) -> dict[str, str]:
    """The environment of a call's process here: hermes's with this `home`, or ssh's."""
    if place.remote is not None:
        return without_dropped(environ)
    return child_environment(environ, home)


async def start(
    place: HermesPlace, call: Call, *, cwd: Path, environ: Mapping[str, str]
) -> processes.Child:
    """Start a turn's process. Raises OSError."""
    is_far = place.remote is not None
    return await processes.Child.start(
        call.argv,
        cwd=None if is_far else cwd,
        env=environment(place, environ, place.home),
        stdin=call.stdin,
        tethered=is_far,
    )


async def ask(
    place: HermesPlace,
    words: Sequence[str],
    *,
    home: Path | None,
    environ: Mapping[str, str],
    seconds: float,
    limit: int = 4 << 20,
) -> processes.Finished:
    """Run a short call of hermes to its end. `words` is the whole call, as `argv.base` begins it.

    `home` is where it runs and what its home is; None: hermes's own (which may not be there yet).
    Over ssh a home given here stands for a new one there, which is removed afterwards. Raises
    TimeoutError, OSError, and HermesUnusable where the way there is what went wrong.
    """
    remote = place.remote
    if remote is None:
        where = home or place.home
        env = child_environment(environ, where)
        return await processes.run(words, env=env, cwd=where, seconds=seconds, limit=limit)
    argv = remote_argv(remote, words, where=Where.HOME if home is None else Where.PROBE)
    finished = await processes.run(
        argv,
        env=without_dropped(environ),
        cwd=None,
        seconds=seconds,
        limit=limit,
        tethered=True,
    )
    preamble = Preamble()
    out = preamble.feed(finished.out.encode())
    wrong = went_wrong(remote, finished.code, finished.err, begun=preamble.begun)
    if wrong is not None:
        raise HermesUnusable(wrong[1])
    return processes.Finished(finished.code, out.decode(), finished.err, finished.cut)
