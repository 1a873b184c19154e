"""Pictures of the tasks' list with its filter, of what is new elsewhere, and of odd days."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from syrupy.assertion import SnapshotAssertion
from textual.pilot import Pilot

from qterm.feed.source import NewTurn
from qterm.model import QTERM, TaskState, TurnState
from tests.tui.pictures import (
    MARKS,
    NARROW,
    WIDE,
    Scene,
    as_it_is,
    at_tasks,
    picture,
    shows,
    some_tasks,
)
from tests.tui.stage import READY, Stage, until

pytestmark = MARKS


async def many_tasks(on: Stage) -> None:
    """A dozen tasks over some days, one of them in its second run, one Q never answered in."""
    now = on.hands.moment
    on.hands.moment = datetime(2025, 12, 3, 10, 0, tzinfo=UTC)
    for title in ("Move to the new registrar", "Cut the logs", "Sort the photos of Lisbon"):
        task = await on.store.add_task(title, "/srv")
        said = await on.post("q", "It is done; nothing is left to do.", task_id=task.id)
        await on.store.mark_seen(task.id, said.id)
        await on.store.end_task(task.id, TaskState.DONE)
    on.hands.moment = now
    await some_tasks(on)
    on.hands.moment = datetime(2026, 11, 27, 17, 40, tzinfo=UTC)
    news = await on.store.add_task("Write the newsletter of December", "/home/alex/news")
    asked = await on.post("you", "Begin with what is new.", task_id=news.id)
    await on.post("q", "A first draft is in news.md.", task_id=news.id, reply_to=asked.id)
    await on.store.end_task(news.id, TaskState.DONE)
    await on.store.reopen_task(news.id)
    await on.post(QTERM, "Reopened, run 2: Q starts fresh.", task_id=news.id)
    await on.post("you", "Now a shorter one.", task_id=news.id)
    await on.post(
        "q", "**Shorter**: three paragraphs, and the list of the new commands.", task_id=news.id
    )
    for title in ("Read the logs of the gateway", "日本語の題名はここにある"):
        on.hands.pass_(600)
        task = await on.store.add_task(title, "/srv")
        await on.post("you", "最初の言葉 👨‍👩‍👧‍👦 and more", task_id=task.id)
    on.hands.moment = now


async def at_many(pilot: Pilot[Any], on: Stage) -> None:
    await pilot.press("f3")
    await shows(pilot, on, "Tasks 5")
    assert on.app.tasks is not None
    on.app.tasks.composer.cursor_blink = False
    await until(pilot, lambda: on.app.tasks and on.app.tasks.page_is_read)
    await shows(pilot, on, "3 new")


def filtered(words: str, count: str) -> Any:
    async def filter_them(pilot: Pilot[Any], on: Stage) -> None:
        await at_many(pilot, on)
        await pilot.press("tab", "slash", *words)
        await shows(pilot, on, count)
        assert on.app.tasks is not None
        on.app.tasks.pane.query_one("#task--filter").cursor_blink = False  # type: ignore[attr-defined]

    return filter_them


async def over(pilot: Pilot[Any], on: Stage) -> None:
    await at_many(pilot, on)
    await pilot.press("tab", "s", "s")
    await shows(pilot, on, "· over")


async def second_run(pilot: Pilot[Any], on: Stage) -> None:
    await at_many(pilot, on)
    assert on.app.tasks is not None
    news = next(task for task in on.app.common.tasks if task.run == 2)
    on.app.tasks.choose(news.id)
    await shows(pilot, on, "Run 2")
    await until(pilot, lambda: not on.app.common.task(news.id).is_unread)  # type: ignore[union-attr]


async def home_has_news(pilot: Pilot[Any], on: Stage) -> None:
    await at_tasks(pilot, on)
    for persona, text in (("moneypenny", "The train is late."), ("q", "It is green again.")):
        await on.store.append(NewTurn(None, persona, text, TurnState.SENT))
    await shows(pilot, on, "2 new")


async def right_to_left(on: Stage) -> None:
    await on.post("mallory", "שלום לכולם, היום יש לנו שתי פגישות. The deploy of שָׁלוֹם is out.")
    asked = await on.post("you", "ما هو الجديد اليوم؟", elapsed=2.0)
    await on.post(
        "q",
        "مُحَمَّد يقول إن كل شيء على ما يرام، والنشر الجديد يعمل منذ الصباح بدون أخطاء حتى الآن.\n\n"
        "| عمود | column |\n|---|---|\n| קוד | 12 |\n\nA line after it.",
        reply_to=asked.id, elapsed=2.0,
    )  # fmt: skip
    await on.store.add_fact("גר בתל אביב")
    await on.store.set_mode("עבודה עמוקה")


async def clock_change(on: Stage) -> None:
    """The night of 25 October 2026 in Berlin: 02:30 comes twice."""
    berlin = ZoneInfo("Europe/Berlin")
    now = datetime(2026, 10, 26, 8, 0, tzinfo=UTC)
    for hour, minute in ((21, 50), (22, 10), (24, 30), (25, 30), (26, 10), (47, 10)):
        day, of = 24 + hour // 24, hour % 24
        on.hands.moment = datetime(2026, 10, day, of, minute, tzinfo=UTC)
        text = f"{on.hands.moment:%H:%M} in UTC"
        await on.post("mallory", text)
    on.hands.moment = now
    on.app.look.now = lambda: on.hands.moment.astimezone(berlin)


PICTURES: dict[str, Scene] = {
    "tasks-many": (WIDE, READY, many_tasks, at_many),
    "tasks-many-80": (NARROW, READY, many_tasks, at_many),
    "tasks-filter": (WIDE, READY, many_tasks, filtered("the new", " of 10")),
    "tasks-filter-80": (NARROW, READY, many_tasks, filtered("the new", " of 10")),
    "tasks-filter-none": (WIDE, READY, many_tasks, filtered("nowhere", "0 of 10")),
    "tasks-over-80": (NARROW, READY, many_tasks, over),
    "tasks-second-run": (WIDE, READY, many_tasks, second_run),
    "home-new": (WIDE, READY, some_tasks, home_has_news),
    "home-new-80": (NARROW, READY, some_tasks, home_has_news),
    "right-to-left": (WIDE, READY, right_to_left, as_it_is),
    "right-to-left-80": (NARROW, READY, right_to_left, as_it_is),
    "clock-change": (WIDE, READY, clock_change, as_it_is),
}


@pytest.mark.parametrize("name", PICTURES)
async def test_picture(name: str, tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    await picture(name, PICTURES[name], tmp_path, snapshot)
