"""The steps that bring a feed's file to the shape this qterm knows.

Each step is a numbered SQL file beside this one, `NNNN_name.sql`; its number is the version
(`user_version`) the file has after it. A step that was released is never changed.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Step:
    """One step: the version it leads to, and its SQL."""

    version: int
    sql: str


def steps(folder: Path = Path(__file__).parent) -> tuple[Step, ...]:
    """The steps of a folder in their order; they count from 1 without a gap."""
    found = tuple(
        Step(int(file.name.partition("_")[0]), file.read_text(encoding="utf-8"))
        for file in sorted(folder.glob("[0-9]*_*.sql"))
    )
    assert [step.version for step in found] == list(range(1, len(found) + 1))
    return found


def migrate(connection: sqlite3.Connection, todo: Sequence[Step]) -> None:
    """Take the steps the file does not have yet, each whole or not at all.

    Raises sqlite3.Error; the file is then as it was after the last whole step.
    """
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    for step in todo:
        if step.version <= version:
            continue
        try:
            connection.executescript(
                f"BEGIN IMMEDIATE;\n{step.sql}\n;PRAGMA user_version = {step.version};\nCOMMIT;"
            )
        except sqlite3.Error:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
