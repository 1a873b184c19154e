"""The spawned way: turns of a scripted hermes, real processes, and what is left of them."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import stat
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from qterm.hermes.argv import Call
from qterm.hermes.place import HermesNotFound, HermesPlace, HermesUnusable
from qterm.hermes.processes import STOPPING
from qterm.hermes.spawn import SpawnWay
from qterm.hermes.way import (
    Approvals,
    Failed,
    FailureKind,
    HermesEvent,
    HermesRequest,
    Outcome,
    Replied,
    SessionSeen,
    Started,
    Stopped,
    TextDelta,
)
from tests.hermes.fakes import (
    ID,
    USAGE_ERROR,
    FakeHermes,
    Steps,
    environ,
    is_gone,
    pids_below,
    running,
    streamed,
)

Make = Callable[..., SpawnWay]
HANG: Steps = [["pid"], ["sleep", 60]]


@pytest.fixture
def fake(tmp_path: Path) -> FakeHermes:
    return FakeHermes(tmp_path / "fake")


@pytest.fixture
async def make(fake: FakeHermes, tmp_path: Path) -> AsyncIterator[Make]:
    """Makes ways; afterwards they are closed, and nothing of them runs."""
    made: list[SpawnWay] = []
    before = pids_below()

    def way(
        approvals: Approvals = Approvals.DENY,
        find: Callable[[], HermesPlace] = lambda: fake.place,
        **variables: str,
    ) -> SpawnWay:
        made.append(
            SpawnWay(
                find,
                approvals=approvals,
                cache_dir=tmp_path / "cache",
                environ={**environ(tmp_path), **variables},
            )
        )
        return made[-1]

    yield way
    for one in made:
        await one.close()
    assert pids_below() <= before
    if (tmp_path / "cache").is_dir():
        assert list((tmp_path / "cache").glob("usage-*")) == []


@pytest.fixture
def ask(tmp_path: Path) -> Callable[..., HermesRequest]:
    (tmp_path / "cwd").mkdir()

    def request(prompt: str = "hello", key: str = "k", **more: object) -> HermesRequest:
        return HermesRequest(key, prompt, **{"cwd": tmp_path / "cwd", **more})  # type: ignore[arg-type]

    return request


Ask = Callable[..., HermesRequest]


async def run(way: SpawnWay, request: HermesRequest) -> list[HermesEvent]:
    events = [event async for event in way.send(request)]
    assert isinstance(events[0], Started)
    assert [event for event in events if isinstance(event, Outcome)] == events[-1:]
    return events


async def failed(way: SpawnWay, request: HermesRequest) -> Failed:
    outcome = (await run(way, request))[-1]
    assert isinstance(outcome, Failed), outcome
    assert outcome.reason
    assert "\n" not in outcome.reason
    return outcome


class Watched:
    """A turn that is read in the background; `line` waits for what hermes says."""

    def __init__(self, way: SpawnWay, request: HermesRequest) -> None:
        self.text = ""
        self.more = asyncio.Event()
        self.events: list[HermesEvent] = []
        self.task = asyncio.create_task(self._read(way, request))

    async def _read(self, way: SpawnWay, request: HermesRequest) -> Outcome:
        async for event in way.send(request):
            self.events.append(event)
            self.text += event.text if isinstance(event, TextDelta) else ""
            self.more.set()
        outcome = self.events[-1]
        assert isinstance(outcome, Outcome)
        return outcome

    async def lines(self, count: int) -> list[int]:
        """The process ids hermes has told, once there are so many."""
        async with asyncio.timeout(30):
            while self.text.count("\n") < count:
                self.more.clear()
                await self.more.wait()
        return [int(line) for line in self.text.split()[:count]]

    async def outcome(self) -> Outcome:
        return await asyncio.wait_for(asyncio.shield(self.task), 60)


async def test_a_turn_of_the_newer_line(fake: FakeHermes, make: Make, ask: Ask) -> None:
    fake.turns = [streamed("Hi ", "there.")]
    fake.write()
    events = await run(make(HERMES_YOLO_MODE="1"), ask("日本 $(x)\n-z"))
    assert events[0] == Started(Approvals.DENY)
    assert SessionSeen(ID) in events
    assert "".join(e.text for e in events if isinstance(e, TextDelta)) == "Hi there."
    assert events[-1] == Replied("Hi there.", ID)
    (call,) = fake.calls
    assert call["stdin"] == "日本 $(x)\n-z"
    assert call["cwd"] == str(ask().cwd)
    assert call["env"]["HERMES_HOME"] == str(fake.home)
    assert "HERMES_YOLO_MODE" not in call["env"]


async def test_a_turn_of_the_older_line(fake: FakeHermes, make: Make, ask: Ask) -> None:
    fake.newer = False
    fake.turns = [
        [
            ["out", "  ⚠ tirith security scanner enabled but not available\r\nHi.\n"],
            ["err", f"\nsession_id: {ID}\n"],
        ]
    ]
    fake.write()
    events = await run(make(), ask("-hi"))
    assert events[-1] == Replied("Hi.", ID)
    assert fake.calls[0]["argv"][-1] == "--query=-hi"


async def test_bypass_goes_by_the_usage_file(fake: FakeHermes, make: Make, ask: Ask) -> None:
    fake.turns = [
        [["usage", {"completed": True, "failed": False, "session_id": ID}], ["out", "Hi.\n"]],
        [["usage", {"completed": False, "failed": True}], ["out", "HTTP 402: no credits\n"]],
    ]
    fake.write()
    way = make(Approvals.BYPASS)
    events = await run(way, ask())
    assert events == [Started(Approvals.BYPASS), Replied("Hi.", ID)]
    assert (await failed(way, ask())).kind is FailureKind.PROVIDER


async def test_ask_is_told_to_act_as_deny(make: Make, ask: Ask) -> None:
    assert (await run(make(Approvals.ASK), ask()))[0] == Started(Approvals.DENY)


async def test_a_task_s_turn_denies_also_where_home_bypasses(
    fake: FakeHermes, make: Make, ask: Ask
) -> None:
    events = await run(make(Approvals.BYPASS), ask(is_task=True, session=ID))
    assert events[0] == Started(Approvals.DENY)
    assert fake.calls[0]["argv"][:4] == ["chat", "-Q", "--source", "acp"]


async def test_no_hermes_is_one_sentence(make: Make, ask: Ask) -> None:
    def missing() -> HermesPlace:
        raise HermesNotFound("There is no hermes: install it.")

    way = make(find=missing)
    outcome = await failed(way, ask())
    assert (outcome.kind, outcome.reason) == (
        FailureKind.NO_HERMES,
        "There is no hermes: install it.",
    )
    assert await way.carries("x" * 3_000_000)
    with pytest.raises(HermesNotFound):
        await way.dry_run(ask())


async def test_a_hermes_that_vanishes_between_two_turns(
    fake: FakeHermes, make: Make, ask: Ask
) -> None:
    way = make()
    await run(way, ask())
    fake.program.unlink()
    assert (await failed(way, ask())).kind is FailureKind.NO_HERMES


async def test_a_hermes_that_loses_its_x_bit(fake: FakeHermes, make: Make, ask: Ask) -> None:
    way = make()
    await run(way, ask())
    fake.program.chmod(0o644)
    outcome = await failed(way, ask())
    assert outcome.kind is FailureKind.NO_HERMES
    assert "Permission denied" in outcome.reason


async def test_a_folder_that_is_gone(make: Make, ask: Ask, tmp_path: Path) -> None:
    outcome = await failed(make(), ask(cwd=tmp_path / "gone"))
    assert str(tmp_path / "gone") in outcome.reason


async def test_texts_that_can_t_be_sent_start_nothing(
    fake: FakeHermes, make: Make, ask: Ask
) -> None:
    fake.newer = False
    fake.write()
    way = make()
    for text in ("", "  \n", "x" * 140_000, "a\x00b", "a\ud800"):
        assert (await failed(way, ask(text))).kind is FailureKind.TOO_LARGE
        assert not await way.carries(text)
        with pytest.raises(ValueError, match=r"This message|nothing to send"):
            await way.dry_run(ask(text))
    assert fake.calls == []


async def test_a_task_s_first_message_is_measured_as_a_task_s(make: Make) -> None:
    """`bypass` concerns home turns only: a task's text goes through standard input (A1, C6)."""
    way = make(Approvals.BYPASS)
    assert await way.carries("x" * 3_000_000, is_task=True)
    assert not await way.carries("x" * 3_000_000)


async def test_a_cache_that_can_t_be_made_breaks_no_turn(
    fake: FakeHermes, tmp_path: Path, ask: Ask
) -> None:
    (tmp_path / "cache").write_text("a file")
    for approvals in (Approvals.DENY, Approvals.BYPASS):
        fake.turns = [streamed("Hi.") if approvals is Approvals.DENY else [["out", "Hi.\n"]]]
        fake.write()
        way = SpawnWay(
            lambda: fake.place,
            approvals=approvals,
            cache_dir=tmp_path / "cache" / "below",
            environ=environ(tmp_path),
        )
        outcome = (await run(way, ask()))[-1]
        await way.close()
        assert isinstance(outcome, Replied), outcome


async def test_a_hermes_that_fails_is_waited_for_once_a_turn(
    fake: FakeHermes, make: Make, ask: Ask, tmp_path: Path
) -> None:
    """Measuring a text and sending it both ask what hermes can do; one that hangs costs once."""
    asked = tmp_path / "asked"
    fake.program.write_text(f"#!/bin/sh\necho >> {asked}\nexit 3\n")
    way = make()
    assert await way.carries("hello")
    outcome = await failed(way, ask())
    assert "exit code 3" in outcome.reason
    assert len(asked.read_text()) == 3, "--version, --help and chat --help"
    with pytest.raises(HermesUnusable):
        await way.probe(fresh=True)
    assert len(asked.read_text()) == 6


async def test_a_hermes_that_prints_without_end_is_ended(
    fake: FakeHermes, make: Make, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("qterm.hermes.spawn.LARGEST_OUTPUT", 1_000_000)
    script = fake.program.read_text()
    flood = 'case "$*" in *--query-file*) exec yes rubbish;; esac\n'
    fake.program.write_text(script.replace("exec ", f"{flood}exec ", 1))
    async with asyncio.timeout(30):
        outcome = await failed(make(), ask())
    assert outcome.kind is FailureKind.CRASHED
    assert "printed more than 1 MB" in outcome.reason
    assert "rubbish" in outcome.detail


async def test_3_mb_go_through_standard_input(fake: FakeHermes, make: Make, ask: Ask) -> None:
    text = "日" * 1_000_000
    way = make()
    assert await way.carries(text)
    assert isinstance((await run(way, ask(text)))[-1], Replied)
    assert fake.calls[0]["stdin"] == text


async def test_10_mb_of_output_leave_the_loop_free(fake: FakeHermes, make: Make, ask: Ask) -> None:
    fake.turns = [
        [["err", "e" * 1024, 10_000], ["out", "rubbish " * 128 + "\n", 10_000], *streamed("Hi.")]
    ]
    fake.write()
    way = make()
    await way.probe()
    longest, ticking = 0.0, True

    async def tick() -> None:
        nonlocal longest
        while ticking:
            before = time.perf_counter()
            await asyncio.sleep(0.005)
            longest = max(longest, time.perf_counter() - before)

    ticker = asyncio.create_task(tick())
    outcome = (await run(way, ask()))[-1]
    ticking = False
    await ticker
    assert outcome == Replied("Hi.", ID)
    assert longest < 0.5


async def test_utf_8_cut_at_the_end(fake: FakeHermes, make: Make, ask: Ask) -> None:
    fake.newer = False
    fake.turns = [[["raw", "Hi 🎉".encode()[:-1].hex()], ["err", f"session_id: {ID}\n"]]]
    fake.write()
    assert (await run(make(), ask()))[-1] == Replied("Hi \ufffd", ID)


@pytest.mark.parametrize(
    ("steps", "words"),
    [
        ([["exit", 7]], "exit code 7"),
        ([["kill", 9]], "signal 9"),
        ([["out", "\x00\x1b[2J rubbish \xff\n"], ["exit", 1]], "rubbish"),
        (
            [["err", "Traceback (most recent call last):\nKeyError: 1\n"], ["exit", 1]],
            "KeyError: 1",
        ),
        ([["out", "No\n"]], "No"),
        ([], "no answer"),
    ],
)
async def test_what_goes_wrong_is_one_sentence(
    fake: FakeHermes, make: Make, ask: Ask, steps: Steps, words: str
) -> None:
    fake.turns = [steps]
    fake.write()
    assert words in (await failed(make(), ask())).reason


async def test_no_model_is_found_out_from_the_home(fake: FakeHermes, make: Make, ask: Ask) -> None:
    (fake.home / "config.yaml").unlink()
    fake.turns = [[["err", "words in a language of its own\n"], ["exit", 1]]]
    fake.write()
    outcome = await failed(make(), ask())
    assert outcome.kind is FailureKind.NO_MODEL
    assert "hermes setup" in outcome.reason
    assert "words" in outcome.detail


@pytest.mark.parametrize(
    ("export", "kind"),
    [
        ("No session found.\n", FailureKind.SESSION_LOST),
        (json.dumps({"id": ID}) + "\n", FailureKind.CRASHED),
    ],
)
async def test_whether_a_session_is_lost_is_asked(
    fake: FakeHermes, make: Make, ask: Ask, export: str, kind: FailureKind
) -> None:
    """Rule S5: words prove nothing, only what the export holds."""
    fake.turns = [[["err", "Session not found\n"], ["exit", 1]]]
    fake.more = {"export": export}
    fake.write()
    assert (await failed(make(), ask(is_task=True, session=ID))).kind is kind


@pytest.mark.parametrize(
    "steps",
    [
        [["err", "Traceback (most recent call last):\nKeyError: 1\n"], ["exit", 1]],
        [["kill", 9]],
        [["exit", 2]],
        [
            ["out", json.dumps({"title": "x" * 1024, "id": ID}) + " " * 1024, 1],
            ["out", "x", 70 << 20],
        ],
    ],
    ids=["traceback", "killed", "usage error", "too much to read"],
)
async def test_an_export_that_went_wrong_proves_nothing(
    fake: FakeHermes, make: Make, ask: Ask, steps: Steps
) -> None:
    """Rule S5."""
    fake.turns = [[["err", "Session not found\n"], ["exit", 1]]]
    fake.more = {"export_steps": steps}
    fake.write()
    outcome = await failed(make(), ask(is_task=True, session=ID))
    assert outcome.kind is FailureKind.CRASHED


async def test_a_stop_while_the_session_is_looked_for_keeps_the_failure(
    fake: FakeHermes, make: Make, ask: Ask
) -> None:
    fake.turns = [[["err", "broken\n"], ["exit", 1]]]
    fake.more = {"export_steps": [["sleep", 60]]}
    fake.write()
    way = make()
    turn = Watched(way, ask(is_task=True, session=ID))
    async with asyncio.timeout(30):
        while not (fake.calls and any("export" in argv for argv in running())):
            await asyncio.sleep(0.01)
    await asyncio.wait_for(way.stop("k"), 30)
    outcome = await turn.outcome()
    assert isinstance(outcome, Failed)
    assert "broken" in outcome.reason


async def test_a_session_in_use_is_not_lost(fake: FakeHermes, make: Make, ask: Ask) -> None:
    fake.turns = [[["err", "hermes-refusal-reason: SESSION_NOT_OWNED\n"], ["exit", 1]]]
    fake.write()
    assert (await failed(make(), ask(is_task=True, session=ID))).kind is FailureKind.IN_USE


async def test_a_usage_error_is_tried_once_more_with_what_a_new_probe_says(
    fake: FakeHermes, make: Make, ask: Ask
) -> None:
    """An older hermes behind the same wrapper: what was remembered of it is out of date."""
    way = make()
    await way.probe()
    fake.newer = False
    fake.turns = [USAGE_ERROR, [["out", "Hi.\n"], ["err", f"session_id: {ID}\n"]]]
    fake.write()
    assert (await run(way, ask()))[-1] == Replied("Hi.", ID)
    assert [call["argv"][-1] for call in fake.calls] == ["stream-json", "--query=hello"]
    assert not (await way.probe()).query_file


async def test_a_second_usage_error_is_a_failure(fake: FakeHermes, make: Make, ask: Ask) -> None:
    fake.turns = [USAGE_ERROR]
    fake.write()
    assert "does not know the arguments" in (await failed(make(), ask())).reason
    assert len(fake.calls) == 2


async def test_a_remembered_hermes_is_used_at_once_and_looked_at_in_the_background(
    fake: FakeHermes, make: Make, ask: Ask
) -> None:
    await make().probe()
    fake.newer = False
    fake.write()
    way = make()
    assert (await way.dry_run(ask())).stdin == "hello"
    async with asyncio.timeout(30):
        while (await way.probe()).query_file:
            await asyncio.sleep(0.01)


async def test_a_hanging_probe_can_be_stopped(fake: FakeHermes, make: Make, ask: Ask) -> None:
    fake.more = {"version_steps": [["sleep", 60]]}
    fake.write()
    way = make()
    turn = Watched(way, ask())
    async with asyncio.timeout(30):
        while not pids_below():
            await asyncio.sleep(0.01)
    await asyncio.wait_for(way.stop("k"), 30)
    assert await turn.outcome() == Stopped()


async def test_a_stop_in_the_very_moment_of_the_start(
    fake: FakeHermes, make: Make, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake.turns = [HANG]
    fake.write()
    way = make()
    built = way._build

    async def build_and_stop(*arguments: Any) -> Call:
        call = await built(*arguments)
        way._turns["k"].halt("stop", STOPPING)
        return call

    monkeypatch.setattr(way, "_build", build_and_stop)
    assert await asyncio.wait_for(run(way, ask()), 30) == [Started(Approvals.DENY), Stopped()]
    assert fake.calls == []


async def test_stop_keeps_what_has_come(fake: FakeHermes, make: Make, ask: Ask) -> None:
    fake.turns = [[["exit_on", "SIGINT", 130], ["pid"], ["sleep", 60]]]
    fake.write()
    way = make()
    turn = Watched(way, ask())
    (pid,) = await turn.lines(1)
    await asyncio.wait_for(way.stop("k"), 30)
    assert is_gone(pid)
    assert await turn.outcome() == Stopped(f"{pid}\n")
    await way.stop("k")
    await way.stop("never heard of")


async def test_stop_reaches_a_tool_and_a_hermes_that_does_not_listen(
    fake: FakeHermes, make: Make, ask: Ask
) -> None:
    fake.turns = [[["ignore", "SIGINT"], ["pid"], ["tool", 60], ["sleep", 60]]]
    fake.write()
    way = make()
    turn = Watched(way, ask())
    pids = await turn.lines(2)
    await asyncio.wait_for(way.stop("k"), 30)
    assert all(is_gone(pid) for pid in pids)
    assert isinstance(await turn.outcome(), Stopped)


async def test_a_tool_that_holds_the_pipe_does_not_hold_the_turn(
    fake: FakeHermes, make: Make, ask: Ask
) -> None:
    fake.turns = [[["tool", 60, True], *streamed("Hi.")]]
    fake.write()
    turn = Watched(make(), ask())
    (pid,) = await turn.lines(1)
    outcome = await turn.outcome()
    assert isinstance(outcome, Replied)
    os.kill(pid, signal.SIGKILL)


async def test_a_time_out_keeps_what_has_come(fake: FakeHermes, make: Make, ask: Ask) -> None:
    fake.turns = [HANG]
    fake.write()
    way = make()
    await way.probe()
    outcome = await failed(way, ask(timeout=1.0))
    assert outcome.kind is FailureKind.TIMEOUT
    assert "within 1 s" in outcome.reason
    assert is_gone(int(outcome.partial))


async def test_close_ends_all_turns_and_takes_no_more(
    fake: FakeHermes, make: Make, ask: Ask
) -> None:
    fake.turns = [[["ignore", "SIGINT"], *HANG]]
    fake.write()
    way = make()
    turns = [Watched(way, ask(key=key)) for key in "ab"]
    pids = [(await turn.lines(1))[0] for turn in turns]
    begun = time.monotonic()
    await way.close()
    assert time.monotonic() - begun < 10
    assert all(is_gone(pid) for pid in pids)
    for turn in turns:
        assert isinstance(await turn.outcome(), Stopped)
    assert "closing" in (await failed(way, ask())).reason


async def test_turns_of_different_threads_run_side_by_side(
    fake: FakeHermes, make: Make, ask: Ask
) -> None:
    fake.turns = [HANG]
    fake.write()
    way = make()
    first, second = Watched(way, ask(key="a")), Watched(way, ask(key="b"))
    (one,), (two,) = await first.lines(1), await second.lines(1)
    await way.stop("a")
    assert is_gone(one)
    assert not is_gone(two)
    assert (await failed(way, ask(key="b"))).reason.startswith("This message is being sent")


async def test_a_reader_that_leaves_early_does_not_end_the_turn(
    fake: FakeHermes, make: Make, ask: Ask
) -> None:
    fake.turns = [HANG]
    fake.write()
    way = make()
    events = way.send(ask())
    pid = 0
    async for event in events:
        if isinstance(event, TextDelta):
            pid = int(event.text)
            break
    await events.aclose()  # type: ignore[attr-defined]
    assert not is_gone(pid)
    await way.stop("k")
    assert is_gone(pid)


async def test_the_report_is_private(fake: FakeHermes, make: Make, ask: Ask) -> None:
    fake.turns = [[["out", "Hi.\n"]]]
    fake.write()
    way = make(Approvals.BYPASS)
    await run(way, ask())
    report = Path(fake.calls[0]["argv"][-1])
    assert not report.exists()
    assert stat.S_IMODE(report.parent.stat().st_mode) == 0o700


async def test_a_dry_run_starts_no_turn(fake: FakeHermes, make: Make, ask: Ask) -> None:
    call = await make().dry_run(ask("hello"))
    assert call.argv[0] == str(fake.program)
    assert call.stdin == "hello"
    assert fake.calls == []


async def test_a_picture_s_path_reaches_hermes_as_text(
    fake: FakeHermes, make: Make, ask: Ask
) -> None:
    (ask().cwd / "a.png").write_bytes(b"x")
    await run(make(), ask("./a.png what?"))
    assert fake.calls[0]["stdin"] == "\u200b./a.png what?"
