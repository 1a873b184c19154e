"""The ACP messages of one process: the SDK's connection, with two promises of our own.

Every `session/update` is handled in the order it came, before whatever came after it (the SDK hands
them to tasks of their own, so that the last words may come after the answer). And nothing that is
read can break it: lines of any length, wrong JSON, unknown methods. The one module that touches
the SDK's insides.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from acp.connection import Connection

log = logging.getLogger(__name__)

LONGEST_LINE = 64 << 20
"""Bytes of a message; what is longer is dropped."""

UPDATE = "session/update"
PERMISSION = "session/request_permission"


class WireClosed(Exception):  # noqa: N818
    """The process does not answer any more."""


class Refused(Exception):  # noqa: N818
    """The process answered with an error; the text is its own."""


class Wire:
    """Sends requests and hands on what comes. Made by `open_wire`.

    `on_update` gets each update's params, in order; it must not raise. `on_request` answers a
    request for permission with its result.
    """

    def __init__(
        self,
        writer: asyncio.StreamWriter,
        on_update: Callable[[object], None],
        on_request: Callable[[object], Awaitable[dict[str, Any]]],
    ) -> None:
        self._writer = writer
        self._on_update = on_update
        self._on_request = on_request
        self._line: list[bytes] = []
        self._size = 0
        self._messages: asyncio.Queue[bytes] = asyncio.Queue()
        self._closed = asyncio.Event()
        self._connection: Connection | None = None

    async def open(self) -> None:
        """Make it ready; loads the SDK, in another thread."""
        quiet = await asyncio.to_thread(_connection_class)
        # The SDK only ever writes and drains the one, and reads lines of the other.
        self._connection = quiet(self._answer, _Writing(self._writer), self)

    @property
    def is_closed(self) -> bool:
        """Whether nothing more can be said."""
        return self._closed.is_set()

    async def request(self, method: str, params: Mapping[str, Any]) -> Any:
        """Ask, and wait for the answer. Raises WireClosed and Refused."""
        from acp.exceptions import RequestError

        if self._connection is None or self.is_closed:
            raise WireClosed
        asking = asyncio.ensure_future(self._connection.send_request(method, dict(params)))
        closed = asyncio.ensure_future(self._closed.wait())
        try:
            await asyncio.wait({asking, closed}, return_when=asyncio.FIRST_COMPLETED)
            if not asking.done():
                raise WireClosed
            return asking.result()
        except RequestError as error:
            raise Refused(f"{error} ({_said(error)})" if _said(error) else str(error)) from None
        except ConnectionError:
            raise WireClosed from None
        finally:
            asking.cancel()
            closed.cancel()
            await asyncio.gather(asking, closed, return_exceptions=True)

    async def notify(self, method: str, params: Mapping[str, Any]) -> None:
        """Tell something that has no answer; nothing happens where nobody hears it."""
        if self._connection is not None and not self.is_closed:
            await self._connection.send_notification(method, dict(params))

    def feed(self, data: bytes) -> None:
        """More of what the process printed, cut anywhere."""
        *whole, rest = data.split(b"\n")
        for part in whole:
            self._add(part)
            if self._size <= LONGEST_LINE:
                self._handle(b"".join(self._line))
            else:
                log.warning("hermes sent a message of %d bytes: it is dropped", self._size)
            self._line.clear()
            self._size = 0
        self._add(rest)

    async def close(self) -> None:
        """Let go; whoever waits for an answer gets WireClosed."""
        self._closed.set()
        self._writer.transport.abort()  # first: whoever waits to write is let go
        if self._connection is not None:
            await self._connection.close()

    async def readline(self) -> bytes:
        """The next message for the SDK's connection, which reads from here."""
        return await self._messages.get()

    def _add(self, part: bytes) -> None:
        self._size += len(part)
        if part and self._size <= LONGEST_LINE:
            self._line.append(part)

    def _handle(self, line: bytes) -> None:
        if not line.strip():
            return
        message = _decoded(line)
        if not isinstance(message, dict):
            log.debug("hermes printed %d bytes that are no message", len(line))
            return
        method, number = message.get("method"), message.get("id")
        if method is None:
            if _is_id(number):
                self._messages.put_nowait(_plain(line, message))
        elif method == UPDATE:
            self._on_update(message.get("params"))
        elif not _is_id(number):
            log.debug("hermes told something that is not known here")
        elif method == PERMISSION:
            self._messages.put_nowait(_plain(line, message))
        else:
            self._refuse(number)

    def _refuse(self, number: object) -> None:
        """Answer a request that is not offered here."""
        error = {"code": -32601, "message": "Method not found"}
        answer = {"jsonrpc": "2.0", "id": number, "error": error}
        _Writing(self._writer).write(json.dumps(answer).encode() + b"\n")

    async def _answer(self, method: str, params: Any, is_notification: bool) -> dict[str, Any]:
        return await self._on_request(params)


class _Writing:
    """The writer the SDK gets: a pipe that broke raises nothing, its process's end tells it."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer

    def write(self, data: bytes) -> None:
        if not self._writer.transport.is_closing():
            self._writer.write(data)

    async def drain(self) -> None:
        try:
            await self._writer.drain()
        except OSError:
            log.debug("hermes does not read any more")


def _connection_class() -> Any:
    """The SDK's connection, which logs its troubles without a traceback of what was said."""
    from acp.connection import Connection

    class Quiet(Connection):
        def _on_task_error(self, task: asyncio.Task[Any], exc: BaseException) -> None:
            log.warning("a request of hermes could not be answered: %s", type(exc).__name__)

        def _on_receive_error(self, task: asyncio.Task[Any], exc: BaseException) -> None:
            log.warning("a message of hermes could not be read: %s", type(exc).__name__)
            self._state.reject_all_outgoing(ConnectionError())

    return Quiet


def _is_id(number: object) -> bool:
    return isinstance(number, int | str) and not isinstance(number, bool)


def _decoded(line: bytes) -> object:
    try:
        return msgspec.json.decode(line)
    except (ValueError, RecursionError):
        pass
    try:  # a lone surrogate is no JSON for msgspec, and hermes passes it
        found: object = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return found


def _plain(line: bytes, message: dict[str, Any]) -> bytes:
    """The line as the SDK can read it: an error has to be an object there."""
    if "error" in message and not isinstance(message["error"], Mapping):
        message["error"] = {"message": str(message["error"])[:500]}
        return json.dumps(message).encode()
    return line


def _said(error: Any) -> str:
    data = getattr(error, "data", None)
    if isinstance(data, Mapping):
        data = data.get("details") or data.get("message")
    return data[:2000] if isinstance(data, str) else ""
