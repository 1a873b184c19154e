"""Which line of hermes is there, as it was last asked: nothing is started."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from qterm.memory import opening
from qterm.settings.load import load


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return {"HOME": str(tmp_path), "QTERM_DATA_DIR": str(tmp_path / "data")}


@pytest.mark.parametrize(
    ("version", "line"),
    [
        ("0.18.4", "0.19"),
        ("0.19.0", "0.19"),
        ("0.20.1", ""),
        ("0.22.2.post1", "0.22"),
        ("0.100.0", "0.22"),
        ("1.0", "0.22"),
        ("hermes", ""),
        ("", ""),
        (None, ""),
    ],
)
def test_the_line_of_the_hermes_that_was_last_seen(
    environ: dict[str, str], monkeypatch: pytest.MonkeyPatch, version: str | None, line: str
) -> None:
    known = None if version is None else SimpleNamespace(version=version)
    monkeypatch.setattr(opening, "locate", lambda *_: None)
    monkeypatch.setattr(opening, "recall", lambda *_: known)
    assert opening.hermes_line(load(environ=environ), environ) == line


def test_a_far_hermes_has_none(environ: dict[str, str]) -> None:
    environ["QTERM_HERMES_COMMAND"] = "ssh tower hermes"
    assert opening.hermes_line(load(environ=environ), environ) == ""
