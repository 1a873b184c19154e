"""Where a setting is changed: choices to choose from, or a line to write into."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from qterm.settings.keys import Key, WrongValueError
from qterm.settings.problems import show
from qterm.tui.content import from_editor, one_line, plain, to_editor
from qterm.tui.widgets.options import Options
from qterm.tui.words.setting_rows import value_words

_YES_NO = ("yes", "no")


class SettingEditor(Vertical):
    """The control that fits the setting. Enter keeps, escape leaves."""

    BINDINGS: ClassVar = [("escape", "leave", "leave")]

    @dataclass
    class Chosen(Message):
        """A right value was chosen or written."""

        key: Key
        value: object

    @dataclass
    class Left(Message):
        """The operator wants no change."""

    def __init__(self) -> None:
        super().__init__(id="setting-editor")
        self._key: Key | None = None
        self._choices = Options(id="setting-editor--choices", markup=False, compact=True)
        self._line = Input(id="setting-editor--line", compact=True, select_on_focus=False)
        self._wrong = Static(Content(""), id="setting-editor--wrong", markup=False)
        self._hint = Static(Content(""), id="setting-editor--hint", markup=False)
        self.display = False

    def compose(self) -> ComposeResult:
        """Both controls; one of them is shown."""
        yield self._choices
        yield self._line
        yield self._wrong
        yield self._hint

    def open(self, key: Key, value: object) -> None:
        """Change this setting, which has this value."""
        self._key = key
        now = value_words(value)
        choices = _YES_NO if key.type is bool else key.choices
        self.display = True
        self._choices.display, self._line.display = bool(choices), not choices
        self.show_wrong("")
        if choices:
            self._choices.clear_options()
            self._choices.add_options(Option(one_line(choice), id=choice) for choice in choices)
            self._choices.highlighted = choices.index(now) if now in choices else 0
            self._choices.focus()
            self._hint.update(Content("↑ ↓ choose · enter keeps it · esc leaves"))
        else:
            self._line.value = to_editor(now)
            self._line.focus()
            self._line.action_end()
            self._hint.update(Content("enter keeps it · esc leaves"))

    def close(self) -> None:
        """Nothing is changed any more."""
        self.display = False
        self._key = None

    def show_wrong(self, sentence: str) -> None:
        """Say what is wrong with what was written."""
        self._wrong.update(plain(sentence))
        self._wrong.display = bool(sentence)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """A choice was taken."""
        event.stop()
        self._read(str(event.option.id))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """What was written is the value, if it is a right one."""
        event.stop()
        self._read(from_editor(event.value))

    def _read(self, text: str) -> None:
        key = self._key
        if key is None:
            return
        try:
            value = key.read_text(text)
        except (WrongValueError, ValueError):  # a list in brackets that is no TOML
            self.show_wrong(f"It has to be {key.expects}, not {show(text)}.")
            return
        self.post_message(self.Chosen(key, value))

    def action_leave(self) -> None:
        """Nothing is changed."""
        self.post_message(self.Left())
