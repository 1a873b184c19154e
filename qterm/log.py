"""The log: what is swallowed elsewhere, for the one who looks for a fault; never what was said.

A rotating `qterm.log` of mode 0600 in the data folder. Nothing is made before there is something
to write, and nothing here raises or prints: a screen is drawn on the same terminal.
"""

from __future__ import annotations

import copy
import logging
import sqlite3
import time
import traceback
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path
from types import TracebackType

from qterm.private import private_folder, touch_private

MAX_BYTES = 512 * 1024
KEPT = 2
"""How many older logs are kept: `qterm.log.1`, `qterm.log.2`."""

_OWN = "qterm"
_PLAIN_ERRORS = (OSError, sqlite3.Error)
"""Errors whose words are the system's own, so that they can't hold what somebody said."""

_ExcInfo = tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]


def start_log(path: Path, *, debug: bool = False) -> None:
    """Write what is logged from now on into this file; called again, the last file counts.

    Warnings of other libraries go there too, instead of onto the terminal. `debug` writes every
    step, and the words of each error, which may quote what was said. Never raises.
    """
    root = logging.getLogger()
    for handler in list(root.handlers):
        if isinstance(handler, PrivateLog):
            root.removeHandler(handler)
            handler.close()
    handler = PrivateLog(path)
    handler.setFormatter(DiscreetFormatter(debug=debug))
    root.addHandler(handler)
    logging.getLogger(_OWN).setLevel(logging.DEBUG if debug else logging.INFO)


class PrivateLog(RotatingFileHandler):
    """A rotating log file of mode 0600 that keeps quiet about its own troubles."""

    def __init__(self, path: Path) -> None:
        super().__init__(
            path,
            maxBytes=MAX_BYTES,
            backupCount=KEPT,
            encoding="utf-8",
            errors="backslashreplace",
            delay=True,
        )

    def _open(self) -> TextIOWrapper:
        path = Path(self.baseFilename)
        if not path.parent.is_dir():
            private_folder(path.parent)
        touch_private(path)
        return super()._open()

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802
        """A full disk or a folder that can't be written: the log goes without this line."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write one record, if it can be."""
        try:
            super().emit(record)
        except Exception:  # noqa: BLE001 - the log is the last place that may break anything
            self.handleError(record)


class DiscreetFormatter(logging.Formatter):
    """One line a record, in UTC; a traceback without the words of the error, unless `debug`.

    An error's words may quote what somebody said, and so may all but the first line of what
    another library logs.
    """

    converter = staticmethod(time.gmtime)

    def __init__(self, *, debug: bool = False) -> None:
        super().__init__("%(asctime)sZ %(levelname)s %(process)d %(name)s: %(message)s")
        self.debug = debug

    def format(self, record: logging.LogRecord) -> str:
        """The record; of a copy, since another handler's full traceback is kept in it."""
        record = copy.copy(record)
        record.exc_text = None
        return super().format(record)

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802
        """The record's own line."""
        own = record.name.partition(".")[0] == _OWN
        if not own and not self.debug:
            record.message = record.message.partition("\n")[0]
        record.message = record.message.encode("unicode_escape").decode()
        return super().formatMessage(record)

    def formatException(self, ei: _ExcInfo) -> str:  # noqa: N802
        """Where it happened and the error's kind, down to its first cause."""
        lines: list[str] = []
        error, seen = ei[1], set[int]()
        while error is not None and id(error) not in seen:
            seen.add(id(error))
            words = self.debug or isinstance(error, _PLAIN_ERRORS)
            kind = f"{type(error).__module__}.{type(error).__qualname__}"
            lines.append(f"{kind}: {error}" if words else kind)
            lines += [line.rstrip() for line in traceback.format_tb(error.__traceback__)]
            error = error.__cause__ or error.__context__
        return "\n".join(lines)
