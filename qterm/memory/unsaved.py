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

from qterm.memory.disk import staged, trouble
from qterm.memory.draft import Draft, DraftEntry, Entries
from qterm.memory.errors import Unwritable
from qterm.memory.files import FILE_LIMIT
from qterm.memory.look import Look
from qterm.memory.stores import StoreName
from qterm.model import Owner
from qterm.private import private_folder, read_bounded

FORM = "qterm-memory-edits/1"


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

        A file that can't be read is put aside, under a name that ends in `.damaged`.
        """
        found = []
        for path in self._files(store):
            edits = _read(path)
            if edits is None:
                with contextlib.suppress(OSError):
                    path.rename(path.with_suffix(".damaged"))
                continue
            owner = Owner.parse(edits.owner)
            if owner is None or not self.lives(owner):
                found.append(Found(path, edits))
        return sorted(found, key=lambda each: each.edits.saved_at, reverse=True)

    def damaged(self) -> list[Path]:
        """Files that could not be read, and were put aside."""
        with contextlib.suppress(OSError):
            return sorted(self.folder.glob("*.damaged"))
        return []

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


def _read(path: Path) -> Edits | None:
    try:
        edits = msgspec.json.decode(read_bounded(path, limit=FILE_LIMIT * 4), type=Edits)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    origins = [each.origin for each in edits.entries if each.origin is not None]
    is_whole = len(set(origins)) == len(origins) and all(
        0 <= origin < len(edits.base) for origin in origins
    )
    return edits if edits.form == FORM and is_whole else None


__all__ = ["Draft", "DraftEntry", "Edits", "Found", "Unsaved"]
