"""What Q will be told, on the screen: the block in rows, and what can be done with it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qterm.context import Caps, render_q_context
from qterm.model import Fact, Mode, Turn, TurnState
from qterm.safe_text import safe_text
from qterm.settings.schema import Settings
from qterm.tui.screens.told import ToldScreen
from qterm.tui.words.told_rows import Known, Row, RowKind, RowWords, rows
from tests.cases import cases, ids
from tests.tui.stage import Stage, changed, screen_text, stage, until
from tests.tui.test_home import home

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
WORDS = RowWords("Alex", 2, str.title, lambda: NOW, lambda name: f"<{name}>")
LABELS = {"you": "You", "mallory": "Mallory", "q": "Q"}
TEXT = st.text(st.characters(codec="utf-8") | st.sampled_from("\n\r\x1b[]"), max_size=60)


def known(
    texts: list[str],
    facts: list[tuple[str, bool]],
    mode: Mode | None = None,
    hidden: frozenset[int] = frozenset(),
) -> Known:
    turns = [
        Turn(n, None, "mallory", text, TurnState.SENT, NOW, hidden=n in hidden)
        for n, text in enumerate(texts, 1)
    ]
    made, count = [], {True: 0, False: 0}
    for number, (text, pinned) in enumerate(facts, 1):
        count[pinned] += 1
        made.append(Fact(number, text, pinned, count[pinned]))
    made.sort(key=lambda fact: (not fact.pinned, fact.position))
    context = render_q_context(
        turns, made, mode, ["a note"], labels=LABELS, operator="Alex", now=NOW,
        caps=Caps(facts=2, turn_chars=20),
    )  # fmt: skip
    return Known(context, made, mode, [turn for turn in turns if turn.hidden])


def words_of(row: Row) -> str:
    return "".join(words for words, _ in row.parts)


@given(
    st.lists(TEXT, max_size=6),
    st.lists(st.tuples(TEXT, st.booleans()), max_size=5),
    st.none() | st.builds(Mode, TEXT, st.none() | st.just(NOW) | st.just(NOW + timedelta(1))),
    st.frozensets(st.integers(1, 6)),
)
def test_the_rows_that_are_sent_are_the_block(
    texts: list[str], facts: list[tuple[str, bool]], mode: Mode | None, hidden: frozenset[int]
) -> None:
    told = known(texts, facts, mode, hidden)
    made = rows(told, WORDS)
    assert "\n".join(row.parts[0][0] for row in made if row.sent) == told.context.text
    assert {row.fact.id for row in made if row.fact} == {fact.id for fact in told.facts}
    assert [row.turn_id for row in made if row.hidden] == [turn.id for turn in told.hidden]
    assert sum(row.kind is RowKind.MODE for row in made) == 1
    rowed = [row.id for row in made if row.id]
    assert len(rowed) == len(set(rowed))


def test_what_is_not_sent_says_why() -> None:
    told = known(
        ["one", "secret", "x" * 30],
        [("first", True), ("second", True), ("third", True), ("spare", False)],
        Mode("Lunch", NOW - timedelta(minutes=5)),
        frozenset({2}),
    )
    said = [words_of(row) for row in rows(told, WORDS)]
    assert "Mode: Lunch  (not sent: over since 11:55)" in said
    assert "- third  (not sent: only the first 2 are)" in said
    assert "- spare  (not sent: not pinned)" in said
    assert "Mallory: secret  (hidden from Q)" in said
    assert f"Mallory: {'x' * 20} […]  (cut short)" in said
    turns = [words_of(row) for row in rows(told, WORDS) if row.kind is RowKind.TURN]
    assert [line.split()[1] for line in turns] == ["one", "secret", "x" * 20]


def test_what_changes_while_it_is_read_breaks_nothing() -> None:
    """The block, the facts and the hidden turns are read one after the other."""
    told = known(["one", "two"], [("first", True), ("second", True)])
    turn = Turn(2, None, "mallory", "two", TurnState.SENT, NOW, hidden=True)
    made = rows(replace(told, hidden=[turn], facts=told.facts[:1]), WORDS)
    assert [row.id for row in made if row.id] == ["mode-0", "fact-1", "turn-1", "turn-2"]
    assert "\n".join(row.parts[0][0] for row in made if row.sent) == told.context.text


def test_empty_says_what_to_do() -> None:
    said = "\n".join(words_of(row) for row in rows(Known(render_q_context(
        [], [], None, labels=LABELS, operator="Alex", now=NOW)), WORDS))  # fmt: skip
    assert "your message goes as it is" in said
    assert "<told-edit> says what you are at" in said
    assert "<told-add> adds a fact" in said


# -- on the screen -----------------------------------------------------------------------------


def told_list(on: Stage):  # type: ignore[no-untyped-def]
    screen = on.app.screen
    return screen.told.list if isinstance(screen, ToldScreen) else home(on).told.list


def at(on: Stage, words: str) -> bool:
    row = told_list(on).row
    return row is not None and words in words_of(row)


async def facts(on: Stage) -> list[tuple[str, bool]]:
    return [(fact.text, fact.pinned) for fact in await on.store.facts()]


async def some(on: Stage) -> None:
    for fact in ("red", "green", "blue"):
        await on.store.add_fact(fact)
    await on.post("mallory", "hello there")
    await on.post("moneypenny", "good day")


BOTH = pytest.mark.parametrize("size", [(120, 40), (80, 24)], ids=["pane", "screen"])


@BOTH
async def test_facts_are_changed_in_it(tmp_path: Path, size: tuple[int, int]) -> None:
    async with stage(tmp_path) as on:
        await some(on)
        async with on.shown(size) as pilot:
            await pilot.press("ctrl+t", "down")
            await until(pilot, lambda: at(on, "red"))
            await pilot.press("alt+down", "alt+down")  # quicker than it is read again
            await until(pilot, lambda: "green" in words_of(told_list(on)._of["fact-2"]))
            await until(pilot, lambda: _order(on) == ["green", "blue", "red"])
            assert at(on, "red"), "the cursor goes along"
            await pilot.press("shift+up")
            await until(pilot, lambda: _order(on) == ["green", "red", "blue"])
            await pilot.press("p")
            await until(pilot, lambda: at(on, "red  (not sent: not pinned)"))
            assert await facts(on) == [("green", True), ("blue", True), ("red", False)]
            await pilot.press("p")
            await until(pilot, lambda: at(on, "red") and not at(on, "not sent"))
            await pilot.press("enter")
            await until(pilot, lambda: "enter changes it" in screen_text(on.app))
            await pilot.press(*" [/]", "enter")
            await until(pilot, lambda: at(on, "red [/]"))
            await pilot.press("x")
            await until(pilot, lambda: _order(on) == ["green", "blue"])
            assert told_list(on).row is not None, "the cursor is on what is near"
            await pilot.press("u")
            await until(pilot, lambda: _order(on) == ["green", "blue", "red [/]"])
            await pilot.press("a", *"tea", "enter")
            await until(pilot, lambda: _order(on) == ["green", "blue", "red [/]", "tea"])
            await pilot.press("escape")
            await until(pilot, lambda: home(on).composer.has_focus)


def _order(on: Stage) -> list[str]:
    known = home(on).telling.known
    return [fact.text for fact in known.facts] if known else []


async def test_a_fact_comes_back_to_its_place(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        await some(on)
        async with on.shown() as pilot:
            await pilot.press("ctrl+t", "down", "x")
            await until(pilot, lambda: _order(on) == ["green", "blue"])
            await until(pilot, lambda: home(on).telling.removed)
            await pilot.press("u")
            await until(pilot, lambda: _order(on) == ["red", "green", "blue"])


@BOTH
async def test_a_turn_is_hidden_and_shown_again(tmp_path: Path, size: tuple[int, int]) -> None:
    async with stage(tmp_path) as on:
        await some(on)
        async with on.shown(size) as pilot:
            await pilot.press("ctrl+t", "end", "up")
            await until(pilot, lambda: at(on, "hello there"))
            await pilot.press("h")
            await until(pilot, lambda: at(on, "hello there  (hidden from Q)"))
            assert "hello there" not in (await on.services.conversation.context()).text
            await pilot.press("h")
            await until(pilot, lambda: at(on, "hello there") and not at(on, "hidden"))
            assert "hello there" in (await on.services.conversation.context()).text


@BOTH
async def test_a_turn_is_shown_in_the_feed(tmp_path: Path, size: tuple[int, int]) -> None:
    async with stage(tmp_path) as on:
        await some(on)
        async with on.shown(size) as pilot:
            await pilot.press("ctrl+t", "end", "up", "enter")
            await until(pilot, lambda: home(on).feed.has_focus)
            await until(pilot, home(on).feed.selected_turn)
            turn = home(on).feed.selected_turn()
            assert turn is not None
            assert turn.text == "hello there"


async def test_a_turn_far_above_is_shown_in_the_feed(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        await on.post("mallory", "the old word")
        for number in range(150):  # what failed is not told, so the old one still is
            await on.post("you", f"try {number}", state=TurnState.FAILED, reason="away")
        async with on.shown() as pilot:
            assert not any("the old" in turn.text for turn in home(on).feed.window.turns)
            await pilot.press("ctrl+t", "end", "enter")
            await until(pilot, home(on).feed.selected_turn)
            turn = home(on).feed.selected_turn()
            assert turn is not None
            assert turn.text == "the old word"


@BOTH
async def test_the_mode_is_changed_in_it(tmp_path: Path, size: tuple[int, int]) -> None:
    async with stage(tmp_path) as on, on.shown(size) as pilot:
        await pilot.press("ctrl+t")
        await until(pilot, lambda: at(on, "No mode"))
        await pilot.press("enter", *"Lunch", "tab", *"09:30", "enter")
        await until(pilot, lambda: at(on, "Mode: Lunch (until 09:30)"))
        on.hands.pass_(16 * 60)
        await until(pilot, lambda: at(on, "Lunch  (not sent: over since 09:30)"))


async def test_the_keys_are_those_of_the_row(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        await some(on)
        async with on.shown() as pilot:
            await pilot.press("ctrl+t")

            def keys() -> str:
                return screen_text(on.app).splitlines()[-1]

            await until(pilot, lambda: "enter edit…" in keys())
            assert "pin" not in keys()
            await pilot.press("down")
            await until(pilot, lambda: "p pin" in keys() and "x remove" in keys())
            await pilot.press("end")
            await until(pilot, lambda: "h hide/show" in keys() and "enter go there" in keys())
            assert "remove" not in keys()


@BOTH
async def test_the_palette_has_them(tmp_path: Path, size: tuple[int, int]) -> None:
    async with stage(tmp_path) as on:
        await some(on)
        async with on.shown(size) as pilot:
            await pilot.press("ctrl+t", "down")
            await until(pilot, lambda: at(on, "red"))
            await pilot.press("ctrl+p", *"pin the fact", "enter")
            await until(pilot, lambda: at(on, "red  (not sent: not pinned)"))


async def test_it_follows_without_losing_cursor_or_view(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        await some(on)
        for number in range(30):
            await on.post("mallory", f"turn {number} " + "and more " * 30)
        async with on.shown((120, 30)) as pilot:
            await pilot.press("ctrl+t", "end", *["up"] * 8)
            await until(pilot, lambda: told_list(on).row is not None)
            row = told_list(on).row
            index = told_list(on).highlighted
            place = told_list(on)._index_to_line[index] - told_list(on).scroll_offset.y
            await on.store.add_fact("new one")
            await on.post("moneypenny", "a late word")
            await until(pilot, lambda: "a late word" in _block(on))
            await until(pilot, lambda: "new one" in _block(on))
            assert told_list(on).row == row
            index = told_list(on).highlighted
            assert told_list(on)._index_to_line[index] - told_list(on).scroll_offset.y == place


def _block(on: Stage) -> str:
    known = home(on).telling.known
    return known.context.text if known else ""


async def test_a_turn_higher_than_the_view_can_be_read_to_its_end(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        await on.post("mallory", "\n".join(f"line {number}" for number in range(80)))
        await on.post("mallory", "short")
        async with on.shown((80, 24)) as pilot:
            await pilot.press("ctrl+t")
            await until(pilot, lambda: at(on, "No mode"))
            for number in range(0, 80, 5):
                for _ in range(6):
                    if f"line {number}\n" not in screen_text(on.app):
                        await pilot.press("down")
                assert f"line {number}\n" in screen_text(on.app)
            for _ in range(8):
                await pilot.press("down")
            await until(pilot, lambda: at(on, "short"))
            for _ in range(60):
                await pilot.press("up")
            await until(pilot, lambda: "[Context for Q" in screen_text(on.app))


async def test_the_size_follows_the_message(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        await some(on)
        async with on.shown() as pilot:
            size = len(_block(on))
            assert "Your message" not in screen_text(on.app)
            await pilot.press(*"hello")
            await until(pilot, lambda: f"5 characters, {size + 7:,} in all" in screen_text(on.app))
            on.way.limit = size + 10
            home(on).composer.insert("x" * 10)
            await until(pilot, lambda: "Too much for one call" in screen_text(on.app))
            on.way.limit = 8
            await pilot.press("y")
            await until(pilot, lambda: "Your message alone is more" in screen_text(on.app))
            on.way.limit = None
            home(on).composer.text = ""
            await until(pilot, lambda: "Your message" not in screen_text(on.app))


async def test_why_it_is_not_known_is_said(tmp_path: Path) -> None:
    from qterm.feed.source import FeedError

    async with stage(tmp_path) as on:
        await some(on)
        async with on.shown() as pilot:

            async def refuse() -> list[Fact]:
                raise FeedError("The store can't be read; look at `qterm doctor` [/].")

            on.store.facts = refuse  # type: ignore[method-assign]
            await on.store.set_mode("Lunch")
            await until(pilot, lambda: "can't be read" in screen_text(on.app).replace("\n", " "))


async def test_a_pane_that_is_off_comes_with_its_key(tmp_path: Path) -> None:
    defaults = Settings()
    screen = changed(defaults.screen, side_pane=False)  # type: ignore[arg-type]
    async with stage(tmp_path, settings=changed(defaults, screen=screen)) as on:
        await some(on)
        async with on.shown() as pilot:
            assert "What Q will be told" not in screen_text(on.app)
            await pilot.press("ctrl+t")
            await until(pilot, lambda: told_list(on).has_focus)
            await until(
                pilot, lambda: "good day" in screen_text(on.app).split("[Context for Q")[-1]
            )


async def test_a_pane_without_room_lets_go_of_the_keys(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        await some(on)
        async with on.shown() as pilot:
            await pilot.press("ctrl+t")
            await until(pilot, lambda: told_list(on).has_focus)
            await pilot.resize_terminal(80, 24)
            await until(pilot, lambda: home(on).composer.has_focus)
            await pilot.press("h")
            await until(pilot, lambda: home(on).composer.text == "h")


@pytest.mark.parametrize("case", cases("text.json"), ids=ids)
async def test_any_text_is_safe_in_it(case: dict[str, str], tmp_path: Path) -> None:
    text = case["text"]
    async with stage(tmp_path) as on:
        turn = await on.post("mallory", text)
        await on.post("moneypenny", text)
        await on.store.hide(turn.id)
        await on.store.add_fact(text)
        await on.store.add_fact(text, pinned=False)
        await on.store.set_mode(text)
        async with on.shown() as pilot:
            await pilot.press("ctrl+t", *["down"] * 5)
            for row in range(1, 38, 3):
                await pilot.hover(offset=(100, row))
                await pilot.click(offset=(100, row))
            shown = [line.content.plain for line in home(on).told.list._rows]
            assert all(words == safe_text(words) for words in shown)
            await pilot.press("end", "home", "down", "enter")
            await until(pilot, lambda: "enter changes it" in screen_text(on.app))
            await pilot.press("escape", "x")
            await until(pilot, lambda: home(on).telling.removed)
