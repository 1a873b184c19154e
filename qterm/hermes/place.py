"""The nouns of this room: where hermes is, and what it can do."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import msgspec

from qterm.hermes.remote import Remote


class HermesNotFound(Exception):  # noqa: N818 - reads as what it says
    """No hermes that can be started; the text is one sentence with what to do."""


class HermesUnusable(Exception):  # noqa: N818
    """A hermes that is there and can't be talked with; the text is one sentence with what to do."""


@dataclass(frozen=True, slots=True)
class HermesPlace:
    """Which hermes and which home, resolved once.

    `command` is how it is started, its first part a path. `home` is absolute; `home_is_root` says
    that it is no profile's, so that every call needs `-p default` or hermes's sticky profile wins.
    `found_by` and `home_by` say in a few words where each came from. With `remote` it is on another
    machine: `command` is then the ssh call as it was set, and `home` is a path there, never to be
    looked at here.
    """

    command: tuple[str, ...]
    home: Path
    home_is_root: bool
    found_by: str
    home_by: str
    remote: Remote | None = None


class Capabilities(msgspec.Struct, frozen=True, kw_only=True):
    """What a hermes can do, read from its own help (rule S4).

    `version` is its number, `version_line` the first line of `hermes --version`. `acp` is None as
    long as nobody asked.
    """

    version: str
    version_line: str
    query_file: bool = False
    stream_json: bool = False
    create_if_missing: bool = False
    source: bool = False
    no_restore_cwd: bool = False
    oneshot: bool = False
    usage_file: bool = False
    profiles: bool = True
    acp: bool | None = None
