"""Looks at the data folder and the feed's file; reads only, and makes nothing."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import sqlite3
import stat
from pathlib import Path

from qterm.doctor.check import Check, State
from qterm.feed.database import is_damage
from qterm.feed.migrations import steps
from qterm.feed.opening import APPLICATION_ID, copies, set_aside
from qterm.settings.paths import Paths

LITTLE_SPACE = 50 * 1024 * 1024
"""Bytes below which a disk is said to be nearly full."""

READ_WHOLE = 64 * 1024 * 1024
"""Bytes up to which the feed's file is read through for damage."""

_ELSEWHERE = "or choose another folder with --data-dir."


def store_checks(paths: Paths) -> list[Check]:
    """The data folder, the room on its disk, and the feed's file."""
    return [_folder(paths.data_dir), _space(paths.data_dir), _store(paths.store_file)]


def _folder(folder: Path) -> Check:
    title, details = "data folder", {"path": str(folder)}
    try:
        there, is_folder = folder.exists(), folder.is_dir()
    except OSError as error:
        sentence = f"{folder} can't be looked at ({error.strerror})."
        mend = f"Mend the mode of the folder above it, {_ELSEWHERE}"
        return Check("data", title, State.FAIL, sentence, mend, details)
    if there and not is_folder:
        sentence = f"{folder} is not a folder."
        return Check(
            "data", title, State.FAIL, sentence, f"Move that file away, {_ELSEWHERE}", details
        )
    base = nearest_folder(folder)
    if not os.access(base, os.W_OK | os.X_OK):
        sentence = f"{folder} can't be written: nothing that is said could be kept."
        mend = f"Make {base} writable, {_ELSEWHERE}"
        return Check("data", title, State.FAIL, sentence, mend, details)
    if not there:
        sentence = f"{folder} is not there yet; qterm makes it when there is something to keep."
        return Check("data", title, State.INFO, sentence, details=details)
    return Check("data", title, State.OK, f"{folder} can be written.", details=details)


def nearest_folder(path: Path) -> Path:
    """The nearest thing above a path that is there (the path itself, if it is)."""
    for folder in (path, *path.parents):
        with contextlib.suppress(OSError):
            if folder.exists():
                return folder
    return Path("/")


def _space(folder: Path) -> Check:
    title = "disk"
    try:
        free = shutil.disk_usage(nearest_folder(folder)).free
    except OSError as error:
        sentence = f"The room on the disk can't be told ({error.strerror})."
        return Check("disk", title, State.INFO, sentence)
    details = {"free_bytes": free}
    if free < LITTLE_SPACE:
        sentence = f"Only {size(free)} are free where the feed is kept."
        mend = f"Make some room on that disk, {_ELSEWHERE}"
        return Check("disk", title, State.WARN, sentence, mend, details)
    return Check("disk", title, State.OK, f"{size(free)} are free.", details=details)


def _store(path: Path) -> Check:
    fault = _file_fault(path)
    if fault is not None:
        return fault
    length, known = path.stat().st_size, len(steps())
    details: dict[str, object] = {"path": str(path), "bytes": length, "known_version": known}
    try:
        program, version, damage = _look(path, length)
    except sqlite3.Error as error:
        if is_damage(error):
            sentence = f"{path} is damaged ({error})."
            mend = "Nothing is needed: the next start sets it aside, says where, and begins anew."
        else:
            sentence = f"{path} can't be read ({error})."
            mend = "End what holds it, and look again."
        return Check("store", "store", State.FAIL, sentence, mend, details)
    details["version"] = version
    if program != APPLICATION_ID and (program or version):
        sentence, mend = f"{path} is another program's database.", f"Move it away, {_ELSEWHERE}"
    elif version > known:
        sentence = f"{path} was written by a newer qterm"
        sentence = f"{sentence} (version {version}, this one knows {known})."
        mend = f"Update qterm, {_ELSEWHERE}"
    elif damage:
        sentence = f"{path} is damaged ({damage})."
        mend = "Copy it away, then save what can be read: `qterm export`."
    else:
        return _good_store(path, version, details)
    return Check("store", "store", State.FAIL, sentence, mend, details)


def _file_fault(path: Path) -> Check | None:
    """What is to be said of a file that is not there or can't be read; None for a good one."""
    details = {"path": str(path)}
    try:
        is_file = stat.S_ISREG(path.stat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        sentence = f"{path} is not there yet: it begins with the first thing that is said."
        return Check("store", "store", State.INFO, sentence, details=details)
    except OSError as error:
        sentence = f"{path} can't be looked at ({error.strerror})."
        mend = f"Mend its folder's mode, {_ELSEWHERE}"
        return Check("store", "store", State.FAIL, sentence, mend, details)
    if not is_file:
        sentence, mend = f"{path} is not a file.", f"Move it away, {_ELSEWHERE}"
        return Check("store", "store", State.FAIL, sentence, mend, details)
    if not os.access(path, os.R_OK | os.W_OK):
        sentence = f"{path} can't be read and written."
        mend = f"Give yourself the file: `sudo chown $(id -un) {shlex.quote(str(path))}`."
        return Check("store", "store", State.FAIL, sentence, mend, details)
    return None


def _good_store(path: Path, version: int, details: dict[str, object]) -> Check:
    kept = [*copies(path), *set_aside(path)]
    details["copies"] = [str(copy) for copy in kept]
    sentence = f"{path} can be read: {size(path.stat().st_size)}, version {version}."
    if version < len(steps()):
        sentence = f"{sentence} The next start brings it to version {len(steps())}."
    if kept:
        sentence = f"{sentence} Beside it lie {', '.join(copy.name for copy in kept)}."
    return Check("store", "store", State.OK, sentence, details=details)


def _look(path: Path, length: int) -> tuple[int, int, str]:
    """The program and the version in the file's header, and what damage there is; no trace left."""
    wal = path.with_name(f"{path.name}-wal")
    # Immutable makes no side files, but does not see what is in the write-ahead log.
    live = wal.exists() and wal.stat().st_size > 0
    uri = f"{path.resolve().as_uri()}?mode=ro{'' if live else '&immutable=1'}"
    with contextlib.closing(sqlite3.connect(uri, uri=True, timeout=2.0)) as connection:
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        (program,) = connection.execute("PRAGMA application_id").fetchone()
        found = ""
        if program == APPLICATION_ID and length <= READ_WHOLE:
            (found,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    return program, version, "" if found == "ok" else found


def size(count: int) -> str:
    """A number of bytes as people say it."""
    amount, unit = float(count), "bytes"
    for larger in ("kB", "MB", "GB", "TB"):
        if amount < 1000:
            break
        amount, unit = amount / 1000, larger
    return f"{amount:,.0f} {unit}" if unit == "bytes" or amount >= 100 else f"{amount:,.1f} {unit}"
