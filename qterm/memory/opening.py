"""Which memory: the hermes home it lies in, found without starting hermes."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path

from qterm.hermes.capabilities import recall
from qterm.hermes.locate import find_home, locate
from qterm.hermes.place import HermesNotFound
from qterm.hermes.remote import is_ssh
from qterm.memory.archive import Archive, archive_folder
from qterm.memory.book import MemoryBook
from qterm.memory.errors import Refused
from qterm.settings.load import Loaded


def memory_home(loaded: Loaded, environ: Mapping[str, str], home: Path | None = None) -> Path:
    """The hermes home whose memory is meant: `home`, `memory.home`, or the one hermes uses.

    Raises Refused with a sentence where hermes is on another machine and no folder of this one was
    named, or where there is no such home to choose.
    """
    settings = loaded.settings
    named = home or (Path(settings.memory.home) if settings.memory.home else None)
    if named is not None:
        try:
            return Path(os.path.abspath(named.expanduser()))  # noqa: PTH100 - `..` goes, links stay
        except RuntimeError:
            raise Refused(f"There is no home folder for {named}: give the whole path.") from None
    if is_ssh(settings.hermes.command):
        raise Refused(
            "hermes is on another machine, and so is its memory: run `qterm memory` there, or set "
            "memory.home to its folder where it is on this machine too."
        )
    try:
        return find_home(settings.hermes, environ)[0]
    except HermesNotFound as error:
        raise Refused(str(error)) from None
    except OSError as error:
        raise Refused(
            f"hermes's home can't be looked for: {error.filename} can't be looked at "
            f"({error.strerror}). Mend that folder's mode, or give --home."
        ) from None


def open_memory(
    loaded: Loaded,
    environ: Mapping[str, str],
    *,
    home: Path | None = None,
    now: Callable[[], datetime] = lambda: datetime.now().astimezone(),
) -> MemoryBook:
    """The memory of a hermes home (see `memory_home`); reads nothing of it yet. Raises Refused."""
    found = memory_home(loaded, environ, home)
    archive = Archive(archive_folder(loaded.paths.data_dir, found))
    line = hermes_line(loaded, environ)
    return MemoryBook(found, archive, loaded.settings.memory, now=now, hermes_line=line)


def hermes_line(loaded: Loaded, environ: Mapping[str, str]) -> str:
    """Which of the measured lines hermes is, `0.19` or `0.22`, as last asked; else empty."""
    if is_ssh(loaded.settings.hermes.command):
        return ""
    try:
        known = recall(locate(loaded.settings.hermes, environ), loaded.paths.cache_dir)
    except HermesNotFound:
        return ""
    numbers = re.search(r"(\d+)\.(\d+)", known.version if known else "")
    if numbers is None:
        return ""
    release = int(numbers[1]), int(numbers[2])
    if release <= (0, 19):
        return "0.19"
    return "0.22" if release >= (0, 22) else ""
