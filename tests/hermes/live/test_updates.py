"""What hermes tells while it works: JSON in, events out."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qterm.hermes.live import updates
from qterm.hermes.live.commands import as_text
from qterm.hermes.live.updates import LONGEST, UpdateReader
from qterm.hermes.way import (
    Answer,
    CommandsSeen,
    Diff,
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

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4)
    ),
    max_leaves=20,
)
KINDS = st.sampled_from(
    [
        "agent_message_chunk",
        "agent_thought_chunk",
        "tool_call",
        "tool_call_update",
        "plan",
        "usage_update",
        "current_mode_update",
        "available_commands_update",
        "who knows",
    ]
)
KEYS = st.sampled_from(
    [
        *("content", "toolCallId", "title", "kind", "status", "rawInput", "rawOutput", "entries"),
        *("used", "size", "currentModeId", "availableCommands", "type", "text", "path", "oldText"),
        *("newText", "name", "input", "hint", "options", "optionId", "toolCall", "modes"),
    ]
)
NEAR = st.recursive(
    JSON,
    lambda inner: st.dictionaries(KEYS, inner, max_size=6) | st.lists(inner, max_size=3),
    max_leaves=15,
)


@given(kind=KINDS, body=st.dictionaries(KEYS, NEAR, max_size=8), other=NEAR)
def test_any_json_gives_events_or_nothing(kind: str, body: dict[str, Any], other: Any) -> None:
    reader = UpdateReader()
    for update in ({**body, "sessionUpdate": kind}, other, {**body, "sessionUpdate": other}):
        for event in reader.read(update):
            assert event is not None
    updates.modes_of(body)
    updates.session_of(body)
    updates.current_session({"_meta": body})
    for params in (body, other, {"toolCall": body, "options": other}):
        approval = updates.approval_of(params, id="1", where="/w", seconds=60)
        assert approval is None or Answer.DENY in approval.answers
        for answer in Answer:
            option = updates.option_for(params, answer)
            assert option is None or isinstance(option, str)


def read(*told: dict[str, Any]) -> list[object]:
    reader = UpdateReader()
    return [event for update in told for event in reader.read(update)]


def text(words: str) -> dict[str, Any]:
    return {"type": "content", "content": {"type": "text", "text": words}}


def test_texts_and_thoughts() -> None:
    said = {"type": "text", "text": "Hi."}
    assert read(
        {"sessionUpdate": "agent_thought_chunk", "content": said},
        {"sessionUpdate": "agent_message_chunk", "content": said},
        {"sessionUpdate": "user_message_chunk", "content": said},
    ) == [ThoughtDelta("Hi."), TextDelta("Hi.")]


def test_a_tool_keeps_its_name() -> None:
    start = {
        "sessionUpdate": "tool_call",
        "toolCallId": "t1",
        "title": "terminal: ls",
        "kind": "execute",
        "content": [text("$ ls")],
    }
    end = {
        "sessionUpdate": "tool_call_update",
        "toolCallId": "t1",
        "status": "completed",
        "content": [text("a\nb")],
    }
    assert read(start, end) == [
        ToolSeen("terminal: ls", "pending", "$ ls", "t1", "execute"),
        ToolSeen("terminal: ls", "completed", "", "t1", "execute", "a\nb"),
    ]


def test_the_end_of_a_request_for_permission_is_no_tool() -> None:
    end = {"sessionUpdate": "tool_call_update", "toolCallId": "perm-check-1", "status": "completed"}
    assert read(end) == []


def test_a_diff() -> None:
    diff = {"type": "diff", "path": "/w/f", "oldText": None, "newText": "x" * (LONGEST + 1)}
    (seen,) = read({"sessionUpdate": "tool_call", "toolCallId": "t", "content": [diff]})
    assert isinstance(seen, ToolSeen)
    (found,) = seen.diffs
    assert (found.path, found.old) == ("/w/f", None)
    assert found.new.startswith("x" * LONGEST + "\n… (cut: 64,001")


def test_a_huge_result_is_cut_with_a_mark() -> None:
    told = {"sessionUpdate": "tool_call", "toolCallId": "t", "title": "t", "rawOutput": "y" * 10**7}
    (seen,) = read(told)
    assert isinstance(seen, ToolSeen)
    assert len(seen.result) < LONGEST + 60 and "cut: 10,000,000" in seen.result


def test_plan_usage_mode_and_commands() -> None:
    assert read(
        {"sessionUpdate": "plan", "entries": [{"content": "One", "status": "completed"}, 5, {}]},
        {"sessionUpdate": "usage_update", "used": 10, "size": 100},
        {"sessionUpdate": "usage_update", "used": "10", "size": 100},
        {"sessionUpdate": "current_mode_update", "currentModeId": "dont_ask"},
        {
            "sessionUpdate": "available_commands_update",
            "availableCommands": [{"name": "model", "description": "d", "input": {"hint": "h"}}, 1],
        },
    ) == [
        PlanSeen((PlanStep("One", "completed"),)),
        UsageSeen(10, 100),
        ModesSeen("dont_ask", ()),
        CommandsSeen((HermesCommand("model", "d", "h"),)),
    ]


def test_modes() -> None:
    modes = {"currentModeId": "a", "availableModes": [{"id": "a", "name": "A"}, {}]}
    assert updates.modes_of({"modes": modes}) == ModesSeen("a", (SessionMode("a", "A"),))
    assert updates.modes_of({}) is None
    assert updates.modes_of({"modes": None}) is None


def option(name: str, kind: str) -> dict[str, str]:
    return {"optionId": name, "kind": kind, "name": name}


COMMAND = {
    "toolCall": {
        "title": "delete in root path: rm -rf /x",
        "kind": "execute",
        "content": [text("delete in root path\n$ rm -rf /x")],
        "rawInput": {"command": "rm -rf /x", "description": "delete in root path"},
    },
    "options": [
        option("allow_once", "allow_once"),
        option("allow_session", "allow_always"),
        option("allow_always", "allow_always"),
        option("deny", "reject_once"),
        option("deny_always", "reject_always"),
    ],
}


def test_a_command_to_approve() -> None:
    approval = updates.approval_of(COMMAND, id="3", where="/w", seconds=60)
    assert approval is not None
    assert (approval.what, approval.where, approval.why) == (
        "rm -rf /x",
        "/w",
        "delete in root path",
    )
    assert approval.answers == set(Answer)
    assert [updates.option_for(COMMAND, answer) for answer in Answer] == [
        "allow_once",
        "allow_session",
        "allow_always",
        "deny",
    ]


def test_an_edit_to_approve() -> None:
    diff = {"type": "diff", "path": "/w/f", "oldText": "a", "newText": "b"}
    params = {
        "toolCall": {"title": "Approve edit: /w/f", "kind": "edit", "content": [diff]},
        "options": [option("allow_once", "allow_once"), option("deny", "reject_once")],
    }
    approval = updates.approval_of(params, id="1", where="/w", seconds=60)
    assert approval is not None
    assert (approval.what, approval.where, approval.kind) == ("/w/f", "/w/f", "edit")
    assert approval.diffs == (Diff("/w/f", "a", "b"),)
    assert approval.answers == {Answer.ONCE, Answer.DENY}


def test_an_unknown_option_that_lasts_is_not_offered() -> None:
    params = {
        **COMMAND,
        "options": [option("for_ever", "allow_always"), option("yes", "allow_once")],
    }
    approval = updates.approval_of(params, id="1", where="/w", seconds=60)
    assert approval is not None and approval.answers == {Answer.ONCE, Answer.DENY}
    assert updates.option_for(params, Answer.ONCE) == "yes"
    assert updates.option_for(params, Answer.ALWAYS) is None
    assert updates.option_for(params, Answer.DENY) is None


@pytest.mark.parametrize(
    ("prompt", "sent"),
    [
        ("/help", "\u200b/help"),
        ("  /HELP me", "\u200b  /HELP me"),
        ("/new", "\u200b/new"),
        ("/helpful", "/helpful"),
        ("/etc/passwd", "/etc/passwd"),
        ("/", "/"),
        ("help", "help"),
        ("say /help", "say /help"),
    ],
)
def test_texts_that_begin_like_a_command(prompt: str, sent: str) -> None:
    told = CommandsSeen((HermesCommand("new", ""),))
    assert as_text(prompt, told) == sent
    assert json.loads(json.dumps(sent)) == sent
