"""What a hermes that is kept running tells: ACP's JSON in, events of the seam out. Pure.

Read as plain JSON: what is unknown, missing or of another type says nothing, and never raises.
Every text is bounded: a tool's result of ten megabytes is shown cut, with a mark.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from qterm.hermes.way import (
    Answer,
    Approval,
    CommandsSeen,
    Diff,
    Happening,
    HermesCommand,
    ModesSeen,
    PlanSeen,
    PlanStep,
    SessionMode,
    TextDelta,
    ThoughtDelta,
    ToolSeen,
    UsageSeen,
)

LONGEST = 64_000
"""Code points of a tool's arguments, its result, and each side of a diff that are kept."""

_TITLE = 2_000
_MOST = 200  # steps, diffs, commands, modes
_TOOLS = 2_000  # calls of a turn whose title is remembered
_OPTIONS = {
    "allow_once": Answer.ONCE,
    "allow_session": Answer.SESSION,
    "allow_always": Answer.ALWAYS,
    "deny": Answer.DENY,
}
_KINDS = {"allow_once": Answer.ONCE, "reject_once": Answer.DENY}
"""What an option of another name is taken for. ACP's `allow_always` may mean the session or
hermes's config, so that an option of that kind and an unknown name is not offered."""


def bounded(text: str, limit: int = LONGEST) -> str:
    """The text, cut where it is longer, with a line that says how much there was."""
    if len(text) <= limit:
        return text
    return f"{text[:limit]}\n… (cut: {len(text):,} characters in all)"


@dataclass(slots=True)
class UpdateReader:
    """Reads one turn's updates in order; it remembers what each tool call is called."""

    _tools: dict[str, tuple[str, str]] = field(default_factory=dict)

    def read(self, update: object) -> list[TextDelta | Happening]:
        """The events one `update` of a `session/update` stands for; none for what is unknown."""
        found: list[TextDelta | Happening] = []
        if not isinstance(update, Mapping):
            return found
        match update.get("sessionUpdate"):
            case "agent_message_chunk":
                text = _text(update.get("content"))
                found = [TextDelta(text)] if text else []
            case "agent_thought_chunk":
                text = _text(update.get("content"))
                found = [ThoughtDelta(bounded(text))] if text else []
            case "tool_call" | "tool_call_update":
                found = self._tool(update)
            case "plan":
                found = _plan(update)
            case "usage_update":
                used, size = _number(update.get("used")), _number(update.get("size"))
                found = [] if used is None or size is None else [UsageSeen(used, size)]
            case "current_mode_update":
                mode = update.get("currentModeId")
                found = [ModesSeen(mode, ())] if isinstance(mode, str) and mode else []
            case "available_commands_update":
                found = [CommandsSeen(_commands(update))]
        return found

    def _tool(self, update: Mapping[str, Any]) -> list[TextDelta | Happening]:
        """One sighting of a tool call; an update to one that was never told of is none: hermes
        ends its own requests for permission so."""
        call = _word(update.get("toolCallId"))
        is_new = update.get("sessionUpdate") == "tool_call"
        title, kind = self._tools.get(call, ("", ""))
        if not is_new and not title:
            return []
        title = _word(update.get("title"), _TITLE) or title or "tool"
        kind = _word(update.get("kind")) or kind
        if len(self._tools) < _TOOLS or call in self._tools:
            self._tools[call] = (title, kind)
        texts, diffs = _contents(update.get("content"))
        state = _word(update.get("status")) or ("pending" if is_new else "in_progress")
        result = _as_text(update.get("rawOutput")) or ("" if is_new else texts)
        detail = _as_text(update.get("rawInput")) or (texts if is_new else "")
        return [ToolSeen(title, state, detail, call, kind, result, diffs)]


def session_of(params: object) -> str:
    """The session a message is about; empty where it does not say."""
    return _word(params.get("sessionId")) if isinstance(params, Mapping) else ""


def modes_of(answer: object) -> ModesSeen | None:
    """The modes in the answer to `session/new` or `session/load`.

    None where there are none: then hermes does not know the session (its answer is empty).
    """
    modes = answer.get("modes") if isinstance(answer, Mapping) else None
    if not isinstance(modes, Mapping):
        return None
    found = [
        SessionMode(
            _word(mode.get("id")), _word(mode.get("name"), _TITLE), _word(mode.get("description"))
        )
        for mode in _mappings(modes.get("availableModes"))
        if _word(mode.get("id"))
    ]
    return ModesSeen(_word(modes.get("currentModeId")), tuple(found))


def current_session(update: object) -> str:
    """The id hermes stores the session under by now (compression moves it); empty if unsaid."""
    place: object = update
    for key in ("_meta", "hermes", "sessionProvenance"):
        place = place.get(key) if isinstance(place, Mapping) else None
    return _word(place.get("currentHermesSessionId")) if isinstance(place, Mapping) else ""


def approval_of(params: object, *, id: str, where: str, seconds: float) -> Approval | None:  # noqa: A002
    """The request for permission in these `params`; None where it names nothing to allow.

    `where` is the folder a command runs in, `seconds` how long hermes waits.
    """
    if not isinstance(params, Mapping) or not isinstance(params.get("toolCall"), Mapping):
        return None
    call = params["toolCall"]
    answers = frozenset(_answers(params)) | {Answer.DENY}
    texts, diffs = _contents(call.get("content"))
    given = call.get("rawInput") if isinstance(call.get("rawInput"), Mapping) else {}
    command, why = given.get("command"), given.get("description")
    title = _word(call.get("title"), LONGEST)
    kind = _word(call.get("kind"))
    if not isinstance(command, str) or not command.strip():
        command = ", ".join(diff.path for diff in diffs) if diffs else texts or title
        where = diffs[0].path if diffs else where
    if not command.strip():
        return None
    reason = why if isinstance(why, str) and why.strip() else title
    return Approval(
        id=id,
        what=bounded(command),
        where=where,
        why=bounded(reason, _TITLE),
        kind=kind,
        answers=answers,
        seconds=seconds,
        diffs=diffs,
    )


def option_for(params: object, answer: Answer) -> str | None:
    """The id of hermes's option for this answer; None where it offers none."""
    if not isinstance(params, Mapping):
        return None
    return _answers(params).get(answer)


def _answers(params: Mapping[str, Any]) -> dict[Answer, str]:
    found: dict[Answer, str] = {}
    for option in _mappings(params.get("options")):
        name = option.get("optionId")
        if not isinstance(name, str):
            continue
        answer = _OPTIONS.get(name)
        if answer is not None:
            found[answer] = name
        elif (answer := _KINDS.get(_word(option.get("kind")))) is not None:
            found.setdefault(answer, name)
    return found


def _plan(update: Mapping[str, Any]) -> list[TextDelta | Happening]:
    entries = update.get("entries")
    if not isinstance(entries, list):
        return []
    steps = [
        PlanStep(_word(entry.get("content"), _TITLE), _word(entry.get("status")) or "pending")
        for entry in _mappings(entries)
        if _word(entry.get("content"), _TITLE)
    ]
    return [PlanSeen(tuple(steps))]


def _commands(update: Mapping[str, Any]) -> tuple[HermesCommand, ...]:
    found = []
    for command in _mappings(update.get("availableCommands")):
        name = _word(command.get("name"))
        if name:
            given = command.get("input")
            hint = _word(given.get("hint")) if isinstance(given, Mapping) else ""
            found.append(HermesCommand(name, _word(command.get("description"), _TITLE), hint))
    return tuple(found)


def _contents(content: object) -> tuple[str, tuple[Diff, ...]]:
    """The texts and the diffs of a tool call."""
    texts, diffs = [], []
    for part in _mappings(content):
        match part.get("type"):
            case "content":
                texts.append(_text(part.get("content")))
            case "diff":
                old, new = part.get("oldText"), part.get("newText")
                diffs.append(
                    Diff(
                        _word(part.get("path"), _TITLE),
                        bounded(old) if isinstance(old, str) else None,
                        bounded(new) if isinstance(new, str) else "",
                    )
                )
    return bounded("\n".join(text for text in texts if text)), tuple(diffs)


def _text(content: object) -> str:
    text = content.get("text") if isinstance(content, Mapping) else None
    return text if isinstance(text, str) else ""


def _as_text(value: object) -> str:
    """A tool's raw arguments or result, as a person reads it."""
    if value is None or isinstance(value, str):
        return bounded(value or "")
    try:
        return bounded(json.dumps(value, ensure_ascii=False, indent=2))
    except (ValueError, TypeError, RecursionError):
        return ""


def _word(value: object, limit: int = 500) -> str:
    return value[:limit] if isinstance(value, str) else ""


def _number(value: object) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if 0 <= value < 1e15 else None  # neither NaN nor infinity


def _mappings(values: object) -> Sequence[Mapping[str, Any]]:
    if not isinstance(values, list):
        return ()
    return [value for value in values[:_MOST] if isinstance(value, Mapping)]


def stamp_of(answer: object, names: Collection[str]) -> str | None:
    """When a session was last written to, by hermes's list of sessions; None where it isn't in."""
    sessions = answer.get("sessions") if isinstance(answer, Mapping) else None
    for found in sessions if isinstance(sessions, list) else ():
        if isinstance(found, Mapping) and found.get("sessionId") in names:
            stamp = found.get("updatedAt")
            return stamp if isinstance(stamp, str) else None
    return None
