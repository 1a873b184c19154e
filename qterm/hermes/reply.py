"""Reading what hermes prints: bytes go in as they come, events and one outcome come out.

Pure: no process, no file. Three shapes: `-z` with its usage file, `chat -Q`, and `chat -Q --format
stream-json` (docs/hermes.md, *Reading the answer*).
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Mapping
from typing import Any, Protocol

import msgspec

from qterm.hermes import failures
from qterm.hermes.argv import Shape
from qterm.hermes.text_parts import Lines, Tail
from qterm.hermes.way import (
    Failed,
    FailureKind,
    HermesEvent,
    Outcome,
    Replied,
    SessionSeen,
    Stopped,
    TextDelta,
    ToolSeen,
)

_SESSION_LINE = re.compile(
    r"session_id: (\d{8}_\d{6}_[0-9a-f]{6,8}"
    r"|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\s*"
)
# What `chat -Q` of 0.19 prints above the reply: its own lines end in CR LF, the reply's in LF.
_BANNER = re.compile(r"(?:[ \t]+⚠[^\n]*\r\n)*")
# The one text that has to be compared: 0.19 calls an empty answer a completed one.
EMPTY_ANSWER = re.compile(r"\s*⚠\ufe0f? No reply: the model returned empty content\b")
_INTERRUPTED = frozenset({130, -2})


class ReplyReader(Protocol):
    """Reads one call's output. `outcome` is asked once, after both streams have ended."""

    def out(self, data: bytes) -> list[HermesEvent]:
        """More of standard output, cut anywhere; returns what can be shown now."""
        ...

    def err(self, data: bytes) -> list[HermesEvent]:
        """More of standard error, cut anywhere; returns what can be shown now."""
        ...

    @property
    def partial(self) -> str:
        """What has come of the answer so far."""
        ...

    @property
    def session(self) -> str | None:
        """The session hermes named so far."""
        ...

    @property
    def nothing_printed(self) -> bool:
        """True while standard output is empty."""
        ...

    @property
    def errors(self) -> str:
        """The last part of standard error."""
        ...

    def outcome(
        self, exit_code: int, *, usage: Mapping[str, Any] | None = None, stopped: bool = False
    ) -> Outcome:
        """How the turn ended.

        `exit_code` is the process's, negative for a signal; `usage` what the usage file holds, if
        there is one; `stopped` says that qterm ended it. A reply that was whole by then counts.
        """
        ...


def reader_for(shape: Shape) -> ReplyReader:
    """The reader for a call of this shape."""
    readers: dict[Shape, Callable[[], ReplyReader]] = {
        Shape.ONESHOT: _Oneshot,
        Shape.CHAT: _Chat,
        Shape.STREAM: _Stream,
    }
    return readers[shape]()


def exported_session(export_stdout: str, session: str) -> Mapping[str, Any] | None:
    """The session in what `hermes sessions export - --session-id ID` printed, None without one.

    Only the lack of a JSON line with that id proves that it is gone (rule S5); what else is
    printed does not matter. The caller makes sure that the export itself ran to its end.
    """
    for line in export_stdout.splitlines():
        found = _json_object(line)
        if found is not None and found.get("id") == session:
            return found
    return None


def is_usage_error(exit_code: int, reader: ReplyReader, usage: Mapping[str, Any] | None) -> bool:
    """Whether hermes did not know the arguments: nothing was run, so another try is safe."""
    return (
        exit_code == 2
        and reader.nothing_printed
        and usage is None
        and re.search(r"^usage:", reader.errors, re.MULTILINE) is not None
    )


class _Reader:
    """What the three have in common: decoding, standard error, the session's line."""

    def __init__(self) -> None:
        decoder = codecs.getincrementaldecoder("utf-8")
        self._out, self._err = decoder("replace"), decoder("replace")
        self._err_lines, self._err_tail = Lines(), Tail()
        self._session: str | None = None
        self._nothing = True

    @property
    def session(self) -> str | None:
        return self._session

    @property
    def nothing_printed(self) -> bool:
        return self._nothing

    @property
    def errors(self) -> str:
        return self._err_tail.text

    def out(self, data: bytes) -> list[HermesEvent]:
        self._nothing = self._nothing and not data.strip()
        return self._text(self._out.decode(data))

    def err(self, data: bytes) -> list[HermesEvent]:
        text = self._err.decode(data)
        self._err_tail.add(text)
        return [seen for line in self._err_lines.feed(text) for seen in self._error_line(line)]

    def _error_line(self, line: str) -> list[HermesEvent]:
        match = _SESSION_LINE.fullmatch(line)
        return self._saw_session(match[1]) if match else []

    def _saw_session(self, session: str) -> list[HermesEvent]:
        if session == self._session:
            return []
        self._session = session
        return [SessionSeen(session)]

    def _end(self) -> None:
        self._text(self._out.decode(b"", final=True))
        self._err_tail.add(self._err.decode(b"", final=True))
        for line in self._err_lines.end():
            self._error_line(line)

    def _text(self, text: str) -> list[HermesEvent]:
        raise NotImplementedError

    @property
    def _printed(self) -> str:
        """What was printed to standard output, as far as it explains a failure."""
        raise NotImplementedError

    def _failed(self, exit_code: int, said: str = "", partial: str = "") -> Failed:
        kind, reason = failures.explain(exit_code, said or self._printed, self.errors)
        detail = failures.excerpt(self._printed, self.errors)
        return Failed(kind, reason, detail, self._session, partial)


class _Plain(_Reader):
    """A reply printed as plain text, all of it at the end: nothing can be shown earlier.

    What was printed may turn out to be an error, so none of it is passed on before the end.
    """

    def __init__(self) -> None:
        super().__init__()
        self._parts: list[str] = []

    def _text(self, text: str) -> list[HermesEvent]:
        if text:
            self._parts.append(text)
        return []

    @property
    def _printed(self) -> str:
        return "".join(self._parts)

    @property
    def partial(self) -> str:
        return self._printed.strip("\r\n")

    def _replied(self) -> Outcome:
        text = self.partial
        if not text.strip() or EMPTY_ANSWER.match(text):
            return Failed(
                FailureKind.EMPTY,
                failures.EMPTY,
                failures.excerpt(self._printed, self.errors),
                self._session,
            )
        return Replied(text, self._session)


class _Oneshot(_Plain):
    """`hermes -z`: the usage file tells whether it went well, the exit code does not."""

    def outcome(
        self, exit_code: int, *, usage: Mapping[str, Any] | None = None, stopped: bool = False
    ) -> Outcome:
        self._end()
        report = usage or {}
        named = report.get("session_id")
        if isinstance(named, str) and named:
            self._session = named
        if report.get("interrupted") or exit_code in _INTERRUPTED:
            return Stopped(self.partial, self._session)
        bad = report.get("failed") or report.get("partial") or report.get("completed") is False
        whole = exit_code == 0 or (exit_code < 0 and report.get("completed") is True)
        if whole and not bad and (self.partial or not stopped):
            return self._replied()
        if stopped:
            return Stopped(self.partial, self._session)
        if exit_code >= 0 and self.partial and report and not report.get("failed"):
            detail = failures.excerpt(self._printed, self.errors)
            kind = FailureKind.PROVIDER
            return Failed(kind, failures.BROKE_OFF, detail, self._session, self.partial)
        return self._failed(exit_code, str(report.get("failure") or ""))


class _Chat(_Plain):
    """`hermes chat -Q`: the reply below a banner, the session's id on standard error."""

    @property
    def _printed(self) -> str:
        text = super()._printed
        banner = _BANNER.match(text)
        return text[banner.end() :] if banner else text

    def outcome(
        self, exit_code: int, *, usage: Mapping[str, Any] | None = None, stopped: bool = False
    ) -> Outcome:
        self._end()
        text = self.partial
        # Death by a signal after a text and an id line is a crash at shut-down: the reply stands.
        whole = exit_code == 0 or (exit_code < 0 and bool(text) and self._session is not None)
        if exit_code in _INTERRUPTED or (stopped and not (whole and text)):
            return Stopped(text, self._session)
        if whole:
            return self._replied()
        return self._failed(exit_code, partial=text if exit_code < 0 else "")


class _Stream(_Reader):
    """`hermes chat -Q --format stream-json`: one JSON object a line."""

    def __init__(self) -> None:
        super().__init__()
        self._lines = Lines()
        self._noise = Tail()
        self._said: list[str] = []
        self._before_tools = 0  # how many parts of `_said` came before the last tool
        self._tool_came = False
        self._result: dict[str, Any] | None = None

    @property
    def partial(self) -> str:
        return "".join(self._said)

    @property
    def _printed(self) -> str:
        return self._noise.text

    def _text(self, text: str) -> list[HermesEvent]:
        return _joined([seen for line in self._lines.feed(text) for seen in self._line(line)])

    def _end(self) -> None:
        super()._end()
        for line in self._lines.end():
            self._line(line)

    def _line(self, line: str) -> list[HermesEvent]:
        event = _json_object(line)
        kind = event.get("type") if event is not None else None
        if event is None or not isinstance(kind, str):
            if line.strip():
                self._noise.add(line + "\n")
            return []
        if kind == "system":
            return self._named(event)
        if kind == "text":
            return self._delta(event)
        if kind in {"tool_use", "tool_result"}:
            return self._tool(kind, event)
        if kind == "result":
            self._result = event
            return self._named(event)
        return []  # a newer hermes may say more

    def _named(self, event: Mapping[str, Any]) -> list[HermesEvent]:
        session = event.get("session_id")
        return self._saw_session(session) if isinstance(session, str) and session else []

    def _delta(self, event: Mapping[str, Any]) -> list[HermesEvent]:
        text = event.get("text")
        if not isinstance(text, str) or not text:
            return []
        if self._tool_came:
            self._tool_came = False
            if self.partial.strip():  # what was said before and after a tool are two paragraphs
                self._said.append("\n\n")
                self._before_tools = len(self._said)
                self._said.append(text)
                return [TextDelta("\n\n" + text)]
        self._said.append(text)
        return [TextDelta(text)]

    def _tool(self, kind: str, event: Mapping[str, Any]) -> list[HermesEvent]:
        self._tool_came = True
        name = str(event.get("name") or "tool")
        if kind == "tool_use":
            given = event.get("input")
            detail = msgspec.json.encode(given).decode() if isinstance(given, dict) else ""
            return [ToolSeen(name, "started", failures.clip(detail))]
        state = "failed" if event.get("is_error") else "completed"
        return [ToolSeen(name, state, failures.clip(str(event.get("output") or "")))]

    def outcome(
        self, exit_code: int, *, usage: Mapping[str, Any] | None = None, stopped: bool = False
    ) -> Outcome:
        self._end()
        partial, result = self.partial, self._result
        if result is not None and result.get("exit_code") == 0 and not result.get("error"):
            if partial.strip() and exit_code <= 0:
                return Replied(self._answer(result), self._session)
            if exit_code == 0 and not stopped:
                detail = failures.excerpt(self._printed, self.errors)
                return Failed(FailureKind.EMPTY, failures.EMPTY, detail, self._session)
        code = result.get("exit_code") if result is not None else None
        if stopped or exit_code in _INTERRUPTED or code in _INTERRUPTED:
            return Stopped(partial, self._session)
        said = str(result.get("error") or result.get("text") or "") if result is not None else ""
        return self._failed(exit_code, said, partial)

    def _answer(self, result: Mapping[str, Any]) -> str:
        """The whole answer: what was said before the tools, and hermes's own last word.

        Its last word is taken from the result: a retry may have streamed a part twice.
        """
        final = result.get("text")
        if not isinstance(final, str) or not final.strip():
            return self.partial
        return "".join([*self._said[: self._before_tools], final])


def _joined(events: list[HermesEvent]) -> list[HermesEvent]:
    """The same events with neighbouring deltas put together."""
    joined: list[HermesEvent] = []
    texts: list[str] = []
    for event in events:
        if isinstance(event, TextDelta):
            texts.append(event.text)
            continue
        if texts:
            joined.append(TextDelta("".join(texts)))
            texts.clear()
        joined.append(event)
    return [*joined, TextDelta("".join(texts))] if texts else joined


def _json_object(line: str) -> dict[str, Any] | None:
    if not line.lstrip().startswith("{"):
        return None
    try:
        found = msgspec.json.decode(line)
    except (msgspec.MsgspecError, UnicodeError):
        return None
    return found if isinstance(found, dict) else None
