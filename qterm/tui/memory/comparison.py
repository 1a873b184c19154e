"""The policies side by side on the same file, with what the earlier pruner would have lost."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from qterm.memory.policies.registry import Comparison
from qterm.memory.stores import StoreName
from qterm.tui.commands.registry import Place, bindings
from qterm.tui.content import plain, with_controls
from qterm.tui.desk import messages
from qterm.tui.memory.rows_room import RowsRoom
from qterm.tui.widgets.row_list import RowList
from qterm.tui.words.comparison_rows import (
    Compared,
    comparison_heads,
    comparison_row,
)

if TYPE_CHECKING:
    from qterm.tui.common import Common


class ComparisonRows(RowList):
    """The rows; what can be done with them are commands."""

    BINDINGS: ClassVar = bindings(Place.COMPARISON)


class ComparisonScreen(RowsRoom):
    """A row an entry, a column a policy (rule M4)."""

    TITLE_WORDS: ClassVar = "Comparison"
    PLACES: ClassVar = (Place.COMPARISON, Place.ROOM)
    AUTO_FOCUS = "#rows"

    def __init__(self, common: Common, store: StoreName) -> None:
        self.store = store
        self.found: Comparison | None = None
        self._compared: Compared | None = None
        self._shown: list[int] = []
        self._only_differing = False
        self._trouble = ""
        self._heads = Static(Content(""), markup=False, id="room--heads")
        super().__init__(common)

    def make_rows(self) -> RowList:
        """With the keys of the comparison."""
        return ComparisonRows(self.row, id="rows")

    def above(self) -> list[Widget]:
        """The names of the columns."""
        return [self._heads]

    def on_mount(self) -> None:
        """Ask every policy."""
        self.tell()
        store = self.store
        self.work.ask(
            "compare", lambda book: Compared.of(book.compare(store)[1]), leaves_nothing=True
        )

    @on(messages.MemoryDone)
    def _done(self, event: messages.MemoryDone) -> None:
        if isinstance(event.found, Compared):
            self._compared, self.found = event.found, event.found.comparison
            self._fill()

    @on(messages.MemoryFailed)
    def _failed(self, event: messages.MemoryFailed) -> None:
        self._trouble = event.sentence
        self.tell()

    def _fill(self) -> None:
        if self.found is not None and self._compared is not None:
            every = list(range(len(self.found.rows)))
            self._shown = self._compared.differing if self._only_differing else every
            self.show(len(self._shown))

    def heading(self) -> Content:
        """What this is."""
        return Content.styled("Comparison: nothing has been written", "bold")

    def head(self) -> Content:
        """A line a policy."""
        if self._compared is None:
            waiting = Content("Reckoning… esc leaves.")
            return plain(self._trouble, "$text-error") if self._trouble else waiting
        return Content("\n").join(self._compared.words)

    def tell(self) -> None:
        """With the names above the columns."""
        super().tell()
        if self.found is not None:
            width = self.rows.scrollable_content_region.width
            self._heads.update(comparison_heads(self.found, width))

    def row(self, row: int, width: int) -> Content:
        """One entry."""
        if self.found is None or row >= len(self._shown):
            return Content("")
        return comparison_row(self.found, self._shown[row], width)

    def detail(self, row: int | None) -> Content:
        """The whole entry, and each policy's reason."""
        if self.found is None or row is None or row >= len(self._shown):
            return Content("")
        found = self.found.rows[self._shown[row]]
        reasons = [
            Content.assemble(
                Content.styled(f"{policy}: ", "bold"),
                plain(f"{decision.action.value}, {decision.reason}", "$foreground-muted"),
            )
            for policy, decision in zip(self.found.policies, found.decisions, strict=True)
        ]
        return Content("\n").join([*reasons, with_controls(found.entry[:20_000])])

    def action_only_differing(self) -> None:
        """Show only the entries about which the policies don't agree, or all."""
        self._only_differing = not self._only_differing
        self._fill()
