"""Where one goes from the pane: the preview, the comparison, what was kept; and what they write."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.screen import Screen

from qterm.memory.draft import Draft
from qterm.memory.stores import StoreName

if TYPE_CHECKING:
    from qterm.memory.merging import Merge
    from qterm.memory.writer import Written
    from qterm.tui.app import QtermApp
    from qterm.tui.common import Common
    from qterm.tui.desk.memory_work import MemoryWork


class PaneRooms(Screen[None]):
    """The ways on; `MemoryScreen` puts the parts in place."""

    app: QtermApp
    common: Common
    work: MemoryWork
    store: StoreName
    drafts: dict[StoreName, Draft]
    last_write: tuple[Written, ...] = ()
    """What was written here last, and can be undone."""

    def read(self) -> None:
        """Read every store."""
        raise NotImplementedError

    def open_conflict(self, merged: Merge) -> None:
        """Somebody else has changed a file that has unsaved edits: the operator chooses."""

    def action_preview(self) -> None:
        """See what a prune would take."""

    def action_compare(self) -> None:
        """See what each policy would do."""

    def action_suggested(self) -> None:
        """Look at suggested tags."""

    def action_kept(self) -> None:
        """See what was kept."""

    def copy_off(self, written: tuple[object, ...]) -> None:
        """Have the operator's `backup_command` copy what was kept off the machine."""
