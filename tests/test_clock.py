"""Local time by the zone's own rules, before and after a clock change."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from qterm.cli import show
from qterm.clock import SYSTEM_ZONE, local_now
from qterm.context import render_q_context
from qterm.exporting import day_line
from qterm.model import Mode, Persona, Turn, TurnState
from qterm.moments import later, parse_until
from qterm.tui.look import Look
from qterm.tui.widgets.progress import Progress
from qterm.tui.widgets.showing import Showing
from qterm.tui.widgets.window import Window

BERLIN = ZoneInfo("Europe/Berlin")
OCTOBER = datetime(2026, 10, 25, 1, 0, tzinfo=UTC)
MARCH = datetime(2026, 3, 29, 1, 0, tzinfo=UTC)


@pytest.fixture(autouse=True)
def berlin(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize("change", [MARCH, OCTOBER], ids=["march", "october"])
def test_every_moment_around_a_change_is_as_the_zone_has_it(change: datetime) -> None:
    for minutes in range(-3000, 3000, 10):
        moment = change + timedelta(minutes=minutes)
        ours, right = moment.astimezone(SYSTEM_ZONE), moment.astimezone(BERLIN)
        assert ours.replace(tzinfo=None) == right.replace(tzinfo=None)
        assert (ours.fold, ours.utcoffset(), ours.tzname()) == (
            right.fold, right.utcoffset(), right.tzname(),
        )  # fmt: skip
        assert ours.astimezone(UTC) == moment
    assert abs(local_now() - datetime.now(UTC)) < timedelta(minutes=1)


def said(number: int, moment: datetime) -> Turn:
    return Turn(number, None, "mallory", "x", TurnState.SENT, moment)


def feed(now: datetime, *moments: datetime) -> tuple[list[str], list[str]]:
    """The times of the turns said at these moments, and the lines between them."""
    look = Look({"mallory": Persona("mallory", "M")}, lambda: now)
    window = Window()
    turns = [said(number, moment) for number, moment in enumerate(moments, 1)]
    window.replace(turns, has_older=False, has_newer=False)
    progress = Progress.__new__(Progress)
    lines = Showing(look, window, progress).lines_between()
    return [look.head(turn).plain[:5] for turn in turns], list(lines.values())


def test_a_turn_said_before_the_change_keeps_its_hour_and_its_day() -> None:
    """Seen on Monday, an hour off, 22:10 in UTC would be Saturday still."""
    hours = [(24, 21, 50), (24, 22, 10), (25, 0, 30), (25, 1, 30), (25, 22, 50), (25, 23, 10)]
    times, lines = feed(
        datetime(2026, 10, 26, 8, tzinfo=UTC).astimezone(SYSTEM_ZONE),
        *(datetime(2026, 10, *hour, tzinfo=UTC) for hour in hours),
    )
    assert times == ["23:50", "00:10", "02:30", "02:30", "23:50", "00:10"]
    assert lines == ["Saturday 24 October", "Yesterday, Sunday 25 October",
                     "Today, Monday 26 October"]  # fmt: skip


def test_and_in_spring() -> None:
    hours = [(28, 22, 50), (28, 23, 10), (29, 0, 59), (29, 1, 0), (29, 21, 59), (29, 22, 0)]
    times, lines = feed(
        datetime(2026, 3, 30, 8, tzinfo=UTC).astimezone(SYSTEM_ZONE),
        *(datetime(2026, 3, *hour, tzinfo=UTC) for hour in hours),
    )
    assert times == ["23:50", "00:10", "01:59", "03:00", "23:59", "00:00"]
    assert lines == ["Saturday 28 March", "Yesterday, Sunday 29 March", "Today, Monday 30 March"]


def test_a_clock_set_back_over_midnight_takes_no_day_back() -> None:
    now = datetime(2026, 11, 30, 12, tzinfo=UTC)
    late, early = (
        datetime(2026, 11, 29, 23, 5, tzinfo=UTC),
        datetime(2026, 11, 29, 22, 58, tzinfo=UTC),
    )
    assert feed(now.astimezone(SYSTEM_ZONE), late, early, late)[1] == ["Today, Monday 30 November"]
    far = datetime(2027, 11, 29, tzinfo=UTC)
    assert len(feed(now, late, far, late)[1]) == 3, "a wrong year is not hidden"


def test_the_mode_and_its_end_over_a_change() -> None:
    now = datetime(2026, 10, 24, 21, tzinfo=UTC).astimezone(SYSTEM_ZONE)  # 23:00, summer time
    assert parse_until("+5h", now).astimezone(UTC) == datetime(2026, 10, 25, 2, tzinfo=UTC)
    assert f"{parse_until('+5h', now):%H:%M}" == "03:00"
    assert parse_until("4:00", now).astimezone(UTC) == datetime(2026, 10, 25, 3, tzinfo=UTC)
    assert parse_until("2026-10-25T12:00", now).astimezone(UTC).hour == 11
    second = datetime(2026, 10, 25, 1, 10, tzinfo=UTC).astimezone(SYSTEM_ZONE)  # 02:10, again
    assert parse_until("2:30", second).astimezone(UTC) == datetime(2026, 10, 25, 1, 30, tzinfo=UTC)
    assert parse_until("2:05", second).date() == date(2026, 10, 26)
    spring = datetime(2026, 3, 29, 0, 30, tzinfo=UTC).astimezone(SYSTEM_ZONE)  # 01:30
    assert f"{parse_until('2:30', spring):%H:%M}" == "03:30", "there is no 02:30"
    assert later(spring, timedelta(hours=1)).hour == 3
    mode = Mode("Deep work", datetime(2026, 10, 25, 2, tzinfo=UTC))
    made = render_q_context([], [], mode, labels={}, operator="Alex", now=now)
    assert "2026-10-25 03:00" in made.text
    assert not mode.is_over(now)
    assert mode.is_over(later(now, timedelta(hours=5)))


def test_the_command_line_and_the_export_have_the_same_hours() -> None:
    turn = said(1, datetime(2026, 10, 24, 22, 10, tzinfo=UTC))
    assert "00:10" in show.turn_lines(turn, {})
    assert day_line(turn) == "Sunday 25 October 2026"
