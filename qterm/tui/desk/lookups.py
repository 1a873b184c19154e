"""Work beside the screens for what is found in the feed and taken out of it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from qterm.feed.source import FeedError
from qterm.model import Q, Turn
from qterm.tui.desk import messages
from qterm.tui.desk.desk import Desk
from qterm.tui.words.markdown_signs import parts

if TYPE_CHECKING:
    from pathlib import Path

    from qterm.tui.words.links import Link
    from qterm.tui.words.markdown_words import CodeBlock

TYPED_SECONDS = 0.15
"""A search begins this long after the last key."""

HITS = 50
"""Turns that a search shows at a time."""


class Lookups(Desk):
    """The desk of the search, and of what leaves the feed: copies, links, files."""

    def search(self, words: str, before: int | None = None) -> None:
        """Find turns that hold the words, newest first; more of them before an id."""
        self._run(partial(self._search, words, before), "search")

    def forget_search(self) -> None:
        """What is looked for is not wanted any more."""

        async def nothing() -> None:
            """In the place of the search that may be under way."""

        self._run(nothing, "search")

    async def _search(self, words: str, before: int | None) -> None:
        if before is None:
            await asyncio.sleep(TYPED_SECONDS)
        try:
            turns = await self.services.feed.search(words, before=before, limit=HITS + 1)
        except FeedError as error:
            self.post(messages.SearchFailed(words, str(error)))
            return
        from qterm.tui.words.excerpt import hit_of

        more = len(turns) > HITS
        hits = await asyncio.to_thread(lambda: [hit_of(turn, words) for turn in turns[:HITS]])
        self.post(messages.Found(words, hits, more, before is not None))

    # -- what leaves the feed ------------------------------------------------------------------

    def find_code(self, texts: Sequence[str], *, chosen: bool) -> None:
        """Find the blocks of code in the first of these texts that has any."""

        def look() -> list[CodeBlock]:
            from qterm.tui.words.markdown_words import code_blocks

            return next((found for text in texts if (found := code_blocks(text))), [])

        async def find() -> None:
            self.post(messages.CodeFound(await asyncio.to_thread(look), chosen))

        self._run(find, "code")

    def find_links(self, turn: Turn, text: str) -> None:
        """Find the links in a turn's text, as they are when it is shown."""

        def look() -> list[Link]:
            from qterm.tui.words.markdown_words import links_in

            return links_in(text, as_markdown=turn.persona == Q and parts(text) > 0)

        async def find() -> None:
            self.post(messages.LinksFound(await asyncio.to_thread(look)))

        self._run(find, "links")

    def open_link(self, link: Link) -> None:
        """Hand a link to the operator's browser."""

        from qterm.tui.terminal.browser import open_in_browser

        async def hand() -> None:
            self.post(messages.LinkOpened(link, await open_in_browser(link.address)))

        self._run(hand, "open-link", exclusive=False)

    def export(self, task_id: str | None, path: Path, *, fresh: bool) -> None:
        """Write a thread into a file as Markdown; `fresh`: only where there is none yet."""
        self._run(partial(self._export, task_id, path, fresh), "export", exclusive=False)

    async def _export(self, task_id: str | None, path: Path, fresh: bool) -> None:
        from qterm.exporting import markdown, write_text

        labels = {persona.key: persona.label for persona in self.services.settings.personas}
        try:
            pieces = markdown(self.services.feed, task_id, labels)
            size = await write_text(path, pieces, fresh=fresh)
        except FileExistsError:
            self.post(messages.ExportTaken(task_id, path))
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) else "it is no file name"
            self.post(
                messages.Exported(f"“{path}” can't be written ({why}): name another.", failed=True)
            )
        except FeedError as error:
            self.post(messages.Exported(str(error), failed=True))
        else:
            words = f"{size:,} bytes, readable by you alone"
            self.post(messages.Exported(f"The thread is in {path} ({words})."))
