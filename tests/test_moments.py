"""Moments as people write them."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from qterm.moments import parse_until

NOON = datetime(2026, 11, 30, 12, 0).astimezone()


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("15:00", NOON + timedelta(hours=3)),
        ("9:30", NOON + timedelta(hours=21, minutes=30)),
        ("+90m", NOON + timedelta(minutes=90)),
        ("+2h", NOON + timedelta(hours=2)),
        ("2026-12-01T15:00", NOON + timedelta(days=1, hours=3)),
    ],
)
def test_until(text: str, moment: datetime) -> None:
    assert parse_until(text, NOON) == moment


@pytest.mark.parametrize(
    "text", ["25:00", "12:60", "soon", "", "2026-11-29T10:00", "+5y", "9999-99-99", "٣:٠٠x"]
)
def test_what_is_no_time(text: str) -> None:
    with pytest.raises(ValueError, match=r"is no time|has passed"):
        parse_until(text, NOON)
