"""The tag at the start of an entry, and which one an entry might deserve (pure)."""

from __future__ import annotations

from enum import StrEnum


class Priority(StrEnum):
    """How much an entry matters: P1 is never pruned, P3 goes first (rule M1)."""

    P1 = "P1"
    P2 = "P2"
    P3 = "P3"
