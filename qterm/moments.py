"""Moments as people write them (pure: the present is passed in)."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

_UNITS = {"m": "minutes", "h": "hours", "d": "days"}


def parse_until(text: str, now: datetime) -> datetime:
    """A moment to come: `15:00` (today, or tomorrow when it is past), `+90m`, `+2h`, `+1d`, ISO.

    `now` has its zone. Raises ValueError, with a sentence, for anything else and for the past.
    """
    text = text.strip()
    if span := re.fullmatch(r"\+(\d{1,4})([mhd])", text):
        return now + timedelta(**{_UNITS[span[2]]: int(span[1])})
    if clock := re.fullmatch(r"(\d{1,2}):(\d{2})", text):
        hour, minute = int(clock[1]), int(clock[2])
        if hour < 24 and minute < 60:
            wall = now.replace(tzinfo=None, hour=hour, minute=minute, second=0, microsecond=0)
            moment = wall.astimezone()
            return moment if moment > now else (wall + timedelta(days=1)).astimezone()
    try:
        moment = datetime.fromisoformat(text).astimezone()
    except (ValueError, OverflowError, OSError) as error:
        sentence = f"“{text}” is no time; give 15:00, +90m, +2h, or 2026-12-01T15:00."
        raise ValueError(sentence) from error
    if moment <= now:
        raise ValueError(f"{moment:%Y-%m-%d %H:%M} has passed already.")
    return moment
