"""The work beside the home screen: it reads, sends and watches, and tells by messages.

Every worker has a group of its own and none ends the app: an error becomes a sentence.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial

from textual.message import Message
from textual.worker import Worker

from qterm.conversation import SendError
from qterm.feed.source import FeedError
from qterm.frame import ChatFrame
from qterm.services import Services
from qterm.tui import messages
from qterm.tui.messages import Side
from qterm.tui.widgets.window import PAGE

log = logging.getLogger(__name__)

WATCH_AGAIN_SECONDS = 2.0
"""After a watch that failed, until the next try."""

TELL_SECONDS = 0.2
"""Changes that come together are told together."""

Start = Callable[..., Worker[None]]


@dataclass
class Desk:
    """`post` brings a message to the screen, `start` runs a worker there."""

    services: Services
    post: Callable[[Message], object]
    start: Start

    def _run(
        self, work: Callable[[], Awaitable[object]], group: str, *, exclusive: bool = True
    ) -> None:
        self.start(
            partial(self._guard, work),
            group=group,
            exclusive=exclusive,
            exit_on_error=False,
            name=group,
            description=f"qterm: {group}",
        )

    async def _guard(self, work: Callable[[], Awaitable[object]]) -> None:
        try:
            await work()
        except FeedError as error:
            self.post(messages.Trouble(str(error)))
        except Exception as error:
            log.exception("work beside the screen failed")
            self.post(messages.Trouble(_inside(error)))

    # -- reading -------------------------------------------------------------------------------

    def read_page(self, side: Side, turn_id: int | None = None) -> None:
        """Read the newest page, or the one next to a turn."""
        self._run(partial(self._read_page, side, turn_id), "page")

    async def _read_page(self, side: Side, turn_id: int | None) -> None:
        before = turn_id if side is Side.OLDER else None
        after = turn_id if side is Side.NEWER else None
        try:
            turns = await self.services.feed.page(None, before=before, after=after, limit=PAGE + 1)
        except FeedError as error:
            self.post(messages.Trouble(str(error), page=True))
            return
        more = len(turns) > PAGE
        if more:
            turns = turns[:PAGE] if side is Side.NEWER else turns[-PAGE:]
        self.post(messages.PageRead(side, turns, more))

    def watch(self) -> None:
        """Watch the feed for as long as the screen is there."""
        self._run(self._watch, "watch")

    async def _watch(self) -> None:
        told = ""
        while True:
            try:
                async for change in self.services.feed.watch():
                    told = ""
                    self.post(messages.FeedMoved(change))
            except FeedError as error:
                if str(error) != told:
                    told = str(error)
                    self.post(messages.Trouble(told))
            else:
                return
            await asyncio.sleep(WATCH_AGAIN_SECONDS)
            self.read_page(Side.NEWEST)  # what happened in between

    def recover(self) -> None:
        """Mark what a qterm that is gone had left open; read the draft."""
        self._run(self._recover, "recover")

    async def _recover(self) -> None:
        await self.services.conversation.recover()
        self.post(messages.DraftRead(await self.services.feed.draft(None)))

    def tell(self) -> None:
        """Find out what Q would be told now."""
        self._run(self._tell, "told")

    async def _tell(self) -> None:
        await asyncio.sleep(TELL_SECONDS)
        try:
            context = await self.services.conversation.context()
        except FeedError as error:
            self.post(messages.Told(None, str(error)))
        except Exception as error:
            log.exception("the context can't be made")
            self.post(messages.Told(None, _inside(error)))
        else:
            self.post(messages.Told(context))

    def look_at_hermes(self) -> None:
        """Find out which hermes answers; quick when that is known already."""
        self._run(self._look_at_hermes, "hermes")

    async def _look_at_hermes(self) -> None:
        try:
            found = await self.services.way.probe()
        except Exception as error:  # noqa: BLE001 - the doctor says what is wrong with it
            log.info("the look at hermes failed: %s", type(error).__name__)
            return
        self.post(messages.VersionSeen(found.version))

    # -- sending -------------------------------------------------------------------------------

    def send(self, text: str, *, again_of: int | None = None) -> None:
        """Send a message; it goes on whatever else is sent meanwhile."""
        self._run(partial(self._send, text, again_of), "send", exclusive=False)

    async def _send(self, text: str, again_of: int | None) -> None:
        try:
            conversation = self.services.conversation
            async for event in conversation.send(ChatFrame(text), again_of=again_of):
                self.post(messages.Happened(event))
        except (SendError, FeedError) as error:
            self.post(messages.NotSent(str(error)))
        except Exception as error:
            log.exception("sending failed")
            self.post(messages.NotSent(_inside(error)))

    def stop(self) -> None:
        """Stop the turn that runs."""

        self._run(self.services.conversation.stop, "stop")

    def take_back(self, turn_id: int, done: Callable[[str], None]) -> None:
        """Take back a message that waits; `done` gets its words."""

        async def work() -> None:
            text = await self.services.conversation.take_back(turn_id)
            if text is not None:
                done(text)

        self._run(work, "take-back", exclusive=False)

    # -- writing -------------------------------------------------------------------------------

    def save_draft(self, text: str) -> None:
        """Keep what is in the editor."""
        self._run(partial(self._save_draft, text), "draft")

    async def _save_draft(self, text: str) -> None:
        await self.services.feed.save_draft(None, text)

    def change(self, work: Callable[[], Awaitable[object]], said: Callable[[], None]) -> None:
        """Make a change in the feed; `said` is called when it is stored."""

        async def both() -> None:
            await work()
            said()

        self._run(both, "change", exclusive=False)


def _inside(error: Exception) -> str:
    return (
        f"Something went wrong inside qterm ({type(error).__name__}). Nothing that was said is "
        "lost; the log has the details, and the doctor (f5) says where it lies."
    )
