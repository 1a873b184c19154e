"""The search, and going to a turn: what is found, how it is shown, where the feed stands then."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from qterm.feed.source import FeedError
from qterm.hermes.way import Asked
from qterm.model import Turn
from qterm.tui.screens.approval import ApprovalPanel
from qterm.tui.screens.search import SearchScreen
from qterm.tui.screens.thread import ThreadScreen
from qterm.tui.widgets.feed import FeedView
from qterm.tui.widgets.window import MOST
from qterm.tui.words.excerpt import hit_of
from tests.cases import cases
from tests.tui.stage import NOON, Stage, screen_text, stage, until
from tests.tui.test_home import home
from tests.tui.test_live import COMMAND, live

TEXTS = [str(case["text"]) for case in cases("text.json")]


async def shows(pilot: Pilot[Any], on: Stage, words: str) -> None:
    await until(pilot, lambda: words in screen_text(on.app))


def searching(on: Stage) -> SearchScreen:
    screen = on.app.screen
    assert isinstance(screen, SearchScreen)
    return screen


async def search(pilot: Pilot[Any], on: Stage, words: str) -> SearchScreen:
    """Open the search, and wait until it has looked for these words."""
    if not isinstance(on.app.screen, SearchScreen):
        await pilot.press("ctrl+f")
        await until(pilot, lambda: isinstance(on.app.screen, SearchScreen))
    found = searching(on)
    found.query_one(Input).value = words
    await until(pilot, lambda: found._found_for == words)
    return found


async def many(on: Stage, count: int, needle: int) -> Turn:
    """A feed of so many turns, one of which is to be found."""
    found: Turn | None = None
    for number in range(count):
        words = f"Report {number}." + (" The needle is here." if number == needle else "")
        turn = await on.post("mallory", words)
        found = turn if number == needle else found
    assert found is not None
    return found


def feed_of(on: Stage) -> FeedView | None:
    """The feed on the screen."""
    return on.app.screen.feed if isinstance(on.app.screen, ThreadScreen) else None


def is_at(on: Stage, turn: Turn) -> bool:
    """Whether the turn is in view, highlighted, and everything has settled."""
    feed = feed_of(on)
    view = feed._views.get(turn.id) if feed is not None else None
    if feed is None or view is None or not feed.is_settled or feed.selected != turn.id:
        return False
    return feed.has_focus and feed.region.contains_region(view.region)


async def at(pilot: Pilot[Any], on: Stage, turn: Turn) -> None:
    await until(pilot, lambda: is_at(on, turn))


# -- finding -------------------------------------------------------------------------------------


async def test_it_finds_as_one_types_newest_first_with_where_when_and_who(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        on.hands.moment -= timedelta(days=1)
        await on.post("moneypenny", "The INVOICE is due on Friday.")
        on.hands.moment = NOON
        task = await on.store.add_task("Ship the importer", "/srv")
        await on.post("q", "No invoice was read.", task_id=task.id)
        await on.post("mallory", "Something else.")
        async with on.shown() as pilot:
            await pilot.press(*"a draft", "ctrl+f")
            await pilot.press(*"invoice")
            await shows(pilot, on, "2 turns, newest first")
            lines = screen_text(on.app).splitlines()
            first = next(row for row, line in enumerate(lines) if "No invoice was read" in line)
            second = next(row for row, line in enumerate(lines) if "The INVOICE is due" in line)
            assert first < second
            assert "Q  Today, Monday 30 November, 09:15  Ship the importer" in lines[first - 1]
            assert "Moneypenny  Yesterday, Sunday 29 November, 09:15  Home" in lines[second - 1]
            await pilot.press("escape")
            assert home(on).composer.text == "a draft"


async def test_nothing_found_and_nothing_to_look_for(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        await on.post("mallory", "words")
        async with on.shown() as pilot:
            await search(pilot, on, "[/] nobody said")
            await shows(pilot, on, "Nothing in the feed holds “[/] nobody said”.")
            await pilot.press("enter")
            assert isinstance(on.app.screen, SearchScreen)
            found = searching(on)
            found.query_one(Input).value = "words"
            await shows(pilot, on, "1 turn, newest first")
            found.query_one(Input).value = ""
            await shows(pilot, on, "Type a word")
            assert found.hits == []


@pytest.mark.parametrize(
    "words", ['"', "*", "NEAR(", "AND", "gr", "%", "_", "\\", "日", "会議", "👨‍👩‍👧‍👦", "[P1]", "é"]
)
async def test_signs_short_words_and_other_scripts_are_found(tmp_path: Path, words: str) -> None:
    async with stage(tmp_path) as on:
        await on.post("mallory", "-")
        turn = await on.post("mallory", f"this one holds <{words}> green")
        async with on.shown() as pilot:
            found = await search(pilot, on, words)
            assert [hit.turn_id for hit in found.hits] == [turn.id]
            assert found.hits[0].match == words


async def test_more_come_at_the_end(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        for number in range(120):
            await on.post("mallory", f"Report {number}")
        async with on.shown() as pilot:
            found = await search(pilot, on, "report")
            assert len(found.hits) == 50
            await shows(pilot, on, "50 turns; more below, newest first")
            for count in (100, 120):
                await pilot.press(*["pagedown"] * 6)
                await until(pilot, partial(lambda least: len(found.hits) >= least, count))
            assert [hit.turn_id for hit in found.hits] == sorted(
                (hit.turn_id for hit in found.hits), reverse=True
            )
            await shows(pilot, on, "120 turns, newest first")


async def test_it_remembers_its_last_words_and_they_go_with_the_first_key(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        await on.post("mallory", "deploy and invoice")
        async with on.shown() as pilot:
            await search(pilot, on, "deploy")
            await pilot.press("escape", "ctrl+f")
            await until(pilot, lambda: isinstance(on.app.screen, SearchScreen))
            assert searching(on).words == "deploy"
            await shows(pilot, on, "1 turn, newest first")
            await pilot.press(*"inv")
            assert searching(on).words == "inv"
            await pilot.press("ctrl+f", "x")  # back to the words
            assert searching(on).words == "x"


async def test_a_feed_that_can_t_be_searched_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: object, **__: object) -> list[Turn]:
        raise FeedError("The disk [/] is gone; put it back.")

    async with stage(tmp_path) as on, on.shown() as pilot:
        monkeypatch.setattr(on.store, "search", fail)
        await pilot.press("ctrl+f", *"word")
        await shows(pilot, on, "The disk [/] is gone; put it back.")


async def test_every_odd_text_is_a_hit_that_does_no_harm(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        for text in TEXTS:
            await on.post("q", f"needle {text} needle")
            task = await on.store.add_task(f"t {text}", "/srv")
            await on.post("q", f"needle {text}", task_id=task.id)
        async with on.shown((120, 60)) as pilot:
            found = await search(pilot, on, "needle")
            for _ in range(len(TEXTS)):
                await pilot.press("down", "down")
                assert not {"\x1b", "\x07", "\u202e"} & set(screen_text(on.app))
            for text in TEXTS:
                found.query_one(Input).value = text[:2_000]
                await pilot.pause()
            await until(pilot, lambda: found._found_for == found.words or not found.words.strip())


@pytest.mark.parametrize("width", [0, 1, 5, 20, 60, 200])
@pytest.mark.parametrize(
    "text", ["x" * 5_000 + "needle" + "y" * 5_000, "日" * 900 + "needle" + "é" * 900]
)
def test_an_excerpt_fits_its_width_and_shows_the_match(text: str, width: int) -> None:
    turn = Turn(1, None, "q", text, "sent", NOON)  # type: ignore[arg-type]
    words = hit_of(turn, "needle").words(width)
    assert words.cell_length <= width
    assert ("needle" in words.plain) == (width >= 6)


# -- going there ---------------------------------------------------------------------------------


async def test_enter_goes_to_the_turn_with_its_neighbours_and_end_comes_back(
    tmp_path: Path,
) -> None:
    async with stage(tmp_path) as on:
        turn = await many(on, 300, 40)
        async with on.shown() as pilot:
            await pilot.press(*"a draft")
            await search(pilot, on, "needle")
            await pilot.press("enter")
            await at(pilot, on, turn)
            feed = home(on).feed
            window = feed.window
            assert window.has_older
            assert window.has_newer
            assert window.turns[0].id < turn.id < window.turns[-1].id
            assert "Report 39." in screen_text(on.app)
            assert "Report 41." in screen_text(on.app)
            assert feed.following is False
            assert home(on).composer.text == "a draft"
            await pilot.press("end")
            await shows(pilot, on, "Report 299.")
            assert home(on).feed.following
            assert not feed.window.has_newer
            assert home(on).composer.text == "a draft"


@pytest.mark.parametrize("rows", [24, 40, 70, 110])
async def test_from_there_both_ways_load_and_the_window_stays_small(
    tmp_path: Path, rows: int
) -> None:
    async with stage(tmp_path) as on:
        turn = await many(on, 300, 150)
        async with on.shown((120, rows)) as pilot:
            on.app.go_to_turn(turn.id)
            await at(pilot, on, turn)
            feed = home(on).feed
            for key, number in (("pageup", 60), ("pagedown", 240)):
                while all(f"Report {number}." != t.text for t in feed.window.turns):
                    await pilot.press(key)
                    await until(pilot, lambda: feed.is_settled)
                assert len(feed.window.turns) <= max(MOST, rows + 30)
                ids = [each.id for each in feed.window.turns]
                assert ids == list(range(ids[0], ids[0] + len(ids)))


async def test_a_new_turn_does_not_move_who_looks_at_an_old_one(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        turn = await many(on, 100, 20)
        async with on.shown() as pilot:
            on.app.go_to_turn(turn.id)
            await at(pilot, on, turn)
            before = home(on).feed._views[turn.id].region.y
            await on.post("moneypenny", "Something new.")
            await shows(pilot, on, "1 new below")
            assert home(on).feed._views[turn.id].region.y == before


async def test_a_turn_near_the_end_is_shown_and_the_feed_follows_again(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        turn = await many(on, 100, 97)
        async with on.shown() as pilot:
            on.app.go_to_turn(turn.id)
            await at(pilot, on, turn)
            await until(pilot, lambda: home(on).feed.following)
            await on.post("moneypenny", "Something new.")
            await shows(pilot, on, "Something new.")


async def test_it_goes_to_a_task_s_thread_and_back_home(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        here = await many(on, 60, 5)
        for name in ("one", "two", "three"):
            task = await on.store.add_task(name, "/srv")
            for number in range(60):
                await on.post("q", f"{name} {number}", task_id=task.id)
        async with on.shown() as pilot:
            await search(pilot, on, "two 7")
            await pilot.press("enter")
            await until(pilot, lambda: on.app.current_mode == "tasks")
            there = (await on.store.search("two 7"))[0]
            await at(pilot, on, there)
            assert on.app.tasks is not None
            assert on.app.tasks.thread is not None
            assert on.app.tasks.thread.task_id == there.task_id
            other = (await on.store.search("three 3"))[-1]
            on.app.go_to_turn(other.id)
            await at(pilot, on, other)
            await search(pilot, on, "needle")
            await pilot.press("enter")
            await until(pilot, lambda: on.app.current_mode == "home")
            await at(pilot, on, here)


async def test_what_was_deleted_meanwhile_is_said(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        turn = await many(on, 5, 2)
        async with on.shown() as pilot:
            await search(pilot, on, "needle")
            await on.store.delete(turn.id)
            await pilot.press("enter")
            await shows(pilot, on, "was deleted meanwhile")
            on.app.go_to_turn(10**6)
            home(on).go_to(turn)  # it was there when it was looked up
            await until(pilot, lambda: home(on).thread and home(on).thread.goal is None)  # type: ignore[union-attr]
            assert "Report 4." in screen_text(on.app)


async def test_it_closes_what_only_shows_something(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        turn = await many(on, 100, 20)
        async with on.shown() as pilot:
            await pilot.press("f1")
            await shows(pilot, on, "In the feed")
            await search(pilot, on, "needle")
            await pilot.press("enter")
            await at(pilot, on, turn)


async def test_it_never_opens_over_hermes_s_question(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        turn = await many(on, 40, 2)
        async with on.shown() as pilot:
            live(on, Asked(COMMAND))
            await pilot.press(*"go", "enter")
            await until(pilot, lambda: isinstance(on.app.screen, ApprovalPanel))
            await pilot.press("ctrl+f")
            on.app.go_to_turn(turn.id)
            await shows(pilot, on, "hermes waits for your answer")
            assert isinstance(on.app.screen, ApprovalPanel)
            assert home(on).feed.selected is None
