"""`qterm send --approve` on a live hermes of both lines (rule A1)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from qterm.rehearsal.model_server import Answer
from tests.e2e.conftest import HermesLine


@pytest.mark.parametrize("approve", [None, "once"])
def test_send_denies_unless_it_is_told_otherwise(
    hermes_line: HermesLine, tmp_path: Path, approve: str | None
) -> None:
    victim = tmp_path / "victim"
    victim.mkdir()

    def script(request: dict[str, Any]) -> Answer:
        if any(message["role"] == "tool" for message in request["messages"]):
            return Answer(("Done.",))
        return Answer((), tool=("terminal", {"command": f"rm -rf {victim}"}))

    hermes_line.answers(script)
    (tmp_path / "config.toml").write_text(
        f'[hermes]\ncommand = ["{hermes_line.program}"]\ntransport = "live"\n'
    )
    environ = hermes_line.environ() | {
        "QTERM_DATA_DIR": str(tmp_path / "data"),
        "QTERM_CONFIG": str(tmp_path / "config.toml"),
    }
    words = ["send", *(["--approve", approve] if approve else []), "remove it"]
    ended = subprocess.run(
        [sys.executable, "-m", "qterm", *words],
        env=environ,
        capture_output=True,
        text=True,
        check=False,
        timeout=90,
    )
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout == "Done.\n"
    assert f"rm -rf {victim}" in ended.stderr
    assert ("Denied" in ended.stderr) == (approve is None)
    assert victim.exists() == (approve is None)
