"""The home screen over the real store and Conversation, with a scripted way."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import msgspec
from textual import events
from textual.widgets import Button

from qterm.feed.owner import current_owner
from qterm.feed.source import FeedError, NewTurn, TurnChange
from qterm.feed.store import open_store
from qterm.hermes.way import (
    Failed,
    FailureKind,
    HermesEvent,
    HermesRequest,
    Replied,
    TextDelta,
    ToolSeen,
)
from qterm.model import Approvals, Degraded, Owner, Turn, TurnState
from qterm.settings.schema import Settings
from qterm.tui.app import Leave
from qterm.tui.screens.ask import Question
from qterm.tui.screens.home import HomeScreen
from qterm.tui.screens.told import ToldScreen
from qterm.tui.widgets.turn import TurnView
from qterm.tui.widgets.window import MOST, PAGE
from tests.tui.stage import Stage, changed, screen_text, stage, until


def home(on: Stage) -> HomeScreen:
    assert on.app.home is not None
    return on.app.home


def states(on: Stage) -> list[TurnState]:
    return [turn.state for turn in home(on).feed.window.turns]


def line_of(on: Stage, words: str) -> str:
    found = [line for line in screen_text(on.app).splitlines() if words in line]
    assert found, f"{words!r} is not on the screen:\n{screen_text(on.app)}"
    return found[0]


async def test_a_message_is_sent_and_answered_with_its_time(tmp_path: Path) -> None:
    async with stage(tmp_path) as on, on.shown() as pilot:
        on.way.hold()
        await pilot.press(*"hello", "enter")
        await until(pilot, home(on).feed.progress.asked)
        on.hands.pass_(2.94)
        await until(pilot, lambda: "2 s · esc stops" in screen_text(on.app))
        assert home(on).composer.text == ""
        on.way.gate.set()
        await until(pilot, lambda: states(on) == [TurnState.SENT, TurnState.SENT])
        await until(pilot, lambda: "Hi.  2.9 s" in line_of(on, "Q  "))
        assert "hello" in line_of(on, "You")
        assert on.way.requests[0].prompt.endswith("hello")


async def test_a_line_break_in_the_editor_is_part_of_the_message(tmp_path: Path) -> None:
    async with stage(tmp_path) as on, on.shown() as pilot:
        await pilot.press("a", "ctrl+j", "b", "shift+enter", "c", "enter")
        await until(pilot, lambda: states(on) == [TurnState.SENT, TurnState.SENT])
        assert home(on).feed.window.turns[0].text == "a\nb\nc"


async def test_an_empty_message_is_not_sent(tmp_path: Path) -> None:
    async with stage(tmp_path) as on, on.shown() as pilot:
        await pilot.press("space", "ctrl+j", "enter")
        await pilot.pause()
        assert on.way.requests == []
        assert await on.store.page(None) == []


async def test_the_words_stay_in_the_editor_until_they_are_stored(tmp_path: Path) -> None:
    async with stage(tmp_path) as on, on.shown() as pilot:

        async def refuse(turn: NewTurn) -> None:
            raise FeedError("The disk is full; make some room and send again.")

        keep = on.store.append
        on.store.append = refuse  # type: ignore[assignment, method-assign]
        await pilot.press(*"precious", "enter")
        await until(pilot, lambda: home(on).notices.waiting)
        assert "The disk is full" in screen_text(on.app)
        assert home(on).composer.text == "precious"
        on.store.append = keep  # type: ignore[method-assign]
        await pilot.press("ctrl+g", "enter")
        await until(pilot, lambda: states(on) == [TurnState.SENT, TurnState.SENT])
        assert home(on).composer.text == ""
        assert "The disk is full" not in screen_text(on.app)


async def test_messages_sent_faster_than_they_are_stored_stay_apart(tmp_path: Path) -> None:
    async with stage(tmp_path) as on, on.shown() as pilot:
        gate = asyncio.Event()
        keep = on.store.append

        async def slowly(turn: NewTurn) -> Turn:
            await gate.wait()
            return await keep(turn)

        on.store.append = slowly  # type: ignore[method-assign]
        await pilot.press(*"one", "enter", *"two", "enter", *"three", "enter", *"draft")
        assert home(on).composer.text == "onetwothreedraft"
        gate.set()
        await until(pilot, lambda: home(on).composer.text == "draft")
        await until(pilot, lambda: len(states(on)) == 6 and not home(on).feed.progress)
        said = [turn.text for turn in home(on).feed.window.turns if turn.persona == "you"]
        assert said == ["one", "two", "three"]


async def test_what_is_written_while_a_message_is_stored_stays(tmp_path: Path) -> None:
    async with stage(tmp_path) as on, on.shown() as pilot:
        composer = home(on).composer
        composer.set_message("first and second")
        composer.take_sent("first")
        assert composer.message == " and second"
        composer.set_message("another")
        composer.take_sent("first")
        assert composer.message == "another"
        await pilot.pause()


async def test_messages_queue_visibly_and_can_be_taken_back(tmp_path: Path) -> None:
    async with stage(tmp_path) as on, on.shown() as pilot:
        on.way.hold()
        await pilot.press(*"one", "enter")
        await until(pilot, home(on).feed.progress.asked)
        await pilot.press(*"two", "enter")
        await until(pilot, home(on).feed.progress.waiting)
        assert "waiting for the message before it" in screen_text(on.app)
        await pilot.press(*"draft", "tab", "t")
        await until(pilot, lambda: home(on).composer.message == "two\ndraft")
        await until(pilot, lambda: home(on).feed.progress.waiting() is None)
        assert "waiting for" not in screen_text(on.app)
        on.way.gate.set()
        await until(pilot, lambda: home(on).feed.progress.asked() is None)
        assert len(on.way.requests) == 1


async def test_escape_stops_the_turn_and_only_the_turn(tmp_path: Path) -> None:
    async with stage(tmp_path) as on, on.shown() as pilot:
        await pilot.press(*"draft", "escape")
        assert home(on).composer.text == "draft"
        home(on).composer.text = ""
        on.way.hold()
        await pilot.press(*"go", "enter")
        await until(pilot, on.services.conversation.running)
        await until(pilot, lambda: "stop Q" in screen_text(on.app).splitlines()[-1])
        await pilot.press("escape")
        await until(pilot, lambda: states(on) == [TurnState.STOPPED, TurnState.STOPPED])
        assert "(stopped)" in screen_text(on.app)
        await until(pilot, lambda: "stop Q" not in screen_text(on.app).splitlines()[-1])


def failing(_: HermesRequest) -> list[HermesEvent]:
    return [Failed(FailureKind.PROVIDER, "The model answered 402 [/].", detail="HTTP 402: [P1]")]


async def test_a_failed_turn_says_why_and_can_be_sent_again(tmp_path: Path) -> None:
    async with stage(tmp_path, script=failing) as on, on.shown() as pilot:
        await pilot.press(*"pay", "enter")
        await until(pilot, lambda: states(on) == [TurnState.FAILED])
        assert "The model answered 402 [/]." in screen_text(on.app)
        assert "HTTP 402" not in screen_text(on.app)
        await pilot.press("tab", "enter")
        await until(pilot, lambda: "HTTP 402: [P1]" in screen_text(on.app))
        on.way.script = lambda _: [Replied("Paid.")]
        await pilot.press("a")
        await until(pilot, lambda: states(on)[1:] == [TurnState.SENT, TurnState.SENT])
        first, again, _ = home(on).feed.window.turns
        assert again.again_of == first.id
        assert again.text == "pay"
        assert home(on).feed.has_focus


async def test_a_sent_turn_offers_no_sending_again(tmp_path: Path) -> None:
    async with stage(tmp_path) as on, on.shown() as pilot:
        await pilot.press(*"fine", "enter")
        await until(pilot, lambda: states(on) == [TurnState.SENT, TurnState.SENT])
        await pilot.press("tab", "a")
        await pilot.pause()
        assert len(on.way.requests) == 1


async def test_interrupted_degraded_and_hidden_turns_are_told_apart(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        turn = await on.post("you", "bare", degraded=Degraded.NO_CONTEXT)
        await on.store.hide(turn.id)
        gone = Owner(2**22 + 1, "gone")
        await on.store.append(NewTurn(None, "you", "lost", TurnState.PENDING, owner=gone))
        async with on.shown() as pilot:
            await until(pilot, lambda: TurnState.INTERRUPTED in states(on))
            await until(pilot, lambda: "✗ interrupted" in screen_text(on.app))
            shown = screen_text(on.app)
            assert "Q got this message without its context" in shown
            assert "hidden from Q" in shown
            assert on.way.requests == []


async def test_only_a_few_dozen_turns_are_mounted_and_older_ones_come(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        for number in range(300):
            await on.post("mallory", f"turn {number}")
        async with on.shown() as pilot:
            feed = home(on).feed
            assert "turn 299" in screen_text(on.app)
            await pilot.press("tab")
            for _ in range(400):
                if feed.window.turns[0].id == 1:
                    break
                await pilot.press("pageup")
                assert len(feed.query(TurnView)) <= MOST + PAGE  # while pages change places
            await until(pilot, lambda: feed.window.turns[0].id == 1)
            feed.scroll_home(animate=False)
            await until(pilot, lambda: "Mallory    turn 0" in screen_text(on.app))
            assert len(feed.query(TurnView)) <= MOST
            assert feed.window.has_newer
            await pilot.press("end")
            await until(pilot, lambda: "turn 299" in screen_text(on.app) and feed.following)
            assert len(feed.query(TurnView)) <= MOST


async def test_the_view_stays_where_it_is_when_older_turns_are_put_on_top(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        for number in range(120):
            await on.post("mallory", f"turn {number:03}")
        async with on.shown() as pilot:
            feed = home(on).feed
            await pilot.press("tab")
            await until(pilot, lambda: feed.max_scroll_y > 0 or feed.window.has_older)
            top_before = feed.window.turns[0].id
            feed.scroll_to(y=3, animate=False, immediate=True)
            await pilot.pause()
            first = next(line for line in screen_text(on.app).splitlines() if "turn " in line)
            await until(pilot, lambda: feed.window.turns[0].id < top_before)
            await pilot.pause()
            now = next(line for line in screen_text(on.app).splitlines() if "turn " in line)
            assert now == first


async def test_one_page_up_is_one_page_whatever_is_loaded_meanwhile(tmp_path: Path) -> None:
    def turns_shown() -> list[str]:
        return [line for line in screen_text(on.app).splitlines() if "turn " in line]

    async with stage(tmp_path) as on:
        for number in range(1, 200):
            await on.post("mallory", f"turn {number:03}: " + "all of it went well. " * (number % 4))
        async with on.shown() as pilot:
            feed = home(on).feed
            for _ in range(3):
                top = turns_shown()[0]
                await pilot.press("pageup")
                await until(pilot, lambda: feed.is_settled)
                shown = turns_shown()
                assert shown[0] < top  # further up,
                assert shown[-1] >= top or top in shown  # but by no more than a page
            first = feed.window.turns[0].id
            feed.scroll_to(y=2, animate=False, immediate=True)
            held = feed.top_turn(feed.scroll_y)
            assert held is not None
            await until(pilot, lambda: feed.window.turns[0].id < first and feed.is_settled)
            assert feed.top_turn(feed.scroll_y) == held
            assert feed.window.turns[0].id >= first - PAGE


async def test_the_newest_is_followed_only_at_the_end(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        for number in range(60):
            await on.post("mallory", f"turn {number:03}")
        async with on.shown() as pilot:
            feed = home(on).feed
            await on.post("moneypenny", "followed")
            await until(pilot, lambda: "followed" in screen_text(on.app))
            await pilot.press(*"draft", "pageup")
            await until(pilot, lambda: not feed.following)
            before = [line for line in screen_text(on.app).splitlines() if "turn " in line]
            await on.post("moneypenny", "unseen")
            await until(pilot, lambda: "1 new below" in screen_text(on.app))
            after = [line for line in screen_text(on.app).splitlines() if "turn " in line]
            assert after[0] == before[0]
            assert "Moneypenny unseen" not in screen_text(on.app)
            assert home(on).composer.has_focus
            assert home(on).composer.text == "draft"
            await pilot.click("#new-below")
            await until(pilot, lambda: "Moneypenny unseen" in screen_text(on.app))
            assert "new below" not in screen_text(on.app)


async def test_what_another_process_says_appears(tmp_path: Path) -> None:
    async with stage(tmp_path) as on, on.shown() as pilot:
        other = await open_store(
            tmp_path / "data" / "feed.db", locks_dir=tmp_path / "data" / "locks"
        )
        try:
            turn = await other.append(NewTurn(None, "mallory", "from afar", TurnState.SENT))
            await until(pilot, lambda: "from afar" in screen_text(on.app))
            await other.add_fact("likes tea")
            await until(pilot, lambda: "likes tea" in screen_text(on.app))
            await other.set_mode("Deep work")
            await until(pilot, lambda: "Mode: Deep work" in screen_text(on.app))
            await other.delete(turn.id)
            await until(pilot, lambda: "from afar" not in screen_text(on.app))
        finally:
            await other.close()


OTHER = "from qterm.feed.owner import current_owner as c; print(c(), flush=True); input()"


async def test_another_qterms_turn_is_shown_and_left_alone(tmp_path: Path) -> None:
    call = [sys.executable, "-c", OTHER]
    with subprocess.Popen(call, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        owner = Owner.parse(process.stdout.readline().decode().strip())
        assert owner is not None
        async with stage(tmp_path) as on, on.shown() as pilot:
            await on.store.append(NewTurn(None, "you", "theirs", TurnState.PENDING, owner=owner))
            await until(pilot, lambda: "in another qterm" in screen_text(on.app))
            await pilot.press("escape")
            await pilot.pause()
            assert states(on) == [TurnState.PENDING]
        process.kill()


async def test_a_turn_that_came_twice_or_late_is_shown_once_and_right(tmp_path: Path) -> None:
    async with stage(tmp_path) as on, on.shown() as pilot:
        pending = await on.store.append(
            NewTurn(None, "you", "once", TurnState.PENDING, owner=current_owner())
        )
        await until(pilot, lambda: states(on) == [TurnState.PENDING])
        sent = await on.store.update(pending.id, TurnChange(state=TurnState.SENT))
        feed = home(on).feed
        await feed.apply([sent, sent])
        await feed.apply([pending])  # read before its outcome
        assert states(on) == [TurnState.SENT]
        assert len(feed.query(TurnView)) == 1
        assert not feed.progress


async def test_streamed_text_is_shown_while_it_comes(tmp_path: Path) -> None:
    def script(_: HermesRequest) -> list[HermesEvent]:
        pieces: list[HermesEvent] = [ToolSeen("terminal", "started")]
        pieces += [TextDelta(f"w{number} ") for number in range(300)]
        return [*pieces, Replied("".join(f"w{number} " for number in range(300)))]

    async with stage(tmp_path, script=script) as on, on.shown() as pilot:
        on.way.hold()
        await pilot.press(*"go", "enter")
        await until(pilot, lambda: "w299" in screen_text(on.app))
        assert "using terminal" in screen_text(on.app)
        stored = await on.store.page(None)
        assert len(stored) == 2
        await pilot.resize_terminal(80, 24)
        await until(pilot, lambda: "w299" in screen_text(on.app))
        on.way.gate.set()
        await until(pilot, lambda: states(on) == [TurnState.SENT, TurnState.SENT])


async def test_hide_and_show_again(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        await on.post("mallory", "secret plan")
        async with on.shown() as pilot:
            await pilot.press("tab", "h")
            await until(pilot, lambda: "hidden from Q" in screen_text(on.app))
            await until(pilot, lambda: "no turns" in line_of(on, "Transcript"))
            await pilot.press("h")
            await until(pilot, lambda: "hidden from Q" not in screen_text(on.app))


async def test_deleting_asks_with_the_focus_on_the_safe_answer(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        await on.post("mallory", "delete [/] me")
        async with on.shown() as pilot:
            await pilot.press("tab", "d")
            await until(pilot, lambda: isinstance(on.app.screen, Question))
            assert "Mallory: delete [/] me" in screen_text(on.app)
            focused = on.app.focused
            assert isinstance(focused, Button)
            assert focused.id == "no"
            await pilot.press("enter")
            await until(pilot, lambda: on.app.screen is home(on))
            assert len(await on.store.page(None)) == 1
            await pilot.press("d", "y")
            await until(pilot, lambda: states(on) == [])
            assert await on.store.page(None) == []


async def test_mode_and_fact_are_set_from_the_screen(tmp_path: Path) -> None:
    async with stage(tmp_path) as on, on.shown() as pilot:
        await pilot.press("f9", *"likes tea [/]", "enter")
        await until(pilot, lambda: "likes tea [/]" in screen_text(on.app))
        await pilot.press("f8", *"Deep work", "tab", *"25:00", "enter")
        await until(pilot, lambda: "is no time" in screen_text(on.app))
        await pilot.press(*["backspace"] * 5, *"15:00", "enter")
        await until(pilot, lambda: "Deep work until 15:00" in screen_text(on.app))
        mode = await on.store.mode()
        assert mode is not None
        assert mode.until == on.hands.now().replace(hour=15, minute=0)
        await pilot.press("f8", *["backspace"] * 9, "enter")
        await until(pilot, lambda: "none" in line_of(on, "Mode  "))


async def test_the_draft_comes_back(tmp_path: Path) -> None:
    async with stage(tmp_path) as on, on.shown() as pilot:
        await pilot.press(*"half a th")

        async def stored() -> str:
            return await on.store.draft(None)

        for _ in range(500):
            if await stored() == "half a th":
                break
            await pilot.pause(0.02)
        assert await stored() == "half a th"
        await pilot.press(*"ought", "ctrl+q")
        await until(pilot, lambda: on.app.return_value is Leave.DONE)
    async with stage(tmp_path) as on, on.shown() as pilot:
        assert home(on).composer.message == "half a thought"
        await pilot.press("enter")
        await until(pilot, lambda: states(on) == [TurnState.SENT, TurnState.SENT])
        assert await on.store.draft(None) == ""


async def test_a_huge_paste_does_not_freeze_the_screen(tmp_path: Path) -> None:
    huge = "word " * 40_000
    async with stage(tmp_path) as on, on.shown() as pilot:
        composer = home(on).composer
        on.app.post_message(events.Paste(huge))
        await until(pilot, lambda: "pasted 1: 200,000 characters, 1 line⟧" in screen_text(on.app))
        await pilot.press("x")
        await until(pilot, lambda: composer.message == huge + "x", bound=5)
        await pilot.press("enter")
        await until(pilot, lambda: states(on) == [TurnState.SENT, TurnState.SENT])
        assert home(on).feed.window.turns[0].text == huge + "x"
        assert "more characters" in screen_text(on.app) or home(on).feed.scroll_y > 0


async def test_controls_in_a_paste_are_seen_and_sent_as_they_were(tmp_path: Path) -> None:
    async with stage(tmp_path) as on, on.shown() as pilot:
        text = "a\x1b]52;c;aGk=\x07b\u202ec\u2028d␛e"
        on.app.post_message(events.Paste(text))
        await until(pilot, lambda: home(on).composer.text)
        assert "\x1b" not in home(on).composer.text
        assert "a␛]52;c;aGk=␇b" in screen_text(on.app)
        await pilot.press("enter")
        await until(pilot, lambda: states(on) == [TurnState.SENT, TurnState.SENT])
        assert home(on).feed.window.turns[0].text == text


async def test_a_narrow_screen_shows_what_q_is_told_on_its_own(tmp_path: Path) -> None:
    async with stage(tmp_path) as on, on.shown((80, 24)) as pilot:
        assert "What Q will be told" not in screen_text(on.app)
        await pilot.press("ctrl+t")
        await until(pilot, lambda: isinstance(on.app.screen, ToldScreen))
        await until(pilot, lambda: "What Q will be told" in screen_text(on.app))
        await on.store.set_mode("Deep work")
        await until(pilot, lambda: "Deep work" in screen_text(on.app))
        await pilot.press("escape")
        await until(pilot, lambda: on.app.screen is home(on))


async def test_the_pane_can_be_put_away(tmp_path: Path) -> None:
    async with stage(tmp_path) as on, on.shown() as pilot:
        assert "What Q will be told" in screen_text(on.app)
        await pilot.press("ctrl+t")
        await until(pilot, lambda: home(on).told.list.has_focus)
        await pilot.press("ctrl+t")
        await until(pilot, lambda: "What Q will be told" not in screen_text(on.app))
        await pilot.press("ctrl+t")
        await until(pilot, lambda: "What Q will be told" in screen_text(on.app))


async def test_a_screen_too_small_says_what_it_needs(tmp_path: Path) -> None:
    async with stage(tmp_path) as on, on.shown((40, 12)) as pilot:
        assert "qterm needs 50 columns and 14 rows." in screen_text(on.app)
        assert "This terminal has 40 and 12." in screen_text(on.app)
        await pilot.resize_terminal(80, 24)
        await until(pilot, lambda: "Write to Q" in screen_text(on.app))


async def test_quitting_asks_only_while_a_turn_is_under_way(tmp_path: Path) -> None:
    async with stage(tmp_path) as on, on.shown() as pilot:
        on.way.hold()
        await pilot.press(*"long", "enter")
        await until(pilot, on.services.conversation.running)
        await pilot.press("ctrl+q")
        await until(pilot, lambda: isinstance(on.app.screen, Question))
        focused = on.app.focused
        assert focused is not None
        assert focused.id == "no"
        await pilot.press("enter")
        await until(pilot, lambda: on.app.screen is home(on))
        await pilot.press("ctrl+q", "y")
        await until(pilot, lambda: on.app.return_value is Leave.DONE)
        turns = await on.store.page(None)
        assert turns[0].state is TurnState.INTERRUPTED
    async with stage(tmp_path) as on, on.shown() as pilot:
        await pilot.press("ctrl+q")
        await until(pilot, lambda: on.app.return_value is Leave.DONE)


async def test_notices_stay_until_they_are_dismissed_and_are_not_lost(tmp_path: Path) -> None:
    async with stage(
        tmp_path, problems=["config.toml: “thme” is no key; did you mean “theme”? [/]"],
        notices=("The old feed lies aside.",),
    ) as on, on.shown() as pilot:  # fmt: skip
        assert "did you mean “theme”? [/]" in screen_text(on.app)
        assert "1 more" in screen_text(on.app)
        await pilot.press("ctrl+g")
        await until(pilot, lambda: "The old feed lies aside." in screen_text(on.app))
        await pilot.press("ctrl+g")
        await until(pilot, lambda: "lies aside" not in screen_text(on.app))
        await pilot.press("ctrl+p", *"Notices", "enter")
        await until(pilot, lambda: "The old feed lies aside." in screen_text(on.app))
        assert "did you mean “theme”? [/]" in screen_text(on.app)


async def test_bypass_is_always_marked(tmp_path: Path) -> None:
    defaults = Settings()
    hermes = msgspec.structs.replace(defaults.hermes, approvals=Approvals.BYPASS)
    settings = changed(defaults, hermes=hermes)
    async with stage(tmp_path, settings=settings) as on, on.shown((80, 24)):
        assert "Q runs commands unasked" in screen_text(on.app)


async def test_a_feed_that_cannot_be_read_is_one_sentence(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        await on.post("mallory", "hello")

        async def refuse(*_: object, **__: object) -> None:
            raise FeedError("The feed can't be read; see `qterm doctor`.")

        on.store.transcript = refuse  # type: ignore[assignment, method-assign]
        async with on.app.run_test(size=(120, 40), notifications=True, tooltips=True) as pilot:
            await until(pilot, lambda: "The feed can't be read" in screen_text(on.app))
            await until(pilot, lambda: "hello" in screen_text(on.app))


async def test_elapsed_time_of_a_turn_that_waits_long(tmp_path: Path) -> None:
    async with stage(tmp_path) as on, on.shown() as pilot:
        on.way.hold()
        on.way.script = lambda _: [Replied("Late.")]
        await pilot.press(*"slow", "enter")
        await until(pilot, home(on).feed.progress.asked)
        on.hands.pass_(185)
        await until(pilot, lambda: "3 min 5 s · esc stops" in screen_text(on.app))


async def test_days_have_lines(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        on.hands.moment -= timedelta(days=2)
        await on.post("mallory", "long ago")
        on.hands.moment += timedelta(days=1)
        await on.post("mallory", "yesterday")
        on.hands.moment += timedelta(days=1)
        await on.post("mallory", "now")
        async with on.shown():
            shown = screen_text(on.app)
            assert shown.index("Saturday 28 November") < shown.index("long ago")
            assert shown.index("Yesterday, Sunday 29 November") < shown.index("Today, Monday")


async def test_words_typed_beside_the_editor_go_into_it(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        await on.post("mallory", "The deploy is out.")
        fact = await on.store.add_fact("Lives in Lisbon.")
        async with on.shown() as pilot:
            await pilot.press("tab", *"Tell me")
            assert home(on).composer.message == "Tell me"
            assert home(on).composer.has_focus
            home(on).composer.set_message("")
            await pilot.press("ctrl+t")
            await until(pilot, lambda: home(on).told.list.has_focus)
            await pilot.press(*"Tell me")
            assert home(on).composer.message == "Tell me"
            assert await on.store.facts() == [fact]


async def test_coming_back_to_home_one_writes(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        fact = await on.store.add_fact("Lives in Lisbon.")
        async with on.shown() as pilot:
            await pilot.press("ctrl+t")
            await until(pilot, lambda: home(on).told.list.has_focus)
            await pilot.press("f3", "f2")
            await until(pilot, lambda: on.app.screen is home(on))
            await pilot.press(*"exp")
            await until(pilot, lambda: home(on).composer.message == "exp")
            assert await on.store.facts() == [fact]
