"""The file's text and its entries, against the real hermes of both lines."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qterm.memory.entries import (
    DELIMITER,
    MARK,
    FaultKind,
    decode,
    faults,
    parse,
    serialise,
    size,
    unwritable,
)
from tests.memory.cases import DATA, EXPECTED, TEXTS

ASK = Path(__file__).with_name("ask_hermes.py")
LINES = {
    "0.19": Path(sys.executable),
    "0.22": Path(__file__).parents[2] / ".venv-newer" / "bin" / "python",
}
LIMIT = 2_200


def ask(line: str, what: str, folder: Path, home: Path) -> dict[str, Any]:
    """What that hermes says about each file of the folder."""
    result = subprocess.run(
        [str(LINES[line]), str(ASK), what, str(folder)],
        env={**os.environ, "HERMES_HOME": str(home)},
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    answer: dict[str, Any] = json.loads(result.stdout)
    return answer


def refused_by(data: bytes) -> set[str]:
    """The lines that refuse to change a file, by our reading; none where it isn't text."""
    text = decode(data)
    return {line for fault in faults(text, parse(text), LIMIT) for line in fault.refused_by}


PARTS = [
    *("a", "b c", "[P1] x", "[P3]", "§", "§ 4.2", "é", "😀", "\u4e2d", "x" * 30),
    *["\n§\n"] * 9,
    *("§\n", "\n§", "\n § \n", "\n§ \n", "\u2028§\u2028", "\n\n§\n\n"),
    *("\r\n§\r\n", "\r§\r", "\n", "\n\n", "\r", "\r\n", "\t", " ", "\x0b", "\x0c", "\x1c", "\x1f"),
    *("\x85", "\xa0", "\u2028", "\u3000", "\u200b", MARK, "\x00", "\x1b[1m", "---", "type: rule"),
]


def nasty(random_: random.Random) -> bytes:
    """A generated file."""
    text = "".join(random_.choices(PARTS, k=random_.randrange(14)))
    if random_.random() < 0.1:
        text = MARK + text
    if random_.random() < 0.02:
        text += "\n§\n" + "long " * 500
    data = text.encode()
    return data + b"\xe9" if random_.random() < 0.02 else data


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with 10,000 nasty files, always the same."""
    folder = tmp_path_factory.mktemp("generated")
    random_ = random.Random(20261130)
    for number in range(10_000):
        (folder / f"{number:05}.md").write_bytes(nasty(random_))
    return folder


def _without_mark(text: str) -> str:
    return text.removeprefix(MARK)


@pytest.mark.parametrize("line", sorted(LINES))
def test_entries_are_what_hermes_reads(line: str, generated: Path, tmp_path: Path) -> None:
    answers = ask(line, "read", generated, tmp_path)
    assert len(answers) == 10_000
    several = unreadable = 0
    for name, entries in answers.items():
        data = (generated / name).read_bytes()
        try:
            text = decode(data)
        except UnicodeDecodeError:
            assert not entries, name
            unreadable += 1
            continue
        # 0.22 takes the byte order mark of the file off its first entry
        ours = parse(text if line == "0.19" else _without_mark(text))
        assert list(ours) == (entries or []), (name, data)
        several += len(ours) > 2
    assert several > 1_000
    assert unreadable > 50


@pytest.mark.parametrize("line", sorted(LINES))
def test_what_hermes_refuses_is_known_before(line: str, generated: Path, tmp_path: Path) -> None:
    few = tmp_path / "few"
    few.mkdir()
    for path in sorted(generated.iterdir())[:1_500]:
        (few / path.name).write_bytes(path.read_bytes())
    answers = ask(line, "change", few, tmp_path / "home")
    refused = 0
    for name, changed in answers.items():
        data = (few / name).read_bytes()
        try:
            text = decode(data)
        except UnicodeDecodeError:
            assert not changed
            continue
        entries = parse(text if line == "0.19" else _without_mark(text))
        if not entries or sum(entries[0] in entry for entry in set(entries)) > 1:
            continue  # none to change, or one that can't be named alone
        assert changed is (line not in refused_by(data)), (name, data)
        refused += not changed
    assert refused > 10


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_the_measured_files(name: str) -> None:
    expected = EXPECTED[name]
    data = (DATA / name).read_bytes()
    if expected["entries"] is None:
        with pytest.raises(UnicodeDecodeError):
            decode(data)
        return
    assert list(parse(decode(data))) == expected.get("qterm_entries", expected["entries"])
    assert ("0.19" not in refused_by(data)) is expected["hermes_can_change"]
    assert "0.22" not in refused_by(data)


def test_the_measured_files_are_as_hermes_has_them(tmp_path: Path) -> None:
    cases = tmp_path / "cases"
    cases.mkdir()
    for name in EXPECTED:
        (cases / name).write_bytes((DATA / name).read_bytes())
    read = ask("0.19", "read", cases, tmp_path / "home")
    changed = ask("0.19", "change", cases, tmp_path / "home")
    for name, expected in EXPECTED.items():
        entries = read[name]
        assert (entries and list(dict.fromkeys(entries))) == expected["entries"]
        assert changed[name] is expected["hermes_can_change"], name


@pytest.mark.parametrize(
    ("text", "kind", "number", "lines"),
    [
        ("a\n§\n\n§\nb", FaultKind.BLANK, 2, ("0.19",)),
        ("a\n§\n", FaultKind.BLANK, 2, ("0.19",)),
        ("\n§\n", FaultKind.BLANK, 1, ("0.19",)),
        ("a\n§\n b", FaultKind.SPACE, 2, ("0.19",)),
        ("a \n§\nb", FaultKind.SPACE, 1, ("0.19",)),
        ("a\n§\n" + "b" * (LIMIT + 1), FaultKind.TOO_LONG, 2, ("0.19", "0.22")),
        ("\ufeffa", FaultKind.BOM, 1, ()),
        ("a\n§\nb\n§\na", FaultKind.DUPLICATE, 3, ()),
    ],
)
def test_each_fault(text: str, kind: FaultKind, number: int, lines: tuple[str, ...]) -> None:
    (fault,) = faults(text, parse(text), LIMIT)
    assert (fault.kind, fault.number, fault.refused_by) == (kind, number, lines)
    assert str(number) in fault.sentence or kind is FaultKind.BOM


@pytest.mark.parametrize("text", ["", " \n", "a", "a\n§\nb\n", "  a\n§\nb\n§", "§\na"])
def test_no_fault(text: str) -> None:
    assert faults(text, parse(text), LIMIT) == []


def test_a_byte_order_mark_counts_for_019_alone() -> None:
    text = MARK + "a" * LIMIT
    assert [f.refused_by for f in faults(text, parse(text), LIMIT)] == [("0.19",), ()]
    longer = f"{text}\n§\n{'b' * (LIMIT + 1)}"
    assert refused_by(longer.encode()) == {"0.19", "0.22"}


@given(st.lists(TEXTS))
def test_what_is_writable_reads_back(texts: list[str]) -> None:
    entries = tuple(texts)
    if not unwritable(entries):
        assert parse(decode(serialise(entries).encode())) == entries
        assert size(entries) == len(serialise(entries))
    stripped = parse(decode(serialise(texts).encode()))
    assert unwritable(stripped) == ""
    assert size(stripped) == len(serialise(stripped))


@pytest.mark.parametrize(
    ("entries", "part"),
    [
        (["a", " "], "Entry 2 is blank"),
        (["a", "b "], "Entry 2 begins or ends with white space"),
        (["a\rb"], "Entry 1 holds a carriage return"),
        ([f"a{DELIMITER}b"], "Entry 1 has a line with nothing but §"),
        (["a\n§", "b"], "An entry ends or begins with a line of nothing but §"),
        (["\ud800"], "half a character"),
    ],
)
def test_what_cannot_be_written_has_its_reason(entries: list[str], part: str) -> None:
    assert part in unwritable(entries)
    assert unwritable(["b", "a\n§"]) == ""
