"""What can't be done with the memory; each text is one sentence for the operator."""

from __future__ import annotations


class MemoryFault(Exception):  # noqa: N818 - MemoryError is Python's own
    """Something that can't be done. Nothing was written, unless the sentence says so."""


class Unreadable(MemoryFault):
    """A file that can't be read, or read as text."""


class Busy(MemoryFault):
    """Somebody else holds the lock."""


class ChangedMeanwhile(MemoryFault):
    """The file is not the one that was looked at."""


class Refused(MemoryFault):
    """An edit or a plan that must not be written."""


class Outdated(Refused):
    """A plan that was made with other settings or limits, or too long ago; `why` says which."""

    def __init__(self, why: str) -> None:
        super().__init__(f"{why} Make a new plan: `qterm memory plan`.")
        self.why = why


class Unwritable(MemoryFault):
    """The disk said no."""
