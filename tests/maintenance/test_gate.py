"""The gate's decisions (pure): flag, window, state, due, back-off."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qterm.maintenance import gate

M = gate.MINUTE
TEN = 10 * M


@pytest.mark.parametrize("flag", [None, "", "0", "false", "FALSE", "False", "fAlSe"])
def test_what_switches_it_off(flag: str | None) -> None:
    environ = {} if flag is None else {gate.FLAG: flag}
    assert not gate.is_enabled(environ)


@pytest.mark.parametrize(
    "flag",
    [
        "1",
        "true",
        "TRUE",
        "yes",
        "no",
        "off",
        " false ",
        "false ",
        " 0",
        "00",
        "0.0",
        " ",
        "nö",
        "\0",
    ],
)
def test_everything_else_is_on(flag: str) -> None:
    assert gate.is_enabled({gate.FLAG: flag})


def test_the_flag_goes_before_the_config_either_way() -> None:
    assert gate.is_enabled({}, configured=True)
    assert gate.is_enabled({gate.FLAG: ""}, configured=True)
    assert not gate.is_enabled({gate.FLAG: "0"}, configured=True)
    assert gate.is_enabled({gate.FLAG: "1"}, configured=False)


@pytest.mark.parametrize(
    ("said", "minutes"),
    [
        ("5", 5.0),
        (" 5 ", 5.0),
        ("5min", 5.0),
        ("5,5", 5.0),
        ("+5", 5.0),
        ("0.5", 0.5),
        (".5", 0.5),
        ("5.", 5.0),
        ("5.x", 5.0),
        ("1e-3", 0.001),
        ("1e", 1.0),
        ("1e+", 1.0),
        ("1_000", 1.0),
        ("0x10", 10.0),
        ("\ufeff\u00a0\t\n7", 7.0),
        ("007", 7.0),
        ("1440", 1440.0),
        # what is no number of minutes means ten of them
        ("", 10.0),
        (" ", 10.0),
        ("ten", 10.0),
        ("0", 10.0),
        ("-5", 10.0),
        ("-.5", 10.0),
        ("NaN", 10.0),
        ("Infinity", 10.0),
        ("inf", 10.0),
        ("1e999", 10.0),
        ("1e308", 10.0),  # finite, but not in milliseconds
        (".", 10.0),
        ("e5", 10.0),
        ("٥", 10.0),  # an Arabic five: only ASCII digits count
        ("\x1c5", 10.0),  # white space for Python, none for JavaScript
        ("\x855", 10.0),
    ],
)
def test_the_window_is_read_as_javascript_reads_it(said: str, minutes: float) -> None:
    assert gate.window({gate.WINDOW_VARIABLE: said}) == pytest.approx(minutes * M)


def test_case_7_the_window_from_the_environment_and_an_override() -> None:
    environ = {gate.WINDOW_VARIABLE: "5"}
    assert gate.window(environ) == 5 * M
    assert gate.window(environ, 2.0) == 2 * M
    assert gate.window(environ, None, 30.0) == 5 * M
    assert gate.window({}, None, 30.0) == 30 * M
    assert gate.window({gate.WINDOW_VARIABLE: ""}, None, 30.0) == 30 * M
    assert gate.window({gate.WINDOW_VARIABLE: "rubbish"}, None, 30.0) == TEN


@pytest.mark.parametrize("override", [0.0, -1.0, math.nan, math.inf, -math.inf, 1e308])
def test_an_override_that_is_no_number_of_minutes_is_ten(override: float) -> None:
    assert gate.window({gate.WINDOW_VARIABLE: "5"}, override) == TEN


@given(st.text(max_size=30))
def test_a_window_is_always_one_that_can_be_waited_for(said: str) -> None:
    found = gate.window({gate.WINDOW_VARIABLE: said})
    assert math.isfinite(found)
    assert found > 0


@pytest.mark.parametrize(
    ("text", "last"),
    [
        ("123", 123),
        ("123abc", 123),
        ("123\n", 123),
        (" 123", 123),
        ("\ufeff123", 123),
        ("12.9", 12),
        ("1e9", 1),
        ("0", 0),
        ("", None),
        ("abc123", None),
        ("-5", None),
        ("\x00123", None),
        ("٣", None),
        ("null", None),
    ],
)
def test_what_a_state_file_says(text: str, last: int | None) -> None:
    assert gate.parse_last(text) == last


def test_a_state_of_endless_digits_is_read_and_locks_nothing() -> None:
    last = gate.parse_last("9" * 100_000)
    assert last is not None
    assert gate.due(1_000, last, TEN)


@pytest.mark.parametrize(
    ("ago", "is_due"), [(M, False), (TEN - 1, False), (TEN, True), (11 * M, True), (-1, True)]
)
def test_when_it_is_due(ago: float, is_due: bool) -> None:
    now = 1_900_000_000_000
    assert gate.due(now, now - int(ago), TEN) is is_due
    assert gate.due(now, None, TEN)


def test_after_failures_it_waits_longer_but_no_longer_than_the_window() -> None:
    assert [gate.back_off(n, TEN) / M for n in range(7)] == [0, 1, 2, 4, 8, 10, 10]
    assert gate.back_off(10_000, TEN) == TEN
    assert gate.back_off(1, 0.5 * M) == 0.5 * M
