"""Moments as people write them (pure: the present is passed in, with its zone)."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

_UNITS = {"m": "minutes", "h": "hours", "d": "days"}


def _is_after(moment: datetime, now: datetime) -> bool:
    """In UTC: within one zone Python compares what the clocks show, and they are set back."""
    return moment.astimezone(UTC) > now.astimezone(UTC)


def later(moment: datetime, span: timedelta) -> datetime:
    """The moment after so much time, also over a clock change; in the same zone."""
    return (moment.astimezone(UTC) + span).astimezone(moment.tzinfo)


def parse_until(text: str, now: datetime) -> datetime:
    """A moment to come: `15:00` (today, or tomorrow when it is past), `+90m`, `+2h`, `+1d`, ISO.

    `now` has its zone. Raises ValueError, with a sentence, for anything else and for the past.
    """
    text = text.strip()
    if span := re.fullmatch(r"\+(\d{1,4})([mhd])", text):
        return later(now, timedelta(**{_UNITS[span[2]]: int(span[1])}))
    if clock := re.fullmatch(r"(\d{1,2}):(\d{2})", text):
        hour, minute = int(clock[1]), int(clock[2])
        if hour < 24 and minute < 60:
            wall = now.replace(hour=hour, minute=minute, second=0, microsecond=0, fold=0)
            days = (wall, wall.replace(fold=1), wall + timedelta(days=1))
            return next(later(day, timedelta()) for day in days if _is_after(day, now))
    try:
        moment = datetime.fromisoformat(text)
        moment = moment.replace(tzinfo=now.tzinfo) if moment.tzinfo is None else moment
        moment = moment.astimezone(UTC).astimezone(now.tzinfo)
    except (ValueError, OverflowError, OSError) as error:
        sentence = f"“{text}” is no time; give 15:00, +90m, +2h, or 2026-12-01T15:00."
        raise ValueError(sentence) from error
    if not _is_after(moment, now):
        raise ValueError(f"{moment:%Y-%m-%d %H:%M} has passed already.")
    return moment
