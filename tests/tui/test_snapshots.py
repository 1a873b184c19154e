"""One picture a screen state, looked at before it is accepted (`make snapshots`).

Pinned: size, clock, zone, version, theme; no blink, no animation. Python 3.11 owns them.
"""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path
from typing import Any, ClassVar

import pytest
from pytest_textual_snapshot import SVGImageExtension
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
from qterm.model import Degraded, Session, TaskState, TurnState
from qterm.services import StartState
from tests.tui.stage import NO_HERMES, NO_MODEL, READY, Stage, screen_text, stage, until
from tests.tui.test_home import home
from tests.tui.test_live import COMMAND, EDIT, MODES, live
from tests.tui.test_markdown import ANSWER, drawn

pytestmark = [
    pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="the snapshots are Python 3.11's"),
    pytest.mark.filterwarnings(r"ignore:\s*Can not relate snapshot:UserWarning"),
]

WIDE = (120, 40)
NARROW = (80, 24)


class InSnapshots(SVGImageExtension):  # type: ignore[misc]
    """One SVG a test, in the project's own folder."""

    folder: ClassVar[Path] = Path(__file__).parents[2] / "snapshots"

    @classmethod
    def dirname(cls, *, test_location: Any) -> str:
        return str(cls.folder)

    @classmethod
    def get_snapshot_name(cls, *, test_location: Any, index: Any = 0) -> str:
        return str(test_location.snapshot_name).removeprefix("test_picture").strip("[]")


@pytest.fixture(autouse=True)
def calm(monkeypatch: pytest.MonkeyPatch) -> None:
    ids = iter(f"7f3kq2m{letter}" for letter in "abcdefgh")
    monkeypatch.setattr("qterm.feed.tasks.new_id", lambda: next(ids))
    for name in ("NO_COLOR", "TEXTUAL_THEME", "COLORTERM"):
        monkeypatch.delenv(name, raising=False)


async def busy(on: Stage) -> None:
    on.hands.moment -= timedelta(hours=16)
    await on.post("moneypenny", "The invoices of the week are filed. Nothing is overdue.")
    on.hands.moment += timedelta(hours=15, minutes=47)
    await on.post(
        "mallory",
        "Two meetings today. The deploy of the importer is out since 08:51; I am watching it "
        "until the smoke tests are through.",
    )
    on.hands.moment += timedelta(minutes=2)
    asked = await on.post("you", "Can you check the deploy?", elapsed=2.9)
    await on.post("q", "It is green: no errors since it went out.", reply_to=asked.id, elapsed=2.9)
    on.hands.moment += timedelta(minutes=6)
    await on.post("moneypenny", "Invoice 114 is due on Friday: 1,240.00 to Ferrier & Sons.")
    asked = await on.post("you", "What did Moneypenny say?\nAnd who is it for?", elapsed=3.4)
    await on.post(
        "q",
        "Invoice 114 is due on Friday:\n\n  1,240.00 to Ferrier & Sons\n\nShall I remind you "
        "on Thursday?",
        reply_to=asked.id,
        elapsed=3.4,
    )
    on.hands.moment += timedelta(minutes=5)
    for fact in ("Prefers short answers, the figure first.", "Lives in Lisbon.", "Writes British"):
        await on.store.add_fact(fact)
    await on.store.set_mode("Deep work", on.hands.now() + timedelta(hours=5, minutes=45))


async def nothing(on: Stage) -> None:
    """A feed in which nothing has been said."""


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


async def some_tasks(on: Stage) -> None:
    """Four tasks: one with a thread and a session, one new, one done, one cancelled."""
    await busy(on)
    on.hands.moment -= timedelta(hours=20)
    moved = await on.store.add_task("Move the backups to the new host", "/srv/backups")
    await on.post("you", "Where do they lie now?", task_id=moved.id)
    seen = await on.post("q", "On the old host, in /srv/backups, 41 GB.", task_id=moved.id)
    await on.store.mark_seen(moved.id, seen.id)
    await on.store.end_task(moved.id, TaskState.DONE)
    idea = await on.store.add_task("Try another queue", "/srv/importer")
    await on.store.end_task(idea.id, TaskState.CANCELLED)
    on.hands.moment += timedelta(hours=19)
    renew = await on.store.add_task("Renew the certificates", "/srv/web")
    await on.post("q", "Both are renewed until March.", task_id=renew.id)
    ship = await on.store.add_task("Ship the importer", "/srv/importer")
    asked = await on.post("you", "Start with the CSV reader.", task_id=ship.id, elapsed=84.0)
    await on.post(
        "q",
        "The reader is done, with 14 tests. It takes quoted fields, empty lines and a byte order "
        "mark; what it can't read it names with its line.",
        task_id=ship.id, reply_to=asked.id, elapsed=84.0,
    )  # fmt: skip
    asked = await on.post("you", "Good. Now the writer.", task_id=ship.id, elapsed=31.0)
    await on.post("q", "Written.", task_id=ship.id, reply_to=asked.id, elapsed=31.0)
    bound = Session("20261130_081500_cae3a2", "here:/home/alex/.hermes", "q-task-7f3kq2ma")
    await on.store.bind(ship.id, 1, bound)
    on.hands.moment += timedelta(hours=1)


async def shows(pilot: Pilot[Any], on: Stage, words: str) -> None:
    await until(pilot, lambda: words in screen_text(on.app))


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


async def light(pilot: Pilot[Any], on: Stage) -> None:
    await pilot.press("f12")
    await until(pilot, lambda: not on.app.current_theme.dark)


async def noticed(pilot: Pilot[Any], on: Stage) -> None:
    home(on).notices.add('config.toml: "thme" is no key; did you mean "theme"?')
    home(on).notices.add("The old feed was damaged; it lies in feed.db.damaged.")
    on.app.notify("The fact is added.")
    await shows(pilot, on, "The fact is added.")


async def at_tasks(pilot: Pilot[Any], on: Stage) -> None:
    await pilot.press("f3")
    await until(pilot, lambda: on.app.tasks is not None and on.app.common.tasks_are_known)
    assert on.app.tasks is not None
    on.app.tasks.composer.cursor_blink = False
    if on.app.common.tasks:
        await until(pilot, lambda: on.app.tasks and on.app.tasks.page_is_read)
        await shows(pilot, on, "1 new")


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


def pressing(key: str, words: str) -> Callable[[Pilot[Any], Stage], Awaitable[None]]:
    async def press(pilot: Pilot[Any], on: Stage) -> None:
        await pilot.press(key)
        await shows(pilot, on, words)

    return press


async def as_it_is(pilot: Pilot[Any], on: Stage) -> None:
    await pilot.pause()


Before = Callable[[Stage], Awaitable[None]]
Then = Callable[[Pilot[Any], Stage], Awaitable[None]]

PICTURES: dict[str, tuple[tuple[int, int], StartState, Before, Then]] = {
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
    size, state, before, then = PICTURES[name]
    async with stage(tmp_path, state=state) as on:
        on.app.animation_level = "none"
        await before(on)
        async with on.shown(size) as pilot:
            home(on).composer.cursor_blink = False
            await until(pilot, lambda: on.app.common.tasks_are_known)
            if state is READY:
                await until(pilot, lambda: on.app.common.version and on.app.common.standing)
            await then(pilot, on)
            await pilot.pause()
            picture = on.app.export_screenshot(title="qterm")
            on.way.gate.set()
        if picture != snapshot(extension_class=InSnapshots):
            seen = tmp_path / f"{name}.svg"
            seen.write_text(picture, "utf-8")
            pytest.fail(f"{name} looks different now: {seen}; `make snapshots` accepts it")
