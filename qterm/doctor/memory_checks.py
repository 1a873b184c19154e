"""Looks at hermes's memory and at what qterm keeps of it; reads only (rule M2)."""

from __future__ import annotations

from collections.abc import Mapping

from qterm.doctor.check import Check, State
from qterm.doctor.store_checks import size
from qterm.memory.book import MemoryBook
from qterm.memory.entries import FaultKind
from qterm.memory.errors import MemoryFault
from qterm.memory.look import Look
from qterm.memory.opening import open_memory
from qterm.memory.stores import StoreName
from qterm.settings.load import Loaded

_NEARLY_FULL = 90
"""Percent of the limit from which on a store is worth a look."""


def memory_checks(loaded: Loaded, environ: Mapping[str, str]) -> list[Check]:
    """MEMORY.md and USER.md, and the size of the backups and the archive."""
    try:
        book = open_memory(loaded, environ)
    except MemoryFault as error:
        return [Check("memory", "memory", State.INFO, str(error))]
    checks = [_store(book, store) for store in (StoreName.MEMORY, StoreName.USER)]
    return [*checks, _kept(book)]


def _store(book: MemoryBook, store: StoreName) -> Check:
    path = book.folder.path(store)
    name, details = f"memory.{store.value}", {"path": str(path)}
    try:
        look = book.look(store)
    except MemoryFault as error:
        return Check(name, store.file_name, State.FAIL, str(error), f"Mend {path}.", details)
    return _found(look, name, book.hermes_line, details)


def _found(look: Look, name: str, line: str, details: Mapping[str, object]) -> Check:
    snapshot, title, limit = look.snapshot, look.store.file_name, look.limit
    if not snapshot.exists:
        sentence = f"{snapshot.path} is not there yet: hermes makes it when it notes something."
        return Check(name, title, State.INFO, sentence, details=details)
    if not snapshot.is_text:
        sentence = f"{snapshot.path} is not UTF-8: hermes reads nothing of it."
        return Check(name, title, State.WARN, sentence, "Save it as UTF-8.", details)
    used, count = look.document.size, len(look.entries)
    most = limit.chars if limit else 0
    default = ", default" if limit and limit.is_default else ""
    noun = "entry" if count == 1 else "entries"
    sentence = f"{snapshot.path}: {count:,} {noun}, {used:,} of {most:,} characters{default}."
    details = {**details, "entries": count, "size": used, "limit": most}
    if limit and limit.problem:
        mend = f"Set memory.{look.store.value}_char_limit in hermes's config.yaml."
        return Check(name, title, State.WARN, f"{sentence} {limit.problem}", mend, details)
    if refused := look.refusals(line):
        hermes = "hermes" if line else "hermes 0.19"
        sentence = f"{sentence} {hermes} can't change it: {refused[0].sentence}."
        is_long = refused[0].kind is FaultKind.TOO_LONG
        mend = "Shorten or split it." if is_long else "`qterm memory clean` mends that."
        return Check(name, title, State.WARN, sentence, mend, details)
    if used > most:
        mend = "See what could go: `qterm memory plan`."
        return Check(
            name, title, State.WARN, f"{sentence} hermes adds nothing more.", mend, details
        )
    if used * 100 > most * _NEARLY_FULL:
        mend = "See what could go before it is full: `qterm memory plan`."
        return Check(name, title, State.WARN, f"{sentence} It is nearly full.", mend, details)
    return Check(name, title, State.OK, sentence, details=details)


def _kept(book: MemoryBook) -> Check:
    folder = book.archive.folder
    try:
        kept = book.archive.size()
    except (MemoryFault, OSError) as error:
        sentence = f"{folder} can't be read ({error})."
        return Check(
            "memory.archive", "archive", State.FAIL, sentence, f"Mend the mode of {folder}."
        )
    details = {
        "path": str(folder),
        "bytes": kept.bytes,
        "entries": kept.entries,
        "backups": kept.backups,
    }
    if not kept.bytes:
        sentence = f"Nothing was removed from the memory yet; it would be kept in {folder}."
        return Check("memory.archive", "archive", State.INFO, sentence, details=details)
    sentence = (
        f"{folder} keeps {kept.entries:,} removed entries and {kept.backups:,} backups "
        f"({size(kept.bytes)}); `qterm memory archive prune` makes room by hand."
    )
    return Check("memory.archive", "archive", State.OK, sentence, details=details)
