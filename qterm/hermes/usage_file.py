"""The file into which `hermes -z` writes whether it went well."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from qterm.private import private_folder


@contextlib.contextmanager
def usage_file(cache_dir: Path, *, is_wanted: bool) -> Iterator[str | None]:
    """A private file for hermes's report, gone afterwards; None where it makes none.

    Raises OSError.
    """
    if not is_wanted:
        yield None
        return
    folder = None  # the system's own for such files, where there can be no cache
    with contextlib.suppress(OSError):
        folder = private_folder(cache_dir)
    handle, name = tempfile.mkstemp(prefix="usage-", suffix=".json", dir=folder)
    os.close(handle)
    try:
        yield name
    finally:
        Path(name).unlink(missing_ok=True)


def read_report(path: str | None) -> dict[str, Any] | None:
    """What hermes wrote into its usage file; None when it wrote none."""
    if path is None:
        return None
    try:
        found = json.loads(Path(path).read_bytes())
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None
