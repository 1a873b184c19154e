"""What is taken out of the feed: copies, links, files."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Button, Input, Static

from qterm.hermes.way import Asked
from qterm.tui.screens.approval import ApprovalPanel
from qterm.tui.screens.ask import Question
from qterm.tui.screens.ask_path import AskPath, export_name
from qterm.tui.screens.choose_one import ChooseOne
from qterm.tui.screens.open_link import LinkQuestion
from qterm.tui.terminal.browser import NO_BROWSER, NOT_OPENED, open_in_browser
from qterm.tui.terminal.clipboard import MOST_BYTES, sent_words
from qterm.tui.words.links import Link, link, spans
from qterm.tui.words.markdown_words import CodeBlock, code_blocks, links_in, packed, unpacked
from tests.cases import cases
from tests.tui.stage import NOON, Stage, screen_text, stage, until
from tests.tui.test_home import home
from tests.tui.test_live import COMMAND, live

TEXTS = [str(case["text"]) for case in cases("text.json")]
TWO = "First:\n\n```python\nprint('one')\n```\n\nthen\n\n~~~sh\ncurl https://example.org/in/code\n~~~\n"


async def shows(pilot: Pilot[Any], on: Stage, words: str) -> None:
    await until(pilot, lambda: words in screen_text(on.app))


async def in_feed(pilot: Pilot[Any], on: Stage) -> None:
    """The cursor in the feed, on its newest turn."""
    home(on).feed.focus()
    await until(pilot, lambda: home(on).feed.selected_turn() is not None)


async def opens(pilot: Pilot[Any], on: Stage, kind: type) -> Any:
    await until(pilot, lambda: isinstance(on.app.screen, kind))
    return on.app.screen


# -- which addresses -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "address", "host"),
    [
        ("https://example.org", "https://example.org", "example.org"),
        ("HTTPS://Example.ORG:8443/A?b#c", "https://example.org:8443/A?b#c", "example.org:8443"),
        ("https://good.org@evil.org/x", "https://good.org@evil.org/x", "evil.org"),
        ("https://evil.org\\@good.org", "https://evil.org%5C@good.org", "good.org"),
        ("http://аpple.com/ж", "http://xn--pple-43d.com/%D0%B6", "xn--pple-43d.com"),
        ("https://[::1]/x", "https://[::1]/x", "[::1]"),
        ("http://１２７.0.0.1", "http://127.0.0.1", "127.0.0.1"),
    ],
)  # fmt: skip
def test_an_address_is_what_would_be_opened(text: str, address: str, host: str) -> None:
    found = link(text)
    assert found is not None
    assert found.address == address
    assert found.parts[1] == host
    assert "".join(found.parts) == address


@pytest.mark.parametrize(
    "text",
    [
        "javascript:alert(1)", "file:///etc/passwd", "data:text/html,x", "ftp://a.org", "//a.org",
        "http:///a.org", "https://", "https://a b.org", "https://a.org/\x1b[2J",
        "https://a\u202e.org",
        "https://ex%2eample.org", "https://a..org", "https://a.org:99999", "https://[::1",
        "mailto:a@b",
        "https://a.org/" + "x" * 9_000, "https://a.org\n.evil.org", "qterm://x",
        "-x https://a.org",
    ],
)  # fmt: skip
def test_what_is_no_address_that_may_be_opened(text: str) -> None:
    assert link(text) is None


def test_what_there_is_to_know_about_an_address() -> None:
    def said(text: str, label: str = "") -> str:
        found = link(text, label)
        assert found is not None
        return " ".join(found.warnings)

    assert said("https://example.org/", "https://example.org") == ""
    assert "before the @" in said("https://good.org@evil.org")
    assert "it reads “аpple.com”" in said("https://xn--pple-43d.com")
    assert "looks like “good.org”" in said("https://evil.org", "good.org")
    assert said("https://example.org", "the log") == ""
    assert "not encrypted" in said("http://example.org")


def test_addresses_end_where_the_sentence_goes_on() -> None:
    text = "See (https://a.org/x_(y)), https://b.org/. Or «https://c.org/»: https://d.org/日本。"
    assert [text[start:end] for start, end, _ in spans(text)] == [
        "https://a.org/x_(y)", "https://b.org/", "https://c.org/", "https://d.org/日本",
    ]  # fmt: skip


def test_links_of_an_answer_and_of_plain_text() -> None:
    text = (
        "[log](https://a.org/?x=1&amp;y=2) <https://b.org> `https://c.org` [j](javascript:x)\n"
        "https://a.org/?x=1&y=2 [https://good.org](https://evil.org)\n\n```\nget https://d.org\n```"
    )
    assert [found.address for found in links_in(text, as_markdown=True)] == [
        "https://a.org/?x=1&y=2", "https://b.org", "https://c.org", "https://evil.org",
        "https://d.org",
    ]  # fmt: skip
    assert [found.address for found in links_in("go to https://x.org now", as_markdown=False)] == [
        "https://x.org"
    ]


@pytest.mark.parametrize("text", TEXTS)
def test_odd_texts_have_no_links_and_break_nothing(text: str) -> None:
    for as_markdown in (True, False):
        links_in(text, as_markdown=as_markdown)
    odd = Link("https://a.org", text)
    back = unpacked(packed(odd))
    assert back is not None
    assert back.address == odd.address
    assert packed(odd).isalnum()
    assert unpacked(text) is None


def test_code_is_found_as_markdown_has_it() -> None:
    assert code_blocks(TWO) == [
        CodeBlock("python", "print('one')"), CodeBlock("sh", "curl https://example.org/in/code"),
    ]  # fmt: skip
    assert code_blocks("- a\n  ```\n  in\n    it\n  ```\n") == [CodeBlock("", "in\n  it")]
    assert code_blocks("```\nstill open") == [CodeBlock("", "still open")]
    assert code_blocks("no code, `but this`") == []


# -- copying -------------------------------------------------------------------------------------


async def test_the_whole_turn_is_copied_and_its_size_is_said(tmp_path: Path) -> None:
    whole = "**begin** " + "words and words " * 5_000 + "end"
    async with stage(tmp_path) as on:
        await on.post("mallory", "another")
        await on.post("q", whole)
        async with on.shown() as pilot:
            await in_feed(pilot, on)
            await pilot.press("c")
            await shows(pilot, on, "Sent to the terminal's clipboard: what Q said")
            assert on.app.clipboard == whole
            assert "Many terminals take less" in screen_text(on.app)
            await pilot.press("up", "c")
            await until(pilot, lambda: on.app.clipboard == "another")


async def test_nothing_that_a_terminal_would_obey_is_copied(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        await on.post("q", "a\x1b[201~\x1b]52;c;aGk=\x07b\r\nrm\x00")
        async with on.shown() as pilot:
            await in_feed(pilot, on)
            await pilot.press("c")
            await until(pilot, lambda: on.app.clipboard.startswith("ab"))
            assert not {"\x1b", "\x07", "\r", "\x00"} & set(on.app.clipboard)


async def test_one_block_is_copied_at_once_several_are_chosen_from(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        await on.post("q", "```py\none = 1\n```")
        await on.post("q", TWO)
        await on.post("mallory", "No code here.")
        async with on.shown() as pilot:
            await in_feed(pilot, on)
            await pilot.press("y")
            await shows(pilot, on, "There is no block of code in this turn.")
            await pilot.press("up", "y")
            chooser = await opens(pilot, on, ChooseOne)
            await shows(pilot, on, "python  1 line")
            assert "curl https://example.org/in/code" in screen_text(on.app)
            await pilot.press("down", "enter")
            await until(pilot, lambda: on.app.clipboard == "curl https://example.org/in/code")
            assert on.app.screen is not chooser
            await pilot.press("up", "y")
            await until(pilot, lambda: on.app.clipboard == "one = 1")


async def test_without_a_selection_it_is_the_newest_answer_with_code(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        await on.post("q", "```\nold\n```")
        await on.post("q", "```\nnewer\n```")
        await on.post("q", "Just words.")
        await on.post("mallory", "```\nnot Q's\n```")
        async with on.shown() as pilot:
            await pilot.press("ctrl+p", *"copy a block", "enter")
            await until(pilot, lambda: on.app.clipboard == "newer")


async def test_what_is_still_coming_can_be_copied(tmp_path: Path) -> None:
    from qterm.hermes.way import Replied, TextDelta

    async with stage(tmp_path) as on, on.shown() as pilot:
        on.way.script = lambda _: [TextDelta("So far "), TextDelta("so good"), Replied("x")]
        on.way.held_before = Replied
        on.way.hold()
        await pilot.press(*"go", "enter")
        await shows(pilot, on, "So far so good")
        await in_feed(pilot, on)
        await pilot.press("c")
        await until(pilot, lambda: on.app.clipboard == "So far so good")
        on.way.gate.set()


def test_what_is_said_of_a_copy() -> None:
    assert sent_words("é\nb\n", "it") == "Sent to the terminal's clipboard: it (2 lines, 5 bytes)."
    assert "set-clipboard on" in sent_words("x", "it", in_tmux=True)
    assert "Many terminals" in sent_words("x" * (MOST_BYTES + 1), "it")


# -- links ---------------------------------------------------------------------------------------


async def asked(pilot: Pilot[Any], on: Stage) -> LinkQuestion:
    question = await opens(pilot, on, LinkQuestion)
    await until(pilot, lambda: question.query("#leave") and question.query_one("#leave").has_focus)
    assert isinstance(question, LinkQuestion)
    return question


def opened_by(monkeypatch: pytest.MonkeyPatch, sentence: str = "") -> list[str]:
    """What the browser is given, from here on."""
    given: list[str] = []

    async def take(address: str) -> str:
        given.append(address)
        return sentence

    monkeypatch.setattr("qterm.tui.terminal.browser.open_in_browser", take)
    return given


async def test_a_click_asks_and_only_yes_opens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = opened_by(monkeypatch)
    async with stage(tmp_path) as on:
        monkeypatch.setattr(on.app, "open_url", lambda *_, **__: given.append("by Textual"))
        await on.post("q", "See [the log](https://user@example.org/log?a=b%20c) now.\n\n- **x**")
        async with on.shown() as pilot:
            await shows(pilot, on, "the log (https://user@example.org/log?a=b%20c) now")
            row = next(n for n, s in enumerate(screen_text(on.app).splitlines()) if "the log" in s)
            column = screen_text(on.app).splitlines()[row].index("the log")
            for keys in (["enter"], ["escape"], ["n"]):
                await pilot.click(offset=(column + 2, row))
                await asked(pilot, on)
                await shows(pilot, on, "https://user@example.org/log?a=b%20c")
                await shows(pilot, on, "before the @")
                await pilot.press(*keys)
                await until(pilot, lambda: on.app.screen is home(on))
            assert given == []
            await pilot.click(offset=(column + 2, row))
            await asked(pilot, on)
            await pilot.press("y")
            await shows(pilot, on, "The browser has the address.")
            assert given == ["https://user@example.org/log?a=b%20c"]


async def test_o_opens_a_bare_address_of_a_plain_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = opened_by(monkeypatch)
    async with stage(tmp_path) as on:
        await on.post("mallory", "nothing to open: javascript:alert(1) file:///etc/passwd")
        await on.post("mallory", "It is at https://example.org/1, or at http://example.org/2.")
        await on.post("moneypenny", "And (https://example.org/3).")
        async with on.shown() as pilot:
            await in_feed(pilot, on)
            await pilot.press("o")
            question = await asked(pilot, on)
            assert question.link.address == "https://example.org/3"
            await pilot.press("o", "escape", "up", "o")
            await opens(pilot, on, ChooseOne)
            await pilot.press("down", "enter")
            question = await asked(pilot, on)
            assert question.link.address == "http://example.org/2"
            await shows(pilot, on, "not encrypted")
            await pilot.press("c")
            await until(pilot, lambda: on.app.clipboard == "http://example.org/2")
            await pilot.press("up", "o")
            await shows(pilot, on, "There is no link to http or https in this turn.")
            assert given == []


async def test_where_there_is_no_browser_it_can_be_copied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened_by(monkeypatch, NO_BROWSER)
    async with stage(tmp_path) as on:
        await on.post("mallory", "https://example.org/3")
        async with on.shown() as pilot:
            await in_feed(pilot, on)
            await pilot.press("o")
            first = await asked(pilot, on)
            await pilot.press("y")
            await until(pilot, lambda: on.app.screen is not first)
            question = await asked(pilot, on)
            await shows(pilot, on, "No browser could be started from here")
            assert not question.query("#open")
            await pilot.press("y")
            assert on.app.screen is question
            await pilot.press("tab", "enter")
            await until(pilot, lambda: on.app.clipboard == "https://example.org/3")


async def test_a_link_opens_nothing_over_hermes_s_question(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        await on.post("mallory", "https://example.org/3")
        async with on.shown() as pilot:
            live(on, Asked(COMMAND))
            await pilot.press(*"go", "enter")
            await until(pilot, lambda: isinstance(on.app.screen, ApprovalPanel))
            home(on)._ask_link(Link("https://example.org"))
            await pilot.pause()
            assert isinstance(on.app.screen, ApprovalPanel)


async def test_odd_labels_in_the_question_do_no_harm(tmp_path: Path) -> None:
    async with stage(tmp_path) as on, on.shown() as pilot:
        for text in TEXTS:
            home(on)._ask_link(Link("https://example.org/" + "x" * 3_000, text[:500]))
            question = await asked(pilot, on)
            on.app.TOOLTIP_DELAY = 0.01
            await pilot.hover(question.query_one("#open", Button))
            await pilot.press("down", "up")
            assert not {"\x1b", "\x07", "\u202e"} & set(screen_text(on.app))
            await pilot.press("escape")
            await until(pilot, lambda: on.app.screen is home(on))


async def test_a_browser_gets_the_address_and_the_terminal_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    got = tmp_path / "got"
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho noise\necho noise >&2\necho "$1" > {got}\n')
    browser.chmod(0o755)
    monkeypatch.setenv("BROWSER", str(browser))
    address = "https://example.org/?a=$(id)&b='c';d"
    assert await open_in_browser(address) == ""
    assert got.read_text() == f"{address}\n"
    assert capfd.readouterr() == ("", "")
    browser.write_text("#!/bin/sh\nexit 3\n")
    assert await open_in_browser(address) == NOT_OPENED


async def test_a_browser_in_the_terminal_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "lynx").write_text(f"#!/bin/sh\ntouch {tmp_path / 'ran'}\n")
    (tmp_path / "lynx").chmod(0o755)
    (tmp_path / "webbrowser.py").write_text("raise SystemExit(0)\n")
    monkeypatch.chdir(tmp_path)  # what lies in the working folder is never run
    for name in ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert await open_in_browser("https://example.org") == NO_BROWSER
    assert not (tmp_path / "ran").exists()


# -- a file --------------------------------------------------------------------------------------


async def export(pilot: Pilot[Any], on: Stage, path: str) -> None:
    await pilot.press("ctrl+p", *"export this", "enter")
    question = await opens(pilot, on, AskPath)
    question.query_one("#path", Input).value = path
    await pilot.press("enter")


async def test_a_thread_is_written_whole_privately_and_never_over_a_file_unasked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with stage(tmp_path) as on:
        for number in range(1_200):
            await on.post("mallory", f"Report {number}.")
        async with on.shown() as pilot:
            await pilot.press("ctrl+p", *"export this", "enter")
            question = await opens(pilot, on, AskPath)
            path = Path(question.query_one("#path", Input).value)
            assert path == tmp_path / "qterm-home-2026-11-30.md"
            await pilot.press("enter")
            await shows(pilot, on, "The thread is in")
            written = path.read_text()
            assert written.startswith("# Monday 30 November 2026\n\n**Mallory** ")
            assert written.index("Report 0.") < written.index("Report 1199.")
            assert stat.S_IMODE(path.stat().st_mode) == 0o600
            path.write_text("mine")
            for key, words in (("n", "mine"), ("y", written)):
                await export(pilot, on, str(path))
                question = await opens(pilot, on, Question)
                said = str(question.query_one(".dialog--text", Static).content)
                assert "is there already" in said
                await pilot.press(key)
                await until(pilot, lambda: on.app.screen is home(on))
                await until(pilot, lambda words=words: path.read_text() == words)  # type: ignore[misc]
            assert not [name for name in tmp_path.iterdir() if name.suffix == ".tmp"]


@pytest.mark.parametrize(
    "path", ["", "   ", "/nowhere/at/all.md", "/dev/null", "~nobody-at-all/x", "."]
)
async def test_a_path_that_can_t_be_written_is_said(tmp_path: Path, path: str) -> None:
    async with stage(tmp_path) as on:
        await on.post("mallory", "words")
        async with on.shown() as pilot:
            await export(pilot, on, path)
            await until(
                pilot,
                lambda: any(
                    words in screen_text(on.app) for words in ("can't be written", "Name a file")
                ),
            )


async def test_odd_paths_in_a_toast_do_no_harm(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        await on.post("mallory", "words")
        async with on.shown() as pilot:
            for text in TEXTS[:12]:
                home(on).lookups.export(None, tmp_path / f"no {text[:40]}" / "x", fresh=True)
                home(on).lookups.export(None, tmp_path / text[:40].replace("/", "-"), fresh=True)
                await pilot.pause(0.05)
            await shows(pilot, on, "can't be written")
            assert not {"\x1b", "\x07", "\u202e"} & set(screen_text(on.app))


def test_the_name_of_a_file() -> None:
    assert export_name("Ship the importer!", NOON) == "qterm-ship-the-importer-2026-11-30.md"
    assert export_name("../../etc [/] \x1b", NOON) == "qterm-etc-2026-11-30.md"
    assert export_name("日本語", NOON) == "qterm-日本語-2026-11-30.md"
    assert export_name("…", NOON) == "qterm-thread-2026-11-30.md"


# -- selecting with the mouse --------------------------------------------------------------------


async def drag(pilot: Pilot[Any], on: Stage, first: str, last: str) -> None:
    """Drag from the beginning of some words on the screen to the end of others."""
    lines = screen_text(on.app).splitlines()
    top = next(row for row, line in enumerate(lines) if first in line)
    bottom = next(row for row, line in enumerate(lines) if last in line)
    end = (lines[bottom].index(last) + len(last), bottom)
    await pilot.mouse_down(offset=(lines[top].index(first), top))
    await pilot.hover(offset=end)
    await pilot.mouse_up(offset=end)
    await pilot.press("ctrl+c")


async def test_dragging_over_turns_copies_what_was_said_and_nothing_beside_it(
    tmp_path: Path,
) -> None:
    async with stage(tmp_path) as on:
        await on.post("mallory", "First words.")
        asked = await on.post("you", "How is it?")
        await on.post("q", "It is green.", reply_to=asked.id, elapsed=2.9)
        await on.post("q", "A **bold** one\n\n- item", reply_to=asked.id, elapsed=2.9)
        await on.post("moneypenny", "Last words.")
        async with on.shown() as pilot:
            await shows(pilot, on, "• item")
            await drag(pilot, on, "First words.", "Last words.")
            await until(pilot, lambda: "Last words." in on.app.clipboard)
            lines = [line for line in on.app.clipboard.splitlines() if line.strip()]
            assert lines == [
                "First words.", "How is it?", "It is green.", "A bold one", "•  item",
                "Last words.",
            ]  # fmt: skip


async def test_ctrl_c_without_a_selection_says_how_to_leave(tmp_path: Path) -> None:
    async with stage(tmp_path) as on, on.shown() as pilot:
        await pilot.press("ctrl+c")
        await shows(pilot, on, "ctrl+q leaves qterm.")
