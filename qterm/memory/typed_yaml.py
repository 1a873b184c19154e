"""One YAML mapping of plain texts, read by a parser's events (pure).

Nothing is made of a text but strings, up to the first thing that doesn't fit, so that no alias,
tag or depth of it can hurt.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from ruamel.yaml import YAML
    from ruamel.yaml.events import Event, ScalarEvent

_STRING: Final = "tag:yaml.org,2002:str"
_PARSER_FAULTS: Final = (
    *(ValueError, TypeError, AttributeError, AssertionError),
    *(LookupError, ArithmeticError, RecursionError),
)
"""What ruamel.yaml lets through on odd escapes, beside its own errors."""


class OddYAML(Exception):  # noqa: N818 - it is caught where it is made into words
    """Not one mapping of plain texts; the text says why, in words."""


def read_mapping(text: str, keys: tuple[str, ...]) -> dict[str, tuple[str, bool]]:
    """The values by key, each with whether YAML itself takes it for text (`42` is a number).

    Each of `keys` must be there, once, and no other. Raises OddYAML.
    """
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    # pure: the reader in C knows another YAML, and isn't everywhere; a new one each time, as they
    # hold the state of what they read
    yaml = YAML(typ="safe", pure=True)
    values: dict[str, tuple[str, bool]] = {}
    try:
        for key, value in _pairs(yaml, text):
            if key not in keys:
                raise OddYAML(f"“{key}” is no key of it" if len(key) <= 40 else "an unknown key")
            if key in values:
                raise OddYAML(f"“{key}” stands there twice")
            values[key] = value.value, _is_text(yaml, value)
    except YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f" (line {mark.line + 1})" if mark is not None else ""
        raise OddYAML(f"no valid YAML{where}") from None
    except _PARSER_FAULTS:
        raise OddYAML("no valid YAML") from None
    for key in keys:
        if key not in values:
            raise OddYAML(f"“{key}” is missing")
    return values


def _pairs(yaml: YAML, text: str) -> Iterator[tuple[str, ScalarEvent]]:
    """The keys and values of the one mapping a text is."""
    from ruamel.yaml import events

    key: str | None = None
    mappings = documents = 0
    for event in yaml.parse(text):
        _refuse_marks(event)
        match event:
            case events.ScalarEvent() if mappings:
                if key is None:
                    key = event.value
                else:
                    yield key, event
                    key = None
            case events.MappingStartEvent() if not mappings:
                mappings = 1
            case events.DocumentStartEvent():
                documents += 1
                if documents > 1:
                    raise OddYAML("more than one YAML document")
            case events.NodeEvent():  # a second mapping, a list, or a lone text
                raise OddYAML("not a mapping of plain texts")


def _refuse_marks(event: Event) -> None:
    """Raise OddYAML for anchors, aliases, tags and directives."""
    if getattr(event, "anchor", None) is not None:
        raise OddYAML("an anchor or alias in it")
    if getattr(event, "version", None) or getattr(event, "tags", None):
        raise OddYAML("a YAML directive in it")
    if getattr(event, "tag", None) not in {None, _STRING}:
        raise OddYAML("a YAML tag in it")


def _is_text(yaml: YAML, event: ScalarEvent) -> bool:
    """Whether YAML takes a scalar for text."""
    from ruamel.yaml.nodes import ScalarNode

    if event.tag is not None or not event.implicit[0]:
        return True
    return bool(yaml.resolver.resolve(ScalarNode, event.value, event.implicit) == _STRING)
