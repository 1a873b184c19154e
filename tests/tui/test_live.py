"""A hermes that is kept running, on the screens: steps, requests, modes, commands, the head."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Button

from qterm.hermes.way import (
    Answer,
    Approval,
    Asked,
    AskedNoMore,
    CommandsSeen,
    Diff,
    HermesCommand,
    HermesEvent,
    HermesRequest,
    ModesSeen,
    PlanSeen,
    PlanStep,
    Replied,
    SessionMode,
    TextDelta,
    ThoughtDelta,
    ToolSeen,
    Transport,
    UsageSeen,
)
from qterm.model import Approvals, Session, Task, TurnState
from qterm.tui.screens.approval import QUIET_SECONDS, AlwaysQuestion, ApprovalPanel
from qterm.tui.screens.ask import Question
from qterm.tui.screens.choose import ChooseMode
from tests.tui.stage import NO_MODEL, Stage, screen_text, stage, until
from tests.tui.test_home import home, line_of, states

ODD = "[/] [P1] \x1b]52;c;aGk=\x07\x1b[31mred \u202egnp.\u202c list[int]"

COMMAND = Approval(
    "a1", "rm -rf /srv/importer/build && make", "/srv/importer", "recursive delete",
    "execute", frozenset(Answer), 60.0,
)  # fmt: skip
EDIT = Approval(
    "e1", "/srv/importer/reader.py", "/srv/importer/reader.py", "", "edit",
    frozenset({Answer.ONCE, Answer.DENY}), 60.0,
    (Diff("/srv/importer/reader.py", "import csv\n\nrows = []\n", "import csv\n\nrows = [1]\n"),),
)  # fmt: skip
MODES = (
    SessionMode("default", "Default", "Ask before edits."),
    SessionMode("accept_edits", "Accept Edits", "Auto-allow workspace edits."),
    SessionMode("dont_ask", "Don't Ask", "Auto-allow file edits for this session."),
)


def live(on: Stage, *events: HermesEvent, held: type[object] = Replied) -> None:
    """The next turns come live, with these events; they are held before the first of a kind."""
    on.way.transport, on.way.approvals = Transport.LIVE, Approvals.ASK
    on.way.script = lambda _: [*events, Replied("Done.", "s1")]
    on.way.held_before = held
    on.way.hold()


async def shows(pilot: Pilot[Any], on: Stage, words: str) -> None:
    await until(pilot, lambda: words in screen_text(on.app))


async def asked(pilot: Pilot[Any], on: Stage) -> ApprovalPanel:
    """Send something, and wait for the panel."""
    await pilot.press(*"go", "enter")
    await until(pilot, lambda: isinstance(on.app.screen, ApprovalPanel))
    assert isinstance(on.app.screen, ApprovalPanel)
    await shows(pilot, on, "hermes asks before it acts")
    panel = on.app.screen
    assert isinstance(panel, ApprovalPanel)
    await until(pilot, lambda: panel.is_drawn)
    return panel


async def always_asked(pilot: Pilot[Any], on: Stage) -> None:
    """Wait for the second question."""
    await until(
        pilot,
        lambda: isinstance(on.app.screen, AlwaysQuestion) and on.app.screen.is_drawn,
    )


async def a_task(on: Stage, title: str = "Ship the importer") -> Task:
    task = await on.store.add_task(title, "/srv/importer")
    await on.store.bind(task.id, 1, Session("s1", on.way.hermes, f"q-task-{task.id}"))
    return task


async def at_tasks(pilot: Pilot[Any], on: Stage) -> None:
    await pilot.press("f3")
    await until(pilot, lambda: on.app.tasks and on.app.tasks.page_is_read)


# -- steps -------------------------------------------------------------------------------------


async def test_tools_and_thoughts_are_lines_while_q_works_and_one_line_after(
    tmp_path: Path,
) -> None:
    async with stage(tmp_path) as on, on.shown() as pilot:
        live(
            on,
            ThoughtDelta("I should look first."),
            ToolSeen("read: a.py", "pending", "path: a.py", id="1"),
            ToolSeen("", "completed", id="1", result="two lines"),
            ToolSeen("terminal: pytest", "in_progress", id="2"),
        )
        await pilot.press(*"go", "enter")
        await shows(pilot, on, "using terminal  0 s")
        assert "▸ thinking… 4 words" in screen_text(on.app)
        assert "done    read: a.py" in screen_text(on.app)
        on.hands.pass_(4)
        await until(pilot, lambda: "4 s" in line_of(on, "…       terminal"))
        assert "I should look first." not in screen_text(on.app)
        await pilot.press("ctrl+r")
        await shows(pilot, on, "I should look first.")
        assert "two lines" in screen_text(on.app)
        await pilot.press("ctrl+r")
        await until(pilot, lambda: "two lines" not in screen_text(on.app))
        on.way.gate.set()
        await until(pilot, lambda: states(on) == [TurnState.SENT, TurnState.SENT])
        await shows(pilot, on, "▸ 2 tools, 4.0 s · thought 4 words")
        assert "read: a.py" not in screen_text(on.app)
        await pilot.press("ctrl+r")
        await shows(pilot, on, "ended   terminal: pytest")
        await pilot.press("ctrl+r", "ctrl+r", "tab")
        await until(pilot, lambda: "terminal: pytest" not in screen_text(on.app))
        await shows(pilot, on, "enter details")
        await pilot.press("enter")
        await shows(pilot, on, "ended   terminal: pytest")


async def test_a_click_opens_one_line_and_closes_it(tmp_path: Path) -> None:
    async with stage(tmp_path) as on, on.shown() as pilot:
        live(
            on,
            ToolSeen("one", "completed", id="1", result="first result"),
            ToolSeen("two", "completed", id="2", result="second result"),
            TextDelta("So far."),
        )
        await pilot.press(*"go", "enter")
        await shows(pilot, on, "So far.")

        async def click(words: str) -> None:
            lines = screen_text(on.app).splitlines()
            y = next(index for index, line in enumerate(lines) if words in line)
            await pilot.click(offset=(lines[y].index(words) + 1, y))

        await click("done    two")
        await shows(pilot, on, "second result")
        assert on.app.focused is home(on).composer  # in the feed letters are commands
        assert "first result" not in screen_text(on.app)
        await click("done    two")
        await until(pilot, lambda: "second result" not in screen_text(on.app))
        on.way.gate.set()
        await shows(pilot, on, "▸ 2 tools")
        await click("2 tools")
        await shows(pilot, on, "done    one")


async def test_odd_words_from_hermes_are_shown_safely_everywhere(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        task = await a_task(on, ODD)
        async with on.shown() as pilot:
            odd = Approval("a", ODD, ODD, ODD, ODD, frozenset(Answer), 60.0, (Diff(ODD, ODD, "x"),))
            live(
                on,
                ThoughtDelta(ODD),
                ToolSeen(ODD, "completed", ODD, id="1", kind=ODD, result=ODD),
                PlanSeen((PlanStep(ODD, "in_progress"),)),
                ModesSeen(ODD, (SessionMode("d", ODD), SessionMode(ODD, ODD, ODD))),
                CommandsSeen((HermesCommand("ok", ODD, ODD), HermesCommand(ODD, ODD))),
                Asked(odd),
            )
            await at_tasks(pilot, on)
            await asked(pilot, on)
            shown = screen_text(on.app)
            assert "[/] [P1]" in shown
            assert "␛]52;c;aGk=␇" in shown  # a request hides nothing
            on.hands.pass_(1)
            await pilot.press("tab", "tab", "tab", "enter")
            await always_asked(pilot, on)
            await pilot.press("escape", "escape")
            await until(pilot, lambda: on.app.screen is on.app.tasks)
            await pilot.press("ctrl+r")
            await shows(pilot, on, "[/] [P1]")
            await pilot.hover("#title--state")
            await pilot.press("f8")
            await until(pilot, lambda: isinstance(on.app.screen, ChooseMode))
            await pilot.press("escape", "ctrl+p", *"hermes ok")
            await shows(pilot, on, "hermes: /ok")
            assert "(P1)" in screen_text(on.app)
            text = screen_text(on.app)
            assert not any(char in text for char in "\x1b\x07\u202e")
            await pilot.press("escape")
            on.way.gate.set()
            await until(pilot, lambda: not on.services.conversation.running(task.id))


async def test_another_threads_steps_wait_for_it(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        await a_task(on)
        async with on.shown() as pilot:
            live(on, ToolSeen("terminal: make", "in_progress", id="1"), UsageSeen(24, 200))
            await at_tasks(pilot, on)
            await pilot.press(*"go", "enter")
            await shows(pilot, on, "using terminal  0 s")
            await shows(pilot, on, "context 12 %")
            await pilot.press("f2")
            await until(pilot, lambda: on.app.screen is home(on))
            assert "terminal: make" not in screen_text(on.app)
            assert "context 12 %" not in screen_text(on.app)
            on.way.gate.set()
            await shows(pilot, on, "1 new")
            await pilot.press("f3")
            await shows(pilot, on, "▸ 1 tool")


async def test_a_turn_that_failed_without_an_answer_shows_what_q_did(tmp_path: Path) -> None:
    async with stage(tmp_path) as on, on.shown() as pilot:
        live(on, ToolSeen("terminal: make", "completed", id="1"))
        await pilot.press(*"go", "enter")
        await shows(pilot, on, "done    terminal: make")
        await pilot.press("escape")
        await until(pilot, lambda: states(on) == [TurnState.STOPPED])
        await shows(pilot, on, "▸ 1 tool")
        assert "■ stopped" in screen_text(on.app)


async def test_a_reader_further_up_is_not_moved_by_what_q_does(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        for number in range(60):
            await on.post("mallory", f"turn {number:03}")
        async with on.shown() as pilot:
            live(
                on,
                *(ToolSeen(f"tool {n}", "completed", id=str(n)) for n in range(30)),
                TextDelta("So far."),
            )
            await pilot.press(*"go", "enter")
            await shows(pilot, on, "So far.")
            feed = home(on).feed
            await pilot.press("pageup", "pageup")
            await until(pilot, lambda: not feed.following and feed.is_settled)
            before = [line[:30] for line in screen_text(on.app).splitlines() if "turn 0" in line]
            on.way.gate.set()
            await until(pilot, lambda: not feed.progress)
            await pilot.pause()
            after = [line[:30] for line in screen_text(on.app).splitlines() if "turn 0" in line]
            assert after == before


# -- requests ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("keys", "answer"),
    [
        (["enter"], Answer.DENY),
        (["escape"], Answer.DENY),
        (["enter"], Answer.DENY),
        (["tab", "enter"], Answer.ONCE),
        (["tab", "tab", "shift+tab", "enter"], Answer.ONCE),
        (["tab", "tab", "enter"], Answer.SESSION),
        (["tab", "tab", "tab", "enter", "PAUSE", "tab", "enter"], Answer.ALWAYS),
    ],
)
async def test_a_request_is_answered(tmp_path: Path, keys: list[str], answer: Answer) -> None:
    async with stage(tmp_path) as on, on.shown() as pilot:
        live(on, Asked(COMMAND), AskedNoMore("a1", answer), held=AskedNoMore)
        panel = await asked(pilot, on)
        focused = on.app.focused
        assert isinstance(focused, Button)
        assert focused.id == "deny"
        assert "waiting for your answer" in screen_text(on.app)
        on.hands.pass_(QUIET_SECONDS)
        for key in keys:
            if key == "PAUSE":
                await always_asked(pilot, on)
                on.hands.pass_(QUIET_SECONDS)
            else:
                await pilot.press(key)
        await until(pilot, lambda: on.way.answers)
        turn_id = panel.request.turn.id
        assert on.way.answers == [(str(turn_id), "a1", answer)]
        assert on.app.screen is home(on)
        on.way.gate.set()
        await until(pilot, lambda: states(on) == [TurnState.SENT, TurnState.SENT])
        verb = "denied" if answer is Answer.DENY else "allowed"
        await pilot.press("ctrl+r")
        await shows(pilot, on, f"{verb:<8}rm -rf")


async def test_a_fast_typist_allows_nothing(tmp_path: Path) -> None:
    async with stage(tmp_path) as on, on.shown() as pilot:
        live(on, Asked(COMMAND))
        panel = await asked(pilot, on)
        for key in [*"oh so as a yes, do", "enter", "o", "s", "a", "enter", "tab", "enter", "y"]:
            on.hands.pass_(QUIET_SECONDS * 0.9)  # never a pause: only the first key is late
            await pilot.press("space" if key == " " else key)
        assert on.app.screen is panel
        assert on.way.answers == []
        assert home(on).composer.text == ""
        on.hands.pass_(QUIET_SECONDS)
        await pilot.press("escape")
        await until(pilot, lambda: on.way.answers)
        assert on.way.answers[0][2] is Answer.DENY


@pytest.mark.parametrize("words", ["or ask", "so as a yes o", "os", "always do it"])
async def test_a_slow_typist_allows_nothing(tmp_path: Path, words: str) -> None:
    """However long the pauses between the words are, and with enter at the end."""
    async with stage(tmp_path) as on, on.shown() as pilot:
        live(on, Asked(COMMAND))
        panel = await asked(pilot, on)
        for key in [*words, "right", *words, "tab", *words]:
            on.hands.pass_(QUIET_SECONDS * 2)
            await pilot.press("space" if key == " " else key)
            assert on.app.screen is panel
        await pilot.press("enter")  # right behind the last word
        assert on.way.answers == []
        focused = on.app.focused
        assert focused is not None
        assert focused.id == "deny"


async def test_what_was_pressed_before_the_question_was_drawn_answers_nothing(
    tmp_path: Path,
) -> None:
    async with stage(tmp_path) as on, on.shown() as pilot:
        live(on, Asked(COMMAND))
        panel = await asked(pilot, on)
        panel.is_drawn = False
        on.hands.pass_(10)
        await pilot.press("tab", "enter")
        assert on.way.answers == []
        panel.drawn()
        await pilot.press("tab", "enter")  # its pause begins now
        assert on.way.answers == []
        on.hands.pass_(QUIET_SECONDS)
        await pilot.press("tab", "enter")
        await until(pilot, lambda: on.way.answers)


async def test_an_early_click_allows_nothing(tmp_path: Path) -> None:
    async with stage(tmp_path) as on, on.shown() as pilot:
        live(on, Asked(COMMAND))
        panel = await asked(pilot, on)
        await pilot.click("#once")
        await pilot.pause()
        assert on.app.screen is panel
        on.hands.pass_(QUIET_SECONDS)
        await until(pilot, lambda: not panel.query_one("#once").has_class("-active"))
        await pilot.click("#once")
        await until(pilot, lambda: on.way.answers)
        assert on.way.answers[0][2] is Answer.ONCE


async def test_escape_denies_at_once(tmp_path: Path) -> None:
    async with stage(tmp_path) as on, on.shown() as pilot:
        live(on, Asked(COMMAND))
        await asked(pilot, on)
        await pilot.press("escape")
        await until(pilot, lambda: on.way.answers)
        assert on.way.answers[0][2] is Answer.DENY
        assert on.services.conversation.running() is not None  # denied, not stopped


async def test_always_asks_once_more_with_the_pattern_and_no_in_focus(tmp_path: Path) -> None:
    async with stage(tmp_path) as on, on.shown() as pilot:
        live(on, Asked(COMMAND))
        panel = await asked(pilot, on)
        on.hands.pass_(QUIET_SECONDS)
        await pilot.press("tab", "tab", "tab", "enter")
        await always_asked(pilot, on)
        assert "recursive delete" in screen_text(on.app)
        focused = on.app.focused
        assert focused is not None
        assert focused.id == "no"
        await pilot.press("tab", "enter")  # too soon
        await pilot.pause()
        assert isinstance(on.app.screen, AlwaysQuestion)
        on.hands.pass_(QUIET_SECONDS)
        await pilot.press("enter")
        await until(pilot, lambda: on.app.screen is panel)
        assert on.way.answers == []


async def test_only_what_hermes_takes_is_offered(tmp_path: Path) -> None:
    async with stage(tmp_path) as on, on.shown() as pilot:
        live(on, Asked(EDIT))
        panel = await asked(pilot, on)
        assert [button.id for button in panel.query(Button)] == ["deny", "once"]
        shown = screen_text(on.app)
        assert "-rows = []" in shown
        assert "+rows = [1]" in shown
        on.hands.pass_(QUIET_SECONDS)
        await pilot.press("tab", "tab", "enter")  # once round: there is nothing else
        await until(pilot, lambda: on.way.answers)
        assert on.way.answers[0][2] is Answer.DENY
        assert on.app.screen is not panel


async def test_the_seconds_go_down_and_hermes_denies_itself(tmp_path: Path) -> None:
    async with stage(tmp_path) as on, on.shown() as pilot:
        live(on, Asked(COMMAND), AskedNoMore("a1", None), held=AskedNoMore)
        await asked(pilot, on)
        assert "60 s left" in screen_text(on.app)
        on.hands.pass_(18)
        await shows(pilot, on, "42 s left, then hermes denies it")
        on.hands.pass_(42)
        on.way.gate.set()
        await until(pilot, lambda: on.app.screen is home(on))
        await shows(pilot, on, "hermes denied it itself after 60 s.")
        assert on.way.answers == []


async def test_a_request_that_is_over_takes_the_second_question_with_it(tmp_path: Path) -> None:
    async with stage(tmp_path) as on, on.shown() as pilot:
        live(on, Asked(COMMAND), AskedNoMore("a1", None), held=AskedNoMore)
        await asked(pilot, on)
        on.hands.pass_(1)
        await pilot.press("tab", "tab", "tab", "enter")
        await always_asked(pilot, on)
        on.way.gate.set()
        await until(pilot, lambda: on.app.screen is home(on))
        assert on.way.answers == []


async def test_a_panel_under_a_question_closes_once_that_is_answered(tmp_path: Path) -> None:
    async with stage(tmp_path) as on, on.shown() as pilot:
        live(on, Asked(COMMAND), AskedNoMore("a1", None), held=AskedNoMore)
        await asked(pilot, on)
        await pilot.press("ctrl+p")  # the palette does not come over it
        await pilot.pause()
        assert isinstance(on.app.screen, ApprovalPanel)
        await pilot.press("ctrl+q")
        await until(pilot, lambda: isinstance(on.app.screen, Question))
        on.way.gate.set()
        await until(pilot, lambda: states(on) == [TurnState.SENT, TurnState.SENT])
        assert isinstance(on.app.screen, Question)
        await pilot.press("n")
        await until(pilot, lambda: on.app.screen is home(on))
        assert on.way.answers == []


async def test_requests_come_one_after_the_other(tmp_path: Path) -> None:
    async with stage(tmp_path) as on, on.shown() as pilot:
        second = Approval("a2", "rm two", "/srv", "why", "execute", frozenset(Answer), 60.0)
        live(on, Asked(COMMAND), Asked(second))
        panel = await asked(pilot, on)
        await shows(pilot, on, "1 more request waits")
        on.hands.pass_(1)
        await pilot.press("tab", "enter")
        await shows(pilot, on, "rm two")
        assert on.app.screen is not panel
        await pilot.press("tab", "enter")  # meant for the first one
        await pilot.pause()
        on.hands.pass_(1)
        await pilot.press("escape")
        await until(pilot, lambda: len(on.way.answers) == 2)
        assert [answer for _, _, answer in on.way.answers] == [Answer.ONCE, Answer.DENY]
        assert on.app.screen is home(on)


async def test_a_request_of_another_thread_rings_marks_and_opens_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with stage(tmp_path) as on:
        task, other = await a_task(on), await a_task(on, "Another one")
        async with on.shown() as pilot:
            rung: list[int] = []
            monkeypatch.setattr(on.app, "bell", lambda: rung.append(1))
            await at_tasks(pilot, on)
            assert on.app.tasks is not None
            on.app.tasks.choose(task.id)
            await until(pilot, lambda: on.app.tasks and on.app.tasks.page_is_read)
            live(on, TextDelta("Let me see."), Asked(COMMAND), held=TextDelta)
            await pilot.press(*"go", "enter")
            await until(pilot, on.way.started.is_set)
            await pilot.press("f2", *"dra")
            on.way.gate.set()
            on.way.held_before = Replied
            on.way.hold()
            await shows(pilot, on, "Q asks in: Ship the importer (ctrl+l)")
            assert rung == [1]
            await pilot.press(*"ft osa")
            assert home(on).composer.text == "draft osa"
            assert not isinstance(on.app.screen, ApprovalPanel)
            on.app.tasks.choose(other.id)
            await pilot.press("f3")
            await shows(pilot, on, "Q asks you")
            await pilot.press("f2", "ctrl+l")
            await until(pilot, lambda: isinstance(on.app.screen, ApprovalPanel))
            await shows(pilot, on, "in “Ship the importer”")
            assert rung == [1]
            await pilot.press("escape")
            await until(pilot, lambda: on.way.answers)
            await until(pilot, lambda: "Q asks" not in screen_text(on.app))


async def test_an_answer_that_came_too_late_is_said(tmp_path: Path) -> None:
    async with stage(tmp_path) as on, on.shown() as pilot:

        async def too_late(key: str, approval_id: str, answer: Answer) -> bool:
            return False

        on.way.answer = too_late  # type: ignore[method-assign]
        live(on, Asked(COMMAND))
        await asked(pilot, on)
        await pilot.press("escape")
        await shows(pilot, on, "That answer came too late")


async def test_a_turn_that_ends_takes_its_request_with_it(tmp_path: Path) -> None:
    async with stage(tmp_path) as on, on.shown() as pilot:
        live(on, Asked(COMMAND))
        await asked(pilot, on)
        on.way.gate.set()
        await until(pilot, lambda: on.app.screen is home(on))
        await shows(pilot, on, "hermes asks no more")
        assert on.app.common.requests.first() is None


async def test_nothing_else_has_the_border_of_a_request() -> None:
    from qterm.tui.app import QtermApp

    css = QtermApp.CSS_PATH
    assert isinstance(css, Path)
    double = [line for line in css.read_text("utf-8").splitlines() if "double" in line]
    assert len(double) == 2  # its heading, and #approval
    assert any(line.startswith("#approval {") for line in double)


async def test_a_huge_command_says_what_is_not_shown(tmp_path: Path) -> None:
    async with stage(tmp_path) as on, on.shown((80, 24)) as pilot:
        what = "echo " + "x" * 150_000 + "; rm -rf /"
        live(on, Asked(Approval("a", what, "/", "why", "execute", frozenset(Answer), 60.0)))
        panel = await asked(pilot, on)
        on.hands.pass_(1)
        for _ in range(400):
            await pilot.press("pagedown")
            if "deny what you can't read" in screen_text(on.app):
                break
        assert "50,015 more characters are not shown" in screen_text(on.app)
        assert "Deny (esc)" in screen_text(on.app)
        assert on.app.screen is panel


# -- the head, modes and commands --------------------------------------------------------------


async def test_the_title_line_says_which_way_and_why(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        on.way.transport = Transport.LIVE
        async with on.shown() as pilot:
            await shows(pilot, on, "hermes 0.19.0 · live")
            await pilot.hover("#title--state")
            await shows(pilot, on, "It is scripted.")


async def test_hermes_is_started_ahead_once_the_screen_is_there(tmp_path: Path) -> None:
    async with stage(tmp_path) as on, on.shown() as pilot:
        await until(pilot, lambda: on.way.warmed)
        assert on.way.warmed == 1
    async with stage(tmp_path, state=NO_MODEL) as on, on.app.run_test() as pilot:
        await shows(pilot, on, "Here you talk with Q")
        assert on.way.warmed == 0


async def test_a_new_tasks_folder_is_warmed_while_its_first_message_is_written(
    tmp_path: Path,
) -> None:
    async with stage(tmp_path) as on, on.shown() as pilot:
        await pilot.press("f3", "ctrl+n", *"Ship it", "enter")
        await until(pilot, lambda: Path.cwd() in on.way.warmed_in)


async def test_home_has_plan_and_usage_in_the_title_line_if_there_is_room(tmp_path: Path) -> None:
    async with stage(tmp_path) as on, on.shown() as pilot:
        steps = (PlanStep("look", "completed"), PlanStep("write the reader", "in_progress"))
        live(on, PlanSeen(steps), UsageSeen(24_000, 200_000))
        await pilot.press(*"go", "enter")
        await shows(pilot, on, "plan 2/2: write the reader · context 12 %")
        await pilot.resize_terminal(80, 24)
        await shows(pilot, on, "Q ● at work")
        assert all(len(line) <= 80 for line in screen_text(on.app).splitlines())


async def test_ask_that_acts_as_deny_is_said_once(tmp_path: Path) -> None:
    async with stage(tmp_path) as on, on.shown() as pilot:
        await pilot.press(*"one", "enter")
        await shows(pilot, on, "hermes can't ask you here")
        await until(pilot, lambda: states(on) == [TurnState.SENT] * 2)
        await pilot.press(*"two", "enter")
        await until(pilot, lambda: states(on) == [TurnState.SENT] * 4)
        assert screen_text(on.app).count("hermes can't ask you here") == 1


async def test_the_sessions_mode_is_chosen(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        await a_task(on)
        async with on.shown() as pilot:
            live(on, ModesSeen("default", MODES))
            await at_tasks(pilot, on)
            await pilot.press("f8")
            await pilot.pause()
            assert on.app.screen is on.app.tasks  # not known yet
            await pilot.press(*"go", "enter")
            await until(pilot, lambda: on.app.tasks and on.app.tasks.situation().modes)
            await pilot.press("f8")
            await shows(pilot, on, "Auto-allow workspace edits.")
            await pilot.press("down", "enter")
            await shows(pilot, on, "mode: Accept Edits")
            assert on.way.modes == [("s1", "accept_edits")]


async def test_hermes_own_commands_are_in_the_palette(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        task = await a_task(on)
        async with on.shown() as pilot:
            commands = (
                HermesCommand("compact", "Compress conversation context"),
                HermesCommand("model", "Show or switch the model", "model name"),
            )
            live(on, CommandsSeen(commands))
            on.way.gate.set()
            await at_tasks(pilot, on)
            await pilot.press(*"go", "enter")
            await until(pilot, lambda: len(on.way.requests) == 1)
            await until(pilot, lambda: not on.services.conversation.busy())
            await pilot.press(*"draft", "ctrl+p", *"hermes: /com")
            await shows(pilot, on, "Compress conversation context")
            await pilot.press("enter")
            await until(pilot, lambda: len(on.way.requests) == 2)
            assert on.way.requests[-1].prompt.endswith("/compact")
            await pilot.press("ctrl+p", *"hermes: /mod")
            await shows(pilot, on, "switch the model")
            await pilot.press("enter")
            await shows(pilot, on, "enter runs it")
            await pilot.press(*"mock-2", "enter")
            await until(pilot, lambda: len(on.way.requests) == 3)
            assert on.way.requests[-1].prompt.endswith("/model mock-2")
            assert on.app.tasks is not None
            assert on.app.tasks.composer.text == "draft"
            await until(pilot, lambda: not on.services.conversation.is_at_work(task.id))


async def test_typing_queueing_and_taking_back_go_on_while_q_works_live(tmp_path: Path) -> None:
    async with stage(tmp_path) as on, on.shown() as pilot:

        def script(_: HermesRequest) -> list[HermesEvent]:
            tools: list[HermesEvent] = [
                ToolSeen(f"tool {n}", "completed", id=str(n)) for n in range(20)
            ]
            return [ThoughtDelta("Hm."), *tools, TextDelta("So."), Replied("So.")]

        live(on)
        on.way.script = script
        await pilot.press(*"one", "enter")
        await shows(pilot, on, "tool 19")
        await pilot.press(*"two", "enter")
        await shows(pilot, on, "waiting for the message before it")
        await pilot.press(*"draft", "tab", "t")
        await until(pilot, lambda: home(on).composer.message == "two\ndraft")
        await pilot.press("escape")
        await until(pilot, lambda: states(on) == [TurnState.STOPPED, TurnState.STOPPED])
        assert len(on.way.requests) == 1
