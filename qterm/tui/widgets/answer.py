"""An answer of Q's, drawn as Markdown: what came from outside is words here, never a command.

The only module that touches Textual's Markdown. Nothing in it opens anything: a click on a link
only tells which one, and the screen asks. It is imported where the first such answer is drawn,
since its libraries are slow.
"""

from __future__ import annotations

import asyncio
import logging

from textual.app import ComposeResult
from textual.content import Content
from textual.events import Mount
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Markdown
from textual.widgets._markdown import (
    MarkdownBlock,
    MarkdownBullet,
    MarkdownBulletList,
    MarkdownOrderedList,
    MarkdownTable,
    MarkdownTableContent,
)

from qterm.safe_text import safe_text
from qterm.tui.content import steady
from qterm.tui.widgets.turn import LinkChosen
from qterm.tui.words.markdown_words import parser, unpacked

log = logging.getLogger(__name__)


class _Cells(MarkdownTableContent):
    """The cells of a table; Textual's own reads a hovered cell's words as markup."""

    def compose(self) -> ComposeResult:
        """The cells, with tooltips that are not parsed."""
        for cell in super().compose():
            if isinstance(cell.tooltip, str):
                cell.tooltip = Content(cell.tooltip)
            yield cell


class _Table(MarkdownTable):
    def compose(self) -> ComposeResult:
        """The same as Textual's, with cells that can be hovered."""
        self._headers, self._rows = self._get_headers_and_rows()
        yield _Cells(self._headers, self._rows)


class _Bullets(MarkdownBulletList):
    async def _update_from_block(self, block: MarkdownBlock) -> None:
        if not await _grow(self, block):
            await super()._update_from_block(block)


class _Numbers(MarkdownOrderedList):
    async def _update_from_block(self, block: MarkdownBlock) -> None:
        if not await _grow(self, block):
            await super()._update_from_block(block)


async def _grow(shown: MarkdownBlock, block: MarkdownBlock) -> bool:
    """Add to a list's items what is new; Textual's own list is made anew for every word."""
    rows = list(shown.children)
    if type(block) is not type(shown) or not rows:
        return False
    fresh = list(block.compose())
    keep = len(rows) - 1
    if len(fresh) < len(rows) or _bullet(fresh[0]) != _bullet(rows[0]):
        keep = 0  # the numbers have become longer
    for row in rows[keep:]:
        await row.remove()
    await shown.mount_all(fresh[keep:])
    shown._copy_context(block)
    return True


def _bullet(row: Widget) -> int:
    """The cells of a row's bullet; before and after it is mounted, its first child."""
    children = list(row.children) or row._pending_children
    return len(children[0].symbol) if isinstance(children[0], MarkdownBullet) else 0


class Answer(Markdown):
    """An answer that grows while it comes, and is drawn once more when it is whole.

    Draws one state after the other, and rests for as long as the last one took.
    """

    BLOCKS = Markdown.BLOCKS | {
        "table_open": _Table,
        "bullet_list_open": _Bullets,
        "ordered_list_open": _Numbers,
    }

    class Failed(Message):
        """It can't be drawn: plain text it is."""

    def __init__(self, text: str, *, whole: bool) -> None:
        super().__init__(classes="turn--answer", parser_factory=parser, open_links=False)
        self._wanted, self._whole = steady(safe_text(text)), whole
        self._drawn, self._is_whole = "", False
        self._drawing = False
        self.is_drawn = asyncio.Event()

    async def on_mount(self, event: Mount) -> None:
        """A whole one is drawn before it is shown."""
        event.prevent_default()  # Textual's own would draw an empty text behind this one
        if self._whole:
            await self._draw()
        else:
            self._start()

    def on_markdown_link_clicked(self, event: Markdown.LinkClicked) -> None:
        """A click on a link: nothing is opened here."""
        event.prevent_default()
        event.stop()
        if (found := unpacked(event.href)) is not None:
            self.post_message(LinkChosen(found))

    def say(self, text: str, *, whole: bool) -> None:
        """Show this; `whole`: nothing more will come."""
        self._wanted, self._whole = steady(safe_text(text)), whole
        self._start()

    def _start(self) -> None:
        if self.is_attached and not self._drawing and not self._is_current:
            self._drawing = True
            self.run_worker(self._draw(), group="answer", exit_on_error=False)

    @property
    def _is_current(self) -> bool:
        return self._drawn == self._wanted and self._is_whole == self._whole

    async def _draw(self) -> None:
        clock = asyncio.get_running_loop().time
        self._drawing = True
        try:
            while True:
                began = clock()
                await self._draw_once(self._wanted, whole=self._whole)
                self.is_drawn.set()
                if self._is_current:
                    return
                await asyncio.sleep(min(clock() - began, 1.0))
        except Exception:
            log.exception("an answer can't be drawn as Markdown")
            self.is_drawn.set()
            self.post_message(self.Failed())
        finally:
            self._drawing = False

    async def _draw_once(self, text: str, *, whole: bool) -> None:
        if whole:
            await self.update(text)
        elif not self._is_whole and text.startswith(self._drawn):
            await self.append(text[len(self._drawn) :])
        else:  # an escape sequence has closed behind its words: begin again
            with self.app.batch_update():
                await self.update("")
                await self.append(text)
        self._drawn, self._is_whole = text, whole
