"""What the command line prints: safe on a terminal (rule T1), as it is into pipes and `--json`."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import IO, Any

import click
import msgspec

from qterm.context import QContext
from qterm.model import Fact, Mode, Turn, TurnState
from qterm.safe_text import safe_text
from qterm.streams import give_up


def out(text: str, *, newline: bool = True) -> None:
    """Print foreign text on standard output."""
    _write(sys.stdout, text, newline)


@contextmanager
def complaining() -> Iterator[None]:
    """While it lasts, standard error may turn out to be full: the exit code still tells."""
    try:
        yield
    except OSError:
        give_up(sys.stderr)


def diagnostic(text: str) -> None:
    """Print a sentence on standard error; where that can't be written, the exit code has to do."""
    with complaining():
        _write(sys.stderr, f"qterm: {text}", newline=True)


def status(text: str) -> None:
    """Put a passing line onto the terminal's last one, in place of the one before."""
    with complaining():
        click.echo(f"\r\x1b[K{text}", err=True, nl=False)


def _write(stream: IO[str], text: str, newline: bool) -> None:
    if stream.isatty():
        text = safe_text(text)
    # Whatever the locale says: the feed is UTF-8, and a lone surrogate must not end the program.
    data = (text + "\n" * newline).encode("utf-8", "replace")
    click.echo(data, file=stream.buffer, nl=False)  # type: ignore[attr-defined]


def out_json(value: object) -> None:
    """Print one JSON document on a line of its own."""
    try:
        data = msgspec.json.encode(value, enc_hook=str)
    except UnicodeEncodeError:  # a path that is no UTF-8
        plain = msgspec.to_builtins(value, enc_hook=str)
        data = json.dumps(plain, ensure_ascii=False).encode("utf-8", "replace")
    if sys.stdout.isatty():  # the same JSON, but nothing that a terminal would obey
        data = _OBEYED.sub(lambda found: f"\\u{ord(found[0]):04x}", data.decode()).encode()
    click.echo(data + b"\n", nl=False)


_OBEYED = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""What JSON leaves as it is and a terminal does not: C1 controls and bidirectional overrides."""


def turn_json(turn: Turn, labels: Mapping[str, str]) -> dict[str, Any]:
    """A turn in the documented form (docs/command-line.md, *JSON*)."""
    return {
        "id": turn.id,
        "taskId": turn.task_id,
        "persona": turn.persona,
        "label": labels.get(turn.persona, turn.persona),
        "text": turn.text,
        "state": turn.state.value,
        "createdAt": moment_json(turn.created_at),
        "replyTo": turn.reply_to,
        "hidden": turn.hidden,
        "degraded": turn.degraded.value if turn.degraded else None,
        "reason": turn.reason or None,
        "elapsed": round(turn.elapsed, 3) if turn.elapsed is not None else None,
        "againOf": turn.again_of,
        "run": turn.run,
    }


def fact_json(fact: Fact) -> dict[str, Any]:
    """A fact in the documented form."""
    return {"id": fact.id, "text": fact.text, "pinned": fact.pinned, "position": fact.position}


def mode_json(mode: Mode | None, now: datetime) -> dict[str, Any] | None:
    """The mode in the documented form; None when there is none."""
    if mode is None:
        return None
    until = moment_json(mode.until) if mode.until else None
    return {"text": mode.text, "until": until, "over": mode.is_over(now)}


def context_json(context: QContext, now: datetime) -> dict[str, Any]:
    """The context block in the documented form."""
    return {
        "text": context.text,
        "chars": context.chars,
        "mode": mode_json(context.mode, now),
        "turns": {"told": context.turns, "leftOut": context.turns_left_out},
        "facts": {"told": context.facts, "leftOut": context.facts_left_out},
        "notes": {"told": context.notes, "leftOut": context.notes_left_out},
        "clipped": context.clipped,
    }


def moment_json(moment: datetime) -> str:
    """UTC, to the millisecond, with a Z."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"


_MARKS = {
    TurnState.QUEUED: "queued",
    TurnState.PENDING: "Q is at it",
    TurnState.FAILED: "failed",
    TurnState.STOPPED: "stopped",
    TurnState.INTERRUPTED: "interrupted",
}


def turn_lines(turn: Turn, labels: Mapping[str, str]) -> str:
    """A turn as people read it: time, label, text, and what is to say about it."""
    marks = [_MARKS[turn.state]] if turn.state in _MARKS else []
    if turn.reason:
        marks[-1:] = [f"{marks[-1]}: {turn.reason}" if marks else turn.reason]
    if turn.degraded:
        marks.append(turn.degraded.sentence)
    if turn.hidden:
        marks.append("hidden from Q")
    label = labels.get(turn.persona, turn.persona)
    head = f"{turn.id:>5}  {turn.created_at.astimezone():%H:%M}  {label}: "
    body = turn.text.replace("\n", "\n" + " " * 14)
    return head + body + "".join(f"\n{'':14}[{mark}]" for mark in marks)
