"""Which theme is the light one to a dark one, and the other way round (no widget here)."""

from __future__ import annotations

_PAIRS = (
    ("textual-dark", "textual-light"),
    ("catppuccin-mocha", "catppuccin-latte"),
    ("solarized-dark", "solarized-light"),
    ("rose-pine", "rose-pine-dawn"),
    ("atom-one-dark", "atom-one-light"),
    ("ansi-dark", "ansi-light"),
)


def counterpart(theme: str, last: str, *, dark: bool) -> str:
    """The theme to change to from this one.

    `dark` says whether this one is dark, `last` is the newest theme of the other kind that was on
    the screen, if any. A theme of a family goes to its sibling, any other one to `last`, else to
    Textual's own.
    """
    for one, other in _PAIRS[1:]:
        if theme in {one, other}:
            return other if theme == one else one
    if last:
        return last
    return "textual-light" if dark else "textual-dark"
