"""The feed: a window of turns that slides over a history of any length.

It follows the newest turn only while it stands at the end; anywhere else the turn at the top stays
where it is, whatever comes or goes around it. It asks for pages and shows what it is given: the
screen owns the feed source.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from textual.content import Content
from textual.geometry import Size
from textual.layout import DockArrangeResult
from textual.message import Message
from textual.widget import AwaitMount, Widget
from textual.widgets import Static

from qterm.model import QTERM, YOU, Turn
from qterm.tui.commands.registry import Place, bindings
from qterm.tui.look import Look
from qterm.tui.widgets.progress import Progress
from qterm.tui.widgets.selecting import Selecting
from qterm.tui.widgets.showing import Showing
from qterm.tui.widgets.turn import DayLine, Folded, TurnView, WorkingLine
from qterm.tui.widgets.window import EDGE_ROWS, PAGE, Window

REDRAW_SECONDS = 0.05
"""Text that streams in is drawn at most this often."""


class FeedView(Selecting, can_focus=True):
    """The turns of a thread: the home feed's, or a task's."""

    BINDINGS = bindings(Place.FEED)

    @dataclass
    class Wanted(Message):
        """A page is wanted: of what is before a turn, or after it."""

        before: int | None = None
        after: int | None = None

    def __init__(self, look: Look, progress: Progress) -> None:
        super().__init__(id="feed")
        self.look = look
        self.window = Window()
        self.progress = progress
        self._showing = Showing(look, self.window, progress)
        self._days: dict[int, DayLine] = {}
        self._dirty: set[int] = set()
        self._following = True
        self._held: tuple[Widget, int] | None = None
        self._loading = True
        self._check_due = False
        self._landing = False
        self._side = 0
        self._moved = False
        self._working = WorkingLine(look)
        self._empty = Static(id="feed--empty", markup=False)
        self._empty.display = False

    def compose(self) -> Iterable[Widget]:
        """The line of Q at work is the last thing, always."""
        yield self._empty
        yield self._working

    # -- pages ---------------------------------------------------------------------------------

    async def open(self, progress: Progress) -> None:
        """Let go of the thread that is shown; another one's pages will come."""
        self.progress = progress
        self.window.replace([], has_older=False, has_newer=False)
        self.forget_selection()
        self._showing = Showing(self.look, self.window, progress, width=self._showing.width)
        self._dirty.clear()
        self._loading = True
        self._working.show(None)
        async with self.batch():
            await self._unmount()
        self._empty.display = False

    async def _unmount(self) -> None:
        await self.remove_children(TurnView)
        await self.remove_children(DayLine)
        self._views.clear()
        self._days.clear()

    async def reset(self, turns: Sequence[Turn], *, has_older: bool) -> None:
        """Show the newest page, at its end."""
        self.window.replace(turns, has_older=has_older, has_newer=False)
        for turn in turns:
            self._track(turn)
        self._following, self._held, self._side = True, None, 0
        self._seen()
        async with self.batch():
            await self._unmount()
            await self._sync()
        self.refresh_open()
        self._loaded()

    async def show_around(
        self, turn: Turn, turns: Sequence[Turn], *, has_older: bool, has_newer: bool
    ) -> None:
        """Show a turn among those around it: highlighted, a third down the view."""
        self.window.replace(turns, has_older=has_older, has_newer=has_newer)
        for each in turns:
            self._track(each)
        self._following, self._held = False, None
        self._seen()
        self._mark(turn.id)
        async with self.batch():
            await self._unmount()
            await self._sync()
            self._held = self._views[turn.id], -(self.size.height // 3)
        self._landing, self._side = True, 0
        self.refresh_open()
        self._loaded()

    def rows_around(self) -> tuple[int, int]:
        """How many turns fill the view before and after one that is to be looked at."""
        third = self.size.height // 3
        least = PAGE // 2
        return max(third + 2 * EDGE_ROWS, least), max(2 * third + 2 * EDGE_ROWS, least)

    def _land(self) -> None:
        """A view that has come to the end of the thread stays there."""
        self._landing = False
        if not self.window.has_newer and self.scroll_y >= self.max_scroll_y:
            self._following, self._held = True, None
        self._tell()

    async def prepend(self, turns: Sequence[Turn], *, has_older: bool) -> None:
        """Put an older page on top; the view stays where it is."""
        for turn in turns:
            self.window.put(turn)
            self._track(turn)
        self.window.has_older = has_older
        self.window.trim_bottom()
        async with self.batch():
            await self._sync()
        self._loaded()

    async def extend(self, turns: Sequence[Turn], *, has_newer: bool) -> None:
        """Put a newer page below; the view stays where it is."""
        for turn in turns:
            self.window.put(turn)
            self._track(turn)
        self.window.has_newer = has_newer
        self.window.trim_top()
        async with self.batch():
            await self._sync()
        self._loaded()

    def load_failed(self) -> None:
        """A page could not be read; the next scroll asks again."""
        self._loading = False

    def _loaded(self) -> None:
        self._loading = False
        for turn in self.window.turns:
            self._show(turn)
        self._check_due = True  # once the new turns have their heights
        self.refresh(layout=True)

    def _check_edges(self) -> None:
        """Fetch where the view is near an end of the window: on the side of the last page, until
        the operator has scrolled. Else the two sides of a high view would take turns for ever."""
        if self._landing and self.is_attached:
            self._land()
        if self._loading or not self.window.turns or not self.is_attached:
            return
        moved, self._moved = self._moved, False
        near_end = self.scroll_y > self.max_scroll_y - EDGE_ROWS
        if self.window.has_older and self.scroll_y < EDGE_ROWS and (moved or self._side <= 0):
            self._loading, self._side = True, -1
            self.post_message(self.Wanted(before=self.window.turns[0].id))
        elif self.window.has_newer and near_end and (moved or self._side >= 0):
            self._loading, self._side = True, 1
            self.post_message(self.Wanted(after=self.window.turns[-1].id))

    # -- changes -------------------------------------------------------------------------------

    async def apply(self, turns: Iterable[Turn], deleted: Iterable[int] = ()) -> None:
        """Take new and changed turns, and let deleted ones go. The same turn twice is harmless."""
        changed = False
        for turn in turns:
            self._track(turn)
            if turn.id in self.window:
                self.window.put(turn)
            elif not self.window.belongs(turn) or self._is_full():
                newest = not self.window.turns or turn.id > self.window.turns[-1].id
                self.window.has_newer = self.window.has_newer or newest
                self._count_unseen(turn)
            else:
                self.window.put(turn)
                self._count_unseen(turn)
                changed = True
        for turn_id in deleted:
            self._forget(turn_id)
            changed = self.window.drop(turn_id) or changed
        if self._following:
            changed = bool(self.window.trim_top()) or changed
        if changed:
            async with self.batch():
                await self._sync()
        self._choose()
        self.refresh_open()
        for turn in self.window.turns:
            self._show(turn)

    def _choose(self) -> None:
        """Where the reader looks for something, nothing turns from Markdown into plain text."""
        self._showing.choose(keep=not self._following)

    def _is_full(self) -> bool:
        """A reader far above the end keeps the window: what comes is only counted."""
        return not self._following and len(self.window.turns) >= self.window.most

    def _count_unseen(self, turn: Turn) -> None:
        if not self._following and turn.persona not in {YOU, QTERM}:
            self.unseen += 1
            self._tell()

    def _track(self, turn: Turn) -> None:
        self.progress.track(turn, self.window.find(turn.id))

    def _forget(self, turn_id: int) -> None:
        self.progress.forget(turn_id)
        self._showing.unfolded.discard(turn_id)
        if self.selected == turn_id:
            near = self.window.neighbour(turn_id, 1) or self.window.neighbour(turn_id, -1)
            self._select(near.id if near else None)

    async def _sync(self) -> None:
        """Make the mounted widgets the ones of the window, in its order, with their day lines."""
        self._choose()
        wanted = {turn.id for turn in self.window.turns}
        leaving: list[Widget] = [self._views.pop(i) for i in list(self._views) if i not in wanted]
        days = self._showing.lines_between()
        leaving += [
            self._days.pop(i) for i, line in list(self._days.items()) if days.get(i) != line.words
        ]
        self._let_go(leaving)
        mounting: list[AwaitMount] = []
        before: Widget = self._working
        for turn in reversed(self.window.turns):
            view = self._views.get(turn.id)
            if view is None:
                view = self._views[turn.id] = TurnView(self._showing.turn(turn), self.look)
                view.set_class(turn.id == self.selected, "-selected")
                mounting.append(self.mount(view, before=before))
            view.set_class(turn.persona == YOU and turn.id not in days, "-asks")
            before = view
            if turn.id in days:
                line = self._days.get(turn.id)
                if line is None:
                    line = self._days[turn.id] = DayLine(days[turn.id])
                    mounting.append(self.mount(line, before=before))
                before = line
        for mounted in mounting:
            await mounted
        for widget in leaving:
            await widget.remove()
        if self.selected is not None and self.selected not in wanted:
            self._select(None)
        self._empty.display = not self.window.turns

    def _let_go(self, leaving: list[Widget]) -> None:
        if self._held is not None and self._held[0] in leaving:
            self._held = None

    # -- what a turn looks like now ------------------------------------------------------------

    def _show(self, turn: Turn) -> None:
        view = self._views.get(turn.id)
        if view is not None:
            view.show(self._showing.turn(turn))

    def refresh_open(self) -> None:
        """Let the elapsed times of open turns go on, and the line of Q at work."""
        for turn_id in self.progress.ids():
            if (turn := self.window.find(turn_id)) is not None:
                self._show(turn)
        asked = self.progress.asked()
        if asked is None or self.progress.is_answering(asked) or self.window.has_newer:
            self._working.show(None)
        else:
            self._working.show(self._showing.working(asked))

    def more_text(self, reply: Turn, delta: str) -> None:
        """More of an answer of this qterm's; drawn at most every 50 ms."""
        self.progress.more(reply, delta)
        if not self._dirty:
            self.set_timer(REDRAW_SECONDS, self._flush)
        self._dirty.add(reply.id)

    def _flush(self) -> None:
        dirty, self._dirty = self._dirty, set()
        for turn in self.window.turns:
            if turn.id in dirty or turn.reply_to in dirty:
                self._show(turn)
        self.refresh_open()

    def work_moved(self, turn_id: int) -> None:
        """Q does something for a message; drawn at most every 50 ms."""
        if not self._dirty:
            self.set_timer(REDRAW_SECONDS, self._flush)
        self._dirty.add(turn_id)

    def refresh_work(self, turn_id: int) -> None:
        """What Q did for a message is shown otherwise now."""
        for turn in self.window.turns:
            if turn_id in {turn.id, turn.reply_to}:
                self._show(turn)
        self.refresh_open()

    def on_folded(self, event: Folded) -> None:
        """A click on a line of what Q did; the screen puts the cursor back into the editor."""
        if (steps := self.progress.work.steps(event.turn_id)) is not None:
            steps.toggle(event.part)
            self.refresh_work(event.turn_id)

    def on_resize(self) -> None:
        """Lines of what Q did are cut to the width."""
        self.window.fit(self.size.height)
        self._showing.width = self.scrollable_content_region.width - self.look.margin
        for turn in self.window.turns:
            self._show(turn)

    def unfold(self, turn_id: int) -> None:
        """Show the details of a failure, or put them away."""
        self._showing.unfolded ^= {turn_id}
        if (turn := self.window.find(turn_id)) is not None:
            self._show(turn)

    def show_empty(self, words: Content) -> None:
        """What stands here while nothing has been said."""
        self._empty.update(words)

    def redraw(self) -> None:
        """Draw everything again, after the theme has changed."""
        self._working.redraw()
        for view in self._views.values():
            view.redraw()

    # -- where the view stands -----------------------------------------------------------------

    def arrange(self, size: Size, optimal: bool = False) -> DockArrangeResult:
        """Lay out, and keep the view at the end, or the turn at the top where it is.

        Done here, between layout and drawing, so that nothing jumps for a frame.
        """
        result = super().arrange(size, optimal)
        target: int | None = None
        if self._following:
            target = max(result.spatial_map.total_region.bottom - size.height, 0)
        elif self._held is not None:
            held, offset = self._held
            placed = next((p for p in result.placements if p.widget is held), None)
            if placed is not None:
                end = result.spatial_map.total_region.bottom - size.height
                target = max(min(placed.region.y + offset, end), 0)
        if target is not None and target != self.scroll_y:
            moved = target - self.scroll_y
            self.set_reactive(Widget.scroll_y, float(target))
            self.set_reactive(Widget.scroll_target_y, self.scroll_target_y + moved)
            self.vertical_scrollbar.position = target
        if self._check_due:
            self._check_due = False
            self.call_later(self._check_edges)
        return result

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """The operator has scrolled."""
        self._moved, self._held = True, None  # what follows may lay out: nothing is held any more
        at_end = new_value >= self.max_scroll_y and not self.window.has_newer
        self._following = at_end
        self._held = None if at_end else self.top_turn(new_value)
        super().watch_scroll_y(old_value, new_value)
        if at_end and self.unseen:
            self._seen()
        self._check_edges()

    def action_page_up(self) -> None:
        """Scroll up at once: what is animated does not know of pages that come meanwhile."""
        self.scroll_page_up(animate=False)

    def action_page_down(self) -> None:
        """Scroll down at once."""
        self.scroll_page_down(animate=False)

    def top_turn(self, scroll_y: float) -> tuple[Widget, int] | None:
        """The first turn in view, and how far above the view it begins. Never a day line: those
        come and go with the turns around them."""
        for turn in self.window.turns:
            view = self._views.get(turn.id)
            if view is not None and (region := view.virtual_region).bottom > scroll_y:
                return view, int(scroll_y) - region.y
        return None

    @property
    def following(self) -> bool:
        """Whether the view stays at the newest turn."""
        return self._following

    @property
    def is_settled(self) -> bool:
        """Whether every page that was wanted has come and is laid out."""
        return not (self._loading or self._check_due)

    def follow(self) -> None:
        """Go to the end of what is mounted and stay there."""
        self._following, self._held = True, None
        self._seen()
        self.refresh(layout=True)

    def _seen(self) -> None:
        self.unseen = 0
        self._tell()
