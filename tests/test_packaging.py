"""The locks, the pins and the targets that the README names."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from qterm.hermes.locate import PACKAGE

ROOT = Path(__file__).parents[1]
LOCKS = ["requirements.lock", "requirements-newer.lock"]
_PIN = re.compile(r"([A-Za-z0-9._-]+)(?:\[[^\]]*\])?==([^\s;\\]+)")


def pins(lock: str) -> dict[str, set[str]]:
    """The versions of each package in a lock, by its plain name."""
    found: dict[str, set[str]] = {}
    for line in (ROOT / lock).read_text().splitlines():
        if match := _PIN.match(line):
            found.setdefault(plain(match[1]), set()).add(match[2])
    return found


def plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def test_the_hermes_that_is_named_is_the_one_that_is_pinned() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["optional-dependencies"]["hermes"] == [PACKAGE]
    assert PACKAGE.rpartition("==")[2] in pins("requirements.lock")["hermes-agent"]


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_holds_hashes_and_no_addresses(lock: str) -> None:
    text = (ROOT / lock).read_text()
    assert "://" not in text
    assert "--index" not in text
    assert "--find-links" not in text
    assert "--trusted-host" not in text
    entries = re.split(r"\n(?=[A-Za-z0-9])", text.strip())
    assert len(entries) > 20
    for entry in entries:
        assert _PIN.match(entry), entry
        assert re.search(r"--hash=sha256:[0-9a-f]{64}\b", entry), entry.partition("\n")[0]


def project() -> dict[str, object]:
    table: dict[str, object] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return table


def test_what_the_project_needs_is_in_the_lock() -> None:
    from packaging.requirements import Requirement

    table = project()
    dependencies = table["dependencies"]
    extras = table["optional-dependencies"]
    assert isinstance(dependencies, list)
    assert isinstance(extras, dict)
    locked = pins("requirements.lock")
    for text in [*dependencies, *extras["hermes"], *extras["dev"]]:
        needed = Requirement(text)
        versions = locked.get(plain(needed.name), set())
        assert versions, text
        assert all(needed.specifier.contains(version) for version in versions), (text, versions)


def test_the_newer_hermes_is_in_its_lock() -> None:
    from packaging.requirements import Requirement

    lines = (ROOT / "requirements-newer.in").read_text().splitlines()
    needed = [Requirement(line) for line in lines if line.strip() and not line.startswith("#")]
    assert needed
    locked = pins("requirements-newer.lock")
    for requirement in needed:
        assert {str(spec.version) for spec in requirement.specifier} == locked[
            plain(requirement.name)
        ]


def targets() -> set[str]:
    return set(re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text(), re.MULTILINE))


@pytest.mark.parametrize("page", ["README.md", ".ci/run"])
def test_each_target_that_is_named_exists(page: str) -> None:
    text = (ROOT / page).read_text()
    named = set(re.findall(r"(?:^[ \t]*|`)make ([a-z][a-z-]*)", text, re.MULTILINE))
    assert "test" in named
    assert named <= targets(), named - targets()


def test_what_is_packed_is_there() -> None:
    table = tomllib.loads((ROOT / "pyproject.toml").read_text())
    packed = table["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    assert [name for name in packed if not (ROOT / name).exists()] == []


def test_the_wheel_holds_the_whole_package_and_nothing_else(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.iterdir()
    with zipfile.ZipFile(wheel) as archive:
        packed = {name for name in archive.namelist() if ".dist-info/" not in name}
        entry_points = next(
            name for name in archive.namelist() if name.endswith("entry_points.txt")
        )
        assert "qterm = qterm.__main__:main" in archive.read(entry_points).decode()
    files = {path for path in (ROOT / "qterm").rglob("*") if path.is_file()}
    wanted = {str(path.relative_to(ROOT)) for path in files if "__pycache__" not in path.parts}
    assert packed == wanted
    assert {"qterm/py.typed", "qterm/tui/app.tcss", "qterm/feed/migrations/0001_feed.sql"} <= packed
