"""The hook's lines in hermes's `config.yaml`: put in, and taken out again (pure, on the text).

Only whole lines are put in, each with a mark at its end, so that taking them out gives back the old
text, whatever else stands there. What comes out is read again and compared before it counts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from qterm.maintenance.hook_entry import without_entries

EVENT: Final = "post_llm_call"
MARK: Final = "# qterm-hook"
PROGRAM: Final = "qterm/maintenance/from_hook.py"
"""The end of the path by which an entry is known to be qterm's, whatever became of its mark."""

_WAS = re.compile(rf"{MARK}, was:(?P<was>.*)$")


class EditError(ValueError):
    """The text can't be changed safely; one sentence with what to do."""


@dataclass(frozen=True, slots=True)
class _Line:
    """Where a key stands, and how its value is written: `block`, `empty` or `flow`."""

    number: int
    indent: int
    form: str
    children: int
    """The indent of what stands below it, for a block."""
    last: int
    """The number of the last line of it."""


def load(text: str) -> Any:
    """What the text means. Raises EditError."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    try:
        return YAML(typ="safe").load(text)
    except YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f" in line {mark.line + 1}" if mark is not None else ""
        raise EditError(f"it is broken{line}: mend it first, or run `hermes setup`") from None
    except (ValueError, TypeError, AttributeError, LookupError, RecursionError) as error:
        raise EditError(f"it can't be read ({type(error).__name__}): mend it first") from None


def commands(found: Any) -> list[str]:
    """The commands of every hook on the event, as hermes reads them."""
    hooks = found.get("hooks") if isinstance(found, Mapping) else None
    entries = hooks.get(EVENT) if isinstance(hooks, Mapping) else None
    return [
        entry["command"].strip()
        for entry in (entries if isinstance(entries, list) else [])
        if isinstance(entry, Mapping) and isinstance(entry.get("command"), str)
    ]


def is_ours(command: str) -> bool:
    """Whether a hook's command is qterm's."""
    return PROGRAM in command


def ours(found: Any) -> list[str]:
    """Those that are qterm's."""
    return [command for command in commands(found) if is_ours(command)]


def others(found: Any) -> list[tuple[str, str]]:
    """Every hook that is not qterm's, by event and command."""
    hooks = found.get("hooks") if isinstance(found, Mapping) else None
    pairs = []
    for event, entries in (hooks or {}).items() if isinstance(hooks, Mapping) else ():
        for entry in entries if isinstance(entries, list) else []:
            command = entry.get("command") if isinstance(entry, Mapping) else None
            if isinstance(command, str) and not is_ours(command):
                pairs.append((str(event), command.strip()))
    return pairs


def with_hook(text: str, command: str) -> str:
    """The text with the hook in it; the same where it is there already. Raises EditError."""
    found = load(text)
    if ours(found) == [command]:
        return text
    if ours(found):
        text = without_hook(text)
        found = load(text)
    if found is not None and not isinstance(found, dict):
        raise EditError("it is no mapping of settings: mend it first")
    end = _line_end(text)
    made = end.join(_put(text.split(end), found or {}, json.dumps(command, ensure_ascii=False)))
    try:
        is_meant = load(made) == _with(found or {}, command) and without_hook(made) == text
    except (EditError, RecursionError):  # what was added broke it: the old text was whole
        is_meant = False
    if not is_meant:
        raise EditError(_BY_HAND.format(command=command))
    return made


def _line_end(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


_BY_HAND = (
    "it is written in a way that qterm can't add lines to: put `{command}` under hooks, "
    f"{EVENT}, by hand"
)


def _with(found: Mapping[str, Any], command: str) -> dict[str, Any]:
    hooks = dict(found.get("hooks") or {})
    hooks[EVENT] = [*(hooks.get(EVENT) or []), {"command": command}]
    return {**found, "hooks": hooks}


def _put(lines: list[str], found: Mapping[str, Any], command: str) -> list[str]:
    """The lines with the hook's among them."""
    if "hooks" not in found:
        head = [f"hooks:  {MARK}", f"  {EVENT}:  {MARK}", f"    - command: {command}  {MARK}"]
        at = len(lines) - 1 if lines and not lines[-1] else len(lines)
        if lines == [""]:
            at = 0
        return [*lines[:at], *head, *lines[at:]]
    hooks = _find(lines, "hooks", 0, 0)
    if hooks is None or not isinstance(found["hooks"] or {}, dict):
        raise EditError(_BY_HAND.format(command=command))
    if not found["hooks"]:  # nothing, or an empty {}
        lines = _emptied(lines, hooks)
        head = [f"  {EVENT}:  {MARK}", f"    - command: {command}  {MARK}"]
        return [*lines[: hooks.number + 1], *head, *lines[hooks.number + 1 :]]
    if hooks.form != "block":
        raise EditError(_BY_HAND.format(command=command))
    inner = " " * hooks.children
    if EVENT not in found["hooks"]:
        head = [f"{inner}{EVENT}:  {MARK}", f"{inner}  - command: {command}  {MARK}"]
        return [*lines[: hooks.number + 1], *head, *lines[hooks.number + 1 :]]
    event = _find(lines, EVENT, hooks.children, hooks.number + 1)
    if event is None or not isinstance(found["hooks"][EVENT] or [], list):
        raise EditError(_BY_HAND.format(command=command))
    if not found["hooks"][EVENT]:
        lines = _emptied(lines, event)
        head = [f"{inner}  - command: {command}  {MARK}"]
    elif event.form == "block":
        head = [f"{' ' * event.children}- command: {command}  {MARK}"]
        return [*lines[: event.last + 1], *head, *lines[event.last + 1 :]]
    else:
        raise EditError(_BY_HAND.format(command=command))
    return [*lines[: event.number + 1], *head, *lines[event.number + 1 :]]


def _emptied(lines: list[str], at: _Line) -> list[str]:
    """The line of a key without its empty value, which stands in a comment behind it."""
    line = lines[at.number]
    key, _, rest = line.partition(":")
    return [*lines[: at.number], f"{key}:  {MARK}, was:{rest}", *lines[at.number + 1 :]]


def _find(lines: list[str], key: str, indent: int, start: int) -> _Line | None:
    """A key of a block mapping with this indent, from a line on; None where it is not found so."""
    form = re.compile(
        rf"^ {{{indent}}}(?P<quote>['\"]?){re.escape(key)}(?P=quote)\s*:(?P<rest>.*)$"
    )
    for number in range(start, len(lines)):
        line = lines[number]
        found = form.match(line)
        if found is None:
            content = line.strip()
            is_out = content and not content.startswith("#") and _indent(line) < indent
            if is_out and start:
                return None
            continue
        rest = found["rest"].strip()
        value = rest if not rest.startswith("#") else ""
        if value and value.partition(" #")[0].strip() not in {"{}", "[]", "null", "~"}:
            return _Line(number, indent, "flow", 0, number)
        last, children = number, -1
        for below in range(number + 1, len(lines)):
            content = lines[below].strip()
            if not content or content.startswith("#"):
                continue
            depth = _indent(lines[below])
            if depth < indent or (depth == indent and not content.startswith("- ")):
                break
            children = depth if children < 0 else children
            last = below
        return _Line(number, indent, "empty" if children < 0 else "block", max(children, 0), last)
    return None


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def without_hook(text: str) -> str:
    """The text without the hook's lines; the same where there are none. Raises EditError.

    Where the marks are gone, since hermes has written the file anew, or somebody has put others
    below the keys that came with the entry, the entry alone is taken out.
    """
    found = load(text)
    made = _without_marked(text)
    if not isinstance(found, Mapping) or (not ours(found) and made == text):
        return text
    entry_out = _only_the_entry(text)
    for candidate in (made, _without_marked(entry_out), entry_out):
        try:
            after = load(candidate)
            if not ours(after) and _same(after, _without(found)):
                return candidate
        except (EditError, RecursionError):
            continue
    raise EditError(
        f"the hook's entry is not in lines of its own: take the one with {PROGRAM} out by hand"
    )


def _without_marked(text: str) -> str:
    """Without what bears the mark, which gives back the old text if nothing else changed it."""
    end = _line_end(text)
    lines = []
    for line in text.split(end):
        was = _WAS.search(line)
        if was is not None:
            lines.append(f"{line.partition(':')[0]}:{was['was']}")
        elif not line.rstrip().endswith(MARK):
            lines.append(line)
    return end.join(lines)


def _only_the_entry(text: str) -> str:
    from ruamel.yaml.error import YAMLError

    try:
        return without_entries(text, EVENT, is_ours)
    except (YAMLError, ValueError, LookupError, AttributeError):
        return text


def _without(found: Mapping[str, Any]) -> dict[str, Any]:
    hooks = found.get("hooks")
    if not isinstance(hooks, Mapping) or not isinstance(hooks.get(EVENT), list):
        return dict(found)
    left = [
        entry
        for entry in hooks[EVENT]
        if not (isinstance(entry, Mapping) and is_ours(str(entry.get("command", ""))))
    ]
    return {**found, "hooks": {**hooks, EVENT: left}}


def _same(one: Any, other: Any) -> bool:
    """Whether two configs mean the same to hermes: an empty hook is none."""
    return bool(_plain(one) == _plain(other))


def _plain(found: Any) -> dict[str, Any]:
    config = dict(found or {})
    hooks = config.pop("hooks", None) or {}
    if isinstance(hooks, Mapping):
        hooks = {event: entries for event, entries in hooks.items() if entries}
    return {**config, **({"hooks": hooks} if hooks else {})}
