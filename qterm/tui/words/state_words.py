"""The right end of the title line: how Q is, which hermes answers and how, who waits for whom."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content

from qterm.services import FirstStart
from qterm.tui.commands.registry import first_key
from qterm.tui.common import Common
from qterm.tui.content import one_line

_DIM = "$foreground-muted"


def q_words(common: Common, *, at_work: bool) -> Content:
    """Whether Q is ready, at work, or can't answer."""
    offers = first_key("first-start", common.services.settings.keys)
    match common.state.kind:
        case FirstStart.NO_HERMES:
            return Content.styled(f"Q ○ hermes is not installed ({offers})", "$text-warning")
        case FirstStart.NO_MODEL:
            return Content.styled(f"Q ○ has no model yet ({offers})", "$text-warning")
        case _:
            mark = Content.styled("●", "$text-warning" if at_work else "$text-success")
            return Content.assemble("Q ", mark, " at work" if at_work else " ready")


def version_parts(common: Common) -> list[tuple[int, Content]]:
    """Which hermes, and whether it is kept running; the number says what makes way first."""
    parts = []
    if common.version:
        parts.append((3, one_line(f"hermes {common.version}", 30, _DIM)))
    if common.standing is not None:
        parts.append((2, Content.styled(common.standing.transport.value, _DIM)))
    return parts


def asks_words(title: str | None, key: str) -> Content:
    """Where hermes waits for an answer, and how to get there; None is the home feed."""
    where = "the home feed" if title is None else one_line(title, 24).plain
    return Content.styled(f"Q asks in: {where} ({key})", "bold $text-warning")


def title_state(parts: Sequence[tuple[int, Content]], room: int) -> Content:
    """The parts in one line of `room` cells; where they don't fit, those that give way go."""
    kept = list(parts)
    while True:
        line = Content(" · ").join(part for _, part in kept)
        most = max((rank for rank, _ in kept), default=0)
        if line.cell_length <= room or most == 0:
            return line
        last = max(index for index, (rank, _) in enumerate(kept) if rank == most)
        del kept[last]
