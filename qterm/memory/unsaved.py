"""Unsaved edits on the disk: they survive leaving the pane, quitting and a kill (rule M6).

A file a store and process, in the archive's folder: no qterm writes over another one's words. What
a qterm that has gone left there is found at the next look, newest first.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from qterm.memory.disk import remove_stale, staged, trouble
from qterm.memory.draft import Draft, DraftEntry, Entries
from qterm.memory.entries import unwritable
from qterm.memory.errors import Unwritable
from qterm.memory.files import FILE_LIMIT
from qterm.memory.look import Look
from qterm.memory.stores import StoreName
from qterm.model import Owner
from qterm.private import private_folder, read_bounded

FORM = "qterm-memory-edits/1"


class _Head(msgspec.Struct, frozen=True):
    """What is the same in every form: another qterm may have written a later one."""

    form: str
    owner: str


class Edits(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """Edits as they lie on the disk. `sha256` and `base` are the file they were made of."""

    form: str
    store: StoreName
    owner: str
    saved_at: datetime
    sha256: str
    base: tuple[str, ...]
    entries: Entries

    def draft(self, look: Look) -> Draft | None:
        """The edits on the file as it is now; None where it is another one by now."""
        if look.snapshot.sha256 != self.sha256 or look.entries != self.base:
            return None
        draft = Draft.of(look)
        draft.take(self.entries, "the edits that were not saved")
        return draft


@dataclass(frozen=True, slots=True)
class Found:
    """Edits that a qterm which has gone has left, and where they lie."""

    path: Path
    edits: Edits


@dataclass(frozen=True)
class Unsaved:
    """The edits in `folder`. `owner` is this process, `lives` says whether another still runs."""

    folder: Path
    owner: Owner
    lives: Callable[[Owner], bool]

    def _path(self, store: StoreName) -> Path:
        token = re.sub(r"[^0-9A-Za-z]+", "-", self.owner.started)
        return self.folder / f"{store.value}-{self.owner.pid}-{token}.json"

    def keep(self, draft: Draft, now: datetime) -> None:
        """Keep a draft; one without changes is forgotten. Raises Unwritable with a sentence."""
        if not draft.has_changes:
            self.forget(draft.store)
            return
        edits = Edits(
            FORM,
            draft.store,
            str(self.owner),
            now.astimezone(UTC),
            draft.look.snapshot.sha256,
            draft.look.entries,
            draft.entries,
        )
        path = self._path(draft.store)
        try:
            private_folder(self.folder)
            with staged(path, msgspec.json.encode(edits)) as temporary:
                os.replace(temporary, path)  # noqa: PTH105 - plain os calls, see disk.py
        except OSError as error:
            raise Unwritable(
                f"Your unsaved edits can't be kept in {self.folder} {trouble(error)}: save them "
                "into the memory file before you quit."
            ) from error

    def forget(self, store: StoreName) -> None:
        """There is nothing unsaved in a store any more."""
        with contextlib.suppress(OSError):
            self._path(store).unlink()

    def find(self, store: StoreName) -> list[Found]:
        """What qterms that have gone have left of a store, newest first.

        A damaged file is put aside, under a name of its own that ends in `.damaged`; one that can't
        be opened, or is in a form of a later qterm, stays as it is. `damaged` has them all.
        """
        found = []
        for path in self._files(store):
            try:
                data = read_bounded(path, limit=FILE_LIMIT * 4)
            except OSError:
                continue
            if (head := _head(data)) is not None and self._is_alive(head):
                continue
            edits = _read(data, store)
            if edits is not None:
                found.append(Found(path, edits))
            elif head is None or not _is_later(head):
                _put_aside(path)
        remove_stale(self.folder)
        return sorted(found, key=lambda each: each.edits.saved_at, reverse=True)

    def _is_alive(self, head: _Head) -> bool:
        owner = Owner.parse(head.owner)
        return owner is not None and self.lives(owner)

    def damaged(self) -> list[Path]:
        """Files that can't be read, by this qterm at least: the operator should know of them."""
        found: list[Path] = []
        with contextlib.suppress(OSError):
            found += self.folder.glob("*.damaged")
            for store in StoreName:
                for path in self._files(store):
                    try:
                        head = _head(read_bounded(path, limit=FILE_LIMIT * 4))
                    except FileNotFoundError:
                        continue
                    except OSError:
                        found.append(path)
                    else:
                        if head is not None and _is_later(head) and not self._is_alive(head):
                            found.append(path)
        return sorted(found)

    def adopt(self, found: Found) -> None:
        """These edits are this process's now, which has kept them."""
        with contextlib.suppress(OSError):
            found.path.unlink()

    def _files(self, store: StoreName) -> list[Path]:
        own = self._path(store)
        try:
            paths = sorted(self.folder.glob(f"{store.value}-*.json"))
        except OSError:
            return []
        return [path for path in paths if path != own]


def _head(data: bytes) -> _Head | None:
    try:
        return msgspec.json.decode(data, type=_Head)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _is_later(head: _Head) -> bool:
    return head.form.startswith(FORM.partition("/")[0] + "/") and head.form != FORM


def _read(data: bytes, store: StoreName) -> Edits | None:
    try:
        edits = msgspec.json.decode(data, type=Edits)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    origins = [each.origin for each in edits.entries if each.origin is not None]
    is_whole = len(set(origins)) == len(origins) and all(
        0 <= origin < len(edits.base) for origin in origins
    )
    can_be_written = is_whole and not unwritable([each.text for each in edits.entries])
    return edits if can_be_written and edits.form == FORM and edits.store is store else None


def _put_aside(path: Path) -> None:
    """Under a name that nothing has: what was put aside before stays, too."""
    number = 1
    while os.path.lexists(aside := path.with_suffix(f".{number}.damaged")):
        number += 1
    with contextlib.suppress(OSError):
        path.rename(aside)


__all__ = ["Draft", "DraftEntry", "Edits", "Found", "Unsaved"]
