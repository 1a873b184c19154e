"""The present, in the zone of this machine."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, tzinfo


class SystemZone(tzinfo):
    """The zone of this machine, by its rules for each moment.

    What `astimezone()` gives is the offset of one moment: taken for another one, before a clock
    change, it is an hour off, and near midnight a day.
    """

    def utcoffset(self, moment: datetime | None) -> timedelta | None:
        """How far local time is from UTC at a local moment."""
        return None if moment is None else _by_the_rules(moment).utcoffset()

    def dst(self, moment: datetime | None) -> timedelta | None:
        """The system does not tell."""
        return None

    def tzname(self, moment: datetime | None) -> str | None:
        """The zone's name at a local moment."""
        return None if moment is None else _by_the_rules(moment).tzname()

    def fromutc(self, moment: datetime) -> datetime:
        """A moment in UTC as local time; `fold` tells the two hours of autumn apart."""
        there = moment.replace(tzinfo=UTC).astimezone()
        local = there.replace(tzinfo=self, fold=0)
        return local if local.utcoffset() == there.utcoffset() else local.replace(fold=1)

    def __repr__(self) -> str:
        return "SYSTEM_ZONE"


def _by_the_rules(moment: datetime) -> datetime:
    return moment.replace(tzinfo=None).astimezone()  # heeds `fold`


SYSTEM_ZONE = SystemZone()


def local_now() -> datetime:
    """The present, in the zone of this machine."""
    return datetime.now(SYSTEM_ZONE)
