"""The settings: every one with its value and where it is from; changed in place, kept at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.containers import Container, VerticalScroll
from textual.content import Content
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from qterm.settings.keys import value_of
from qterm.tui.commands.own_keys import with_another
from qterm.tui.commands.registry import Place, Situation, bindings
from qterm.tui.content import cut_cells, one_line, plain
from qterm.tui.desk import messages
from qterm.tui.screens.press_key import PressKey
from qterm.tui.screens.room import FilterLine, Room
from qterm.tui.widgets.bars import KeysLine
from qterm.tui.widgets.options import Options
from qterm.tui.widgets.setting_editor import SettingEditor
from qterm.tui.words.setting_rows import Row, details, kept_words, rows

_LABEL_CELLS = 34
_SOURCE_CELLS = 10
_WIDE = 100
_DIM = "$foreground-muted"


class SettingsFilter(FilterLine):
    """Its keys are the list's as well: one types and chooses at the same time."""

    BINDINGS = bindings(Place.SETTINGS)


class SettingsScreen(Room):
    """Writing filters, up and down choose, enter changes; what is changed is kept at once."""

    PLACES: ClassVar = (Place.SETTINGS, Place.ROOM)
    TITLE_WORDS: ClassVar = "Settings"
    HERE: ClassVar = "settings"
    BINDINGS: ClassVar = [
        ("up", "step(-1)", "Up"),
        ("down", "step(1)", "Down"),
        ("pageup", "page('up')", "Up"),
        ("pagedown", "page('down')", "Down"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._rows: dict[str, Row] = {}
        self._awaited: dict[str, bool] = {}
        self.filter = SettingsFilter("type to filter")
        self.list = Options(id="settings--list", markup=False)
        self.list.can_focus = False
        self.editor = SettingEditor()
        self._detail = Static(Content(""), id="settings--detail", markup=False)

    def compose(self) -> ComposeResult:
        """Title, filter, the list with what is known of the chosen setting, keys."""
        path = str(self.app.services.paths.settings_file)
        title = Content.assemble(Content.styled(" Settings ", "bold"), plain(f"  {path}", _DIM))
        yield Static(title, id="settings--title", markup=False)
        yield self.filter
        with Container(id="settings--middle"):
            yield self.list
            with VerticalScroll(id="settings--side", can_focus=False):
                yield self._detail
                yield self.editor
        yield KeysLine(show_command_palette=False, compact=True)

    def on_mount(self) -> None:
        """Show what is known, then what the files have by now."""
        self.filter.focus()
        self.call_after_refresh(self._fill)
        self.app.desk.read_settings()

    def on_resize(self) -> None:
        """The columns are as wide as there is room."""
        self.call_after_refresh(self._fill)

    # -- what is shown -------------------------------------------------------------------------

    @property
    def chosen(self) -> Row | None:
        """The setting that is highlighted."""
        index = self.list.highlighted
        if index is None or index >= self.list.option_count:
            return None
        return self._rows.get(self.list.get_option_at_index(index).id or "")

    def situation(self) -> Situation:
        """What the availability of commands hangs on, now."""
        row = self.chosen
        if row is None or self.editor.display:
            return Situation()
        return Situation(setting=row.name, setting_is_kept=row.is_kept)

    def settings_changed(self) -> None:
        """The files say something else now, perhaps."""
        self._fill()

    def _fill(self) -> None:
        if not self.is_mounted:
            return
        now = self.chosen
        found = [row for row in rows(self.app.written) if row.matches(self.filter.words)]
        self._rows = {row.name: row for row in found}
        self.list.clear_options()
        self.list.add_options(self._options(found))
        if not found:
            self.list.add_option(Option(Content("No setting has these words."), disabled=True))
        self._choose(now.name if now and now.name in self._rows else None)

    def _options(self, found: Sequence[Row]) -> list[Option]:
        options: list[Option] = []
        heading = ""
        for row in found:
            if row.heading != heading:
                heading = row.heading
                words = Content.styled(heading, "bold $text-primary")
                options.append(Option(words, disabled=True))
            options.append(Option(self._line(row), id=row.name))
        return options

    def _line(self, row: Row) -> Content:
        width = max(self.list.scrollable_content_region.width - 2, 30)
        label = min(_LABEL_CELLS, width * 2 // 5)
        value = max(width - label - _SOURCE_CELLS - 2, 8)
        mark = "bold" if row.source != "default" else ""
        return Content.assemble(
            _cell(row.label, label), " ", _cell(row.value, value, mark), " ",
            _cell(row.source, _SOURCE_CELLS, _DIM),
        )  # fmt: skip

    def _choose(self, name: str | None) -> None:
        if name is not None:
            self.list.highlighted = self.list.get_option_index(name)
        else:
            self.list.highlighted = None
            self.list.action_first()
        self._show_detail()

    @on(OptionList.OptionHighlighted, "#settings--list")
    def _show_detail(self) -> None:
        row = self.chosen
        if row is None:
            self._detail.update(Content(""))
        else:
            lines = details(row, self.app.written, self.app.services.settings)
            parts = [Content.assemble(plain(row.name, "bold"), "  ", plain(row.value))]
            parts += [plain(line) for line in lines]
            self._detail.update(Content("\n").join(parts))
        self.refresh_bindings()

    @on(Input.Changed, "#filter")
    def _filter_changed(self) -> None:
        self._fill()
        name = self.filter.value.strip().casefold()
        self._choose(name if name in self._rows else None)

    # -- commands ------------------------------------------------------------------------------

    def action_step(self, by: int) -> None:
        """Choose the setting above or below."""
        if by < 0:
            self.list.action_cursor_up()
        else:
            self.list.action_cursor_down()

    def action_page(self, way: str) -> None:
        """Choose a setting a page further."""
        move: Callable[[], None] = getattr(self.list, f"action_page_{way}")
        move()

    def action_close(self) -> None:
        """Escape takes back what was typed first."""
        if self.filter.value:
            self.filter.value = ""
        else:
            super().action_close()

    @on(OptionList.OptionSelected, "#settings--list")
    def action_change(self) -> None:
        """Change the chosen setting, with what fits it."""
        row = self.chosen
        if row is None:
            return
        if row.name == "screen.theme":
            self.app.action_choose_theme()
        elif row.command_id:
            self._ask_key(row, also=False)
        elif row.key is None:
            where = self.app.services.paths.config_file
            self.app.notify(f"This is changed in {where}, under [[{row.name}]].")
        else:
            self.editor.open(row.key, value_of(self.app.written.settings, row.name))
            self.editor.scroll_visible(animate=False)
            self.refresh_bindings()

    def action_set_back(self) -> None:
        """Let go of what is kept here."""
        row = self.chosen
        if row is not None and row.is_kept:
            self._keep(row.name, None)

    def action_add_key(self) -> None:
        """Give the chosen command another key."""
        row = self.chosen
        if row is not None and row.command_id:
            self._ask_key(row, also=True)

    def _ask_key(self, row: Row, *, also: bool) -> None:
        command_id, own = row.command_id, self.app.written.settings.keys

        def pressed(key: str | None) -> None:
            if key is not None:
                keys = with_another(command_id, key, own) if also else key
                self._keep(row.name, keys)

        if row.explained and command_id in own and row.heading == "Keys: of no command":
            self.app.notify("There is no such command: set it back with ctrl+r.")
            return
        self.app.push_screen(PressKey(command_id, own, also=also), pressed)

    @on(SettingEditor.Chosen)
    def _value_chosen(self, event: SettingEditor.Chosen) -> None:
        self._keep(event.key.name, event.value)

    @on(SettingEditor.Left)
    def _close_editor(self) -> None:
        self.editor.close()
        self.filter.focus()
        self.refresh_bindings()

    def _keep(self, name: str, value: object) -> None:
        self._awaited[name] = value is None
        self.app.desk.keep_setting(name, value)

    @on(messages.SettingsRead)
    def _kept(self, event: messages.SettingsRead) -> None:
        was_set_back = self._awaited.pop(event.name, None)
        if was_set_back is not None:
            if self.editor.display:
                self._close_editor()
            self.app.notify(kept_words(event.name, event.loaded, was_set_back=was_set_back))
        self._fill()

    @on(messages.SettingRefused)
    def _refused(self, event: messages.SettingRefused) -> None:
        self._awaited.pop(event.name, None)
        if self.editor.display:
            self.editor.show_wrong(event.sentence)
        else:
            self.app.notify(event.sentence, severity="error")


def _cell(words: str, width: int, style: str = "") -> Content:
    """Words in a column: cut with an ellipsis, or filled up with spaces."""
    content = one_line(words, width, style)
    if content.cell_length > width:
        content = one_line(cut_cells(words, width), None, style)
    return Content.assemble(content, " " * max(width - content.cell_length, 0))
