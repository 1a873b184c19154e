"""Work on hermes's memory beside the screens: in a thread, since it reads, locks and reckons."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from textual.message import Message

from qterm.services import Services
from qterm.tui.desk import messages

if TYPE_CHECKING:
    from qterm.memory.book import MemoryBook
    from qterm.tui.desk.desk import Start

log = logging.getLogger(__name__)

Work = Callable[["MemoryBook"], object]
"""What is done in a thread; it raises a MemoryFault with one sentence where it can't be."""


@dataclass
class MemoryWork:
    """`post` brings what came of it to whoever asked, `start` runs a worker there.

    What came of it is a `messages.MemoryDone` or a `messages.MemoryFailed` with the same `what`.
    """

    services: Services
    post: Callable[[Message], object]
    start: Start
    _due: dict[str, Work] = field(default_factory=dict)
    _at_work: set[str] = field(default_factory=set)
    _leave_nothing: set[str] = field(default_factory=set)
    _one_ended: asyncio.Event = field(default_factory=asyncio.Event)

    def ask(self, what: str, work: Work, *, leaves_nothing: bool = False) -> None:
        """Look at something: of several with the same `what`, only the newest counts.

        It follows the one that is at work, whose answer is not told any more. With
        `leaves_nothing` it writes nothing at all, so that quitting doesn't wait for its end.
        """
        self._due[what] = work
        if leaves_nothing:
            self._leave_nothing.add(what)
        if what not in self._at_work:
            self._at_work.add(what)
            self._run(what, partial(self._work_off, what))

    async def ended(self, begins: str) -> None:
        """Wait until nothing that was asked for under a name that begins so is to be done."""
        while any(what.startswith(begins) for what in self._at_work):
            self._one_ended.clear()
            await self._one_ended.wait()

    def change(self, what: str, work: Work) -> None:
        """Change something: every one of them is done, and told."""
        self._run(what, partial(self._do, what, work))

    def _run(self, what: str, work: Callable[[], Awaitable[None]]) -> None:
        self.start(
            work,
            group=f"memory {what}",
            exclusive=False,
            exit_on_error=False,
            name=f"memory {what}",
            description=f"qterm: memory {what}",
        )

    async def _work_off(self, what: str) -> None:
        try:
            while (work := self._due.pop(what, None)) is not None:
                await self._do(what, work, is_latest=lambda: what not in self._due)
        finally:
            self._at_work.discard(what)
            self._one_ended.set()

    async def _do(
        self, what: str, work: Work, is_latest: Callable[[], bool] = lambda: True
    ) -> None:
        from qterm.memory.errors import MemoryFault

        try:
            in_thread = in_daemon if what in self._leave_nothing else asyncio.to_thread
            found = await in_thread(lambda: work(self._open()))
        except MemoryFault as error:
            told: Message = messages.MemoryFailed(what, str(error), error)
        except Exception as error:
            log.exception("work on the memory failed")
            sentence = (
                f"Something went wrong inside qterm ({type(error).__name__}); the log has the "
                "details. Nothing in the memory was changed, unless you were told so."
            )
            told = messages.MemoryFailed(what, sentence, error)
        else:
            told = messages.MemoryDone(what, found)
        if is_latest():
            self.post(told)

    def _open(self) -> MemoryBook:
        from qterm.memory.opening import open_memory

        services = self.services
        return open_memory(services.loaded, services.environ, now=services.conversation.now)


async def in_daemon(work: Callable[[], object]) -> object:
    """What `work` gives, done in a thread that ends with the process, wherever it is by then."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[object] = loop.create_future()

    def tell(found: object, error: BaseException | None) -> None:
        if done.done():  # nobody waits for it any more
            return
        if error is not None:
            done.set_exception(error)
        else:
            done.set_result(found)

    def run() -> None:
        found, caught = None, None
        try:
            found = work()
        except BaseException as error:  # noqa: BLE001 - whoever waits gets it
            caught = error
        with suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(tell, found, caught)

    threading.Thread(target=run, name="qterm memory", daemon=True).start()
    return await done
