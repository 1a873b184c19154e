"""One turn's answer as it comes: updates in, events out, and at last how it ended."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping
from typing import Any

from qterm.hermes import failures
from qterm.hermes.live.updates import UpdateReader, current_session
from qterm.hermes.reply import EMPTY_ANSWER
from qterm.hermes.way import (
    Failed,
    FailureKind,
    HermesEvent,
    Outcome,
    Replied,
    TextDelta,
    ThoughtDelta,
    ToolSeen,
)

HELD_SECONDS = 1.0
"""How long a text that reads like an error is held back: hermes's answer follows one at once."""

LONG_SECONDS = 0.25
"""The same for one that is only long: it may well be a model that speaks in large pieces."""

LONGEST = 16_000_000
"""Code points of an answer; what comes beyond is no answer, and would fill the memory."""

_LONG = 60  # code points: a model's words come in shorter pieces, an error comes whole
_LIKE_AN_ERROR = re.compile(
    r"HTTP \d{3}|Error code: \d{3}|API call failed|API key|Provider said:|No reply:|^\s*Error:"
    r"|^Queued for the next turn",
    re.IGNORECASE,
)
QUEUED = "Queued for the next turn"
_BROKE_OFF = "hermes broke off this turn without a word: look at the details, then send it again."
_REFUSED = "The model refused to answer this: say it in other words."


class Answer:
    """Collects one turn's updates. `put` takes the events, in order.

    A provider's failure comes as text like any other; only the answer's lack of usage tells. So a
    text that may be one is held back until something follows it (rule N1).
    """

    def __init__(self, session: str, put: Callable[[HermesEvent], None]) -> None:
        self.session = session
        self._put = put
        self._reader = UpdateReader()
        self._shown: list[str] = []
        self._size = 0
        self._held = ""
        self._is_fresh = True  # nothing was said yet, or a tool came last
        self._release: asyncio.TimerHandle | None = None

    @property
    def partial(self) -> str:
        """What has come of it so far."""
        return "".join(self._shown) + self._held

    def update(self, update: object) -> None:
        """Take one update of the turn's session."""
        self.session = current_session(update) or self.session
        for event in self._reader.read(update):
            if isinstance(event, TextDelta):
                self._said(event.text)
                continue
            if isinstance(event, ToolSeen | ThoughtDelta):
                self.release()
                self._is_fresh = True
            self._put(event)

    def release(self) -> None:
        """Show what is held back: it is no error."""
        if self._release is not None:
            self._release.cancel()
            self._release = None
        if self._held:
            text, self._held = self._held, ""
            self._show(text)

    def outcome(self, answer: Mapping[str, Any], errors: str, *, is_command: bool) -> Outcome:
        """How the turn ended, by hermes's `answer` to its prompt.

        `errors` is the end of the process's standard error. A command of hermes's own
        (`is_command`) has no usage.
        """
        reason = answer.get("stopReason")
        if not is_command and not isinstance(answer.get("usage"), Mapping):
            return self._failed(errors)
        text = self.partial
        if not is_command and (not text.strip() or EMPTY_ANSWER.match(text)):
            self._drop()
            detail = failures.excerpt(text, "")
            return Failed(FailureKind.EMPTY, failures.EMPTY, detail, self.session)
        self.release()
        if reason == "cancelled" or reason in {"max_tokens", "max_turn_requests"}:
            return Failed(FailureKind.PROVIDER, failures.BROKE_OFF, "", self.session, text)
        if reason == "refusal":
            return Failed(FailureKind.PROVIDER, _REFUSED, "", self.session, text)
        return Replied(text.strip(), self.session)

    def _failed(self, errors: str) -> Failed:
        """A turn without usage: its last text is an error and no answer."""
        said = self._held or "".join(self._shown)
        partial = "".join(self._shown) if self._held else ""
        self._drop()
        if not said.strip():
            detail = failures.excerpt("", errors)
            return Failed(FailureKind.CRASHED, _BROKE_OFF, detail, self.session)
        if not partial and self._shown and failures.explain(1, said, "")[0] is FailureKind.PROVIDER:
            # What was shown long ago are Q's own words, and no error.
            detail = failures.excerpt("", errors)
            return Failed(FailureKind.PROVIDER, failures.BROKE_OFF, detail, self.session, said)
        kind, reason = failures.explain(1, said, "")
        return Failed(kind, reason, failures.excerpt(said, ""), self.session, partial)

    def _said(self, text: str) -> None:
        if self._held:
            self.release()
        elif self._is_fresh and (seconds := _doubtful(text)):
            self._held = text
            self._is_fresh = False
            self._release = asyncio.get_running_loop().call_later(seconds, self.release)
            return
        self._show(text)

    def _show(self, text: str) -> None:
        self._is_fresh = False
        text = text[: max(LONGEST - self._size, 0)]
        if text:
            self._size += len(text)
            self._shown.append(text)
            self._put(TextDelta(text))

    def _drop(self) -> None:
        self._held = ""
        self.release()


def _doubtful(text: str) -> float:
    """Seconds for which this text is held back; 0 where it is plainly an answer's."""
    if _LIKE_AN_ERROR.search(text):
        return HELD_SECONDS
    return LONG_SECONDS if len(text) > _LONG else 0.0
