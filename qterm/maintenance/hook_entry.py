"""Taking entries out of a list of hooks by where they stand, once their marks are gone.

hermes 0.19 writes its config anew with every `hermes config set`, without comments, and folds long
lines. What stands where is asked of the YAML library; only whole lines go.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

_Span: TypeAlias = tuple[int, int]


def without_entries(text: str, event: str, is_meant: Callable[[str], bool]) -> str:
    """The text without the entries of this event whose command is meant.

    A key that has nothing below it any more goes as well, but for one with a comment. The caller
    looks at what came out. Raises YAMLError on broken text, ValueError where an entry is not
    written in lines of its own.
    """
    from ruamel.yaml import YAML

    yaml = YAML(typ="safe", pure=True)
    root = yaml.compose(text)
    hooks_key, hooks = _value(root, "hooks")
    event_key, entries = _value(hooks, event)
    if entries is None or not isinstance(entries.value, list):
        return text
    meant = [entry for entry in entries.value if is_meant(_command(entry))]
    spans = [_whole_lines(text, entry) for entry in meant]
    if spans and len(meant) == len(entries.value):
        spans = _with_keys(text, spans, event_key, hooks_key if len(hooks.value) == 1 else None)
    for first, after in reversed(spans):
        text = text[:first] + text[after:]
    return text


def _with_keys(text: str, spans: list[_Span], event_key: Any, hooks_key: Any) -> list[_Span]:
    """The spans, and the lines of the keys above them, down to the last that bears a comment."""
    for key in (event_key, hooks_key):
        first = spans[0][0] if key is None else text.rfind("\n", 0, key.start_mark.index) + 1
        between = text[first : spans[0][0]]
        if "#" in between:
            break
        spans = [(first, spans[0][1]), *spans[1:]]
    return spans


def _value(mapping: Any, key: str) -> tuple[Any, Any]:
    for found, value in mapping.value if _is_mapping(mapping) else ():
        if found.value == key:
            return found, value
    return None, None


def _command(entry: Any) -> str:
    _, value = _value(entry, "command")
    return value.value if value is not None and isinstance(value.value, str) else ""


def _is_mapping(node: Any) -> bool:
    return getattr(node, "id", "") == "mapping"


def _whole_lines(text: str, node: Any) -> _Span:
    """The lines of a node; blank lines and comments behind it, which its end includes, stay.

    Raises ValueError where something else stands on them.
    """
    start, end = node.start_mark.index, node.end_mark.index
    first = text.rfind("\n", 0, start) + 1
    if text[first:start].strip() != "-":
        raise ValueError
    after = end
    if after and text[after - 1] != "\n":  # not at the beginning of a line, or further in
        before = text.rfind("\n", 0, after) + 1
        if before <= start or text[before:after].strip():
            after = text.find("\n", after) + 1 or len(text)
        else:
            after = before
    while after > first:
        line = text.rfind("\n", 0, after - 1) + 1
        content = text[line:after].strip()
        if line <= first or (content and not content.startswith("#")):
            break
        after = line
    return first, after
