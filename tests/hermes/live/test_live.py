"""The live way against a scripted peer: the odd things a process can do."""

from __future__ import annotations

import asyncio
import os
import signal
import time

import pytest

from qterm.hermes.live import session as one_turn
from qterm.hermes.live.updates import LONGEST
from qterm.hermes.way import (
    Answer,
    Approvals,
    Asked,
    AskedNoMore,
    Failed,
    FailureKind,
    HermesEvent,
    Replied,
    SessionSeen,
    Started,
    Stopped,
    TextDelta,
    ToolSeen,
    Transport,
)
from tests.hermes.fakes import is_gone
from tests.hermes.live.stage import Stage, text_of, until

FIRST = "First words. "


async def test_a_turn_of_its_own(stage: Stage) -> None:
    way = stage.open([["text", "Hello "], ["text", "there."]])
    assert await way.ready()
    events, outcome = await stage.turn()
    assert events[0] == Started(Approvals.ASK, Transport.LIVE)
    assert text_of(events) == "Hello there."
    assert isinstance(outcome, Replied) and outcome.text == "Hello there."
    (prompt,) = stage.told("session/prompt")
    assert prompt["prompt"] == [{"type": "text", "text": "Hello."}]


async def test_every_home_turn_has_a_session_of_its_own(stage: Stage) -> None:
    stage.open()
    for _ in range(3):
        await stage.turn()
    prompts = [prompt["sessionId"] for prompt in stage.told("session/prompt")]
    assert len(set(prompts)) == 3


async def test_a_session_is_opened_ahead_and_runs_in_the_turns_folder(stage: Stage) -> None:
    way = stage.open()
    await way.ready()
    await until(lambda: len(stage.told("session/new")) == 1)
    await stage.turn()
    (prompt,) = stage.told("session/prompt")
    (load,) = stage.told("session/load")
    assert load["sessionId"] == prompt["sessionId"]
    assert load["cwd"] == str(stage.folder)


@pytest.mark.parametrize("name", ["memories/MEMORY.md", "memories/USER.md", "config.yaml"])
async def test_one_opened_ahead_is_not_used_once_the_memory_is_edited(
    stage: Stage, name: str
) -> None:
    way = stage.open()
    await way.ready()
    await until(lambda: len(stage.told("session/new")) == 1)
    await asyncio.sleep(0.1)  # its answer
    path = stage.fake.home / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("model: {default: m, provider: custom} # x\n")
    await stage.turn()
    assert not stage.told("session/load")


async def test_a_tasks_session_is_named_at_once_and_kept(stage: Stage) -> None:
    way = stage.open()
    events, outcome = await stage.turn(stage.request(is_task=True))
    seen = [event.session for event in events if isinstance(event, SessionSeen)]
    assert seen and outcome.session == seen[0]
    assert [type(event) for event in events].index(SessionSeen) == 1
    assert way.why == ""


async def test_the_replay_of_a_loaded_session_is_no_answer(stage: Stage) -> None:
    stage.open()
    events, outcome = await stage.turn(stage.request(session="old", is_task=True))
    assert stage.told("session/load")[0]["sessionId"] == "old"
    assert text_of(events) == "Hi."
    assert isinstance(outcome, Replied) and outcome.session == "old"


async def test_a_lost_session_is_told_before_anything_is_sent(stage: Stage) -> None:
    stage.open(missing=["gone"])
    _, outcome = await stage.turn(stage.request(session="gone", is_task=True))
    assert isinstance(outcome, Failed) and outcome.kind is FailureKind.SESSION_LOST
    assert not stage.told("session/prompt")


async def test_a_session_that_is_there_and_cannot_be_loaded_is_not_lost(stage: Stage) -> None:
    stage.open(missing=["plain"])
    await stage.way.name_session("plain", "q-task-1")  # the fake has it then
    _, outcome = await stage.turn(stage.request(session="plain", is_task=True))
    assert isinstance(outcome, Failed) and outcome.kind is FailureKind.CRASHED
    assert not stage.told("session/prompt")


# Odd processes


async def test_one_that_dies_in_a_turn_is_replaced_and_nothing_is_repeated(stage: Stage) -> None:
    stage.open([["text", FIRST], ["err", "boom\n"], ["die", 3]])
    _, outcome = await stage.turn(stage.request("one", is_task=True))
    assert isinstance(outcome, Failed) and outcome.kind is FailureKind.CRASHED
    assert outcome.partial == FIRST
    assert outcome.session is not None
    assert "boom" in outcome.detail
    _, again = await stage.turn(stage.request("two", session=outcome.session, is_task=True))
    said = [prompt["prompt"][0]["text"] for prompt in stage.told("session/prompt")]
    assert said == ["one", "two"]
    assert isinstance(again, Failed)
    assert (
        len({entry["pid"] for entry in stage.log if entry.get("method") == "session/prompt"}) == 2
    )


async def test_one_that_dies_while_idle_is_replaced(stage: Stage) -> None:
    stage.open()
    await stage.turn()
    first = stage.log[0]["pid"]
    os.kill(first, signal.SIGKILL)
    await until(lambda: is_gone(first))
    await asyncio.sleep(0.1)
    _, outcome = await stage.turn()
    assert isinstance(outcome, Replied)


async def test_one_that_ends_before_hello_marks_it_unusable(stage: Stage) -> None:
    way = stage.open(hello=[["err", "no module named acp\n"], ["die", 1]])
    assert not await way.ready()
    assert "no module named acp" in way.why and way.why.endswith(".")
    assert not await way.ready()
    assert len(stage.told("initialize")) == 1  # not asked again


async def test_without_the_extra_it_is_not_started(stage: Stage) -> None:
    way = stage.open()
    stage.fake.more = {"acp_check": 1}
    stage.fake.write()
    assert not await way.ready()
    assert "acp" in way.why
    assert not stage.log
    assert await way.available() == way.why


async def test_the_check_is_remembered(stage: Stage) -> None:
    way = stage.open()
    assert await way.available() == ""
    remembered = (stage.folder / "cache" / "hermes.json").read_text()
    assert '"acp":true' in remembered


async def test_a_flood_is_cut_and_survived(stage: Stage) -> None:
    stage.open([["flood", 10_000_000], ["text", "Done."]])
    events, outcome = await stage.turn()
    tools = [event for event in events if isinstance(event, ToolSeen)]
    assert len(tools[-1].result) < LONGEST + 100
    assert "cut: 10,000,000" in tools[-1].result
    assert isinstance(outcome, Replied) and outcome.text == "Done."


async def test_a_flood_of_updates_comes_whole_and_in_order(stage: Stage) -> None:
    words = [f"{number} " for number in range(3000)]
    stage.open([["text", word] for word in words])
    events, outcome = await stage.turn()
    assert text_of(events) == "".join(words)
    assert isinstance(outcome, Replied) and outcome.text == "".join(words).strip()


ODD: list[list[object]] = [
    ["raw", "this is no JSON\n"],
    ["raw", '[1, 2, 3]\n5\nnull\n"x"\n\n'],
    ["raw", '{"jsonrpc": "2.0", "id": 77, "result": {}}\n'],
    ["raw", '{"jsonrpc": "2.0", "id": [], "result": {}}\n'],
    ["raw", '{"jsonrpc": "2.0", "method": "session/update", "params": [1]}\n'],
    ["raw", '{"jsonrpc": "2.0", "method": "session/update"}\n'],
    ["raw", '{"jsonrpc": "2.0", "method": "who/knows", "params": {}}\n'],
    ["raw", "[" * 100_000 + "\n"],
    ["raw", "\\ud83d\n"],
    ["update", {"sessionUpdate": "something_new", "content": 5}],
    ["update", {"sessionUpdate": "agent_message_chunk", "content": None}],
    ["update", {"sessionUpdate": "tool_call_update", "toolCallId": "never seen"}],
]


async def test_wrong_and_unknown_messages_are_survived(stage: Stage) -> None:
    stage.open([*ODD, ["text", "Still here."]])
    events, outcome = await stage.turn()
    assert text_of(events) == "Still here."
    assert isinstance(outcome, Replied)
    assert not any(isinstance(event, ToolSeen) for event in events)


async def test_a_request_that_is_not_known_is_refused(stage: Stage) -> None:
    unknown = '{"jsonrpc": "2.0", "id": "r1", "method": "fs/read_text_file", "params": {}}\n'
    stage.open([["raw", unknown], ["await"], ["text", "On."]])
    _, outcome = await stage.turn()
    assert isinstance(outcome, Replied)
    (entry,) = [entry["answer"] for entry in stage.log if "answer" in entry]
    assert entry["id"] == "r1" and entry["error"]["code"] == -32601


async def test_updates_after_the_end_belong_to_no_turn(stage: Stage) -> None:
    end = {"stopReason": "end_turn", "usage": {}}
    stage.open(
        [["text", "One."], ["answer", end], ["text", "late"], ["ask", 5, "late"]],
        [["await"], ["text", "Two."]],
    )
    await stage.turn()
    await until(lambda: any("answer" in entry for entry in stage.log))  # denied: nobody asked
    events, outcome = await stage.turn()
    assert text_of(events) == "Two."
    assert isinstance(outcome, Replied)
    assert not any(isinstance(event, Asked) for event in events)


async def test_an_error_without_usage_is_a_failure(stage: Stage) -> None:
    stage.open([["text", "HTTP 401: bad key"], ["answer", {"stopReason": "end_turn"}]])
    events, outcome = await stage.turn()
    assert isinstance(outcome, Failed) and outcome.kind is FailureKind.PROVIDER
    assert outcome.detail == "HTTP 401: bad key"
    assert text_of(events) == "" and outcome.partial == ""


async def test_an_answer_that_reads_like_an_error_is_an_answer(stage: Stage) -> None:
    stage.open([["text", "HTTP 401 means that"], ["text", " a key is wrong."]])
    events, outcome = await stage.turn()
    assert isinstance(outcome, Replied)
    assert text_of(events) == outcome.text == "HTTP 401 means that a key is wrong."


async def test_an_empty_answer(stage: Stage) -> None:
    stage.open([])
    _, outcome = await stage.turn()
    assert isinstance(outcome, Failed) and outcome.kind is FailureKind.EMPTY


async def test_a_request_that_ends_in_an_error(stage: Stage) -> None:
    stage.open([["text", FIRST], ["error", -32603, "Internal error"]])
    _, outcome = await stage.turn()
    assert isinstance(outcome, Failed) and outcome.partial == FIRST
    assert "Internal error" in outcome.detail


@pytest.mark.parametrize("reason", ["max_tokens", "refusal", "cancelled", "who_knows", None])
async def test_other_ends(stage: Stage, reason: str | None) -> None:
    stage.open([["text", FIRST], ["answer", {"stopReason": reason, "usage": {}}]])
    _, outcome = await stage.turn()
    if reason in {"max_tokens", "refusal", "cancelled"}:
        assert isinstance(outcome, Failed) and outcome.partial == FIRST
    else:
        assert isinstance(outcome, Replied)


# Asking


def answers(stage: Stage, answer: Answer) -> object:
    """Answers each request, in a task of its own."""
    tasks: list[asyncio.Task[object]] = []

    def on(event: HermesEvent) -> None:
        if isinstance(event, Asked):
            key = str(stage.count)
            tasks.append(asyncio.create_task(stage.way.answer(key, event.approval.id, answer)))

    return on


@pytest.mark.parametrize(
    ("answer", "option"),
    [(Answer.ONCE, "allow_once"), (Answer.SESSION, "allow_session"), (Answer.DENY, "deny")],
)
async def test_a_request_is_answered(stage: Stage, answer: Answer, option: str) -> None:
    stage.open([["ask", 0, "rm -rf /x"], ["await"], ["text", "Done."]])
    events, outcome = await stage.turn(on=answers(stage, answer))  # type: ignore[arg-type]
    (asked,) = [event.approval for event in events if isinstance(event, Asked)]
    assert (asked.what, asked.where) == ("rm -rf /x", str(stage.folder))
    assert asked.why == "delete in root path"
    assert asked.answers == {Answer.ONCE, Answer.SESSION, Answer.DENY}
    assert asked.seconds == 300
    assert AskedNoMore(asked.id, answer) in events
    (told,) = [entry["answer"] for entry in stage.log if "answer" in entry]
    assert told["id"] == 0
    assert told["result"]["outcome"] == {"outcome": "selected", "optionId": option}
    assert isinstance(outcome, Replied)
    assert not await stage.way.answer("1", asked.id, Answer.ONCE)


async def test_two_requests_at_once_and_the_same_twice(stage: Stage) -> None:
    stage.open(
        [["ask", 7, "one"], ["ask", 8, "two"], ["ask", 8, "two"], *[["await"]] * 3, ["text", "."]]
    )
    answer = {"one": Answer.ONCE, "two": Answer.DENY}
    tasks: list[asyncio.Task[object]] = []

    def on(event: HermesEvent) -> None:
        if isinstance(event, Asked):
            said = stage.way.answer("1", event.approval.id, answer[event.approval.what])
            tasks.append(asyncio.create_task(said))

    events, _ = await stage.turn(on=on)
    assert len({event.approval.id for event in events if isinstance(event, Asked)}) == 3
    options = sorted(
        (entry["answer"]["id"], entry["answer"]["result"]["outcome"]["optionId"])
        for entry in stage.log
        if "answer" in entry
    )
    assert options == [(7, "allow_once"), (8, "deny"), (8, "deny")]


async def test_an_answer_hermes_does_not_offer_is_refused(stage: Stage) -> None:
    stage.open([["ask", 1, "x"], ["await"]])
    said = []

    def on(event: HermesEvent) -> None:
        async def both(name: str) -> None:
            said.append(await stage.way.answer("1", name, Answer.ALWAYS))
            said.append(await stage.way.answer("1", "unknown", Answer.ONCE))
            said.append(await stage.way.answer("9", name, Answer.ONCE))
            said.append(await stage.way.answer("1", name, Answer.DENY))
            said.append(await stage.way.answer("1", name, Answer.ONCE))

        if isinstance(event, Asked):
            said.append(asyncio.create_task(both(event.approval.id)))  # type: ignore[arg-type]

    await stage.turn(on=on)
    assert said[1:] == [False, False, False, True, False]


async def test_denying_asks_nobody(stage: Stage) -> None:
    stage.open([["ask", 0, "x"], ["await"], ["text", "No."]], approvals=Approvals.DENY)
    events, _ = await stage.turn()
    assert events[0] == Started(Approvals.DENY, Transport.LIVE)
    assert not any(isinstance(event, Asked) for event in events)
    (told,) = [entry["answer"] for entry in stage.log if "answer" in entry]
    assert told["result"]["outcome"]["optionId"] == "deny"


async def test_a_request_that_nobody_answers_is_denied_in_time(stage: Stage) -> None:
    way = stage.open([["ask", 0, "x"], ["await"], ["text", "No."]])
    (stage.fake.home / "config.yaml").write_text(
        "model: {default: m, provider: custom}\napprovals: {timeout: 1}\n"
    )
    events, outcome = await stage.turn()
    assert [event for event in events if isinstance(event, AskedNoMore)] == [AskedNoMore("1", None)]
    assert isinstance(outcome, Replied)
    assert not await way.answer("1", "1", Answer.ONCE)


async def test_a_request_that_stands_when_the_turn_ends_stands_no_more(stage: Stage) -> None:
    stage.open([["ask", 0, "x"], ["sleep", 0.3]])
    events, _ = await stage.turn()
    assert AskedNoMore("1", None) in events


# Stopping


def when(kind: type[HermesEvent], work: object) -> object:
    tasks: list[asyncio.Task[object]] = []

    def on(event: HermesEvent) -> None:
        if isinstance(event, kind) and not tasks:
            tasks.append(asyncio.create_task(work()))  # type: ignore[operator]

    on.tasks = tasks  # type: ignore[attr-defined]
    return on


@pytest.mark.parametrize("last", [["until_cancelled"], ["hang"]])
async def test_stopping(stage: Stage, last: list[str]) -> None:
    way = stage.open([["text", FIRST], ["child"], last])
    stopped_at = 0.0

    async def stop() -> None:
        nonlocal stopped_at
        await until(lambda: any("child" in entry for entry in stage.log))
        stopped_at = time.monotonic()
        await way.stop("1")

    on = when(TextDelta, stop)
    _, outcome = await stage.turn(stage.request(is_task=True), on=on)  # type: ignore[arg-type]
    assert time.monotonic() - stopped_at < one_turn.CANCEL_SECONDS + 0.6
    assert isinstance(outcome, Stopped) and outcome.partial == FIRST
    await on.tasks[0]  # type: ignore[attr-defined]
    (child,) = [entry["child"] for entry in stage.log if "child" in entry]
    assert is_gone(child)
    (pid,) = {entry["pid"] for entry in stage.log if entry.get("method") == "session/prompt"}
    assert is_gone(pid)


async def test_after_a_stop_the_next_turn_loads_in_another_process(stage: Stage) -> None:
    way = stage.open([["text", FIRST], ["until_cancelled"]])
    on = when(TextDelta, lambda: way.stop("1"))
    _, outcome = await stage.turn(stage.request(is_task=True), on=on)  # type: ignore[arg-type]
    on = when(TextDelta, lambda: way.stop("2"))
    request = stage.request("next", session=outcome.session, is_task=True)
    _, again = await stage.turn(request, on=on)  # type: ignore[arg-type]
    assert isinstance(again, Stopped)
    pids = [entry["pid"] for entry in stage.log if entry.get("method") == "session/prompt"]
    assert len(set(pids)) == 2
    assert stage.told("session/load")[-1]["sessionId"] == outcome.session


async def test_stopping_while_hermes_still_starts(stage: Stage) -> None:
    way = stage.open(hello=[["hang"]])
    on = when(Started, lambda: way.stop("1"))
    since = time.monotonic()
    _, outcome = await stage.turn(on=on)  # type: ignore[arg-type]
    assert isinstance(outcome, Stopped)
    assert time.monotonic() - since < 10.0
    await on.tasks[0]  # type: ignore[attr-defined]


async def test_stopping_while_a_request_stands(stage: Stage) -> None:
    way = stage.open([["ask", 0, "x"], ["await"], ["until_cancelled"]])
    on = when(Asked, lambda: way.stop("1"))
    events, outcome = await stage.turn(on=on)  # type: ignore[arg-type]
    assert isinstance(outcome, Stopped)
    assert AskedNoMore("1", None) in events
    assert not await way.answer("1", "1", Answer.ONCE)
    await on.tasks[0]  # type: ignore[attr-defined]
    (told,) = [entry["answer"] for entry in stage.log if "answer" in entry]
    assert told["result"]["outcome"]["optionId"] == "deny"


async def test_a_turn_that_takes_too_long(stage: Stage) -> None:
    stage.open([["text", FIRST], ["hang"]])
    _, outcome = await stage.turn(stage.request(timeout=1.5))
    assert isinstance(outcome, Failed) and outcome.kind is FailureKind.TIMEOUT
    assert outcome.partial in {"", FIRST}


async def test_closing_ends_what_runs(stage: Stage) -> None:
    way = stage.open([["text", FIRST], ["deaf"], ["child"], ["hang"]])
    ended = []

    async def close() -> None:
        await until(lambda: any("child" in entry for entry in stage.log))
        since = time.monotonic()
        await way.close()
        ended.append(time.monotonic() - since)

    on = when(TextDelta, close)
    _, outcome = await stage.turn(on=on)  # type: ignore[arg-type]
    assert isinstance(outcome, Stopped)
    await on.tasks[0]  # type: ignore[attr-defined]
    assert ended[0] < 4.0
    assert is_gone(next(entry["child"] for entry in stage.log if "child" in entry))


async def test_four_at_once_and_the_fifth_waits(stage: Stage) -> None:
    stage.open([["text", FIRST], ["sleep", 1.0]])
    outcomes = await asyncio.gather(*(stage.turn() for _ in range(6)))
    assert all(isinstance(outcome, Replied) for _, outcome in outcomes)
    assert len({entry["pid"] for entry in stage.log}) == 4


async def test_a_text_that_reads_like_a_command_reaches_the_model(stage: Stage) -> None:
    stage.open()
    for text in ("/help me", "/tmp/x is full", "/steer"):
        await stage.turn(stage.request(text))
    request = stage.request("/compact", is_command=True)
    await stage.turn(request)
    said = [prompt["prompt"][0]["text"] for prompt in stage.told("session/prompt")]
    assert said == ["\u200b/help me", "/tmp/x is full", "\u200b/steer", "/compact"]


async def test_a_mode_is_set_and_follows_its_session(stage: Stage) -> None:
    way = stage.open()
    _, outcome = await stage.turn(stage.request(is_task=True))
    assert outcome.session is not None
    assert not await way.set_mode(outcome.session, "no such mode")
    assert await way.set_mode(outcome.session, "accept_edits")
    assert len(stage.told("session/set_mode")) == 1
    # The scripted hermes holds no messages, so that another process takes the next turn.
    await stage.turn(stage.request(session=outcome.session, is_task=True))
    assert [told["modeId"] for told in stage.told("session/set_mode")] == ["accept_edits"] * 2


async def test_changed_settings_start_hermes_anew(stage: Stage) -> None:
    stage.open()
    await stage.turn()
    (stage.fake.home / ".env").write_text("KEY=new\n")
    await stage.turn()
    pids = [entry["pid"] for entry in stage.log if entry.get("method") == "session/prompt"]
    assert len(set(pids)) == 2
