"""The composer: how it grows, folds pastes and walks through earlier messages."""

from __future__ import annotations

import asyncio
import itertools
import signal
import sqlite3
import time
from pathlib import Path
from typing import Any

import pytest
from textual import events
from textual.pilot import Pilot

from qterm.feed.source import FeedError
from qterm.model import Turn, TurnState
from qterm.tui.widgets.composer import Composer
from tests.tui.stage import Stage, screen_text, stage, until
from tests.tui.terminal import Terminal
from tests.tui.test_home import home, states

PASTE = "".join(f"line {number} of the log\n" for number in range(400))
FOLD = f"⟦pasted 1: {len(PASTE):,} characters, 400 lines⟧"


def composer(on: Stage) -> Composer:
    return home(on).composer


async def paste(pilot: Pilot[Any], on: Stage, text: str, shown: str = "⟦pasted") -> None:
    on.app.post_message(events.Paste(text))
    await until(pilot, lambda: shown in composer(on).text)


async def sent(pilot: Pilot[Any], on: Stage, *texts: str) -> None:
    """Send messages, one after the other."""
    for text in texts:
        count = len(states(on))
        composer(on).set_message(text)
        await pilot.press("enter")
        await until(pilot, lambda count=count: len(states(on)) == count + 2)  # type: ignore[misc]
        await until(pilot, lambda: set(states(on)) == {TurnState.SENT})


# -- how high it is ----------------------------------------------------------------------------


@pytest.mark.parametrize(("size", "most"), [((120, 40), 13), ((80, 24), 8), ((50, 14), 4)])
async def test_it_grows_to_a_third_of_the_screen_and_shrinks_again(
    size: tuple[int, int], most: int, tmp_path: Path
) -> None:
    async with stage(tmp_path) as on, on.shown(size) as pilot:
        editor = composer(on)
        for lines in range(2, most + 1):
            await pilot.press("a", "ctrl+j")
            await until(pilot, lambda lines=lines: editor.size.height == lines)  # type: ignore[misc]
            assert editor.scroll_offset.y == 0
        await pilot.press(*["b", "ctrl+j"] * 5, "c")
        await until(pilot, lambda: editor.scroll_offset.y == 5)
        assert editor.size.height == most
        assert "c" in [line.strip("│ ") for line in screen_text(on.app).splitlines()[-3:]]
        await pilot.resize_terminal(size[0], size[1] + 9)
        await until(pilot, lambda: editor.size.height == most + 3)
        assert editor.scroll_offset.y == 2
        editor.set_message("short")
        await until(pilot, lambda: editor.size.height == 1)
        assert "› short" in screen_text(on.app)


# -- pastes ------------------------------------------------------------------------------------


async def test_a_large_paste_is_one_stand_in_and_sent_whole(tmp_path: Path) -> None:
    async with stage(tmp_path) as on, on.shown() as pilot:
        await pilot.press(*"see ")
        await paste(pilot, on, PASTE)
        await pilot.press(*" and ")
        await paste(pilot, on, "x" * 3_000, "⟦pasted 2")
        assert f"› see {FOLD} and" in screen_text(on.app)
        assert composer(on).text == f"see {FOLD} and ⟦pasted 2: 3,000 characters, 1 line⟧"
        await pilot.press("enter")
        await until(pilot, lambda: states(on) == [TurnState.SENT, TurnState.SENT])
        assert home(on).feed.window.turns[0].text == f"see {PASTE} and {'x' * 3_000}"
        assert composer(on).text == ""


async def test_a_small_paste_is_not_folded(tmp_path: Path) -> None:
    async with stage(tmp_path) as on, on.shown() as pilot:
        await paste(pilot, on, "a\r\nb\rc", "c")
        assert composer(on).text == "a\nb\nc"


async def test_what_looks_like_a_fold_is_meant_as_it_is_written(tmp_path: Path) -> None:
    async with stage(tmp_path) as on, on.shown() as pilot:
        await paste(pilot, on, PASTE)
        for character in (*FOLD, " ", "⟦"):
            on.app.post_message(events.Key("a_character", character))
        await pilot.press("backspace", "x")
        await paste(pilot, on, FOLD, f"x⟦\ufe0e{FOLD[1:]}")
        assert composer(on).message == f"{PASTE}{FOLD} x{FOLD}"
        await pilot.press("enter")
        await until(pilot, lambda: states(on) == [TurnState.SENT, TurnState.SENT])
        assert home(on).feed.window.turns[0].text == f"{PASTE}{FOLD} x{FOLD}"


@pytest.mark.parametrize(
    ("keys", "left"),
    [
        (["backspace"], "ab"),
        (["left", "delete"], "ab"),
        (["ctrl+w"], "ab"),
        (["left", "x"], f"ax{FOLD}b"),
        (["left", "right", "x"], f"a{FOLD}xb"),
        (["ctrl+left", "x"], f"ax{FOLD}b"),
        (["ctrl+left", "ctrl+right", "x"], f"a{FOLD}xb"),
        (["shift+left", "x"], "axb"),
        (["shift+left", "backspace"], "ab"),
        (["backspace", "ctrl+z"], f"a{FOLD}b"),
        (["backspace", "ctrl+z", "ctrl+y"], "ab"),
        (["ctrl+u"], "b"),
        (["left", "ctrl+k"], "a"),
        (["left", "alt+delete"], "ab"),
    ],
    ids=" ".join,
)
async def test_a_fold_is_taken_whole(keys: list[str], left: str, tmp_path: Path) -> None:
    async with stage(tmp_path) as on, on.shown() as pilot:
        await pilot.press("a")
        await paste(pilot, on, PASTE)
        await pilot.press("b", "left", *keys)
        assert composer(on).text == left
        whole = left.replace(FOLD, PASTE)
        assert composer(on).message == whole


async def test_nothing_gets_into_a_fold(tmp_path: Path) -> None:
    async with stage(tmp_path) as on, on.shown((50, 14)) as pilot:
        editor = composer(on)
        await paste(pilot, on, PASTE)
        for column in range(len(FOLD) + 1):
            editor.move_cursor((0, column))
            assert editor.cursor_location[1] in {0, len(FOLD)}
            editor.insert("", (0, column))
            editor.selection = type(editor.selection)((0, column), (0, min(column + 1, len(FOLD))))
            assert editor.selected_text in {"", FOLD}
        await pilot.click("#composer", offset=(10, 0))
        await pilot.press("x")
        assert editor.message in {f"x{PASTE}", f"{PASTE}x"}


async def test_a_fold_that_wraps_does_not_hold_the_cursor(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        await on.post("you", "before")
        async with on.shown((50, 14)) as pilot:
            await pilot.press(*"some words in front of it: ")
            await paste(pilot, on, PASTE)
            assert composer(on).wrapped_document.height > 1
            await pilot.press("up", "up", "up")
            await until(pilot, lambda: composer(on).message == "before")
            await pilot.press("down")
            assert composer(on).message == f"some words in front of it: {PASTE}"


async def test_a_paste_is_unfolded_and_folded_by_undoing(tmp_path: Path) -> None:
    async with stage(tmp_path) as on, on.shown() as pilot:
        await paste(pilot, on, "one\n" * 30)
        await paste(pilot, on, "two\n" * 30, "⟦pasted 2")
        await pilot.press("left", "left", "ctrl+o")
        assert composer(on).text.startswith("one\none\n")
        assert composer(on).message == "one\n" * 30 + "two\n" * 30
        await pilot.press("ctrl+z")
        assert composer(on).text.startswith("⟦pasted 1")
        await pilot.press("ctrl+p", *"unfold the paste", "enter")
        await until(pilot, lambda: "one\none" in composer(on).text)
        assert composer(on).message == "one\n" * 30 + "two\n" * 30


async def test_what_is_too_long_to_unfold_says_what_to_do(tmp_path: Path) -> None:
    async with stage(tmp_path) as on, on.shown() as pilot:
        await paste(pilot, on, "word " * 100_000)
        await pilot.press("ctrl+o")
        await until(pilot, lambda: "f7 opens your own editor" in words(on))
        assert len(composer(on).message) == 500_000


def words(on: Stage) -> str:
    lines = (line.partition("▌")[2].strip("▐ ") for line in screen_text(on.app).splitlines())
    return " ".join(" ".join(lines).split())


async def test_ten_megabytes_do_not_hold_the_screen_up(tmp_path: Path) -> None:
    huge = "word and word\n" * 750_000
    async with stage(tmp_path) as on, on.shown() as pilot:
        ticks = [time.monotonic()]
        longest = [0.0]

        def tick() -> None:
            now = time.monotonic()
            longest[0] = max(longest[0], now - ticks[0])
            ticks[0] = now

        on.app.set_interval(0.01, tick)
        await paste(pilot, on, huge)
        await pilot.press(*"typed")
        stored = on.store.draft

        async def kept() -> bool:
            return await stored(None) == huge + "typed"

        while not await kept():
            await pilot.pause(0.02)
        assert longest[0] < 1.0
        assert len(composer(on).text) < 100


async def test_copying_and_cutting_take_the_paste_whole(tmp_path: Path) -> None:
    async with stage(tmp_path) as on, on.shown() as pilot:
        await pilot.press("a")
        await paste(pilot, on, PASTE)
        composer(on).select_all()
        await pilot.press("ctrl+c")
        assert on.app.clipboard == f"a{PASTE}"
        await pilot.press("ctrl+x")
        assert composer(on).text == ""
        assert on.app.clipboard == f"a{PASTE}"
        await pilot.press("ctrl+v")
        assert composer(on).message == f"a{PASTE}"
        assert "⟦pasted" in composer(on).text


async def test_a_draft_with_a_paste_is_kept_whole_and_folded_again(tmp_path: Path) -> None:
    async with stage(tmp_path) as on, on.shown() as pilot:
        await pilot.press(*"see ")
        await paste(pilot, on, "first line\n" + PASTE * 5 + "last")
        await pilot.press(*" thanks", "f3")
        await until(pilot, lambda: on.app.current_mode == "tasks")
        await pilot.press("f2")
        assert composer(on).text.startswith("see ⟦pasted 1")
    async with stage(tmp_path) as on, on.shown():
        assert composer(on).message == f"see first line\n{PASTE * 5}last thanks"
        assert composer(on).text.startswith("see first line\n⟦folded 1: ")
        assert composer(on).text.endswith("⟧\nlast thanks")


def test_a_draft_with_a_paste_survives_a_kill(tmp_path: Path) -> None:
    with Terminal("-m", "tests.tui.pty_app", str(tmp_path), "plain") as terminal:
        terminal.shows("Write to Q")
        terminal.type("see ")
        terminal.paste(PASTE * 5)
        terminal.shows(f"⟦pasted 1: {5 * len(PASTE):,} characters, 2,000 lines⟧")
        terminal.type("\x7f")
        terminal.until(lambda: "⟦pasted" not in terminal.text)  # one backspace, and it is gone
        terminal.type("\x1a")
        terminal.shows("⟦pasted 1")
        terminal.until(lambda: _draft(tmp_path) == f"see {PASTE * 5}")
        terminal.signal(signal.SIGKILL)
        terminal.ended()
    with Terminal("-m", "tests.tui.pty_app", str(tmp_path), "plain") as terminal:
        terminal.shows("› see line 0 of the log")
        terminal.shows("⟦folded 1")


def _draft(folder: Path) -> str:
    with sqlite3.connect(folder / "data" / "feed.db") as store:
        rows = store.execute("SELECT text FROM drafts").fetchall()
    return str(rows[0][0]) if rows else ""


async def test_what_is_written_behind_a_paste_that_is_being_stored_stays(tmp_path: Path) -> None:
    async with stage(tmp_path) as on, on.shown() as pilot:
        gate = asyncio.Event()
        keep = on.store.append

        async def slowly(turn: Any) -> Turn:
            await gate.wait()
            return await keep(turn)

        on.store.append = slowly  # type: ignore[method-assign]
        await paste(pilot, on, PASTE)
        await pilot.press("enter", *"more ")
        await paste(pilot, on, "second\n" * 30, "⟦pasted 2")
        await pilot.press("enter", *"draft")
        gate.set()
        await until(pilot, lambda: composer(on).text == "draft")
        await until(pilot, lambda: len(states(on)) == 4 and not home(on).feed.progress)
        said = [turn.text for turn in home(on).feed.window.turns if turn.persona == "you"]
        assert said == [PASTE, "more " + "second\n" * 30]


# -- earlier messages --------------------------------------------------------------------------


async def test_up_and_down_walk_through_what_was_said_and_the_draft_comes_back(
    tmp_path: Path,
) -> None:
    async with stage(tmp_path) as on, on.shown() as pilot:
        await sent(pilot, on, "one", "two\nof two lines", "three")
        await pilot.press(*"my draft", "up")
        assert composer(on).text == "three"
        await pilot.press("up")
        assert composer(on).text == "two\nof two lines"
        await pilot.press("up")  # from its last row to its first
        assert composer(on).text == "two\nof two lines"
        await pilot.press("up")
        assert composer(on).text == "one"
        await pilot.press("up", "up")
        assert composer(on).text == "one"
        await pilot.press("down", "down")
        assert composer(on).text == "three"
        await pilot.press("down")
        assert composer(on).text == "my draft"
        await pilot.press("down")
        assert composer(on).text == "my draft"


async def test_an_earlier_message_that_is_changed_is_the_draft(tmp_path: Path) -> None:
    async with stage(tmp_path) as on, on.shown() as pilot:
        await sent(pilot, on, "one", "two")
        await pilot.press(*"draft", "up", "up", "x")
        assert composer(on).draft == "onex"
        await pilot.press("down")
        assert composer(on).text == "onex"
        await pilot.press("up")
        assert composer(on).text == "two"
        await pilot.press("down")
        assert composer(on).text == "onex"


async def test_looking_back_keeps_the_draft_on_the_disk(tmp_path: Path) -> None:
    async with stage(tmp_path) as on, on.shown() as pilot:
        await sent(pilot, on, "one")
        await pilot.press(*"draft", "up")
        assert composer(on).text == "one"
        await pilot.press("f3")
        await until(pilot, lambda: on.app.current_mode == "tasks")
        await pilot.press("f2", "ctrl+q")
        await until(pilot, lambda: on.app.return_value is not None)
    async with stage(tmp_path) as on, on.shown() as pilot:
        assert composer(on).message == "draft"


async def test_an_earlier_message_sent_again_leaves_the_draft(tmp_path: Path) -> None:
    async with stage(tmp_path) as on, on.shown() as pilot:
        await sent(pilot, on, "one")
        await pilot.press(*"draft", "up", "enter")
        await until(pilot, lambda: len(states(on)) == 4 and set(states(on)) == {TurnState.SENT})
        assert [turn.text for turn in home(on).feed.window.turns if turn.persona == "you"] == [
            "one",
            "one",
        ]
        assert composer(on).text == "draft"


async def test_a_message_being_stored_is_no_draft_to_come_back_to(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        await on.post("you", "before")
        async with on.shown() as pilot:
            gate = asyncio.Event()
            keep = on.store.append

            async def slowly(turn: Any) -> Turn:
                await gate.wait()
                return await keep(turn)

            on.store.append = slowly  # type: ignore[method-assign]
            await pilot.press(*"now", "enter", "up")
            assert composer(on).text == "before"
            gate.set()
            await until(pilot, lambda: len(states(on)) == 3 and not home(on).feed.progress)
            assert composer(on).text == "before"
            await pilot.press("down", "down")
            assert composer(on).text == ""


async def test_what_was_deleted_or_said_twice_is_not_met(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        await on.post("you", "first")
        gone = await on.post("you", "a secret")
        for _ in range(3):
            await on.post("you", "yes")
        async with on.shown() as pilot:
            await pilot.press("up")
            assert composer(on).text == "yes"
            await on.store.delete(gone.id)
            await pilot.press("up")
            assert composer(on).text == "first"
            await pilot.press("down")
            assert composer(on).text == "yes"


async def test_each_task_has_its_own_earlier_messages(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        task = await on.store.add_task("a task", "/")
        await on.post("you", "at home")
        await on.post("you", "in the task", task_id=task.id)
        async with on.shown() as pilot:
            await pilot.press("up")
            assert composer(on).text == "at home"
            await pilot.press("f3")
            await until(pilot, lambda: on.app.tasks is not None and on.app.tasks.page_is_read)
            assert on.app.tasks is not None
            editor = on.app.tasks.composer
            await until(pilot, lambda: editor.has_focus)
            await pilot.press("up")
            assert editor.text == "in the task"
            await pilot.press("up")
            assert editor.text == "in the task"


async def test_keys_behind_a_slow_look_keep_their_order(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        for number in range(9):
            await on.post("you", f"message {number}")
        async with on.shown() as pilot:
            find = on.store.own_message
            looks = itertools.count()

            async def slowly(*arguments: Any, **options: Any) -> Turn | None:
                next(looks)
                await asyncio.sleep(0.05)
                return await find(*arguments, **options)

            on.store.own_message = slowly  # type: ignore[method-assign]
            for key in [*["up"] * 5, "x", "backspace", "down", "y", "home", "z"]:
                character = key if len(key) == 1 else None
                on.app.post_message(events.Key(key, character))  # all at once
            await until(pilot, lambda: composer(on).text == "zmessage 5y")
            assert next(looks) == 6


async def test_a_feed_that_cannot_be_read_keeps_the_draft_and_says_so(tmp_path: Path) -> None:
    async with stage(tmp_path) as on, on.shown() as pilot:

        async def refuse(*_: object, **__: object) -> None:
            raise FeedError("The feed can't be read; see `qterm doctor`.")

        on.store.own_message = refuse  # type: ignore[method-assign]
        await pilot.press(*"draft", "up", "x")
        await until(pilot, lambda: "The feed can't be read" in screen_text(on.app))
        assert composer(on).text in {"draftx", "xdraft"}


def test_typing_while_the_arrow_is_held_keeps_the_order(tmp_path: Path) -> None:
    with Terminal("-m", "tests.tui.pty_app", str(tmp_path), "plain") as terminal:
        terminal.shows("Write to Q")
        for word in ("one", "two", "three"):
            terminal.type(f"{word}\r")
            terminal.shows(f"You        {word}")
        terminal.type("ab\x1b[A\x1b[A\x1b[B\x1b[Bcd\x1b[D\x7fe\x1b[Cf")
        terminal.shows("› abedf")


async def test_select_all_is_in_the_palette(tmp_path: Path) -> None:
    async with stage(tmp_path) as on, on.shown() as pilot:
        await pilot.press(*"words", "ctrl+p", *"select the whole", "enter")
        await until(pilot, lambda: composer(on).selected_text == "words")
        await pilot.press("x")
        assert composer(on).text == "x"
