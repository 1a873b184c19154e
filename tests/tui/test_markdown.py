"""Q's answers as Markdown: what is drawn, how many, and that foreign text stays text."""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Tooltip

from qterm.hermes.way import HermesEvent, Replied, TextDelta
from qterm.model import TurnState
from qterm.tui.widgets.answer import Answer
from qterm.tui.widgets.turn import TurnView
from qterm.tui.words.links import Link
from qterm.tui.words.markdown_signs import MOST_CHARS, MOST_DRAWN, MOST_DRAWN_PARTS, parts
from qterm.tui.words.markdown_words import parser, unpacked
from tests.tui.stage import Stage, screen_text, stage, until
from tests.tui.test_home import home, states

ANSWER = """The deploy is **green**. In short:

- no errors since `08:51`
- the importer took *14* files, see [the log](https://example.org/log)
  - two of them are empty

## What I ran

```python
def read(path: str) -> list[int]:
    return [int(line) for line in open(path)]
```

1. the reader
2. the writer

| host | state | note |
|:---|---:|---|
| web | up | [/x] |
| db | up | List<int> |

[P1]: kept
That is all."""

FOREIGN = (
    "**a** [/] [P1] [red]no[/red] list[int] <b>bold</b> <!-- note -->\n"
    "[one](javascript:alert(1)) [two](file:///etc/passwd) [three](https://example.org/x)\n"
    "\x1b]52;c;aGk=\x07\x1b[2J\x1b[31mred\x1b[0m &#27;[2J &#x202e;cba &#12;form\n\n"
    "[P2]: this line stays\n\n"
    "<script>alert(1)</script>"
)


async def shows(pilot: Pilot[Any], on: Stage, words: str) -> None:
    await until(pilot, lambda: words in screen_text(on.app))


def answers(on: Stage) -> list[Answer]:
    return list(home(on).feed.query(Answer))


def say(on: Stage, text: str, *, size: int = 7) -> None:
    """The next answer comes in pieces of this size, and is held before its end."""
    pieces: list[HermesEvent] = [
        TextDelta(text[at : at + size]) for at in range(0, len(text), size)
    ]
    on.way.script = lambda _: [*pieces, Replied(text)]
    on.way.hold()


async def drawn(pilot: Pilot[Any], on: Stage) -> Answer:
    """The answer that is coming, once all that has come is drawn."""
    await until(pilot, lambda: answers(on) and answers(on)[-1]._is_current)
    return answers(on)[-1]


# -- which texts ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    ["**b**", "- a", "a\n1. b", "# h", "```\nx\n```", "> q", "`x`", "an *em* word", "[a](b)",
     "| a | b |\n|---|---|\n| 1 | 2 |", "a | b\n--|--\n1 | 2"],
)  # fmt: skip
def test_what_is_worth_drawing(text: str) -> None:
    assert parts(text)


@pytest.mark.parametrize(
    "text",
    ["", "All green.", "Two\nlines.", "2 * 3 * 4", "a_b_c", "[P1] x [/]", "#tag", "-1", "1.5",
     "a - b", "x" * 300, "**b**" + "x" * MOST_CHARS, "- a\n" * 200, "> " * 30 + "x",
     "- " * 30 + "x", "\n".join(" " * 2 * depth + "- x" for depth in range(12))],
)  # fmt: skip
def test_what_is_not(text: str) -> None:
    assert parts(text) == 0


@pytest.mark.parametrize(
    "piece", ["[", "**a", "*a ", "`", "> ", "- ", "| ", "-|", "[a](", "#", "1."]
)
def test_judging_takes_no_time(piece: str) -> None:
    text = (piece * MOST_CHARS)[:MOST_CHARS]
    start = time.process_time()
    parts(text)
    assert time.process_time() - start < 1.0


def test_no_word_vanishes_and_only_http_is_a_link() -> None:
    tokens = [t for block in parser().parse(FOREIGN) for t in block.children or [block]]
    assert {t.type for t in tokens} & {"image", "html_inline", "html_block"} == set()
    links = [unpacked(str(t.attrs["href"])) for t in tokens if t.type == "link_open"]
    assert links == [Link("https://example.org/x", "three")]
    text = "".join(token.content for token in tokens)
    for words in ("[/]", "[P1]", "<b>bold</b>", "<!-- note -->", "(javascript:alert(1))",
                  "(file:///etc/passwd)", "three", " (https://example.org/x)",
                  "[P2]: this line stays", "<script>alert(1)</script>"):  # fmt: skip
        assert words in text
    assert "\u202e" not in text
    assert "\x0c" not in text


# -- on the screen -------------------------------------------------------------------------------


async def test_an_answer_is_drawn_while_it_comes_and_its_end_moves_nothing(tmp_path: Path) -> None:
    async with stage(tmp_path) as on, on.shown((90, 40)) as pilot:
        say(on, ANSWER)
        await pilot.press(*"go", "enter")
        await shows(pilot, on, "That is all.")
        answer = await drawn(pilot, on)
        await shows(pilot, on, "  • no errors since 08:51")
        assert "(https://example.org/log)" in screen_text(on.app)
        height, before = answer.size.height, home(on).feed.virtual_size
        text = screen_text(on.app).partition("The deploy")[2].partition("That is all")[0]
        on.way.gate.set()
        await until(pilot, lambda: states(on) == [TurnState.SENT, TurnState.SENT])
        await drawn(pilot, on)
        await pilot.pause(0.2)
        assert answers(on) == [answer]
        assert answer.size.height == height
        # the line of Q at work gives way to how long it took and what hermes may not do here
        assert abs(home(on).feed.virtual_size.height - before.height) <= 1
        assert text == screen_text(on.app).partition("The deploy")[2].partition("That is all")[0]
        assert answer.source == ANSWER


@pytest.mark.parametrize("size", [1, 3, 11, 60])
async def test_pieces_of_any_size_give_the_same_as_the_whole(tmp_path: Path, size: int) -> None:
    long = ANSWER + "\n\n" + "\n".join(f"{number}. item" for number in range(1, 13))
    async with stage(tmp_path) as on, on.shown((100, 60)) as pilot:
        asked = await on.post("you", "go", elapsed=1.0)
        whole = await on.post("q", long, reply_to=asked.id, elapsed=1.0)
        await until(pilot, lambda: len(answers(on)) == 1)
        say(on, long, size=size)
        await pilot.press(*"go", "enter")
        await until(pilot, lambda: len(answers(on)) == 2 and answers(on)[1]._wanted == long)
        coming = await drawn(pilot, on)
        await pilot.pause(0.2)
        first = home(on).feed._views[whole.id].query_one(Answer)
        assert coming.size == first.size
        assert [type(a) for a in coming.walk_children()] == [type(a) for a in first.walk_children()]


async def test_a_plain_answer_turns_into_markdown_when_it_needs_it(tmp_path: Path) -> None:
    async with stage(tmp_path) as on, on.shown() as pilot:
        on.way.script = lambda _: [TextDelta("It is "), TextDelta("**green**"), Replied("x")]
        on.way.held_before = Replied
        on.way.hold()
        await pilot.press(*"go", "enter")
        await shows(pilot, on, "It is green")
        view = home(on).feed.query(TurnView).last()
        await until(pilot, lambda: len(view.children) == 2)
        on.way.gate.set()
        await until(pilot, lambda: states(on) == [TurnState.SENT, TurnState.SENT])
        await until(pilot, lambda: not answers(on))  # what was stored has no Markdown in it
        assert len(view.children) == 2


async def test_a_reader_above_is_not_moved(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        for number in range(30):
            await on.post("mallory", f"Report {number}.\nTwo lines of it.")
        async with on.shown() as pilot:
            feed = home(on).feed
            say(on, ANSWER)
            await pilot.press(*"go", "enter")
            await drawn(pilot, on)
            assert feed.following
            await shows(pilot, on, "That is all.")
            await pilot.press("pageup")
            await until(pilot, lambda: not feed.following and feed.is_settled)
            top = screen_text(on.app).splitlines()[2:20]
            on.way.gate.set()
            await until(pilot, lambda: states(on)[-1] is TurnState.SENT)
            await pilot.pause(0.3)
            assert [line[:70] for line in top] == [
                line[:70] for line in screen_text(on.app).splitlines()[2:20]
            ]
            assert not feed.following


async def test_only_the_newest_are_drawn_and_only_q_s(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        for number in range(22):
            await on.post("q", f"**Answer** {number}", elapsed=1.0)
        await on.post("mallory", "**Not** drawn")
        await on.post("you", "- nor this")
        hidden = await on.post("q", "**Hidden**")
        await on.store.hide(hidden.id)
        async with on.shown((100, 70)) as pilot:
            await shows(pilot, on, "Answer 21")
            assert len(answers(on)) == MOST_DRAWN
            text = "\n".join(line[:60] for line in screen_text(on.app).splitlines())
            assert "**Answer** 9" in text
            assert "**Answer** 10" not in text
            assert "**Not** drawn" in text
            assert "- nor this" in text
            assert "**Hidden**" in text


async def test_large_answers_use_up_the_room(tmp_path: Path) -> None:
    large = "\n".join(f"- item {number}" for number in range(30))
    assert MOST_DRAWN_PARTS // parts(large) == 1
    async with stage(tmp_path) as on:
        for _ in range(4):
            await on.post("q", large)
        async with on.shown() as pilot:
            await shows(pilot, on, "• item 29")
            assert len(answers(on)) == 1


async def test_foreign_text_is_never_markup_or_a_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    async with stage(tmp_path) as on:
        monkeypatch.setattr(on.app, "open_url", lambda url, **_: opened.append(url))
        asked = await on.post("you", "go")
        await on.post("q", FOREIGN, reply_to=asked.id, elapsed=1.0)
        async with on.shown() as pilot:
            await shows(pilot, on, "<script>alert(1)</script>")
            say(on, FOREIGN, size=3)  # every escape sequence comes in pieces
            await pilot.press(*"go", "enter")
            await until(pilot, lambda: len(answers(on)) == 2)
            coming = await drawn(pilot, on)
            text = screen_text(on.app)
            for words in ("[/]", "[P1]", "[red]no[/red]", "list[int]", "[P2]: this line stays"):
                assert text.count(words) >= 2, words
            assert not {"\x1b", "\x07", "\x0c", "\u202e"} & set(text)
            assert "52;c" not in text.replace("Transcript", "")
            assert "52;c" not in coming.source
            for row, line in enumerate(text.splitlines()):
                for words in ("[one](java", "[two](file", "<script>"):
                    if words in line[:76]:
                        await pilot.click(offset=(line.index(words) + 2, row))
            await pilot.pause()
            assert opened == []
            on.way.gate.set()


def tells(tooltip: Tooltip, words: str) -> bool:
    return tooltip.display and words in str(tooltip.content)


async def test_a_cell_of_a_table_can_be_hovered(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        await on.post("q", "| [/x] | b |\n|---|---|\n| [/y] [red] | [/] |")
        async with on.shown() as pilot:
            await shows(pilot, on, "[/y]")
            on.app.TOOLTIP_DELAY = 0.01
            for words in ("[/x]", "[/y]", "[/]"):
                row = next(r for r, s in enumerate(screen_text(on.app).splitlines()) if words in s)
                column = screen_text(on.app).splitlines()[row].index(words)
                await pilot.hover(offset=(column + 1, row))
                tooltip = on.app.screen.query_one(Tooltip)
                await until(pilot, partial(tells, tooltip, words))
                await pilot.hover(offset=(1, 0))


async def test_a_huge_answer_is_plain(tmp_path: Path) -> None:
    huge = "**Begin**\n\n- item\n" + "words and words " * 12_500
    assert len(huge) > 200_000
    async with stage(tmp_path) as on:
        await on.post("q", huge)
        async with on.shown() as pilot:
            await shows(pilot, on, "more characters")
            assert not answers(on)
            say(on, huge, size=5_000)
            await pilot.press(*"go", "enter")
            await until(pilot, lambda: not answers(on), bound=30)
            on.way.gate.set()
            await until(pilot, lambda: states(on)[-1] is TurnState.SENT)
            assert not answers(on)


async def test_what_was_stopped_keeps_its_mark(tmp_path: Path) -> None:
    async with stage(tmp_path) as on, on.shown() as pilot:
        say(on, "**So** far\n\n- one")
        await pilot.press(*"go", "enter")
        await shows(pilot, on, "• one")
        await pilot.press("escape")
        await shows(pilot, on, "(stopped)")
        assert "• one" in screen_text(on.app)


async def test_an_answer_is_clicked_and_copied_as_any_other(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        await on.post("mallory", "First.")
        turn = await on.post("q", "The **first** 日本語 line\nand another\n\n- an item")
        async with on.shown() as pilot:
            await shows(pilot, on, "• an item")
            lines = screen_text(on.app).splitlines()
            top = next(row for row, line in enumerate(lines) if "The first" in line)
            column = lines[top].index("The first")
            await pilot.click(offset=(column + 1, top))
            await until(pilot, lambda: home(on).feed.selected == turn.id)
            await pilot.mouse_down(offset=(column, top))
            await pilot.hover(offset=(column + 20, top + 3))
            await pilot.mouse_up(offset=(column + 20, top + 3))
            await pilot.press("ctrl+c")
            await until(pilot, lambda: "The first 日本語 line\nand another" in on.app.clipboard)
            assert "an item" in on.app.clipboard


async def test_what_textual_can_t_draw_is_plain(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("no")

    monkeypatch.setattr(Answer, "_parse_markdown", broken)
    async with stage(tmp_path) as on:
        await on.post("q", "**One**")
        async with on.shown() as pilot:
            await shows(pilot, on, "**One**")
            say(on, "**Two**")
            await pilot.press(*"go", "enter")
            await shows(pilot, on, "**Two**")
            on.way.gate.set()
            await until(pilot, lambda: states(on)[-1] is TurnState.SENT)
            assert not answers(on)
