"""What Q does on the way to an answer, without a screen: steps, folds, words, requests."""

from __future__ import annotations

import pytest
from textual.content import Content

from qterm.hermes.way import (
    Answer,
    Approval,
    Asked,
    AskedNoMore,
    CommandsSeen,
    Diff,
    HermesCommand,
    ModesSeen,
    PlanSeen,
    PlanStep,
    SessionMode,
    ThoughtDelta,
    ToolSeen,
    UsageSeen,
)
from qterm.model import Turn, TurnState
from qterm.tui.content import palette_words
from qterm.tui.requests import Requests
from qterm.tui.widgets.steps import (
    ALL,
    KEPT_CHARS,
    KEPT_DIFF_CHARS,
    KEPT_STEPS,
    KEPT_TURNS,
    THOUGHTS,
    Steps,
    StepState,
    ThreadWork,
)
from qterm.tui.words.step_words import FOLD, diff_lines, plan_words, step_lines, usage_words
from qterm.tui.words.task_words import live_words
from tests.tui.stage import NOON, Hands

ODD = "[/] [P1] \x1b]52;c;aGk=\x07\x1b[31mred \u202egnp.\u202c list[int]"


def work_of(hands: Hands, *events: object) -> ThreadWork:
    work = ThreadWork(hands.clock)
    for event in events:
        work.take(1, event)  # type: ignore[arg-type]
    return work


def lines_of(work: ThreadWork, width: int = 60) -> list[Content]:
    steps = work.steps(1)
    assert steps is not None
    return step_lines(steps.shown(1, width))


def words_of(work: ThreadWork, width: int = 60) -> list[str]:
    return [line.plain for line in lines_of(work, width)]


def approval(**values: object) -> Approval:
    full: dict[str, object] = {
        "id": "a1",
        "what": "rm -rf build",
        "where": "/srv",
        "why": "recursive delete",
        "kind": "execute",
        "answers": frozenset(Answer),
        "seconds": 60.0,
    }
    return Approval(**{**full, **values})  # type: ignore[arg-type]


def test_tools_are_one_line_each_with_state_and_time() -> None:
    hands = Hands()
    work = work_of(hands, ToolSeen("read: reader.py", "pending", id="1", kind="read"))
    hands.pass_(0.25)
    work.take(1, ToolSeen("", "completed", id="1", result="def read(): ..."))
    work.take(1, ToolSeen("terminal: pytest -q", "in_progress", id="2"))
    hands.pass_(3.5)
    work.take(1, ToolSeen("write: a.py", "failed", id="3"))
    assert words_of(work) == [
        "▸ done    read: reader.py  0.2 s",
        "▸ …       terminal: pytest -q  3 s",
        "▸ failed  write: a.py  0.0 s",
    ]
    steps = work.steps(1)
    assert steps is not None
    assert steps.running() == "terminal: pytest -q"


def test_a_turn_that_is_over_is_one_line_and_opens_in_two_steps() -> None:
    hands = Hands()
    work = work_of(hands, ToolSeen("one", "completed", "arguments", id="1", result="results"))
    work.take(1, ToolSeen("two", "in_progress", id="2"))
    hands.pass_(4.2)
    work.end(1)
    assert words_of(work) == ["▸ 2 tools, 4.2 s"]
    steps = work.steps(1)
    assert steps is not None
    steps.step_on()
    assert words_of(work)[:2] == ["▾ 2 tools, 4.2 s", "▸ done    one  0.0 s"]
    assert "ended   two  4.2 s" in words_of(work)[2]  # nobody said how it went
    steps.step_on()
    assert "    arguments" in words_of(work)
    assert "    results" in words_of(work)
    steps.step_on()
    assert words_of(work) == ["▸ 2 tools, 4.2 s"]


def test_tools_at_once_count_their_time_once() -> None:
    hands = Hands()
    work = work_of(hands, *(ToolSeen(f"t{n}", "in_progress", id=str(n)) for n in range(3)))
    hands.pass_(2)
    for number in range(3):
        work.take(1, ToolSeen("", "completed", id=str(number)))
    hands.pass_(10)
    work.take(1, ToolSeen("late", "in_progress", id="9"))
    hands.pass_(1)
    work.end(1)
    assert words_of(work) == ["▸ 4 tools, 3.0 s"]


def test_tools_without_an_id_are_told_apart_by_name() -> None:
    work = work_of(
        Hands(),
        ToolSeen("terminal", "started", "ls"),
        ToolSeen("", "ended", "two files"),
        ToolSeen("terminal", "started", "cat"),
    )
    steps = work.steps(1)
    assert steps is not None
    assert [step.state for step in steps.shown(1, 60).steps] == [StepState.DONE, StepState.RUNNING]


def test_what_comes_late_opens_nothing_again() -> None:
    work = work_of(Hands(), ToolSeen("t", "completed", id="1"), ToolSeen("t", "pending", id="1"))
    assert words_of(work)[0].startswith("▸ done")


def test_a_title_is_cut_to_the_line_and_the_time_stays() -> None:
    for title in ("x" * 500, "日本語" * 90, "two\nlines " * 50):
        work = work_of(Hands(), ToolSeen(title, "completed", id="1"))
        for width in (30, 60, 100):
            line = lines_of(work, width)[0]
            assert line.cell_length <= width
            assert line.plain.endswith("…  0.0 s")
            assert "\n" not in line.plain


def test_thoughts_are_counted_and_folded() -> None:
    work = work_of(Hands(), *map(ThoughtDelta, ["I lo", "ok ", "at it.\n", "", " So", "on [P1]"]))
    assert words_of(work) == ["▸ thinking… 6 words"]
    steps = work.steps(1)
    assert steps is not None
    steps.toggle(THOUGHTS)
    assert words_of(work)[1] == "    I look at it.\n     Soon [P1]"
    work.end(1)
    assert words_of(work) == ["▸ thought 6 words"]


def test_everything_is_bounded() -> None:
    hands = Hands()
    work = work_of(hands, *(ToolSeen(f"t{n}", "completed", id=str(n)) for n in range(450)))
    work.take(1, ToolSeen("big", "completed", "a" * 10**6, id="b", result="r\n" * 10**6))
    for _ in range(50):
        work.take(1, ThoughtDelta("thought " * 1_000))
    steps = work.steps(1)
    assert steps is not None
    shown = steps.shown(1, 60)
    assert len(shown.steps) == KEPT_STEPS
    assert shown.tools == 451
    assert shown.words == 50_000
    assert len(shown.thoughts) == KEPT_CHARS
    steps.step_on()
    text = "\n".join(words_of(work))
    assert "251 earlier tools" in text
    assert "more lines" in text
    assert len(text) < 100_000
    for turn_id in range(2, 200):
        work.begin(turn_id)
    assert work.steps(1) is None
    assert len([n for n in range(200) if work.steps(n) is not None]) == KEPT_TURNS


def test_foreign_words_are_never_markup_nor_raw() -> None:
    work = work_of(
        Hands(),
        ToolSeen(ODD, "in_progress", ODD, id="1", result=ODD, diffs=(Diff(ODD, ODD, "b" + ODD),)),
        ThoughtDelta(ODD),
        Asked(approval(what=ODD)),
        PlanSeen((PlanStep(ODD, "in_progress"),)),
    )
    steps = work.steps(1)
    assert steps is not None
    steps.step_on()
    parts = [*lines_of(work), *live_words(work, 200)]
    for part in parts:
        assert not any(char in part.plain for char in "\x1b\x07\u202e\u202c")
    assert sum("[P1]" in part.plain for part in parts) >= 6
    assert palette_words("a [b]x[/] \x1b[31m\\") == "a (b)x(/) /"


def test_a_click_says_which_fold_is_meant() -> None:
    work = work_of(Hands(), ThoughtDelta("hm"), ToolSeen("t", "completed", id="7"))
    metas = [
        span.style.meta.get(FOLD)
        for line in lines_of(work)
        for span in line.spans
        if not isinstance(span.style, str) and span.style.meta
    ]
    assert metas == [(1, THOUGHTS), (1, "tool 7")]
    work.end(1)
    last = lines_of(work)[0].spans[-1].style
    assert not isinstance(last, str)
    assert last.meta.get(FOLD) == (1, ALL)


def test_requests_are_lines_too_and_say_how_they_ended() -> None:
    hands = Hands()
    work = work_of(hands, Asked(approval()), Asked(approval(id="a2", what="rm x")))
    assert words_of(work)[0] == "▸ asks    rm -rf build  waits for you"
    work.take(1, AskedNoMore("a1", Answer.SESSION))
    work.take(1, AskedNoMore("a2", None), reason="hermes denied it itself after 60 s.")
    assert words_of(work, 100) == [
        "▸ allowed rm -rf build  allowed for this session",
        "▸ denied  rm x  hermes denied it itself after 60 s.",
    ]
    work.end(1)
    assert words_of(work) == ["▸ asked 2 times, 1 denied"]


def test_a_diff_shows_what_changes_and_what_was_left_out() -> None:
    lines, left = diff_lines(Diff("/srv/a.py", "one\ntwo\n", "one\nthree\n"), most=40)
    assert [line.plain.strip() for line in lines] == [
        "edit /srv/a.py", "@@ -1,2 +1,2 @@", "one", "-two", "+three",
    ]  # fmt: skip
    assert left == 0
    lines, left = diff_lines(Diff("n", None, "x\n" * 100), most=40)
    assert lines[0].plain == "    new file n"
    assert len(lines) == 41
    assert left == 60
    assert "no line changes" in diff_lines(Diff("n", "a", "a"), most=4)[0][1].plain
    huge = Diff("n", "x\n" * KEPT_DIFF_CHARS, "y")
    assert "too large to compare" in diff_lines(huge, most=4)[0][1].plain
    hidden = diff_lines(Diff("n", "", "rm \u202e\x1b[8m-rf"), most=4)[0][-1].plain
    assert "\u202e" not in hidden
    assert "␛[8m" in hidden  # seen, not swallowed


def test_plan_and_usage_in_short() -> None:
    plan = [PlanStep("look", "completed"), PlanStep("write the reader", "in_progress")]
    plan += [PlanStep("test", "pending")] * 3
    words = plan_words(plan, 40)
    assert words is not None
    assert words.plain == "plan 2/5: write the reader"
    short = plan_words(plan, 18)
    assert short is not None
    assert short.cell_length <= 18
    assert plan_words([], 40) is None
    done = plan_words([PlanStep("a", "completed")], 40)
    assert done is not None
    assert done.plain == "plan 1/1 done"
    assert usage_words(UsageSeen(24_000, 200_000)) == "context 12 %"
    assert usage_words(UsageSeen(1, 200_000)) == "context <1 %"
    assert usage_words(UsageSeen(0, 200_000)) == "context 0 %"
    assert usage_words(UsageSeen(5, 0)) == ""
    assert usage_words(None) == ""


def test_a_mode_is_named_only_where_it_is_not_the_usual_one() -> None:
    modes = (SessionMode("default", "Default"), SessionMode("accept_edits", "Accept Edits [/]"))
    work = work_of(Hands(), ModesSeen("default", modes))
    assert live_words(work, 40) == []
    work.take(1, ModesSeen("accept_edits", ()))
    assert [part.plain for part in live_words(work, 40)] == ["mode: Accept Edits [/]"]
    work.take(1, CommandsSeen((HermesCommand("compact", "Compress"),)))
    assert work.commands[0].name == "compact"


def test_a_new_message_lets_the_plan_of_the_last_one_go() -> None:
    work = work_of(Hands(), PlanSeen((PlanStep("a", "pending"),)))
    assert work.plan
    work.begin(1)
    assert work.plan
    work.begin(2)
    assert not work.plan


@pytest.mark.parametrize("task_id", [None, "7f3kq2ma"])
def test_requests_queue_and_belong_to_their_thread(task_id: str | None) -> None:
    hands = Hands()
    requests = Requests(hands.clock)
    turn = Turn(4, task_id, "you", "go", TurnState.PENDING, NOON)
    first = requests.add(turn, approval())
    second = requests.add(turn, approval(id="a2", seconds=300.0))
    assert requests.of(task_id) == [first, second]
    assert requests.of("other") == []
    assert requests.elsewhere("other", here=True) == [first, second]
    assert requests.elsewhere(task_id, here=True) == []
    assert requests.elsewhere(task_id, here=False) == [first, second]
    hands.pass_(2.5)
    assert first.left(hands.clock()) == 58
    assert requests.end_words(second, None).startswith("hermes asks no more")
    assert requests.end_words(second, Answer.DENY) == "It was denied elsewhere."
    hands.pass_(57.4)
    assert requests.end_words(first, None) == "hermes denied it itself after 60 s."
    assert requests.take(4, "a1") is first
    assert requests.take(4, "a1") is None
    assert requests.drop(4) == [second]
    assert requests.first() is None


def test_a_request_without_a_limit_has_no_seconds_left_to_show() -> None:
    hands = Hands()
    turn = Turn(4, None, "you", "go", TurnState.PENDING, NOON)
    assert Requests(hands.clock).add(turn, approval(seconds=0)).left(hands.clock()) is None


def test_steps_with_nothing_in_them_are_nothing() -> None:
    assert not Steps(Hands().clock)
