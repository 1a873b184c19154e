"""One of several things, chosen from a list."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from qterm.tui.content import cut_cells, one_line, plain
from qterm.tui.widgets.options import Options
from qterm.tui.words.links import Link
from qterm.tui.words.markdown_words import CodeBlock

CELLS = 56
"""The most cells of a line that only has to be recognised."""

PREVIEW = 2
"""Lines of a block of code that are shown of it."""


class ChooseOne(ModalScreen[int | None]):
    """Dismissed with the number of what was chosen, from 0, or with None."""

    BINDINGS: ClassVar = [("escape", "leave", "Leave")]

    def __init__(self, question: str, choices: Sequence[Content], does: str) -> None:
        super().__init__()
        self._question, self._choices, self._does = question, choices, does

    def compose(self) -> ComposeResult:
        """The question, and what there is to choose from."""
        with Vertical(classes="dialog"):
            yield Static(plain(self._question), markup=False, classes="dialog--text")
            yield Options(*map(Option, self._choices), markup=False)
            hint = f"↑ ↓ choose · enter {self._does} · esc leaves"
            yield Static(plain(hint), markup=False, classes="dialog--hint")

    def on_mount(self) -> None:
        """The first one is highlighted."""
        options = self.query_one(OptionList)
        options.highlighted = 0
        options.focus()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """One was taken."""
        self.dismiss(event.option_index)

    def action_leave(self) -> None:
        """None of them."""
        self.dismiss(None)


def code_choice(block: CodeBlock) -> Content:
    """A block of code as it can be recognised: language, length, its first lines."""
    lines = block.code.split("\n")
    count = "1 line" if len(lines) == 1 else f"{len(lines):,} lines"
    head = Content.assemble(
        one_line(block.language or "code", 20, "bold"),
        Content.styled(f"  {count}", "$foreground-muted"),
    )
    shown = [line for line in lines if line.strip()][:PREVIEW]
    below = [plain(f"  {_cut(line.expandtabs(4))}", "$foreground-muted") for line in shown]
    return Content("\n").join([head, *below])


def _cut(line: str) -> str:
    kept = cut_cells(line[: CELLS * 20], CELLS - 3)
    return kept if kept == line else f"{kept}…"


def link_choice(link: Link) -> Content:
    """A link as it can be recognised: its host, the rest, and what it is called."""
    _, host, after = link.parts
    address = Content.assemble(
        one_line(host, 40, "bold"), one_line(after, max(CELLS - len(host[:40]), 10))
    )
    if not link.label or link.says_where:
        return address
    return Content.assemble(address, "\n  ", one_line(link.label, CELLS - 2, "$foreground-muted"))
