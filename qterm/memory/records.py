"""The lines of `archive.jsonl`: one JSON object a line, told apart by `kind`.

Fields are only ever added, each with a default. A reader skips lines it can't read: torn ones, and
kinds a later qterm made.
"""

from __future__ import annotations

import base64
import secrets
from collections.abc import Iterable, Iterator
from datetime import datetime

import msgspec

from qterm.memory.stores import StoreName


class Removed(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="removed"):
    """An entry that a write was about to take out of its file, or to replace (rule M3).

    `id`: 10 random lower-case base32 characters. `time`: when, in UTC. `by`: what did it
    (`apply tags`, `edit`). `reason`: why, in words. `text`: the entry. `index`: its place,
    from 0. `write`: the id of the `Write` it belongs to. `replaced_by`: the entry that took its
    place, None where none did.
    """

    id: str
    time: datetime
    store: StoreName
    by: str
    reason: str
    text: str
    index: int
    write: str
    replaced_by: str | None = None


class Write(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="write"):
    """A file that was about to be written; flushed before its first byte was.

    `before` and `after` are SHA-256 hashes of the whole file (`before` empty: there was none);
    `path` is the file as it was named. Sizes in bytes, `entries_before` counts entries.
    """

    id: str
    time: datetime
    store: StoreName
    path: str
    by: str
    before: str
    after: str
    bytes_before: int
    bytes_after: int
    entries_before: int = 0


class Undone(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="undone"):
    """The write with this id failed, and the file was seen to be as before: nothing left it."""

    write: str
    time: datetime


Record = Removed | Write | Undone

_ENCODER = msgspec.json.Encoder()
_DECODER = msgspec.json.Decoder(Record)


def encode(records: Iterable[Record]) -> bytes:
    """The records as lines. JSON escapes every control character, so a line is one line."""
    return b"".join([_ENCODER.encode(record) + b"\n" for record in records])


def decode_line(line: bytes) -> Record | None:
    """The record of a line; None where it can't be read, or its time has no zone."""
    try:
        record = _DECODER.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None
    return record if record.time.tzinfo is not None else None


def new_ids() -> Iterator[str]:
    """Ids that nothing has yet, without an end: 50 random bits, so the archive need not be read."""
    while True:
        yield base64.b32encode(secrets.token_bytes(7)).decode().lower()[:10]


def plain(text: str) -> str:
    """Text that UTF-8 can hold: half characters (of a file's name) become backslashes."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
