"""What the last pass of a qterm did, kept in the data folder for the doctor."""

from __future__ import annotations

import logging
from pathlib import Path

import msgspec

from qterm.maintenance.report import Report
from qterm.private import private_folder, read_bounded, write_private

log = logging.getLogger(__name__)

NAME = "maintenance.json"


def write_result(data_dir: Path, report: Report) -> None:
    """Keep it; where that can't be done only the doctor knows less."""
    try:
        write_private(private_folder(data_dir) / NAME, msgspec.json.encode(report))
    except (OSError, ValueError) as error:
        log.info("what a pass did is not kept: %s", error)


def read_result(data_dir: Path) -> Report | None:
    """What the last pass did; None where none has run, or nothing can be read."""
    try:
        return msgspec.json.decode(read_bounded(data_dir / NAME), type=Report)
    except (OSError, ValueError, RecursionError):  # msgspec's errors are ValueErrors
        return None
