"""The tasks screen over the real store and Conversation, with a scripted way (rules S1 to S8)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from textual.pilot import Pilot
from textual.widgets import Button

from qterm.feed.source import NewTurn
from qterm.feed.store import open_store
from qterm.hermes.way import (
    Failed,
    FailureKind,
    HermesEvent,
    HermesRequest,
    Replied,
    SessionRecord,
    SessionState,
    Stopped,
    TextDelta,
)
from qterm.model import Approvals, Task, TaskState, TurnState
from qterm.settings.schema import HermesSettings, Settings
from qterm.tui.app import Leave
from qterm.tui.screens.ask import Question
from qterm.tui.screens.tasks import TasksScreen
from tests.tui.stage import Stage, screen_text, stage, until
from tests.tui.test_home import home, line_of

SESSION = "20261130_091500_cae3a2"


def remembers(request: HermesRequest) -> list[HermesEvent]:
    """A session that lasts, as hermes has it."""
    return [TextDelta("Done."), Replied("Done.", request.session or SESSION)]


def tasks(on: Stage) -> TasksScreen:
    assert on.app.tasks is not None
    return on.app.tasks


def order_of(on: Stage) -> list[str | None]:
    """The ids of the tasks as they stand in the list."""
    return [option.id for option in tasks(on).list.options]


def states(on: Stage) -> list[TurnState]:
    return [turn.state for turn in tasks(on).feed.window.turns]


@asynccontextmanager
async def at_tasks(on: Stage, size: tuple[int, int] = (120, 40)) -> AsyncIterator[Pilot[Any]]:
    """The app on its tasks screen."""
    async with on.shown(size) as pilot:
        await pilot.press("f3")
        await until(pilot, lambda: on.app.common.tasks_are_known and on.app.tasks is not None)
        await until(pilot, lambda: tasks(on).thread is None or tasks_are_read(on))
        yield pilot


def tasks_are_read(on: Stage) -> bool:
    return tasks(on).page_is_read and tasks(on).draft_is_known


async def a_task(on: Stage, title: str = "Ship the importer", *said: str) -> Task:
    on.hands.pass_(1)  # the newest comes first
    task = await on.store.add_task(title, "/srv/importer")
    for text in said:
        await on.store.append(NewTurn(task.id, "you", text, TurnState.SENT))
    return task


async def go_to(pilot: Pilot[Any], on: Stage, task: Task) -> None:
    tasks(on).choose(task.id)
    await until(pilot, lambda: tasks_are_read(on))


async def the_task(on: Stage, task: Task) -> Task:
    found = await on.store.task(task.id)
    assert found is not None
    return found


async def test_a_new_task_is_begun_and_its_session_lasts(tmp_path: Path) -> None:
    async with stage(tmp_path, script=remembers) as on, at_tasks(on) as pilot:
        assert "There are no tasks yet: ctrl+n begins one." in screen_text(on.app)
        await pilot.press(*"lost words", "enter")
        await pilot.press("ctrl+n", *"Ship [/] it", "enter")
        await until(pilot, lambda: on.app.screen is tasks(on) and tasks(on).thread)
        await until(pilot, lambda: tasks_are_read(on))
        assert "Nothing has been said in this task yet." in screen_text(on.app)
        assert "● Ship [/] it" in screen_text(on.app)
        (made,) = await on.store.tasks()
        assert made.cwd == str(Path.cwd())
        await a_task(on, "Older", "with words")
        await until(pilot, lambda: "Older" in screen_text(on.app))
        order = order_of(on)
        await pilot.press(*"begin", "enter")
        await until(pilot, lambda: states(on) == [TurnState.SENT, TurnState.SENT])
        await until(pilot, lambda: "Q: Done." in screen_text(on.app))
        assert order_of(on) == order  # nothing moves under the operator's hands
        await pilot.press(*"go on", "enter")
        await until(pilot, lambda: states(on) == [TurnState.SENT] * 4)
        assert [request.prompt for request in on.way.requests] == ["begin", "go on"]
        assert [request.session for request in on.way.requests] == [None, SESSION]
        assert await on.store.page(None) == []
        await until(pilot, lambda: f"session q-task-{made.id} (…cae3a2)" in screen_text(on.app))
        assert "run 1 · 4 turns" in screen_text(on.app)


async def test_a_folder_that_is_not_there_and_an_empty_title_are_refused(tmp_path: Path) -> None:
    async with stage(tmp_path) as on, at_tasks(on) as pilot:
        await pilot.press("ctrl+n", "enter")
        await until(pilot, lambda: "A task needs a title" in screen_text(on.app))
        await pilot.press(*"x", "tab", *"/nowhere", "enter")
        await until(pilot, lambda: "/nowhere” is no folder here" in screen_text(on.app))
        await pilot.press("escape")
        await until(pilot, lambda: on.app.screen is tasks(on))
        assert await on.store.tasks() == []


async def test_each_task_has_its_own_thread_and_draft(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        one = await a_task(on, "One", "said in one")
        two = await a_task(on, "Two", "said in two")
        await on.store.save_draft(one.id, "kept")
        async with at_tasks(on) as pilot:
            assert "You said in two" in screen_text(on.app)  # the newest words come first
            await pilot.press(*"for two", "alt+down")
            await until(pilot, lambda: "You said in one" in screen_text(on.app))
            assert "You said in two" not in screen_text(on.app)
            await until(pilot, lambda: tasks(on).composer.message == "kept")
            await pilot.press("alt+up")
            await until(pilot, lambda: "You said in two" in screen_text(on.app))
            assert tasks(on).composer.message == "for two"
            await until(pilot, lambda: tasks_are_read(on))
            await pilot.press("enter")
            await until(pilot, lambda: states(on)[1:] == [TurnState.SENT, TurnState.SENT])
            (asked, _) = (await on.store.page(two.id))[-2:]
            assert asked.text == "for two"
            assert await on.store.draft(one.id) == "kept"
            await pilot.press("f2")
            await until(pilot, lambda: on.app.screen is home(on))
            assert home(on).composer.message == ""


async def test_a_draft_survives_quitting(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        task = await a_task(on)
        async with at_tasks(on) as pilot:
            await pilot.press(*"half", "ctrl+q")
            await until(pilot, lambda: on.app.return_value is Leave.DONE)
        assert await on.store.draft(task.id) == "half"


async def test_escape_stops_only_the_thread_on_the_screen(tmp_path: Path) -> None:
    async with stage(tmp_path, script=remembers) as on:
        one, two = await a_task(on, "One"), await a_task(on, "Two")
        async with at_tasks(on) as pilot:
            on.way.hold()
            await pilot.press(*"b", "enter")
            running = on.services.conversation.running
            await until(pilot, lambda: running(two.id))
            await go_to(pilot, on, one)
            assert "stop Q" not in screen_text(on.app).splitlines()[-1]
            await pilot.press(*"a", "enter")
            await until(pilot, lambda: running(one.id))
            await until(pilot, lambda: "stop Q" in screen_text(on.app).splitlines()[-1])
            await pilot.press("escape")
            await until(pilot, lambda: states(on) == [TurnState.STOPPED, TurnState.STOPPED])
            assert running(two.id)
            assert "Q is at work" in screen_text(on.app)
            on.way.gate.set()
            await until(pilot, lambda: running(two.id) is None)
            assert (await on.store.page(two.id))[-1].text == "Done."


async def test_text_that_streams_is_whole_after_a_look_at_another_task(tmp_path: Path) -> None:
    def script(_: HermesRequest) -> list[HermesEvent]:
        words = [f"w{number} " for number in range(50)]
        return [*(TextDelta(word) for word in words), Replied("".join(words))]

    async with stage(tmp_path, script=script) as on:
        one, two = await a_task(on, "One"), await a_task(on, "Two")
        async with at_tasks(on) as pilot:
            on.way.hold()
            await pilot.press(*"go", "enter")
            await until(pilot, lambda: "w49" in screen_text(on.app))
            await go_to(pilot, on, one)
            await until(pilot, lambda: "w49" not in screen_text(on.app))
            await go_to(pilot, on, two)
            await until(pilot, lambda: "w48 w49" in screen_text(on.app))
            assert "esc stops" in screen_text(on.app)


async def test_an_answer_that_comes_elsewhere_rings_and_is_marked(tmp_path: Path) -> None:
    async with stage(tmp_path, script=remembers) as on:
        task = await a_task(on)
        async with at_tasks(on) as pilot:
            rung: list[int] = []
            on.app.bell = lambda: rung.append(1)  # type: ignore[method-assign]
            assert "new" not in screen_text(on.app).splitlines()[0]
            await pilot.press(*"seen", "enter")
            await until(pilot, lambda: states(on) == [TurnState.SENT, TurnState.SENT])
            on.way.hold()
            await pilot.press(*"slow", "enter")
            await until(pilot, lambda: on.services.conversation.running(task.id))
            await pilot.press("f2")
            await until(pilot, lambda: on.app.screen is home(on))
            assert "Tasks 1" in screen_text(on.app).splitlines()[0]
            assert rung == []
            on.way.gate.set()
            await until(pilot, lambda: "1 new" in screen_text(on.app).splitlines()[0])
            await until(pilot, lambda: rung == [1])
            await pilot.press("f3")
            await until(pilot, lambda: "new" not in screen_text(on.app).splitlines()[0])
            assert not (await the_task(on, task)).is_unread
            await pilot.pause(0.5)
            assert rung == [1]


async def test_what_another_process_says_in_a_task_is_new(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        task = await a_task(on)
        async with on.shown() as pilot:
            other = await open_store(
                tmp_path / "data" / "feed.db", locks_dir=tmp_path / "data" / "locks"
            )
            try:
                await other.append(NewTurn(task.id, "q", "from afar", TurnState.SENT))
                await until(pilot, lambda: "1 new" in screen_text(on.app).splitlines()[0])
                assert "from afar" not in screen_text(on.app)
                second = await other.add_task("Another", "/")
                await until(pilot, lambda: "Tasks 2" in screen_text(on.app).splitlines()[0])
                await pilot.press("f3")
                await until(pilot, lambda: on.app.tasks and tasks_are_read(on))
                assert tasks(on).list.chosen == second.id  # it waits for its first words
                await pilot.press("alt+down")
                await until(pilot, lambda: "from afar" in screen_text(on.app))
                await other.rename_task(second.id, "Renamed there")
                await until(pilot, lambda: "Renamed there" in screen_text(on.app))
            finally:
                await other.close()


async def ask(pilot: Pilot[Any], on: Stage, *keys: str) -> str:
    """Press keys that lead to a question; what stands on the screen then."""
    await pilot.press(*keys)
    await until(pilot, lambda: isinstance(on.app.screen, Question))
    focused = on.app.focused
    assert isinstance(focused, Button)
    assert focused.id == "no"
    return " ".join(screen_text(on.app).replace("│", " ").split())


async def test_finishing_and_reopening_ask_and_the_next_message_starts_fresh(
    tmp_path: Path,
) -> None:
    async with stage(tmp_path, script=remembers) as on:
        task = await a_task(on)
        async with at_tasks(on) as pilot:
            await pilot.press(*"first run", "enter")
            await until(pilot, lambda: states(on) == [TurnState.SENT, TurnState.SENT])
            await pilot.press(*"draft", "tab")
            await until(pilot, lambda: tasks(on).list.has_focus)
            await ask(pilot, on, "f")
            await pilot.press("enter")  # the safe answer
            await until(pilot, lambda: on.app.screen is tasks(on))
            assert (await the_task(on, task)).state is TaskState.OPEN
            await ask(pilot, on, "f")
            await pilot.press("y")
            await until(pilot, lambda: "ctrl+o reopens it" in screen_text(on.app))
            assert "Done: read only." in screen_text(on.app)
            assert "✓ Ship the importer" in screen_text(on.app)
            assert "f3 Tasks · f4" in screen_text(on.app).splitlines()[0]
            tasks(on).composer.focus()
            await pilot.press(*"nothing", "ctrl+j", "␛", "enter")
            assert tasks(on).composer.text == ""
            assert len(on.way.requests) == 1
            assert await on.store.draft(task.id) == "draft"
            shown = await ask(pilot, on, "ctrl+o")
            assert "Q starts fresh, in a new session, and knows nothing of run 1" in shown
            await pilot.press("y")
            await until(pilot, lambda: "─ Run 2 ─" in screen_text(on.app))
            await until(pilot, lambda: tasks(on).composer.message == "draft")
            assert "Reopened, run 2: Q starts fresh" in screen_text(on.app)
            assert tasks(on).composer.has_focus
            assert "first run" in screen_text(on.app)
            await pilot.press("enter")
            await until(pilot, lambda: len(on.way.requests) == 2)
            assert on.way.requests[1].session is None
            assert on.way.requests[1].prompt == "draft"
            await until(pilot, lambda: f"q-task-{task.id}-r2" in screen_text(on.app))


async def test_cancelling_is_told_apart_from_finishing(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        task = await a_task(on)
        async with at_tasks(on) as pilot:
            await pilot.press("tab")
            await ask(pilot, on, "x")
            await pilot.press("y")
            await until(pilot, lambda: "✗ Ship the importer" in screen_text(on.app))
            assert (await the_task(on, task)).state is TaskState.CANCELLED


async def test_finishing_stops_the_turn_and_what_waits_is_the_draft_again(tmp_path: Path) -> None:
    async with stage(tmp_path, script=remembers) as on:
        task = await a_task(on)
        async with at_tasks(on) as pilot:
            on.way.hold()
            await pilot.press(*"one", "enter")
            await until(pilot, lambda: on.services.conversation.running(task.id))
            await pilot.press(*"two", "enter")
            await until(pilot, tasks(on).feed.progress.waiting)
            await pilot.press(*"three", "tab")
            shown = await ask(pilot, on, "f")
            assert "Q is at work in it: that is stopped" in shown
            await pilot.press("y")
            await until(pilot, lambda: "Done: read only." in screen_text(on.app))
            assert states(on) == [TurnState.STOPPED, TurnState.STOPPED]
            assert (await the_task(on, task)).state is TaskState.DONE
            assert await on.store.draft(task.id) == "three\ntwo"
            on.way.gate.set()
            await ask(pilot, on, "ctrl+o")
            await pilot.press("y")
            await until(pilot, lambda: tasks(on).composer.message == "three\ntwo")


async def test_a_task_ended_elsewhere_cannot_be_written_in_and_the_text_is_kept(
    tmp_path: Path,
) -> None:
    async with stage(tmp_path) as on:
        task = await a_task(on)
        async with at_tasks(on) as pilot:
            await pilot.press(*"precious")
            await until(pilot, lambda: tasks(on).composer.message == "precious")
            ended = await on.store.end_task(task.id, TaskState.DONE)
            tasks(on).desk.send(task.id, "precious")
            await until(pilot, lambda: "reopen it to go on" in screen_text(on.app))
            await until(pilot, lambda: "Done: read only." in screen_text(on.app))
            assert ended.id == task.id
            await on.store.reopen_task(task.id)
            await until(pilot, lambda: tasks(on).composer.message == "precious")


async def test_a_palette_of_the_tasks_screen_has_its_commands(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        await a_task(on)
        async with on.shown() as pilot:
            await pilot.press("ctrl+p", *"tasks", "enter")
            await until(pilot, lambda: on.app.tasks is not None and tasks(on).is_current)
            await until(pilot, lambda: tasks_are_read(on))
            await pilot.press("ctrl+p", *"rename the")
            await until(pilot, lambda: "Rename the task…" in screen_text(on.app))
            await pilot.press("enter", *["backspace"] * 8, *"reader", "enter")
            await until(pilot, lambda: "Ship the reader" in screen_text(on.app))
            await pilot.press("ctrl+p", *"add a fact")
            await until(pilot, lambda: "No matches" in screen_text(on.app))


async def test_a_deletion_in_a_task_says_what_stays(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        await a_task(on, "One", "said")
        async with at_tasks(on) as pilot:
            tasks(on).feed.focus()
            await pilot.press("h")
            assert "hermes's own session keeps it" in await ask(pilot, on, "d")
            await pilot.press("y")
            await until(pilot, lambda: states(on) == [])
            assert "Nothing has been said in this task yet" in screen_text(on.app)


async def test_a_task_can_be_renamed(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        await a_task(on, "Old")
        async with at_tasks(on) as pilot:
            await pilot.press("tab", "r", *["backspace"] * 3, *"New", "enter")
            await until(pilot, lambda: "● New" in screen_text(on.app))
            assert "Old" not in screen_text(on.app)


async def test_sending_again_tells_what_the_session_already_holds(tmp_path: Path) -> None:
    def fails(_: HermesRequest) -> list[HermesEvent]:
        return [Failed(FailureKind.PROVIDER, "No answer.", session=SESSION)]

    async with stage(tmp_path, script=fails) as on:
        await a_task(on)
        async with at_tasks(on) as pilot:
            on.way.records[SESSION] = SessionRecord(SessionState.THERE, "", (("user", "pay"),))
            await pilot.press(*"pay", "enter")
            await until(pilot, lambda: states(on) == [TurnState.FAILED])
            tasks(on).feed.focus()
            shown = await ask(pilot, on, "a")
            assert "hermes's session already holds this message, without an answer" in shown
            await pilot.press("n")
            await until(pilot, lambda: on.app.screen is tasks(on))
            assert len(on.way.requests) == 1
            on.way.script = remembers
            await ask(pilot, on, "a")
            await pilot.press("y")
            await until(pilot, lambda: states(on)[1:] == [TurnState.SENT, TurnState.SENT])


async def test_only_what_has_ended_and_was_in_view_counts_as_seen(tmp_path: Path) -> None:
    async with stage(tmp_path, script=remembers) as on:
        task = await a_task(on, "Long", *(f"line {number}" for number in range(60)))
        async with at_tasks(on) as pilot:
            await until(pilot, lambda: not on.app.common.new_count())
            await pilot.press("pageup")
            await until(pilot, lambda: not tasks(on).feed.following)
            await on.store.append(NewTurn(task.id, "q", "below", TurnState.SENT))
            await until(pilot, lambda: "1 new below" in screen_text(on.app))
            await until(pilot, lambda: on.app.common.new_count() == 1)
            await pilot.click("#new-below")
            await until(pilot, lambda: not on.app.common.new_count())


async def test_the_list_is_walked_with_the_keys_and_keeps_its_place(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        made = [await a_task(on, f"Task {number:02}", f"said {number:02}") for number in range(30)]
        async with at_tasks(on, (80, 24)) as pilot:
            await pilot.press("tab", "down", "down")
            await until(pilot, lambda: "You said 27" in screen_text(on.app))
            order = order_of(on)
            await on.store.append(NewTurn(made[0].id, "q", "I am first now", TurnState.SENT))
            await until(pilot, lambda: on.app.common.new_count() == 1)
            assert tasks(on).list.chosen == made[27].id
            assert order_of(on) == order
            assert "You said 27" in screen_text(on.app)
            await pilot.press("f3")  # sorted anew: it comes first
            await until(pilot, lambda: "Task 00" in screen_text(on.app))
            assert order_of(on) == [made[0].id, *order[:-1]]
            assert tasks(on).list.chosen == made[27].id
            await pilot.press("end")
            await until(pilot, lambda: "You said 01" in screen_text(on.app))
            await pilot.press("enter", *"hello")
            await until(pilot, lambda: tasks(on).composer.message == "hello")


async def test_walking_fast_settles_on_the_last_task(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        for number in range(20):
            await a_task(on, f"Task {number:02}", f"said {number:02}")
        async with at_tasks(on) as pilot:
            await pilot.press("tab", *["down"] * 12, *["up"] * 2)
            await until(pilot, lambda: "You said 09" in screen_text(on.app))
            for _ in range(10):
                await asyncio.sleep(0.02)
                await pilot.pause()
            assert tasks(on).list.chosen == tasks(on).thread.task_id  # type: ignore[union-attr]
            assert line_of(on, "You said 09")


async def test_over_ssh_the_folder_is_one_there(tmp_path: Path) -> None:
    """It can't be looked at from here; a stop that may not have ended Q there says so."""
    command = ("ssh", "tower", "hermes")
    settings = Settings(hermes=HermesSettings(command=command, approvals=Approvals.BYPASS))
    note = "Q may still run on tower."
    script = [Stopped("half", SESSION, note=note)]
    async with (
        stage(tmp_path, settings=settings, script=lambda _: script) as on,
        at_tasks(on) as pilot,
    ):
        assert "runs commands unasked" not in screen_text(on.app), "bypass is denied over ssh"
        await pilot.press("ctrl+n", *"x", "tab", *"nowhere", "enter")
        await until(pilot, lambda: "one on hermes's machine" in screen_text(on.app))
        await pilot.press(*["backspace"] * 12, *"/only/there", "enter")
        await until(pilot, lambda: on.app.screen is tasks(on) and tasks_are_read(on))
        assert [task.cwd for task in await on.store.tasks()] == ["/only/there"]
        await pilot.press(*"go", "enter")
        await until(pilot, lambda: note in screen_text(on.app))
