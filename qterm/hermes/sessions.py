"""hermes's own sessions, read and named through its command line (rules S3 and S5).

`sessions export` is the dependable machine-readable read; words and exit codes prove nothing.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from qterm.hermes import launch, processes
from qterm.hermes.argv import base
from qterm.hermes.place import Capabilities, HermesPlace, HermesUnusable
from qterm.hermes.reply import exported_session
from qterm.hermes.way import SessionRecord, SessionState

log = logging.getLogger(__name__)

_SECONDS = 30.0
_LIMIT = 64 << 20


@dataclass(frozen=True, slots=True)
class Sessions:
    """The sessions of one hermes home."""

    place: HermesPlace
    known: Capabilities
    environ: Mapping[str, str]

    async def read(self, session: str) -> SessionRecord:
        """What hermes holds under this id; GONE only where it provably holds nothing."""
        finished = await self._run("export", "-", "--session-id", session)
        if finished is None:
            return SessionRecord(SessionState.UNKNOWN)
        found = exported_session(finished.out, session)
        if found is not None:
            return _record(found)
        crashed = finished.code not in {0, 1} or "Traceback (most recent" in finished.err
        return SessionRecord(SessionState.UNKNOWN if crashed or finished.cut else SessionState.GONE)

    async def name(self, session: str, name: str) -> bool:
        """Give a session a title; whether it has it is read back, never taken from words."""
        if await self._run("rename", session, "--", name) is None:
            return False
        return (await self.read(session)).title == name

    async def _run(self, *arguments: str) -> processes.Finished | None:
        try:
            return await launch.ask(
                self.place,
                [*base(self.place, self.known), "sessions", *arguments],
                home=None,
                environ=self.environ,
                seconds=_SECONDS,
                limit=_LIMIT,
            )
        except (OSError, TimeoutError, HermesUnusable) as error:
            log.warning("hermes's sessions could not be asked: %s", type(error).__name__)
            return None


def _record(found: Mapping[str, Any]) -> SessionRecord:
    messages = found.get("messages")
    spoken = tuple(
        (str(message.get("role")), _text(message.get("content")))
        for message in (messages if isinstance(messages, list) else [])
        if isinstance(message, dict) and message.get("role") in {"user", "assistant"}
    )
    title = found.get("title")
    return SessionRecord(SessionState.THERE, title if isinstance(title, str) else "", spoken)


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return ""
