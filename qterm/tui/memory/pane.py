"""The memory pane: the stores of one hermes home, an entry a row, the whole entry beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Static

from qterm.memory.stores import StoreName
from qterm.tui.commands.registry import Place, Situation, bindings, by_action
from qterm.tui.common import Common
from qterm.tui.content import one_line, plain
from qterm.tui.desk import messages
from qterm.tui.desk.memory_work import MemoryWork
from qterm.tui.widgets.bars import KeysLine, Notices, TitleBar
from qterm.tui.widgets.row_list import RowList
from qterm.tui.widgets.too_small import TooSmall
from qterm.tui.words.place_words import place_words
from qterm.tui.words.state_words import q_words

if TYPE_CHECKING:
    from textual.events import Resize

    from qterm.memory.look import Look
    from qterm.settings.schema import Settings
    from qterm.tui.app import QtermApp


class MemoryScreen(Screen[None]):
    """The mode behind F4."""

    TITLE_WORDS: ClassVar = "Memory"
    PLACE: ClassVar = "memory"
    PLACES: ClassVar = (Place.MEMORY, Place.ENTRIES)
    BINDINGS: ClassVar = bindings(Place.MEMORY)
    AUTO_FOCUS = "#entries"

    app: QtermApp

    def __init__(self, common: Common) -> None:
        super().__init__()
        self.common = common
        self.work = MemoryWork(common.services, self.post_message, self.run_worker)
        self.look: Look | None = None
        self.list = RowList(self._row, id="entries")
        self.notices = Notices(common.notices, common.look.key("dismiss"))
        self._title = TitleBar()
        self._detail = Static(Content(""), markup=False, id="entry")
        self._too_small = TooSmall()

    def compose(self) -> ComposeResult:
        """Title, notices, the entries with the whole one beside them, keys."""
        yield self._title
        yield self.notices
        with Horizontal(id="middle"):
            yield self.list
            with Vertical(id="entry--box"):
                yield self._detail
        yield KeysLine(show_command_palette=False, compact=True)
        yield self._too_small

    def on_mount(self) -> None:
        """Read the file."""
        self.read()

    def on_screen_resume(self) -> None:
        """Back from another screen."""
        self.common_changed()

    def read(self) -> None:
        """Read the store that is shown."""
        self.work.ask("look", lambda book: book.look(StoreName.MEMORY))

    @on(messages.MemoryDone)
    def _done(self, event: messages.MemoryDone) -> None:
        self.look = event.found  # type: ignore[assignment]
        if self.look is not None:
            self.list.show(len(self.look.entries))

    @on(messages.MemoryFailed)
    def _failed(self, event: messages.MemoryFailed) -> None:
        self.notices.add(event.sentence)

    @on(RowList.Highlighted)
    def _moved(self, event: RowList.Highlighted) -> None:
        if self.look is not None:
            text = self.look.entries[event.row] if event.row is not None else ""
            self._detail.update(plain(text))

    def _row(self, row: int, width: int) -> Content:
        return one_line(self.look.entries[row] if self.look else "", width)

    # -- what every mode has -------------------------------------------------------------------

    def situation(self) -> Situation:
        """What the availability of commands hangs on, now."""
        return Situation()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Every command says itself when it is available."""
        command = by_action(action, self.PLACES)
        return True if command is None else command.available(self.situation())

    def settings_changed(self, before: Settings) -> None:
        """Other settings count from now on; `before` are those until now."""
        if self.common.services.settings.keys != before.keys:
            self.notices.set_key(self.common.look.key("dismiss"))
        self.common_changed()

    def common_changed(self) -> None:
        """The tasks, Q's state or how full the memory is are others now."""
        self._title.show_places(place_words(self.common, self.PLACE))
        self._title.show(q_words(self.common, at_work=False))
        self.refresh_bindings()

    def on_resize(self, event: Resize) -> None:
        """Say what is needed where the terminal is too small."""
        self._too_small.fit(event.size)
