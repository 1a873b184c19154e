"""A write that is ended at any step leaves each file old or new, and everything it removed kept."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("mode", ["before", "after", "half"])
@pytest.mark.parametrize("kind", ["one", "two", "new", "copy", "prune"])
def test_ended_at_each_step(tmp_path: Path, kind: str, mode: str) -> None:
    """Rules M3 and M6; `crash_runs.py` says what is looked at."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.memory.crash_runs", kind, mode, str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert (done.stderr, done.returncode) == ("", 0)
    said = json.loads(done.stdout)
    assert said["problems"] == []
    steps = said["steps"]
    files = {"one": 1, "copy": 1, "prune": 0}.get(kind, 2)
    # Every step that matters is one that was counted: the backups, the records, the files.
    assert steps.count("fsync") >= 3 + 2 * files
    assert steps.count("pwrite" if kind == "copy" else "replace") >= 1
    assert said["runs"] > (len(steps) if mode != "half" else steps.count("write"))
