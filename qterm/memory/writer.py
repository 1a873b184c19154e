"""The one way to write a memory file (rule M6): apply, edit, tag, clean, restore all come here.

In this order: hermes's own lock; read again and compare; keep the whole file and every entry that
goes, flushed; replace the file; read back and compare. Whatever ends it, and wherever, each file is
the old or the new one, and what has left it is in the archive (rule M3).
"""

from __future__ import annotations

import contextlib
import os
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from qterm.memory import replacing
from qterm.memory.archive import Archive
from qterm.memory.backup_command import run_backup_command
from qterm.memory.entries import decode, parse, serialise, unwritable
from qterm.memory.errors import ChangedMeanwhile, MemoryFault, Refused, Unreadable, Unwritable
from qterm.memory.files import FILE_LIMIT, MemoryFolder, Snapshot, sha256
from qterm.memory.keeping import Gone, Kept, Planned
from qterm.memory.locking import LOCK_SECONDS, locked
from qterm.memory.stores import StoreName

_UNDO_SECONDS = 1.0
"""How long a write that has failed waits to tell the archive, while it still holds the locks."""

__all__ = ["Change", "Gone", "Written", "run_backup_command", "write"]


@dataclass(frozen=True, slots=True)
class Change:
    """What a file is to hold instead of what the snapshot holds.

    `gone` has each entry that is removed or replaced. `data` are the bytes to write, where they are
    not simply the entries joined (a whole file restored): they have to parse to `entries`.
    """

    snapshot: Snapshot
    entries: tuple[str, ...]
    gone: tuple[Gone, ...] = ()
    data: bytes | None = None


@dataclass(frozen=True, slots=True)
class Written:
    """A file that was written.

    `before` and `after` are hashes of the whole file (`before` empty, and `backup` None, where
    there was none); `removed` has the archive's ids of what has gone.
    """

    store: StoreName
    path: Path
    backup: Path | None
    before: str
    after: str
    removed: tuple[str, ...]


def write(
    folder: MemoryFolder,
    archive: Archive,
    changes: Sequence[Change],
    *,
    by: str,
    now: datetime,
    seconds: float = LOCK_SECONDS,
) -> tuple[Written, ...]:
    """Write these changes, at most one a store, in their order; returns what was written.

    Put the file that takes entries in before the one that gives them: a crash between the two then
    doubles an entry, and loses none. All files are locked and have to be as they were looked at,
    also those whose bytes stay; a file whose bytes stay is not written. `by` says what writes
    (`edit`), `now` is the time with its zone, `seconds` how long locks are waited for.

    Raises Refused (what must not be written), Busy, ChangedMeanwhile, Unreadable, and Unwritable;
    nothing was written then, unless Unwritable's sentence says what was.
    """
    if now.tzinfo is None:
        raise ValueError("the time needs a zone")
    planned = [_planned(folder, change) for change in changes]
    _check_apart(planned)
    work = [each for each in planned if each.after != (each.before or b"")]
    if not work:
        return ()
    give_up = time.monotonic() + seconds
    with locked(folder, {each.store for each in planned}, seconds=seconds):
        for change in changes:
            _check_unchanged(folder, change.snapshot)
        for each in work:
            try:
                replacing.check(each.path)
            except OSError as error:
                said = replacing.sentence(each.path, error)
                raise Unwritable(f"{said}; nothing was changed.") from error
        kept = archive.keep(work, home=folder.home, by=by, now=now, give_up=give_up)
        written: list[Written] = []
        for each, its in zip(work, kept, strict=True):
            try:
                _put(folder, each)
            except (OSError, MemoryFault) as error:
                left = [later.write for later in kept[len(written) :]]
                raise _failure(folder, archive, each, its, left, written, now, error) from error
            written.append(_written(each, its))
    return tuple(written)


def _planned(folder: MemoryFolder, change: Change) -> Planned:
    """What a change comes to; raises Refused for one that must not be written."""
    snapshot, path = change.snapshot, change.snapshot.path
    if path != folder.path(snapshot.store):
        raise ValueError(f"{path} is not in {folder.folder}")
    if not snapshot.is_text and change.data is None:  # a whole file may be restored over it
        raise Refused(
            f"{path} is not UTF-8, so qterm only shows it: turn it into UTF-8 with an editor first."
        )
    data = serialise(change.entries) if change.data is None else change.data
    if isinstance(data, str):
        if why := unwritable(change.entries):
            raise Refused(f"{snapshot.store.file_name} can't hold that. {why}")
        data = data.encode()
    elif _parsed(data) != change.entries:
        raise Refused(_OUR_FAULT.format(what=f"{path} would hold other entries than were meant"))
    if len(data) > FILE_LIMIT:
        raise Refused(f"{path} would be larger than {FILE_LIMIT >> 20} MiB: make it shorter.")
    _check_nothing_lost(change)
    before = snapshot.data if snapshot.exists else None
    return Planned(snapshot.store, path, before, len(snapshot.entries), data, tuple(change.gone))


def _parsed(data: bytes) -> tuple[str, ...] | None:
    try:
        return parse(decode(data))
    except UnicodeDecodeError:
        return None


_OUR_FAULT = "{what}, so nothing was written: this is a fault of qterm's, please report it."


def _check_nothing_lost(change: Change) -> None:
    """Every entry that is there no more has to be archived, whatever the caller believes."""
    old = change.snapshot.entries
    for gone in change.gone:
        if not 0 <= gone.index < len(old) or old[gone.index] != gone.text:
            what = f"Entry {gone.index + 1} of {change.snapshot.path} is not what was to go"
            raise Refused(_OUR_FAULT.format(what=what))
    lost = Counter(old) - Counter(change.entries) - Counter(gone.text for gone in change.gone)
    if lost:
        number = old.index(next(iter(lost))) + 1
        what = f"Entry {number} of {change.snapshot.path} would be lost without being archived"
        raise Refused(_OUR_FAULT.format(what=what))


def _check_apart(planned: Sequence[Planned]) -> None:
    """One change a file, also where links lead two stores to the same file."""
    if len({each.store for each in planned}) < len(planned):
        raise ValueError("two changes for one store")
    real: dict[str, Planned] = {}
    for each in planned:
        other = real.setdefault(os.path.realpath(each.path), each)
        if other is not each:
            raise Refused(
                f"{other.path} and {each.path} are links to the same file: let each be one of its "
                "own."
            )


def _check_unchanged(folder: MemoryFolder, snapshot: Snapshot) -> None:
    fresh = folder.read(snapshot.store)
    if (fresh.exists, fresh.sha256) != (snapshot.exists, snapshot.sha256):
        raise ChangedMeanwhile(
            f"{snapshot.path} has changed since it was looked at, so nothing was written: look "
            "again, then repeat the change."
        )


def _put(folder: MemoryFolder, each: Planned) -> None:
    """Replace a file, read it back and compare. Raises OSError where it is not as it should be.

    Editors know nothing of hermes's lock: so it is looked at once more just before it is replaced.
    Raises ChangedMeanwhile.
    """

    def last_look() -> None:
        if _bytes_now(folder, each) != (each.before or b""):
            raise ChangedMeanwhile(
                f"{each.path} was changed by another program just now, so it was left as it is: "
                "look again, then repeat the change"
            )

    replacing.put(each.path, each.after, last_look=last_look)
    if _bytes_now(folder, each) != each.after:
        raise OSError(
            f"{each.path} holds something else than was written: another program wrote to it at "
            "the same time, or the disk is at fault"
        )


def _bytes_now(folder: MemoryFolder, each: Planned) -> bytes | None:
    """What is in the file now, b"" where there is none; None where that can't be told."""
    try:
        return folder.read(each.store).data
    except Unreadable:
        return None


def _failure(
    folder: MemoryFolder,
    archive: Archive,
    failed: Planned,
    kept: Kept,
    left: Sequence[str],
    written: Sequence[Written],
    now: datetime,
    error: OSError | MemoryFault,
) -> MemoryFault:
    """The sentence for a write that failed: what is as it was, what was written, where it is kept.

    `left` are the ids of the writes that did not come about, the failed one first. The archive is
    told of those after which a file is as it was.
    """
    found = _bytes_now(folder, failed)
    is_whole = isinstance(error, MemoryFault) or found == (failed.before or b"")
    with contextlib.suppress(MemoryFault):  # an entry too many in the archive harms nobody
        if undone := left if is_whole else left[1:]:
            archive.undo(undone, now=now, give_up=time.monotonic() + _UNDO_SECONDS)
    others = ", ".join(str(each.path) for each in written)
    first = f"; {others} had been written before" if written else ""
    if isinstance(error, MemoryFault):
        return type(error)(f"{error}{first}.")
    said = replacing.sentence(failed.path, error) if error.errno else str(error)
    if is_whole:
        return Unwritable(f"{said}; it is as it was{first}, and all else is unchanged.")
    where = f"its bytes of before are kept in {kept.backup}" if kept.backup else "there was none"
    how = "look at it"
    if error.errno:
        how = "it may be damaged"
        if found == failed.after:
            how = "the new text is in it, but perhaps not yet on the disk"
    return Unwritable(f"{said}; {how}, and {where}{first}.")


def _written(each: Planned, kept: Kept) -> Written:
    before = "" if each.before is None else sha256(each.before)
    return Written(each.store, each.path, kept.backup, before, sha256(each.after), kept.removed)
