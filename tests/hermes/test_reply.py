"""What a hermes process printed, and what qterm makes of it (tests/data/replies.json)."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qterm.hermes import failures
from qterm.hermes.argv import Shape
from qterm.hermes.reply import ReplyReader, exported_session, is_usage_error, reader_for
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
from tests.cases import cases, ids

ID = "20261130_155841_cae3a2"
TURNS = [case for case in cases("replies.json") if case["call"] != "rename"]


def read(case: dict[str, Any]) -> tuple[ReplyReader, Outcome]:
    reader = reader_for(Shape(case["call"]))
    reader.out(case["stdout"].encode())
    reader.err(case["stderr"].encode())
    return reader, reader.outcome(case["exit"], usage=case.get("usage"))


def deltas(events: list[HermesEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


def line(**event: object) -> bytes:
    return json.dumps(event, ensure_ascii=False).encode() + b"\n"


def result(text: str = "", code: int = 0, **more: object) -> bytes:
    return line(type="result", session_id=ID, exit_code=code, text=text, **more)


@pytest.mark.parametrize("case", TURNS, ids=ids)
def test_case(case: dict[str, Any]) -> None:
    _, outcome = read(case)
    if "reply" in case:
        assert isinstance(outcome, Replied)
        assert outcome.text == case["reply"]
    elif "stopped" in case:
        assert outcome == Stopped(case["stopped"], ID)
    else:
        assert isinstance(outcome, Failed)
        assert outcome.reason
        assert "\n" not in outcome.reason
        assert "Traceback" not in outcome.reason
    if "session" in case:
        assert outcome.session == case["session"]
    if "export" in case:
        gone = exported_session(case["export"], case["bound"]) is None
        assert gone is case["session_lost"]


@pytest.mark.parametrize("case", TURNS, ids=ids)
def test_every_cut_of_the_output_reads_the_same(case: dict[str, Any]) -> None:
    _, whole = read(case)
    reader = reader_for(Shape(case["call"]))
    for byte in case["stdout"].encode():
        reader.out(bytes([byte]))
    for byte in case["stderr"].encode():
        reader.err(bytes([byte]))
    assert reader.outcome(case["exit"], usage=case.get("usage")) == whole


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("payment", FailureKind.PROVIDER),
        ("empty", FailureKind.EMPTY),
        ("chat-empty", FailureKind.EMPTY),
        ("stream-empty", FailureKind.EMPTY),
        ("not-owned", FailureKind.IN_USE),
        ("stream-not-owned", FailureKind.IN_USE),
        ("traceback", FailureKind.CRASHED),
        ("chat-no-model", FailureKind.NO_MODEL),
        ("stream-no-model", FailureKind.NO_MODEL),
        ("retries", FailureKind.PROVIDER),
        ("stream-401", FailureKind.PROVIDER),
        ("stream-cut", FailureKind.CRASHED),
    ],
)
def test_kinds(name: str, kind: FailureKind) -> None:
    _, outcome = read(next(case for case in TURNS if case["id"] == name))
    assert isinstance(outcome, Failed)
    assert outcome.kind is kind


@pytest.mark.parametrize(
    ("said", "what_to_do"),
    [
        ("HTTP 401: bad key", "hermes setup"),
        ("HTTP 402: insufficient credits", "account"),
        ("HTTP 404: no such model", "hermes model"),
        ("HTTP 429: slow down", "wait"),
        ("API call failed after 3 retries: Connection error.", "wait"),
    ],
)
def test_a_provider_s_failure_says_what_to_do(said: str, what_to_do: str) -> None:
    kind, reason = failures.explain(1, said, "")
    assert kind is FailureKind.PROVIDER
    assert what_to_do in reason
    assert said.rstrip(".") in reason


def test_the_provider_s_own_words_are_told_not_hermes_s_advice_around_them() -> None:
    said = (
        "custom rejected your API key. Update it in Settings.\n\nProvider said: HTTP 401: bad key"
    )
    assert "(HTTP 401: bad key)" in failures.explain(2, said, "")[1]


@pytest.mark.parametrize(
    ("code", "usage"),
    [(0, {"completed": False, "failed": False}), (2, {"completed": False, "partial": True})],
)
def test_an_answer_that_broke_off_is_kept_but_failed(code: int, usage: dict[str, Any]) -> None:
    reader = reader_for(Shape.ONESHOT)
    reader.out(b"Half an\n")
    outcome = reader.outcome(code, usage=usage)
    assert isinstance(outcome, Failed)
    assert outcome.partial == "Half an"
    assert "broke off" in outcome.reason


def test_a_signal_is_named() -> None:
    assert "signal 9 (SIGKILL)" in failures.explain(-9, "", "")[1]
    assert "signal 77" in failures.explain(-77, "", "")[1]


def test_the_trace_is_there_to_unfold_and_bounded() -> None:
    reader = reader_for(Shape.CHAT)
    reader.err(b"Traceback (most recent call last):\n" + b"x" * 1_000_000 + b"\nKeyError: 1\n")
    outcome = reader.outcome(1)
    assert isinstance(outcome, Failed)
    assert outcome.detail.endswith("KeyError: 1")
    assert len(outcome.detail) <= 4_000


def test_the_streamed_text_comes_as_it_is_printed() -> None:
    reader = reader_for(Shape.STREAM)
    assert reader.out(line(type="system", subtype="init", session_id=ID)) == [SessionSeen(ID)]
    assert reader.out(line(type="text", text="Hi ")) == [TextDelta("Hi ")]
    events = reader.out(line(type="text", text="the") + line(type="text", text="re."))
    assert events == [TextDelta("there.")]
    reader.out(result("Hi there."))
    assert reader.outcome(0) == Replied("Hi there.", ID)


def test_plain_text_is_not_shown_before_it_is_known_to_be_a_reply() -> None:
    reader = reader_for(Shape.CHAT)
    assert deltas(reader.out(b"HTTP 402: insufficient credits\n")) == ""
    assert deltas(reader.out(b"  \xe2\x9a\xa0 tirith security scanner\r\n")) == ""


def test_text_before_and_after_a_tool_are_two_paragraphs() -> None:
    reader = reader_for(Shape.STREAM)
    events = reader.out(
        line(type="text", text="I look.")
        + line(type="tool_use", name="terminal", input={"command": "ls"})
        + line(type="tool_result", name="terminal", output="a\n", is_error=False)
        + line(type="text", text="One file.")
        + result("One file.")
    )
    assert [event for event in events if isinstance(event, ToolSeen)] == [
        ToolSeen("terminal", "started", '{"command":"ls"}'),
        ToolSeen("terminal", "completed", "a\n"),
    ]
    assert deltas(events) == "I look.\n\nOne file."
    assert reader.outcome(0) == Replied("I look.\n\nOne file.", ID)


def test_what_a_retry_streamed_twice_is_there_once_in_the_reply() -> None:
    reader = reader_for(Shape.STREAM)
    reader.out(line(type="text", text="Half") + line(type="text", text="Half an answer."))
    reader.out(result("Half an answer."))
    assert reader.outcome(0) == Replied("Half an answer.", ID)


def test_rubbish_between_the_lines_is_ignored_and_kept_for_the_reason() -> None:
    reader = reader_for(Shape.STREAM)
    reader.out(b'warning: \xff\xfe {not json}\n[1]\n{"type": 3}\nnull\n')
    reader.out(line(type="text", text="Hi.") + b"{broken\n" + result("Hi."))
    assert reader.outcome(0) == Replied("Hi.", ID)
    other = reader_for(Shape.STREAM)
    other.out(b"no room left\n")
    outcome = other.outcome(1)
    assert isinstance(outcome, Failed)
    assert "no room left" in outcome.reason


def test_a_line_separator_inside_a_text_does_not_cut_the_line() -> None:
    reader = reader_for(Shape.STREAM)
    reader.out(line(type="text", text="a\u2028b\x85c") + result("a\u2028b\x85c"))
    assert reader.outcome(0) == Replied("a\u2028b\x85c", ID)


def test_utf_8_cut_in_a_character() -> None:
    reader = reader_for(Shape.STREAM)
    whole = line(type="text", text="日本 🎉")
    cut = whole.index("🎉".encode()) + 2
    assert deltas(reader.out(whole[:cut]) + reader.out(whole[cut:])) == "日本 🎉"
    plain = reader_for(Shape.ONESHOT)
    plain.out("Hi 🎉".encode()[:-2])
    outcome = plain.outcome(0)
    assert isinstance(outcome, Replied)
    assert outcome.text == "Hi \ufffd"


def test_a_line_of_5_mb_and_10_mb_of_output_are_read_in_linear_time() -> None:
    reader = reader_for(Shape.STREAM)
    long = "x" * 5_000_000
    data = line(type="text", text=long) + b"noise\n" * 900_000 + result(long)
    begun = time.perf_counter()
    events: list[HermesEvent] = []
    longest = 0.0
    for start in range(0, len(data), 65_536):
        before = time.perf_counter()
        events += reader.out(data[start : start + 65_536])
        reader.err(b"e" * 65_536)
        longest = max(longest, time.perf_counter() - before)
    assert deltas(events) == long
    assert reader.outcome(0) == Replied(long, ID)
    assert time.perf_counter() - begun < 10
    assert longest < 1


def test_a_million_lines_of_banner_are_read_in_linear_time() -> None:
    reader = reader_for(Shape.CHAT)
    reader.out("  ⚠ x\r\n".encode() * 1_000_000 + b"Hi.\n")
    outcome = reader.outcome(0)
    assert isinstance(outcome, Replied)
    assert outcome.text == "Hi."


def test_the_session_line_is_taken_only_from_a_line_of_its_own() -> None:
    reader = reader_for(Shape.CHAT)
    assert reader.err(b"session from hermes\nmy session_id: 20261130_155841_cae3a2\n") == []
    assert reader.err(b"session_id: q-task-7\n") == []
    assert reader.err(b"\nsession_id: 20261130_155841_cae3") == []
    assert reader.err(b"a2\n") == [SessionSeen(ID)]


def test_the_first_line_of_a_reply_is_kept_where_it_only_looks_like_the_banner() -> None:
    for text in ("  ⚠ mind the gap\nHi.", "⚠ mind the gap\r\nHi.", "Hi.\r\n  ⚠ x\r\nthere."):
        reader = reader_for(Shape.CHAT)
        reader.out(text.encode() + b"\n")
        outcome = reader.outcome(0)
        assert isinstance(outcome, Replied)
        assert outcome.text == text


def test_a_stopped_turn_keeps_its_partial_text() -> None:
    reader = reader_for(Shape.STREAM)
    reader.out(line(type="system", session_id=ID) + line(type="text", text="Half"))
    assert reader.outcome(-9, stopped=True) == Stopped("Half", ID)


def test_a_reply_that_was_whole_when_it_was_stopped_counts() -> None:
    reader = reader_for(Shape.STREAM)
    reader.out(line(type="text", text="Whole.") + result("Whole."))
    assert reader.outcome(-15, stopped=True) == Replied("Whole.", ID)
    plain = reader_for(Shape.ONESHOT)
    plain.out(b"Whole.\n")
    assert plain.outcome(0, usage={"completed": True}, stopped=True) == Replied("Whole.")


def test_a_signal_before_the_id_line_is_no_reply() -> None:
    reader = reader_for(Shape.CHAT)
    reader.out(b"Half an ans")
    outcome = reader.outcome(-11)
    assert isinstance(outcome, Failed)
    assert outcome.kind is FailureKind.CRASHED
    assert outcome.partial == "Half an ans"


@pytest.mark.parametrize("usage", [{"failed": True}, {"partial": True}, {"completed": False}])
def test_exit_0_is_no_success_where_the_usage_file_says_otherwise(usage: dict[str, Any]) -> None:
    reader = reader_for(Shape.ONESHOT)
    reader.out(b"HTTP 500: broken\n")
    assert isinstance(reader.outcome(0, usage=usage), Failed)


def test_exit_2_with_a_usage_file_is_a_provider_s_failure_and_no_usage_error() -> None:
    reader = reader_for(Shape.ONESHOT)
    reader.err(b"usage: hermes [-h]\nhermes: error: unrecognized arguments: --format\n")
    assert is_usage_error(2, reader, None)
    assert not is_usage_error(2, reader, {"failed": True})
    assert not is_usage_error(1, reader, None)
    reader.out(b"HTTP 500\n")
    assert not is_usage_error(2, reader, None)


def test_a_session_is_gone_only_without_a_line_of_its_id() -> None:
    assert exported_session("", ID) is None
    assert exported_session("No session found.\n", ID) is None
    assert exported_session(json.dumps({"id": "another"}) + "\n", ID) is None
    assert exported_session("{broken\n", ID) is None
    assert exported_session("noise\n" + json.dumps({"id": ID, "title": "x"}) + "\n", ID) is not None


@given(
    st.sampled_from(Shape),
    st.lists(st.binary(max_size=40)),
    st.lists(st.binary(max_size=40)),
    st.integers(-15, 130),
    st.booleans(),
)
def test_whatever_is_printed_there_is_an_outcome(
    shape: Shape, out: list[bytes], err: list[bytes], code: int, stopped: bool
) -> None:
    reader = reader_for(shape)
    for data in out:
        reader.out(data)
    for data in err:
        reader.err(data)
    outcome = reader.outcome(code, stopped=stopped)
    assert isinstance(outcome, Replied | Failed | Stopped)
    if isinstance(outcome, Replied):
        assert outcome.text.strip()
