"""The rows of the settings screen, and what it says of each (no widget here)."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from dataclasses import dataclass

from qterm.settings.keys import Key, plain, value_keys, value_of
from qterm.settings.load import DEFAULT, FLAG, Layer, Loaded
from qterm.settings.schema import Settings
from qterm.settings.words import EXPLAINED, PERSONAS_EXPLAINED, SECTIONS
from qterm.tui.commands.registry import BY_ID, COMMANDS, Place, key_words

EMPTY = "(empty)"


@dataclass(frozen=True, slots=True)
class Row:
    """One setting. `name` is its dotted name, `heading` what it stands under.

    `source` is where its value is from, in a word or two; `is_kept`: settings.toml has it.
    """

    name: str
    heading: str
    label: str
    value: str
    source: str
    is_kept: bool
    explained: str

    @property
    def command_id(self) -> str:
        """The command whose keys these are; empty where it is another setting."""
        section, _, below = self.name.partition(".")
        return below if section == "keys" else ""

    @property
    def key(self) -> Key | None:
        """What the value has to be; None for keys and personas."""
        return value_keys().get(self.name)

    def matches(self, words: Iterable[str]) -> bool:
        """Whether every word stands in it somewhere, whatever the case."""
        parts = (self.name, self.label, self.value, self.heading, self.source, self.explained)
        text = "\n".join(parts).casefold()
        return all(word in text for word in words)


def value_words(value: object) -> str:
    """A value as the operator reads it, and may write it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:g}" if value < 1e15 else str(value)
    if isinstance(value, tuple | list):
        return shlex.join(map(str, value))
    return str(value)


def rows(loaded: Loaded) -> list[Row]:
    """Every setting, in the order in which they are shown."""
    found = []
    for name, key in value_keys().items():
        section, _, below = name.rpartition(".")
        value = value_words(value_of(loaded.settings, key.name)) or EMPTY
        found.append(_row(loaded, name, SECTIONS[section], below, value, EXPLAINED[name]))
    found.insert(1, _personas(loaded))
    own = loaded.settings.keys
    for place in Place:
        for command in COMMANDS:
            if command.place is place:
                heading = f"Keys: {place.value[0].lower()}{place.value[1:]}"
                keys = key_words(own.get(command.id) or command.key) or "palette only"
                found.append(
                    _row(loaded, f"keys.{command.id}", heading, command.name, keys, command.help)
                )
    for command_id, keys in own.items():
        if command_id not in BY_ID:
            heading, what = "Keys: of no command", "There is no such command; set it back."
            found.append(
                _row(loaded, f"keys.{command_id}", heading, command_id, key_words(keys), what)
            )
    return found


def _personas(loaded: Loaded) -> Row:
    labels = ", ".join(persona.label for persona in loaded.settings.personas)
    return _row(loaded, "personas", SECTIONS[""], "personas", labels, PERSONAS_EXPLAINED)


def _row(loaded: Loaded, name: str, heading: str, label: str, value: str, explained: str) -> Row:
    source = loaded.sources.get(name, DEFAULT)
    return Row(name, heading, label, value, _source(source, loaded), _kept(name, loaded), explained)


def _source(source: str, loaded: Loaded) -> str:
    files = {str(loaded.paths.settings_file): "settings", str(loaded.paths.config_file): "config"}
    return files.get(source, source)


def _kept(name: str, loaded: Loaded) -> bool:
    where = str(loaded.paths.settings_file)
    layers = loaded.layers.get(name, ())
    return any(layer.where == where for layer in layers) or any(
        problem.where == where and problem.key == name for problem in loaded.problems
    )


def overriding(name: str, loaded: Loaded) -> Layer | None:
    """The flag or variable that goes before what is kept here, if there is one."""
    layers = loaded.layers.get(name, ())
    files = {str(loaded.paths.settings_file), str(loaded.paths.config_file)}
    return layers[-1] if layers and layers[-1].where not in files else None


def details(row: Row, loaded: Loaded, running: Settings) -> list[str]:
    """What there is to know of a setting; `running` are the settings that count now."""
    lines = [row.explained]
    if row.key is not None:
        lines.append(f"It has to be {row.key.expects}.")
    lines.append(_where(row, loaded))
    over = overriding(row.name, loaded)
    if over is not None:
        what = "A flag" if over.where == FLAG else f"The variable {over.where}"
        lines.append(
            f"{what} goes before what is kept here: a change counts only when qterm is started "
            "without it."
        )
    elif needs_restart(row.name):
        lines.append(_from_next_start(row, running))
    lines += [problem.sentence for problem in loaded.problems if problem.key == row.name]
    return [line for line in lines if line]


def needs_restart(name: str) -> bool:
    """Whether a change of this setting counts only from the next start on."""
    return name == "personas" or name.startswith("hermes.")


def _from_next_start(row: Row, running: Settings) -> str:
    if row.key is None:
        return "A change counts from the next start of qterm on."
    now = value_words(plain(value_of(running, row.name))) or EMPTY
    if now != row.value:
        return f"It counts from the next start of qterm on; until then it is: {now}."
    return "A change counts from the next start of qterm on."


def _where(row: Row, loaded: Loaded) -> str:
    layers = loaded.layers.get(row.name, ())
    here = str(loaded.paths.settings_file)
    below = [layer for layer in layers if layer.where != here]
    if row.is_kept:
        would = f"what {_place(below[-1].where)} says" if below else "the default"
        return f"Kept here, in {here}. Set back, {would} counts again."
    if not layers:
        return "It is not set anywhere: this is the default."
    return f"It is from {_place(layers[-1].where)}."


def _place(where: str) -> str:
    return "a flag" if where == FLAG else where


def kept_words(name: str, loaded: Loaded, *, was_set_back: bool) -> str:
    """What is said once a setting is kept or set back."""
    done = "Set back" if was_set_back else "Kept"
    over = overriding(name, loaded)
    if over is not None:
        what = "a flag" if over.where == FLAG else over.where
        return f"{done}; {what} goes before it as long as qterm is started with it."
    return f"{done}; it counts from the next start of qterm on." if needs_restart(name) else done
