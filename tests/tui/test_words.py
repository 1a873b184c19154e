"""The parts without a screen: content, the look of a turn, the window, the commands."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from textual.color import Color
from textual.content import Content
from textual.widgets import Input

from qterm.model import (
    QTERM,
    Degraded,
    LastWord,
    Persona,
    Session,
    Task,
    TaskState,
    Turn,
    TurnState,
)
from qterm.tui.commands.command import Command
from qterm.tui.commands.registry import COMMANDS, Place, Situation, bindings, key_words, keys_of
from qterm.tui.content import SHOWN_CHARS, body, colour_style, cut_cells, one_line, plain, to_editor
from qterm.tui.desk.outgoing import Outgoing, edited
from qterm.tui.look import Look, Shown, day_words, turn_content
from qterm.tui.widgets.composer import EDITING
from qterm.tui.widgets.window import MOST, Window
from qterm.tui.words.durations import seconds_words, ticking_words
from qterm.tui.words.task_words import folder_words, head, list_line
from qterm.tui.words.told_rows import Row, RowKind
from tests.cases import cases, ids

NOW = datetime(2026, 11, 30, 9, 15, tzinfo=UTC)


def a_turn(number: int = 1, **values: object) -> Turn:
    turn = Turn(number, None, "you", f"text {number}", TurnState.SENT, NOW)
    return replace(turn, **values)  # type: ignore[arg-type]


def a_task(**values: object) -> Task:
    task = Task("7f3kq2ma", "Ship it", TaskState.OPEN, "/srv/importer", 1, NOW)
    return replace(task, **values)  # type: ignore[arg-type]


def a_look() -> Look:
    people = (Persona("you", "You", "cyan"), Persona("q", "Q", "nonsense"))
    return Look({person.key: person for person in people}, lambda: NOW)


@pytest.mark.parametrize("case", cases("text.json"), ids=ids)
def test_content_is_never_markup_and_never_raw(case: dict[str, str]) -> None:
    shown = plain(case["text"])
    assert isinstance(shown, Content)
    if "visible" in case:
        assert shown.plain == case["visible"]
    for bad in case.get("never", []):
        assert bad not in shown.plain
    assert shown.spans == [] or not any("[" in str(span.style) for span in shown.spans)


def test_a_line_is_cut_at_a_grapheme_with_its_width_in_cells() -> None:
    family = "👨‍👩‍👧‍👦"
    assert one_line("a\nb\t c").plain == "a b c"
    assert one_line("日本語です", 5).plain == "日本…"
    assert cut_cells(f"ab{family}", 3) == "ab"
    assert one_line("exactly", 7).plain == "exactly"


def test_a_giant_text_is_drawn_in_part_and_says_so() -> None:
    shown = body("x" * (SHOWN_CHARS + 1_234))
    assert shown.plain.startswith("x" * SHOWN_CHARS)
    assert "1,234 more characters" in shown.plain


@pytest.mark.parametrize("colour", ["", "nonsense", "[red]", "#12", "rgb("])
def test_a_colour_nobody_knows_is_none(colour: str) -> None:
    assert colour_style(colour, dark=True).foreground is None


def test_colours_stay_readable() -> None:
    on_dark = colour_style("#000080", dark=True).foreground
    on_light = colour_style("yellow", dark=False).foreground
    assert on_dark is not None
    assert on_light is not None
    assert on_dark.brightness > Color.parse("#000080").brightness + 0.2
    assert on_light.brightness < 0.6


def test_durations_are_words() -> None:
    assert seconds_words(2.94) == "2.9 s"
    assert seconds_words(59.9) == "59 s"
    assert seconds_words(185) == "3 min 5 s"
    assert seconds_words(7_380) == "2 h 3 min"
    assert seconds_words(-1) == "0.0 s"
    assert ticking_words(4.9) == "4 s"


def test_days_are_words() -> None:
    today = NOW.date()
    assert day_words(today, today) == "Today, Monday 30 November"
    assert day_words(today - timedelta(days=1), today) == "Yesterday, Sunday 29 November"
    assert day_words(today - timedelta(days=400), today) == "Sunday 26 October 2025"


def notes(turn: Turn, **values: object) -> str:
    return turn_content(Shown(turn, **values), a_look()).plain  # type: ignore[arg-type]


def test_each_state_has_its_note() -> None:
    failed = a_turn(state=TurnState.FAILED, reason="No model [/].", detail="HTTP", elapsed=3.2)
    assert "✗ failed after 3.2 s: No model [/]." in notes(failed)
    assert "HTTP" not in notes(failed)
    assert "HTTP" in notes(failed, unfolded=True)
    assert "■ stopped" in notes(a_turn(state=TurnState.STOPPED))
    assert "stopped" not in notes(a_turn(state=TurnState.STOPPED), answered=True)
    assert "✗ interrupted" in notes(a_turn(state=TurnState.INTERRUPTED, reason="Gone."))
    assert "waiting" in notes(a_turn(state=TurnState.QUEUED))
    assert "without its context" in notes(a_turn(degraded=Degraded.NO_CONTEXT))
    assert "hidden from Q" in notes(a_turn(hidden=True))
    reply = a_turn(persona="q", elapsed=2.0)
    assert notes(reply) == "text 1  2.0 s"
    assert "(stopped)" in notes(replace(reply, state=TurnState.STOPPED))
    assert "as far as" in notes(replace(reply, state=TurnState.FAILED))
    working = replace(reply, state=TurnState.PENDING, elapsed=None)
    assert "thinking  4 s · esc stops" in notes(working, seconds=4.0)
    assert "in another qterm" in notes(working, mine=False)
    assert "using a[/]b" in notes(working, tool="a[/]b")


def test_the_window_slides_over_the_history() -> None:
    window = Window()
    window.replace([a_turn(n) for n in range(10, 20)], has_older=True, has_newer=False)
    assert window.put(a_turn(20))
    assert not window.put(a_turn(20, text="changed"))
    found = window.find(20)
    assert found is not None
    assert found.text == "changed"
    assert not window.belongs(a_turn(5))
    assert window.belongs(a_turn(99))
    assert window.neighbour(10, -1) is None
    after = window.neighbour(10, 1)
    assert after is not None
    assert after.id == 11
    for number in range(30, 30 + MOST):
        window.put(a_turn(number))
    gone = window.trim_top()
    assert len(window.turns) == MOST
    assert gone[0].id == 10
    assert window.drop(30)
    assert not window.drop(30)
    window.put(a_turn(1))
    window.put(a_turn(2))
    window.trim_bottom()
    assert window.has_newer
    assert not window.belongs(a_turn(500))


def test_an_outcome_is_never_undone() -> None:
    window = Window([a_turn(1)])
    window.put(a_turn(1, state=TurnState.PENDING))
    found = window.find(1)
    assert found is not None
    assert found.state is TurnState.SENT


def test_every_command_is_declared_well() -> None:
    assert len({command.id for command in COMMANDS}) == len(COMMANDS)
    for command in COMMANDS:
        assert command.help.endswith("."), command.id
        assert command.name, command.id
        assert command.key or command.palette, f"{command.id} can't be reached"


ON_HOME = (Place.HOME, Place.THREAD, Place.APP)
ON_TASKS = (Place.TASKS, Place.THREAD, Place.APP)


@pytest.mark.parametrize("together", [*((place,) for place in Place), ON_HOME, ON_TASKS], ids=str)
def test_no_key_means_two_things_where_both_can_be_pressed(together: tuple[Place, ...]) -> None:
    keys: dict[str, list[Command]] = {}
    rows = [Situation(told=Row((), kind)) for kind in RowKind]
    for command in COMMANDS:
        if command.place in together and command.key:
            for key in command.key.split(","):
                for other in keys.setdefault(key, []):
                    both = [now for now in rows if command.available(now) and other.available(now)]
                    assert command.place is Place.TOLD, f"{key}: {other.id} and {command.id}"
                    assert not both, f"{key}: {other.id} and {command.id}"
                keys[key].append(command)


def test_no_editor_takes_a_key_of_the_screen() -> None:
    taken = {
        key.strip()
        for bindings in (Input.BINDINGS, EDITING)
        for binding in bindings
        for key in getattr(binding, "key", "").split(",")
    }
    for command in COMMANDS:
        if command.place in (*ON_HOME, *ON_TASKS) and command.key:
            assert not set(command.key.split(",")) & taken, command.id


def test_a_command_gives_its_binding_and_takes_the_operators_key() -> None:
    assert len(bindings(Place.FEED)) == sum(
        1 for command in COMMANDS if command.place is Place.FEED and command.key
    )
    assert keys_of("send", {}) == {"enter"}
    assert keys_of("send", {"send": "ctrl+s, f2"}) == {"ctrl+s", "f2"}
    assert key_words("escape,pageup") == "esc, page up"


def test_commands_are_available_when_they_can_do_something() -> None:
    nothing = {command.id for command in COMMANDS if command.available(Situation())}
    assert not nothing & {
        "edit",
        "unfold",
        "copy-turn",
        "copy-code",
        "open-link",
        "export",
        "select-message",
        "steps",
        "session-mode",
        "go-to-request",
    }
    assert not nothing & {"stop", "send-again", "hide", "delete", "take-back", "dismiss", "detail"}
    turn = a_turn(state=TurnState.FAILED, detail="x")
    full = Situation(running=True, waiting=turn, selected=turn, again=turn, notices=1, offers=True)
    full = replace(full, did=True, asks=True, modes=True, filtered=True)
    full = replace(full, writes=True, folded=True, removed=True, turns=True, can=CAN)
    assert {command.id for command in COMMANDS if not command.available(full)} == {
        *NEVER, *AT_TASKS, *ON_ROWS, "reopen-task",
    }  # fmt: skip
    in_open = replace(full, task=a_task())
    assert {command.id for command in COMMANDS if not command.available(in_open)} == {
        *NEVER, "hide", *ON_ROWS, "reopen-task",
    }  # fmt: skip
    in_done = replace(full, task=replace(a_task(), state=TaskState.DONE))
    assert {command.id for command in COMMANDS if not command.available(in_done)} == {
        *NEVER, "hide", *ON_ROWS, "finish-task", "cancel-task",
    }  # fmt: skip
    on_fact = replace(full, told=Row((), RowKind.FACT))
    assert {command.id for command in COMMANDS if not command.available(on_fact)} == {
        *NEVER, *AT_TASKS, "told-hide", "told-turn", "reopen-task",
    }  # fmt: skip
    on_turn = replace(full, told=Row((), RowKind.TURN))
    assert {command.id for command in COMMANDS if not command.available(on_turn)} == {
        *NEVER, *AT_TASKS, *ON_ROWS - {"told-hide", "told-turn"}, "reopen-task",
    }  # fmt: skip


CAN = frozenset(
    [
        "tag",
        "edit",
        "edit-elsewhere",
        "mark-all",
        "write",
        "plan",
        "save",
        "undo",
        "redo",
        "undo-write",
        "suggest",
        "move",
        "merge",
        "split",
        "clear",
        "clean",
        "bring",
        "asks",
        "dismiss",
        "offered",
        "diff",
        "compare",
        "migrate",
        "apply",
        "accept",
        "take",
        "restore",
        "filter",
        "tick",
    ]
)
"""Whatever a screen of the memory can do."""


AT_TASKS = {
    "previous-task", "next-task", "write-in-task", "rename-task", "finish-task", "cancel-task",
}  # fmt: skip


NEVER = {"write", "told-leave", "setting-change", "setting-back", "setting-add-key"}
"""What a turn that runs, or another screen, takes away."""

ON_ROWS = {
    "told-edit", "told-hide", "told-pin", "told-up", "told-down", "told-remove", "told-turn",
}  # fmt: skip


def test_stand_ins_keep_line_ends_as_terminals_paste_them() -> None:
    assert to_editor("a\r\nb\rc") == "a\nb\nc"


def test_what_came_while_an_editor_was_open_is_not_lost() -> None:
    assert edited("was", "was", "is") == "is"
    assert edited("taken back\nwas", "was", "is") == "taken back\nis"
    assert edited("", "was", "is") == "is"  # it was sent meanwhile
    assert edited("other", "was", "is") == "other\nis"
    assert edited("came", "", "is") == "came\nis"


def test_enter_pressed_again_means_what_was_added_since() -> None:
    out = Outgoing()
    assert out.press("one") == "one"
    assert out.press("onetwo") is None
    assert out.press("onetwo") is None  # nothing was added
    assert out.press("onetwothree") is None
    assert out.stored() == ("one", "two")
    assert out.stored() == ("two", "three")
    assert out.stored() == ("three", None)
    assert out.press("four") == "four"
    assert out.press("edited") is None  # not what is being stored plus something: left alone
    assert out.stored() == ("four", None)


def test_a_note_of_qterms_has_no_speaker() -> None:
    note = a_turn(persona=QTERM, text="Reopened, run 2.")
    assert a_look().head(note).plain == "09:15 "
    assert notes(note) == "Reopened, run 2."


def test_a_task_in_words() -> None:
    last = LastWord("q", "\n \nThe reader is done,\nwith 14 tests.", NOW)
    task = a_task(title="Ship the\nimporter", turns=14, run=2, last=last)
    assert list_line(task, 30, who="Q", when="09:15", is_new=True).plain == (
        "● Ship the importer      09:15\n  new · run 2 · Q: The reader…"
    )
    assert list_line(task, 21, who="Q", when="09:15").plain == (
        "● Ship the imp… 09:15\n  run 2 · Q: The rea…"
    )
    assert "Q is at work" in list_line(task, 30, at_work=True).plain
    assert "Q asks you" in list_line(task, 30, at_work=True, asks=True).plain
    done = replace(task, state=TaskState.DONE, turns=0, run=1, last=None)
    assert (
        list_line(done, 40).plain
        == "✓ Ship the importer                     \n  done · nothing said yet"
    )
    for width in (18, 30, 60):
        long = a_task(title="日本語の長い題名" * 9, cwd="/srv/" + "x" * 200, turns=1_234)
        for words in (
            list_line(long, width, who="日本語", when="30 Nov", at_work=True, is_new=True),
            list_line(long, width, when="30 Nov"),
            head(long, width),
        ):
            assert all(line.cell_length <= width for line in words.split("\n")), words.plain


def test_a_head_names_session_run_turns_and_folder() -> None:
    bound = Session("20261130_155841_cae3a2", "here:/home/alex/.hermes", "q-task-7f3kq2ma")
    words = head(a_task(session=bound, turns=1), 100).plain
    assert "Ship it  /srv/importer" in words
    assert "session q-task-7f3kq2ma (…cae3a2) · run 1 · 1 turn" in words
    assert "begins with your first message" in head(a_task(), 100).plain
    assert folder_words("/srv/a/very/long/folder", 10) == "…ng/folder"
    assert folder_words(str(Path("~/x").expanduser()), 10) == "~/x"


def test_a_refused_message_takes_nothing_along() -> None:
    out = Outgoing()
    out.press("one")
    out.press("onetwo")
    out.refused()
    assert out.press("onetwo") == "onetwo"
    assert out.stored() == ("onetwo", None)


@pytest.mark.parametrize(
    ("text", "shown", "cells"),
    [("❤️ ☎️", "❤ ☎", 3), ("1️⃣", "1⃣", 1), ("🏳️‍🌈", "🏳‍🌈", 1), ("日本 👍", "日本 👍", 7)],
)
def test_no_sign_is_wider_than_terminals_make_it(text: str, shown: str, cells: int) -> None:
    """tmux gives these signs one cell, whatever selector follows; Textual would give them two."""
    for made in (plain(text), one_line(text), one_line(text, 20), body(text)):
        assert (made.plain, made.cell_length) == (shown, cells)
