"""Work beside the screens for what is found in the feed and taken out of it."""

from __future__ import annotations

import asyncio
from functools import partial

from qterm.feed.source import FeedError
from qterm.tui import messages
from qterm.tui.desk import Desk
from qterm.tui.excerpt import hit_of

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
        more = len(turns) > HITS
        hits = await asyncio.to_thread(lambda: [hit_of(turn, words) for turn in turns[:HITS]])
        self.post(messages.Found(words, hits, more, before is not None))
