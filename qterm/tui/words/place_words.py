"""The left end of the title line: where the screens are, and which one this is."""

from __future__ import annotations

from textual.content import Content

from qterm.tui.commands.registry import first_key
from qterm.tui.common import Common

_MUTED = "$foreground-muted"
_NEW = "bold $text-warning"
NEARLY_FULL = 80
"""Percent of its limit from which on MEMORY.md asks for a look."""


def place_words(common: Common, here: str) -> Content:
    """The places with their keys; `here` is the id of the command that comes to this one."""
    name = "qterm rehearsal" if common.services.is_demo else "qterm"
    count = common.open_count()
    home = _place(common, here, "home", "Home")
    if here != "home" and (news := common.news.at_home):
        home = Content.assemble(home, Content.styled(f" {news:,} new", _NEW))
    places = [home, _place(common, here, "tasks", f"Tasks {count}" if count else "Tasks")]
    if news := common.new_count():
        places.append(Content.styled(f"{news} new", _NEW))
    places.append(_memory(common, here))
    return Content.assemble(
        Content.styled(name, "bold"), "  ", Content.styled(" · ", "dim").join(places)
    )


def _memory(common: Common, here: str) -> Content:
    words = _place(common, here, "memory", "Memory")
    percent = common.memory_percent
    if percent is not None:
        style = _NEW if percent > NEARLY_FULL else _MUTED
        words = Content.assemble(words, Content.styled(f" {percent}%", style))
    if common.memory_unsaved:
        words = Content.assemble(words, Content.styled(" unsaved", _NEW))
    return words


def _place(common: Common, here: str, command_id: str, name: str) -> Content:
    key = Content.styled(f"{first_key(command_id, common.services.settings.keys)} ", _MUTED)
    style = "bold" if command_id == here else _MUTED
    return Content.assemble(key, Content.styled(name, style))
