"""Foreign text made fit for a widget: the only way from outside onto the screen.

Textual parses a plain `str` as markup in most places, so `[P1]` would vanish and `[/]` end the app;
and it hands control characters on to the terminal. Everything here gives a `Content`, which is
never parsed, out of text that went through `safe_text`.
"""

from __future__ import annotations

from typing import Final

from rich.cells import cell_len
from textual.color import Color, ColorParseError
from textual.content import Content
from textual.style import Style

from qterm.safe_text import hide_controls, safe_line, safe_text, show_controls

SHOWN_CHARS: Final = 20_000
"""The most code points of one text that a widget draws; the rest is told in a line of its own."""


_EMOJI_STYLE = "\ufe0f"


def steady(text: str) -> str:
    """The text without the selectors that ask for an emoji's coloured form.

    Terminals disagree on whether they make a sign wider (tmux says no), and where they do, all
    that stands to the right of it is shifted. The sign itself stays, in its own width.
    """
    return text.replace(_EMOJI_STYLE, "")


def plain(text: str, style: str | Style = "") -> Content:
    """Foreign text as Content: safe to show, one style, no markup."""
    shown = steady(safe_text(text))
    return Content.styled(shown, style) if style else Content(shown)


def one_line(text: str, width: int | None = None, style: str | Style = "") -> Content:
    """Foreign text on one line, its white space joined; cut to `width` cells with an ellipsis."""
    joined = steady(safe_line(text if width is None else text[: width * 40 + 200]))
    if width is not None and cell_len(joined) > width:
        joined = f"{cut_cells(joined, max(width - 1, 0))}…"
    return Content.styled(joined, style) if style else Content(joined)


def with_controls(text: str, style: str | Style = "") -> Content:
    """Foreign text in which nothing is hidden: every control is a visible stand-in (rule T2)."""
    return plain(show_controls(text), style)


def palette_words(text: str) -> str:
    """Foreign text for the palette, which parses markup whatever it is given: no brackets in it."""
    return safe_line(text).replace("[", "(").replace("]", ")").replace("\\", "/")


def cut_cells(text: str, width: int) -> str:
    """The longest beginning of the text that fits into this many cells, at a grapheme's edge."""
    import regex

    kept: list[str] = []
    left = width
    for grapheme in regex.findall(r"\X", text):
        left -= cell_len(grapheme)
        if left < 0:
            break
        kept.append(grapheme)
    return "".join(kept)


def body(text: str, style: str | Style = "") -> Content:
    """The text of a turn: safe, and of an extent that one widget can draw.

    A longer one keeps its beginning and says how much there is; nothing is lost in the store.
    """
    if len(text) <= SHOWN_CHARS:
        return plain(text, style)
    rest = len(text) - SHOWN_CHARS
    return Content.assemble(
        plain(text[:SHOWN_CHARS], style),
        Content.styled(f"\n… {rest:,} more characters: `qterm export` writes all of them", "dim"),
    )


def colour_style(colour: str, *, dark: bool) -> Style:
    """A persona's colour as a bold style; a colour nobody knows is simply none.

    Its lightness is moved to where it can be read on a dark or a light background.
    """
    try:
        parsed = Color.parse(colour) if colour else None
    except ColorParseError:
        parsed = None
    if parsed is None:
        return Style(bold=True)
    hue, saturation, lightness = parsed.hsl
    lightness = min(max(lightness, 0.62), 0.8) if dark else min(lightness, 0.34)
    parsed = Color.from_hsl(hue, min(saturation, 0.6), lightness)
    return Style(foreground=parsed, bold=True)


def to_editor(text: str) -> str:
    """Text for an editor: line ends as `\\n`, every other control as a visible stand-in.

    Terminals send a pasted line's end as `\\r`. `from_editor` turns the stand-ins back (rule T2).
    """
    return show_controls(text.replace("\r\n", "\n").replace("\r", "\n"))


def from_editor(text: str) -> str:
    """An editor's text with each stand-in turned back into what it stands for (rule T2)."""
    return hide_controls(text)
