"""What the pane asks the memory for, in one look: every store, and what was left unsaved."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from qterm.memory.errors import MemoryFault
from qterm.memory.stores import StoreName

if TYPE_CHECKING:
    from pathlib import Path

    from qterm.memory.book import MemoryBook
    from qterm.memory.draft import Draft
    from qterm.memory.look import Look
    from qterm.memory.unsaved import Found


@dataclass(frozen=True)
class Seen:
    """`looks` at the stores that can be read; `troubles` has a sentence for each other one.

    `state` changes when a file does. `line` is hermes's, `backups` where whole files are kept.
    `left` are edits that qterms which have gone have left, `damaged` such that can't be read.
    """

    looks: dict[StoreName, Look]
    troubles: dict[StoreName, str]
    state: tuple[object, ...]
    line: str
    backups: str
    left: dict[StoreName, list[Found]] = field(default_factory=dict)
    damaged: list[Path] = field(default_factory=list)

    def why_it_waits(self, draft: Draft) -> str:
        """Why edits can't be saved into the file as it is now; empty where they can."""
        store, kept = draft.store, "Your edits stay here until it can be"
        if not draft.has_changes:
            return ""
        if trouble := self.troubles.get(store):
            return f"{trouble} {kept}."
        look = self.looks.get(store)
        if look is None or look.snapshot.is_text:
            return ""
        return (
            f"{store.file_name} is not UTF-8 any more: somebody else has written it. {kept}; save "
            "it as UTF-8 with an editor."
        )


def see(book: MemoryBook) -> Seen:
    """Look at every store; nothing is written (rule M2)."""
    state = book.fingerprint()
    looks, troubles = {}, {}
    for store in StoreName:
        try:
            looks[store] = book.look(store)
        except MemoryFault as error:
            troubles[store] = str(error)
    left = {store: book.unsaved.find(store) for store in StoreName}
    return Seen(
        looks,
        troubles,
        state,
        book.hermes_line,
        str(book.archive.backups_folder),
        left,
        book.unsaved.damaged(),
    )
