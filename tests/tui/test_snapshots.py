"""One picture a screen state, looked at before it is accepted (`make snapshots`).

Pinned: size, clock, zone, version, theme; no blink, no animation. Python 3.11 owns them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion
from textual.pilot import Pilot
from textual.widgets import Input, Static

from qterm.hermes.way import (
    Approval,
    Asked,
    CommandsSeen,
    HermesCommand,
    HermesEvent,
    HermesRequest,
    ModesSeen,
    PlanSeen,
    PlanStep,
    Replied,
    TextDelta,
    ThoughtDelta,
    ToolSeen,
    UsageSeen,
)
from qterm.model import Degraded, TurnState
from tests.tui.pictures import (
    MARKS,
    NARROW,
    WIDE,
    Scene,
    Then,
    as_it_is,
    at_tasks,
    busy,
    light,
    nothing,
    picture,
    pressing,
    shows,
    some_tasks,
)
from tests.tui.stage import NO_HERMES, NO_MODEL, READY, Stage, screen_text, until
from tests.tui.test_home import home
from tests.tui.test_live import COMMAND, EDIT, MODES, live
from tests.tui.test_markdown import ANSWER, drawn

pytestmark = MARKS


async def failed(on: Stage) -> None:
    await busy(on)
    await on.post(
        "you",
        "Summarise the week.",
        state=TurnState.FAILED,
        reason="The model's address could not be reached; start it, or look at `qterm doctor`.",
        detail="HTTP 503: upstream connect error",
        elapsed=25.2,
    )


async def stopped(on: Stage) -> None:
    await busy(on)
    turn = await on.post("you", "Tell me everything.", state=TurnState.STOPPED, elapsed=6.0)
    await on.post("q", "To begin with, the", reply_to=turn.id, state=TurnState.STOPPED, elapsed=6.0)
    await on.post("you", "And the weather?", state=TurnState.STOPPED, elapsed=1.2)


async def interrupted(on: Stage) -> None:
    await busy(on)
    await on.post(
        "you",
        "Is the backup through?",
        state=TurnState.INTERRUPTED,
        reason="qterm ended before Q had answered.",
    )


async def degraded(on: Stage) -> None:
    await busy(on)
    turn = await on.post("you", "x" * 300, degraded=Degraded.NO_CONTEXT, elapsed=2.2)
    await on.post("q", "That is a long row of x.", reply_to=turn.id, elapsed=2.2)
    hidden = await on.post("mallory", "The party for Alex is on Saturday. Not a word!")
    await on.store.hide(hidden.id)


async def long(on: Stage) -> None:
    for number in range(1, 120):
        await on.post(
            "mallory" if number % 3 else "moneypenny",
            f"Report {number}: " + "all of it went as it should have gone. " * (number % 4),
        )


async def cjk(on: Stage) -> None:
    await on.post(
        "mallory",
        "日本語とemoji 👨‍👩‍👧‍👦 🇬🇧 é — "
        "会議は午後三時に始まります。資料は共有フォルダーにあります。",
    )
    await on.post("moneypenny", "한글 문장도 줄이 바뀌어야 합니다. " * 5)
    await on.post("q", "שלום עולם, זו שורה מימין לשמאל. " * 3)
    await on.post("you", "مرحبا بالعالم [P1] list[int] [/]")
    await on.store.set_mode("深い作業")


async def waiting(pilot: Pilot[Any], on: Stage) -> None:
    on.way.hold()
    await pilot.press(*"Who comes to the review?", "enter")
    await shows(pilot, on, "thinking")
    await pilot.press(*"And where?", "enter")
    await shows(pilot, on, "waiting for")
    on.hands.pass_(4)
    await shows(pilot, on, "4 s · esc stops")


async def streaming(pilot: Pilot[Any], on: Stage) -> None:
    def script(_: HermesRequest) -> list[HermesEvent]:
        return [TextDelta("Ines and Tom, and Mallory takes"), Replied("")]

    on.way.script = script
    on.way.hold()
    await pilot.press(*"Who comes?", "enter")
    await shows(pilot, on, "Ines and Tom")
    on.hands.pass_(4)
    await shows(pilot, on, "4 s · esc stops")


async def markdown_comes(pilot: Pilot[Any], on: Stage) -> None:
    pieces = [TextDelta(ANSWER[at : at + 9]) for at in range(0, len(ANSWER), 9)]
    on.way.script = lambda _: [*pieces, Replied(ANSWER)]
    on.way.hold()
    await pilot.press(*"How is the deploy?", "enter")
    await shows(pilot, on, "That is all.")
    await drawn(pilot, on)
    on.hands.pass_(4)
    await shows(pilot, on, "4 s · esc stops")


async def markdown_came(pilot: Pilot[Any], on: Stage) -> None:
    await markdown_comes(pilot, on)
    on.way.gate.set()
    await until(pilot, lambda: "stop Q" not in screen_text(on.app))
    await drawn(pilot, on)
    await shows(pilot, on, "● ready")
    if on.app.size.width > NARROW[0]:
        await shows(pilot, on, "all 2 turns")


async def unfolded(pilot: Pilot[Any], on: Stage) -> None:
    await pilot.press("tab", "enter")
    await shows(pilot, on, "HTTP 503")


async def scrolled(pilot: Pilot[Any], on: Stage) -> None:
    feed = home(on).feed
    await pilot.press("pageup")
    await until(pilot, lambda: not feed.following and feed.is_settled)
    await on.post("moneypenny", "Something new.")
    await shows(pilot, on, "1 new below")
    await shows(pilot, on, "16 of 120 turns")


async def deleting(pilot: Pilot[Any], on: Stage) -> None:
    await pilot.press("tab", "d")
    await shows(pilot, on, "Delete this turn")


async def quitting(pilot: Pilot[Any], on: Stage) -> None:
    await waiting(pilot, on)
    await pilot.press("ctrl+q")
    await shows(pilot, on, "Q is still at work")


async def noticed(pilot: Pilot[Any], on: Stage) -> None:
    home(on).notices.add('config.toml: "thme" is no key; did you mean "theme"?')
    home(on).notices.add("The old feed was damaged; it lies in feed.db.damaged.")
    on.app.notify("The fact is added.")
    await shows(pilot, on, "The fact is added.")


async def task_is_done(pilot: Pilot[Any], on: Stage) -> None:
    await at_tasks(pilot, on)
    await pilot.press("alt+down", "alt+down")
    await shows(pilot, on, "Done: read only.")
    await shows(pilot, on, "old host")
    await until(pilot, lambda: not on.app.common.new_count())


async def reopened(pilot: Pilot[Any], on: Stage) -> None:
    await task_is_done(pilot, on)
    assert on.app.tasks is not None
    assert on.app.tasks.thread is not None
    task_id = on.app.tasks.thread.task_id
    assert task_id is not None
    on.way.script = lambda _: [Replied("Tonight, at two.", "20261130_091900_77d01b")]
    await pilot.press("ctrl+o")
    await shows(pilot, on, "knows nothing of")
    await pilot.press("y")
    await shows(pilot, on, "Run 2")
    await pilot.press(*"When is the next one?", "enter")
    await shows(pilot, on, "Tonight, at two.")
    await shows(pilot, on, "77d01b")
    await shows(pilot, on, "2 turns")
    await until(pilot, lambda: not on.app.common.new_count())


async def task_at_work(pilot: Pilot[Any], on: Stage) -> None:
    await at_tasks(pilot, on)
    on.way.hold()
    await pilot.press(*"And now the docs.", "enter")
    await shows(pilot, on, "thinking")
    on.hands.pass_(4)
    await shows(pilot, on, "4 s · esc stops")
    await shows(pilot, on, "Q is at work")
    await pilot.press("tab")
    await shows(pilot, on, "finish…")


async def new_task(pilot: Pilot[Any], on: Stage) -> None:
    await at_tasks(pilot, on)
    await pilot.press("ctrl+n")
    await shows(pilot, on, "What is the task?")
    folder = on.app.screen.query_one("#folder", Input)
    folder.value, folder.cursor_blink = "/srv/importer", False
    on.app.screen.query_one("#title", Input).cursor_blink = False
    await pilot.press(*"Write the docs")


async def finishing(pilot: Pilot[Any], on: Stage) -> None:
    await task_at_work(pilot, on)
    await pilot.press("f")
    await shows(pilot, on, "Q is at work in it")


WORK: list[HermesEvent] = [
    ThoughtDelta(
        "The deploy went out at 08:51. I look at the log of the smoke tests first, then at what "
        "changed since."
    ),
    ToolSeen("read: /srv/importer/deploy.log", "completed", "path: deploy.log", id="1"),
    ToolSeen("terminal: systemctl status importer", "failed", id="2", result="not found"),
    ToolSeen(
        "write: /srv/importer/reader.py", "completed", id="3", kind="edit",
        diffs=EDIT.diffs,
        result="1 line changed",
    ),
    ToolSeen("terminal: pytest -q tests/ --maxfail 1 -k 'reader and not slow'", "pending", id="4"),
]  # fmt: skip
HEAD: list[HermesEvent] = [
    PlanSeen(
        (
            PlanStep("look at the reader", "completed"),
            PlanStep("write the writer with its tests", "in_progress"),
            PlanStep("the docs", "pending"),
        )
    ),
    UsageSeen(24_400, 200_000),
    ModesSeen("default", MODES),
    CommandsSeen(
        (
            HermesCommand("compact", "Compress conversation context"),
            HermesCommand("model", "Show current model and provider, or switch models", "model"),
        )
    ),
]


async def working_live(pilot: Pilot[Any], on: Stage) -> None:
    live(on, *WORK, held=Replied)
    await pilot.press(*"Check the deploy once more.", "enter")
    await shows(pilot, on, "using terminal")
    await shows(pilot, on, "stop Q")
    on.hands.pass_(4)
    await shows(pilot, on, "4 s · esc stops")


async def thoughts_open(pilot: Pilot[Any], on: Stage) -> None:
    await working_live(pilot, on)
    await pilot.press("ctrl+r")
    await shows(pilot, on, "The deploy went out")


async def tools_folded(pilot: Pilot[Any], on: Stage) -> None:
    await working_live(pilot, on)
    on.way.gate.set()
    await shows(pilot, on, "4 tools")
    await shows(pilot, on, "● ready")
    await shows(pilot, on, "all 9 turns")
    await until(pilot, lambda: "stop Q" not in screen_text(on.app))


async def task_live(pilot: Pilot[Any], on: Stage) -> None:
    await at_tasks(pilot, on)
    live(on, *HEAD, *WORK, TextDelta("So far it looks well: "), held=Replied)
    await pilot.press(*"And now the writer.", "enter")
    await shows(pilot, on, "So far it looks well")
    await shows(pilot, on, "stop Q")
    await shows(pilot, on, "Q is at work")
    on.hands.pass_(4)
    await shows(pilot, on, "4 s · esc stops")


async def task_mode(pilot: Pilot[Any], on: Stage) -> None:
    await task_live(pilot, on)
    await pilot.press("f8")
    await shows(pilot, on, "How freely")


async def task_palette(pilot: Pilot[Any], on: Stage) -> None:
    await task_live(pilot, on)
    await pilot.press("ctrl+p", *"hermes")
    await shows(pilot, on, "hermes: /compact")


def asking(approval: Approval) -> Then:
    async def ask(pilot: Pilot[Any], on: Stage) -> None:
        live(on, Asked(approval), held=Asked)
        await pilot.press(*"Clean up, then build.", "enter")
        await shows(pilot, on, "stop Q")
        on.way.held_before = Replied
        on.way.gate.set()
        on.way.gate.clear()
        await shows(pilot, on, "hermes asks before it acts")
        on.hands.pass_(12)
        await shows(pilot, on, "48 s left")
        behind = home(on).feed.query_one("WorkingLine .turn--body", Static)
        await until(pilot, lambda: "12 s" in str(behind.content))

    return ask


async def always(pilot: Pilot[Any], on: Stage) -> None:
    await asking(COMMAND)(pilot, on)
    await pilot.press("tab", "tab", "tab", "enter")
    await shows(pilot, on, "would write this pattern")


async def asks_elsewhere(pilot: Pilot[Any], on: Stage) -> None:
    await at_tasks(pilot, on)
    live(on, TextDelta("First I clean up. "), Asked(COMMAND), held=TextDelta)
    await pilot.press(*"Build it.", "enter")
    await shows(pilot, on, "thinking")
    await shows(pilot, on, "Q is at work")
    await pilot.press("alt+down")
    await shows(pilot, on, "renewed until March")
    on.way.held_before = Replied
    on.way.gate.set()
    on.way.gate.clear()
    await shows(pilot, on, "Q asks in")
    await shows(pilot, on, "Q asks you")
    await until(pilot, lambda: not on.app.common.new_count())


async def asks_at_home(pilot: Pilot[Any], on: Stage) -> None:
    await asks_elsewhere(pilot, on)
    await pilot.press("f2")
    await until(pilot, lambda: on.app.screen is home(on))


PICTURES: dict[str, Scene] = {
    "first-start": (WIDE, NO_MODEL, nothing, as_it_is),
    "first-start-80": (NARROW, NO_MODEL, nothing, as_it_is),
    "no-hermes": (WIDE, NO_HERMES, nothing, as_it_is),
    "no-hermes-80": (NARROW, NO_HERMES, nothing, as_it_is),
    "looking-around": (WIDE, NO_MODEL, nothing, pressing("l", "Nothing has been said")),
    "empty": (WIDE, READY, nothing, as_it_is),
    "busy": (WIDE, READY, busy, as_it_is),
    "busy-80": (NARROW, READY, busy, as_it_is),
    "busy-light": (WIDE, READY, busy, light),
    "waiting": (WIDE, READY, busy, waiting),
    "streaming": (WIDE, READY, busy, streaming),
    "markdown-comes": (WIDE, READY, nothing, markdown_comes),
    "markdown-comes-80": (NARROW, READY, nothing, markdown_comes),
    "markdown": (WIDE, READY, nothing, markdown_came),
    "markdown-80": (NARROW, READY, nothing, markdown_came),
    "failed": (WIDE, READY, failed, as_it_is),
    "failed-80": (NARROW, READY, failed, as_it_is),
    "failed-details": (WIDE, READY, failed, unfolded),
    "stopped": (WIDE, READY, stopped, as_it_is),
    "interrupted": (WIDE, READY, interrupted, as_it_is),
    "degraded": (WIDE, READY, degraded, as_it_is),
    "long": (WIDE, READY, long, scrolled),
    "cjk": (WIDE, READY, cjk, as_it_is),
    "cjk-80": (NARROW, READY, cjk, as_it_is),
    "notices": (WIDE, READY, busy, noticed),
    "deleting": (WIDE, READY, busy, deleting),
    "quitting": (WIDE, READY, busy, quitting),
    "help": (WIDE, READY, busy, pressing("f1", "In the feed")),
    "help-80": (NARROW, READY, busy, pressing("f1", "Writing")),
    "palette": (WIDE, READY, busy, pressing("ctrl+p", "Add a fact")),
    "mode": (WIDE, READY, busy, pressing("f8", "What are you at")),
    "fact-80": (NARROW, READY, busy, pressing("f9", "What should Q know")),
    "told-80": (NARROW, READY, busy, pressing("ctrl+t", "What Q will be told")),
    "tasks": (WIDE, READY, some_tasks, at_tasks),
    "tasks-80": (NARROW, READY, some_tasks, at_tasks),
    "tasks-empty": (WIDE, READY, nothing, at_tasks),
    "tasks-home": (WIDE, READY, some_tasks, as_it_is),
    "task-at-work": (WIDE, READY, some_tasks, task_at_work),
    "task-done": (WIDE, READY, some_tasks, task_is_done),
    "task-done-80": (NARROW, READY, some_tasks, task_is_done),
    "task-reopened": (WIDE, READY, some_tasks, reopened),
    "task-reopened-80": (NARROW, READY, some_tasks, reopened),
    "task-new": (WIDE, READY, some_tasks, new_task),
    "task-finishing-80": (NARROW, READY, some_tasks, finishing),
    "tools": (WIDE, READY, busy, working_live),
    "tools-80": (NARROW, READY, busy, working_live),
    "thoughts": (WIDE, READY, busy, thoughts_open),
    "tools-folded": (WIDE, READY, busy, tools_folded),
    "task-live": (WIDE, READY, some_tasks, task_live),
    "task-live-80": (NARROW, READY, some_tasks, task_live),
    "task-session-mode": (WIDE, READY, some_tasks, task_mode),
    "task-palette": (WIDE, READY, some_tasks, task_palette),
    "approval": (WIDE, READY, busy, asking(COMMAND)),
    "approval-80": (NARROW, READY, busy, asking(COMMAND)),
    "approval-edit": (WIDE, READY, busy, asking(EDIT)),
    "approval-edit-80": (NARROW, READY, busy, asking(EDIT)),
    "approval-always": (WIDE, READY, busy, always),
    "asks-elsewhere": (WIDE, READY, some_tasks, asks_elsewhere),
    "asks-elsewhere-80": (NARROW, READY, some_tasks, asks_elsewhere),
    "asks-elsewhere-home-80": (NARROW, READY, some_tasks, asks_at_home),
    "too-small": ((40, 12), READY, busy, as_it_is),
}


@pytest.mark.parametrize("name", PICTURES)
async def test_picture(name: str, tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    await picture(name, PICTURES[name], tmp_path, snapshot)
