"""Bringing back what was kept: an entry, a whole file, or the files before a write (rule M3)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from qterm.memory.archive import Archive, Removed
from qterm.memory.entries import decode, parse
from qterm.memory.errors import ChangedMeanwhile, Refused
from qterm.memory.files import sha256
from qterm.memory.look import Look, would_empty
from qterm.memory.policies import dual
from qterm.memory.stores import StoreName
from qterm.memory.writer import Change, Gone, Written


class BringingBack:
    """The part of a `MemoryBook` that brings back; each of it goes by the one way to write."""

    archive: Archive

    def look(self, store: StoreName) -> Look:
        """Read a store."""
        raise NotImplementedError

    def look_at_text(self, store: StoreName) -> Look:
        """Read a store that is to be changed."""
        raise NotImplementedError

    def _write(self, changes: Sequence[Change], by: str) -> tuple[Written, ...]:
        raise NotImplementedError

    def restore(self, removed: Removed) -> tuple[Written, ...]:
        """Bring one archived entry back, to where it was; a text that took its place leaves."""
        look = self.look_at_text(removed.store)
        if removed.text in look.entries:
            number = look.entries.index(removed.text) + 1
            raise Refused(f"{look.store.file_name} has that entry already: it is number {number}.")
        entries, gone = list(look.entries), []
        new = removed.replaced_by
        if new is not None and new in entries:
            index = entries.index(new)
            entries[index] = removed.text
            reason = "the earlier text was restored"
            gone.append(Gone(index, new, reason, replaced_by=removed.text))
        else:
            entries.insert(min(removed.index, len(entries)), removed.text)
        changes = [Change(look.snapshot, tuple(entries), tuple(gone))]
        if removed.by == "apply dual" and removed.store is StoreName.MEMORY:
            changes += self._out_of_working(removed.text)
        return self._write(changes, "restore")

    def bring_back(self, look: Look, index: int) -> tuple[Written, ...]:
        """Move an entry of WORKING.md back to the end of MEMORY.md; its stamp goes (rule M5)."""
        text = dual.unstamp(look.entries[index])
        memory = self.look_at_text(StoreName.MEMORY)
        changes = []
        if text not in memory.entries:
            changes.append(Change(memory.snapshot, (*memory.entries, text), ()))
        left = (*look.entries[:index], *look.entries[index + 1 :])
        gone = Gone(index, look.entries[index], "brought back to MEMORY.md")
        return self._write([*changes, Change(look.snapshot, left, (gone,))], "restore")

    def _out_of_working(self, text: str) -> list[Change]:
        working = self.look_at_text(StoreName.WORKING)
        for index, entry in enumerate(working.entries):
            if dual.unstamp(entry) == text:
                left = (*working.entries[:index], *working.entries[index + 1 :])
                gone = Gone(index, entry, "brought back to MEMORY.md")
                return [Change(working.snapshot, left, (gone,))]
        return []

    def backup(self, name: str, store: StoreName | None = None) -> tuple[StoreName, bytes]:
        """A backup by the beginning of its hash: the file it was of (or `store`), and its bytes."""
        data = self.archive.read_backup(name)
        digest = sha256(data)
        stores = {kept.store for kept in self.archive.backups() if kept.sha256 == digest}
        found = store or (stores.pop() if len(stores) == 1 else None)
        if found is None:
            raise Refused(
                "That backup is of more than one file, or of none: say which with --store."
            )
        return found, data

    def restore_backup(
        self, look: Look, data: bytes, *, allow_empty: bool = False
    ) -> tuple[Written, ...]:
        """Bring a whole file back, byte for byte; what is there now is kept as a backup."""
        change = _whole(look, data, "the whole file was restored")
        if look.entries and not change.entries and not allow_empty:
            raise Refused(would_empty(look.store))
        return self._write([change], "restore backup")

    def undo(self, written: Sequence[Written]) -> tuple[Written, ...]:
        """Put files back as they were before a write; raises ChangedMeanwhile if one is another."""
        changes = []
        for each in reversed(written):  # the one that took entries in gave them back last
            look = self.look(each.store)
            if look.snapshot.sha256 != each.after:
                raise ChangedMeanwhile(
                    f"{each.path} has changed since then, so it is left as it is: bring back what "
                    "you miss from what was kept."
                )
            data = self.archive.read_backup(each.before) if each.before else b""
            changes.append(_whole(look, data, "the write was undone"))
        return self._write(changes, "undo")


def _whole(look: Look, data: bytes, reason: str) -> Change:
    """A whole file in the place of what is there."""
    try:
        entries = parse(decode(data))
    except UnicodeDecodeError:
        raise Refused(
            "That backup is not UTF-8: copy it by hand, if that is what you want."
        ) from None
    left = Counter(entries)
    gone = []
    for index, text in enumerate(look.entries):
        if left[text]:
            left[text] -= 1
        else:
            gone.append(Gone(index, text, reason))
    return Change(look.snapshot, entries, tuple(gone), data)
