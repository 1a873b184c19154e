"""The list of tasks: its order, its filter, what it costs; and what is new at home."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from qterm.feed.source import FeedChange, NewTurn
from qterm.model import LastWord, Task, TaskState, Turn, TurnState
from qterm.tui.news import News
from qterm.tui.words.task_order import Part, Wanted, in_place, sorted_anew
from tests.tui.stage import NOON, screen_text, stage, until
from tests.tui.test_home import home
from tests.tui.test_tasks import a_task, at_tasks, order_of, remembers, tasks, tasks_are_read


def task(name: str, **values: object) -> Task:
    made = Task(name, name, TaskState.OPEN, "/", 1, datetime(2026, 11, 30, tzinfo=UTC))
    return replace(made, **values)  # type: ignore[arg-type]


def names(tasks: list[Task]) -> str:
    return "".join(task.id for task in tasks)


def test_the_order_anew() -> None:
    made = [
        task("a", newest=1),
        task("b", newest=5),
        task("c"),
        task("d", state=TaskState.DONE, newest=9),
        task("e", state=TaskState.CANCELLED),
        task("f", created_at=datetime(2026, 12, 1, tzinfo=UTC)),
    ]
    assert names(sorted_anew(made)) == "fcbade"


def test_the_order_that_stays() -> None:
    before = [task("a"), task("b", newest=2), task("c", newest=1), task("d", state=TaskState.DONE)]
    now = [replace(before[0], newest=9), before[1], replace(before[2], newest=7), before[3]]
    assert names(in_place(before, now)) == "abcd"
    new = task("n")
    assert names(in_place(before, [*now, new])) == "nabcd", "a new one comes on top"
    ended = replace(before[1], state=TaskState.DONE)
    assert names(in_place(before, [before[0], ended, *before[2:]])) == "acbd"
    assert names(in_place([], now)) == names(sorted_anew(now))


def test_what_is_wanted() -> None:
    said = LastWord("q", "Ganz FERTIG", NOON)
    made = [task("a", title="Ship it"), task("b", last=said), task("c", state=TaskState.DONE)]
    assert not Wanted()
    assert not Wanted("  ")
    assert names(list(Wanted("ship").choose(made))) == "a"
    assert names(list(Wanted("fertig GANZ").choose(made))) == "b"
    assert names(list(Wanted("fertig nie").choose(made))) == ""
    assert names(list(Wanted(part=Part.OVER).choose(made))) == "c"
    assert names(list(Wanted(part=Part.OPEN).choose(made))) == "ab"
    assert [Part.ALL.next, Part.OPEN.next, Part.OVER.next] == [Part.OPEN, Part.OVER, Part.ALL]


def turn(number: int, persona: str = "q", state: TurnState = TurnState.SENT) -> Turn:
    return Turn(number, None, persona, "said", state, NOON)


def test_what_is_new_at_home() -> None:
    news = News(lambda _: None)

    def came(*turns: Turn, at_home: bool = False, deleted: tuple[int, ...] = ()) -> bool:
        return news.take(FeedChange(turns, deleted), is_at_home=at_home, shown=None)

    assert not came(turn(1), at_home=True)
    assert not news.see_home(1)
    assert not came(turn(1)), "hidden later: it was seen"
    assert not came(turn(2, "mallory")), "marked, without a bell"
    assert news.at_home == 1
    assert not came(turn(3, "you"))
    assert not came(turn(4, state=TurnState.PENDING))
    assert news.at_home == 1
    assert came(turn(4))
    assert not came(turn(4)), "once"
    assert came(turn(5, "you", TurnState.FAILED))
    assert news.at_home == 3
    came(deleted=(2,))
    assert news.at_home == 2
    assert news.see_home(4)
    assert news.at_home == 1


async def test_an_answer_at_home_rings_and_is_marked_until_home_is_seen(tmp_path: Path) -> None:
    async with stage(tmp_path, script=remembers) as on:
        await a_task(on)
        async with on.shown() as pilot:
            rung: list[int] = []
            on.app.bell = lambda: rung.append(1)  # type: ignore[method-assign]
            on.way.hold()
            await pilot.press(*"slow", "enter")
            await until(pilot, lambda: on.services.conversation.running(None))
            await pilot.press("f3")
            await until(pilot, lambda: on.app.tasks and tasks_are_read(on))
            await on.store.append(NewTurn(None, "mallory", "by the way", TurnState.SENT))
            await until(pilot, lambda: "Home 1 new" in screen_text(on.app).splitlines()[0])
            assert rung == []
            on.way.gate.set()
            await until(pilot, lambda: "Home 2 new" in screen_text(on.app).splitlines()[0])
            await until(pilot, lambda: rung == [1])
            await pilot.press("f2")
            await until(pilot, lambda: on.app.screen is home(on))
            await until(pilot, lambda: not on.app.common.news.at_home)
            await pilot.press("f3")
            await until(pilot, lambda: on.app.screen is tasks(on))
            assert "new" not in screen_text(on.app).splitlines()[0]
            assert rung == [1]


async def test_the_filter(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        one = await a_task(on, "Renew [/] it", "about apples")
        two = await a_task(on, "Ship it", "about pears")
        done = await a_task(on, "Old one", "about plums")
        await on.store.end_task(done.id, TaskState.DONE)
        async with at_tasks(on) as pilot:
            assert tasks(on).list.chosen == two.id
            await pilot.press(*"draft", "tab", "slash", *"APPLES [/]")
            await until(pilot, lambda: order_of(on) == [one.id])
            assert "1 of 3" in screen_text(on.app)
            assert tasks(on).thread.task_id == two.id  # type: ignore[union-attr]
            assert "You about pears" in screen_text(on.app), "the chosen one stays"
            await on.store.append(NewTurn(two.id, "q", "apples and [/] too", TurnState.SENT))
            await until(pilot, lambda: set(order_of(on)) == {one.id, two.id})
            assert tasks(on).list.chosen == two.id, "it is there again"
            await pilot.press("enter")
            assert tasks(on).list.has_focus
            await pilot.press("down" if order_of(on)[0] == two.id else "up")
            await until(pilot, lambda: "You about apples" in screen_text(on.app))
            await pilot.press("escape")
            await until(pilot, lambda: len(order_of(on)) == 3)
            assert " of 3" not in screen_text(on.app)
            assert tasks(on).list.chosen == one.id
            await pilot.press("s", "s")
            await until(pilot, lambda: order_of(on) == [done.id])
            assert "1 of 3 · over" in screen_text(on.app)
            await pilot.press("slash", *"nothing of it")
            await until(pilot, lambda: order_of(on) == [])
            assert "esc shows all" in screen_text(on.app)
            await pilot.press("escape")
            await until(pilot, lambda: len(order_of(on)) == 3)
            await pilot.press("slash", *"pears", "backspace", "x", "enter", "escape")
            await until(pilot, lambda: len(order_of(on)) == 3)
            await pilot.press("slash", *"old", "down")
            await until(pilot, lambda: "Done: read only." in screen_text(on.app))
            assert await on.store.draft(two.id) == "draft"


async def test_five_hundred_tasks_are_walked(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        made = []
        for number in range(500):
            on.hands.moment += timedelta(seconds=1)
            made.append(await on.store.add_task(f"Task {number:03}", "/"))
        async with at_tasks(on) as pilot:
            await pilot.press("tab", "end")
            await until(pilot, lambda: "● Task 000  /" in screen_text(on.app))
            lines = {id(line) for _, line in tasks(on).list._shown.values()}
            await on.store.append(NewTurn(made[7].id, "q", "news", TurnState.SENT))
            await until(pilot, lambda: on.app.common.new_count() == 1)
            await until(pilot, lambda: "Q: news" in screen_text(on.app))
            fresh = {id(line) for _, line in tasks(on).list._shown.values()}
            assert len(fresh - lines) == 1, "only what has changed is made anew"


async def test_a_page_key_before_the_list_is_laid_out_ends_nothing(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        for number in range(3):
            await on.store.add_task(f"task {number}", "/srv")
        async with at_tasks(on) as pilot:
            await pilot.resize_terminal(40, 12)
            options = tasks(on).list
            options._tasks, options._shown = (), {}  # a resize that is on its way shows nothing
            options.set_options(["one", "two"])
            options.highlighted = 1
            options.action_page_up()
            options.action_page_down()
            assert options.highlighted == 1
