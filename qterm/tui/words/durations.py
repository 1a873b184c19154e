"""Durations in words."""

from __future__ import annotations


def seconds_words(seconds: float) -> str:
    """A duration: `2.9 s`, `48 s`, `3 min 5 s`, `2 h 3 min`."""
    if seconds < 10:
        return f"{max(seconds, 0):.1f} s"
    whole = int(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def ticking_words(seconds: float) -> str:
    """A duration that still grows, in whole seconds."""
    return seconds_words(float(int(seconds))).replace(".0 s", " s")
