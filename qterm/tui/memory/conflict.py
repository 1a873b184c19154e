"""A file with unsaved edits that somebody else has changed: both shown, the operator chooses."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

from textual.content import Content

from qterm.memory.errors import MemoryFault
from qterm.memory.merging import Difference, Merge, Side
from qterm.tui.commands.registry import Place, bindings
from qterm.tui.content import plain
from qterm.tui.memory.rows_room import RowsRoom
from qterm.tui.widgets.row_list import RowList
from qterm.tui.words.diff_rows import changed_in
from qterm.tui.words.entry_rows import MUTED, first_words

if TYPE_CHECKING:
    from qterm.memory.draft import Draft
    from qterm.tui.common import Common

SHOWN = 8_000
"""Code points of each text that are shown."""

_SIDES = {
    Side.MINE: ("yours", "$text-primary"),
    Side.THEIRS: ("theirs", "$text-success"),
    Side.BOTH: ("BOTH", "bold $text-warning"),
}


class ConflictRows(RowList):
    """The rows; what can be done with them are commands."""

    BINDINGS: ClassVar = bindings(Place.CONFLICT)


class ConflictScreen(RowsRoom):
    """`chosen` is told of a draft on the file as it is now, or of None: to be decided later."""

    TITLE_WORDS: ClassVar = "Changed on both sides"
    PLACES: ClassVar = (Place.CONFLICT, Place.ROOM)
    AUTO_FOCUS = "#rows"
    IS_ROOM: ClassVar = False  # it is a question: no key leads past it but esc

    def __init__(
        self, common: Common, merged: Merge, *, chosen: Callable[[Draft | None], None]
    ) -> None:
        self.merged, self._chosen = merged, chosen
        super().__init__(common)

    def make_rows(self) -> RowList:
        """With the keys of the choice."""
        return ConflictRows(self.row, id="rows")

    def on_mount(self) -> None:
        """Show what each side did."""
        self.show(len(self.merged.differences))

    def heading(self) -> Content:
        """What has happened."""
        name = self.merged.look.store.file_name
        return Content.styled(
            f"{name} was changed by somebody else while you had edits that are not saved", "bold"
        )

    def head(self) -> Content:
        """What each choice does."""
        key = self.common.look.key
        both = len(self.merged.both)
        same = "no entry was changed on both sides"
        if both:
            many = "1 entry was" if both == 1 else f"{both:,} entries were"
            same = f"{many} changed on both sides: joined, both texts stay, one after the other"
        return Content("\n").join(
            [
                Content.assemble(
                    Content.styled(f"{key('join-sides')} ", "bold"),
                    f"joins what both did ({same}).",
                ),
                Content.assemble(
                    Content.styled(f"{key('keep-mine')} ", "bold"),
                    "keeps yours: the file will be as you have it; theirs is archived on saving.",
                ),
                Content.assemble(
                    Content.styled(f"{key('take-theirs')} ", "bold"),
                    "takes the file as it is; your edits are one redo away.",
                ),
                Content.styled(
                    "Nothing is written before you save, and nothing is lost by any of them.", MUTED
                ),
            ]
        )

    def _difference(self, row: int | None) -> Difference | None:
        found = self.merged.differences
        return None if row is None or row >= len(found) else found[row]

    def row(self, row: int, width: int) -> Content:
        """One entry: whose change it is, what was done, its first words."""
        found = self._difference(row)
        if found is None:
            return Content("")
        word, style = _SIDES[found.side]
        text = found.mine if found.side is Side.MINE else found.theirs
        if found.before is None:
            what = "new"
        elif text is None:
            what = "deleted"
        else:
            what = "changed"
        head = Content.assemble(
            Content.styled(f"{word:<8}", style), Content.styled(f"{what:<9}", MUTED)
        )
        shown = text if text is not None else found.before or found.mine or ""
        return Content.assemble(head, first_words(shown, max(width - head.cell_length, 8)))

    def detail(self, row: int | None) -> Content:
        """What it was, yours, and theirs."""
        found = self._difference(row)
        if found is None:
            return Content("")
        lines = []
        if found.before is not None:
            lines.append(_said("before  ", found.before, MUTED))
        if found.side is not Side.THEIRS or found.mine != found.before:
            lines.append(_said("yours   ", found.mine, "$text-primary", found.before))
        if found.side is not Side.MINE or found.theirs != found.before:
            lines.append(_said("theirs  ", found.theirs, "$text-success", found.before))
        return Content("\n").join(lines)

    # -- the choice ----------------------------------------------------------------------------

    def _choose(self, make: Callable[[], Draft]) -> None:
        try:
            draft = make()
        except MemoryFault as error:
            self.app.notify(f"That can’t be: {error}", severity="error")
            return
        self.dismiss()
        self._chosen(draft)

    def action_close(self) -> None:
        """To be decided later."""
        super().action_close()
        self._chosen(None)

    def action_join(self) -> None:
        """Join what both did."""
        self._choose(self.merged.join)

    def action_keep_mine(self) -> None:
        """Keep mine."""
        self._choose(self.merged.keep_mine)

    def action_take_theirs(self) -> None:
        """Take theirs."""
        self._choose(self.merged.take_theirs)


def _said(word: str, text: str | None, style: str, before: str | None = None) -> Content:
    """What a side says; the words that were not in `before` are marked."""
    if text is None:
        return Content.assemble(Content.styled(word, "bold"), plain("(deleted)", style))
    shown = changed_in(text[:SHOWN], before, style)
    return Content.assemble(Content.styled(word, "bold"), shown)
