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

from qterm.hermes.way import HermesEvent, HermesRequest, Replied, TextDelta
from qterm.model import Degraded, TurnState
from qterm.services import StartState
from tests.tui.stage import NO_HERMES, NO_MODEL, READY, Stage, screen_text, stage, until
from tests.tui.test_home import home

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
    "help": (WIDE, READY, busy, pressing("f1", "Everywhere")),
    "help-80": (NARROW, READY, busy, pressing("f1", "Writing")),
    "palette": (WIDE, READY, busy, pressing("ctrl+p", "Add a fact")),
    "mode": (WIDE, READY, busy, pressing("f8", "What are you at")),
    "fact-80": (NARROW, READY, busy, pressing("f9", "What should Q know")),
    "told-80": (NARROW, READY, busy, pressing("ctrl+t", "What Q will be told")),
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
            if state is READY:
                await until(pilot, lambda: on.app.common.version)
            await then(pilot, on)
            await pilot.pause()
            picture = on.app.export_screenshot(title="qterm")
            on.way.gate.set()
        if picture != snapshot(extension_class=InSnapshots):
            seen = tmp_path / f"{name}.svg"
            seen.write_text(picture, "utf-8")
            pytest.fail(f"{name} looks different now: {seen}; `make snapshots` accepts it")
