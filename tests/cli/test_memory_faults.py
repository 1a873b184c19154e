"""`qterm memory` on odd files, odd configs, odd words: one sentence each, bytes untouched."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Qterm
from tests.cli.memory_stage import CASES, ROOT, TAGGED, entries, put


@pytest.mark.parametrize(
    "words",
    [
        ["nonsense"],
        ["plan", "--bogus"],
        ["plan", "--policy", "guess"],
        ["list", "--store", "nowhere"],
        ["apply"],
        ["apply", "x.json", "--policy", "tags"],
        ["tag"],
        ["tag", "1"],
        ["tag", "x", "P1"],
        ["restore"],
        ["archive", "prune"],
        ["archive", "prune", "--older-than", "soon"],
        ["migrate"],
        ["plan", "--compare", "--tick", "1"],
        ["plan", "--tick", "9" * 4_301],
        ["archive", "--json", "backups"],
        ["archive", "-n", "1", "prune", "--older-than", "1d", "--yes"],
    ],
)
def test_usage_errors_exit_with_1(qterm: Qterm, memory: Path, words: list[str]) -> None:
    result = qterm("memory", *words)
    assert result.code == 1
    assert result.err
    assert memory.read_bytes() == TAGGED


def test_usage_errors_elsewhere_stay_2(qterm: Qterm) -> None:
    assert qterm("feed", "--bogus").code == 2


def test_the_plan_is_not_saved_among_the_memories(qterm: Qterm, memory: Path) -> None:
    refused = qterm("memory", "plan", "-o", str(memory))
    assert refused.code == 1
    assert memory.read_bytes() == TAGGED


def test_a_plan_takes_the_place_of_nothing_but_a_plan(
    qterm: Qterm, memory: Path, home: Path, tmp_path: Path
) -> None:
    real = tmp_path / "real.md"
    memory.rename(real)
    memory.symlink_to(real)
    qterm("memory", "delete", "6")
    (home / "config.yaml").write_text("a: 1\n")
    kept = next((tmp_path / "data").rglob("archive.jsonl"))
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "loop").symlink_to("loop")
    for output in (real, memory, kept, home / "config.yaml", home / "new.json", kept.parent / "x"):
        before = output.read_bytes() if output.exists() else None
        refused = qterm("memory", "plan", "-o", str(output))
        assert refused.code == 1, output
        assert (output.read_bytes() if output.exists() else None) == before
    for output in (tmp_path / "fifo", tmp_path / "loop", Path("/dev/null")):
        before_mode = output.lstat().st_mode
        assert qterm("memory", "plan", "-o", str(output)).code == 1
        assert output.lstat().st_mode == before_mode
    for _ in range(2):
        assert qterm("memory", "plan", "-o", str(tmp_path / "plan.json")).code == 2


def test_a_home_whose_path_no_plan_can_hold(qterm: Qterm, memory: Path, tmp_path: Path) -> None:
    odd = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff"))
    (odd / "memories").mkdir(parents=True)
    plan = tmp_path / "plan.json"
    result = qterm("memory", "plan", "-o", str(plan), "--home", str(odd))
    assert result.code == 1
    assert len(result.err.splitlines()) == 1
    assert not plan.exists()


def test_what_is_not_utf8_is_not_called_clean(qterm: Qterm, memory: Path) -> None:
    memory.write_bytes(b"a\xff\n\xc2\xa7\nb")
    result = qterm("memory", "clean")
    assert result.code == 1
    assert "is not UTF-8" in result.err
    assert memory.read_bytes() == b"a\xff\n\xc2\xa7\nb"


@pytest.mark.parametrize("limit", ["0", "many", "-3", "true", ".nan", "[1]", "1e400"])
def test_a_limit_that_is_none_becomes_the_default(
    qterm: Qterm, memory: Path, home: Path, limit: str
) -> None:
    (home / "config.yaml").write_text(f"memory:\n  memory_char_limit: {limit}\n")
    result = qterm("memory", "list")
    assert result.code == 0
    assert "default" in result.out
    assert "2,200" in result.out
    assert len(result.err.splitlines()) == 1
    assert memory.read_bytes() == TAGGED


@pytest.mark.parametrize(
    "limit", ["1" + "0" * 400, "1e300", "0x" + "f" * 5_000], ids=["long", "float", "hex"]
)
def test_a_limit_beyond_all_measure(
    qterm: Qterm, memory: Path, home: Path, tmp_path: Path, limit: str
) -> None:
    (home / "config.yaml").write_text(f"memory:\n  memory_char_limit: {limit}\n")
    assert "default" not in qterm("memory", "list").out
    plan = str(tmp_path / "plan.json")
    assert qterm("memory", "plan", "-o", plan).code == 2
    assert qterm("memory", "apply", plan).code == 0
    assert memory.read_bytes() != TAGGED


@pytest.mark.parametrize("config", ["memory: [", 'memory: !!int ""', "memory: !!bool x"])
def test_a_broken_config_becomes_the_default_too(
    qterm: Qterm, memory: Path, home: Path, config: str
) -> None:
    (home / "config.yaml").write_text(config)
    result = qterm("memory", "list")
    assert result.code == 0
    assert "broken" in result.err
    (home / "config.yaml").write_text("memory: {memory_char_limit: 3000}")
    assert "3,000" in qterm("memory", "list").out


def test_another_machines_memory_is_there(
    qterm: Qterm, home: Path, tmp_path: Path, environ: dict[str, str]
) -> None:
    (tmp_path / "config.toml").write_text('[hermes]\ncommand = ["ssh", "tower", "hermes"]\n')
    refused = qterm("memory", "list")
    assert refused.code == 1
    assert "another machine" in refused.err
    assert qterm("memory", "list", "--home", str(home)).code == 0
    environ["QTERM_MEMORY_HOME"] = str(home)
    assert qterm("memory", "list").code == 0


def _folder(path: Path) -> None:
    path.mkdir()


def _fifo(path: Path) -> None:
    os.mkfifo(path)


def _loop(path: Path) -> None:
    path.symlink_to(path.name)


def _nowhere(path: Path) -> None:
    path.symlink_to("nowhere/MEMORY.md")


def _not_utf8(path: Path) -> None:
    path.write_bytes((CASES / "not-utf8.md").read_bytes())


def _too_big(path: Path) -> None:
    path.touch()
    os.truncate(path, (64 << 20) + 1)


@pytest.mark.parametrize("spoil", [_folder, _fifo, _loop, _nowhere, _not_utf8, _too_big])
def test_an_odd_file_gives_one_sentence_and_stays(qterm: Qterm, home: Path, spoil: Any) -> None:
    path = home / "memories" / "MEMORY.md"
    spoil(path)
    before = path.lstat()
    for words in (
        ["list"],
        ["plan"],
        ["plan", "--policy", "dual"],
        ["plan", "--compare"],
        ["apply", "--policy", "tags", "--yes"],
        ["add", "something"],
        ["clean", "--yes"],
        ["migrate", "--to", "schema", "--yes"],
    ):
        result = qterm("memory", *words)
        is_shown = spoil is _not_utf8 and words == ["list"]
        assert result.code == (0 if is_shown else 1), words
        assert len(result.err.splitlines()) == 1, result.err
        assert "MEMORY.md" in result.err
    after = path.lstat()
    assert (after.st_mtime_ns, after.st_ctime_ns) == (before.st_mtime_ns, before.st_ctime_ns)
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("case", sorted(json.loads((CASES / "expected.json").read_text())))
def test_each_measured_case_is_listed(qterm: Qterm, home: Path, case: str) -> None:
    expected = json.loads((CASES / "expected.json").read_text())[case]
    path = home / "memories" / "MEMORY.md"
    path.write_bytes((CASES / case).read_bytes())
    listed = qterm("memory", "list", "--json").json
    wanted = expected.get("qterm_entries", expected["entries"])
    if wanted is None:
        assert not listed["isText"]
        return
    assert [each["text"] for each in listed["entries"]] == wanted
    is_refused = any("0.19" in fault["refusedBy"] for fault in listed["faults"])
    assert is_refused != expected["hermes_can_change"]


def test_a_lock_that_is_held_for_ever_is_waited_for_once(qterm: Qterm, memory: Path) -> None:
    with (memory.parent / "MEMORY.md.lock").open("a+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        result = qterm("memory", "delete", "6")
    assert result.code == 1
    assert "locked by another program" in result.err
    assert memory.read_bytes() == TAGGED


def test_fifty_thousand_entries(qterm: Qterm, home: Path) -> None:
    memory = put(home, *(f"[P{number % 3 + 1}] entry {number}" for number in range(50_000)))
    assert qterm("memory", "plan").code == 2
    assert qterm("memory", "apply", "--policy", "tags", "--yes").code == 0
    left = entries(memory)
    assert len(left) == 33_334
    assert not any(text.startswith("[P3]") for text in left)
    assert len(qterm("memory", "archive", "--json").json["removed"]) == 16_666
    backup = qterm("memory", "archive", "backups", "--json").json["backups"][0]["sha256"]
    put(home, *reversed(left))  # the worst order to look each of them up in
    assert qterm("memory", "restore", "--backup", backup, "--yes").code == 0
    assert len(entries(memory)) == 50_000


def test_two_stores_in_one_file_are_refused(qterm: Qterm, memory: Path) -> None:
    (memory.parent / "WORKING.md").symlink_to("MEMORY.md")
    for words in (["plan", "--policy", "dual"], ["apply", "--policy", "dual", "--yes"]):
        refused = qterm("memory", *words)
        assert refused.code == 1
        assert "same file" in refused.err
    assert memory.read_bytes() == TAGGED


@pytest.mark.parametrize(
    "config",
    [
        "[" * 100_000,
        "- " * 100_000 + "a",
        "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
        + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 12))
        + "memory: {memory_char_limit: *a11}\n",
        "many: [" + "1, " * 500_000 + "1]\n",
    ],
    ids=["deep", "deep-block", "aliases", "long"],
)
def test_a_config_that_would_end_or_hold_up_the_parser(
    qterm: Qterm, memory: Path, home: Path, config: str
) -> None:
    (home / "config.yaml").write_text(config)
    result = qterm("memory", "list")
    assert result.code == 0
    assert "2,200" in result.out
    assert len(result.err.splitlines()) == 1


def test_text_that_is_not_utf8_is_not_guessed_at(qterm: Qterm, home: Path) -> None:
    memory = put(home, "one")
    odd = os.fsdecode(b"caf\xe9")
    for words in (["add", odd], ["edit", "1", odd]):
        refused = qterm("memory", *words)
        assert refused.code == 1
        assert "UTF-8" in refused.err
    assert entries(memory) == ["one"]
    assert qterm("memory", "add", "caf\u00e9").code == 0


@pytest.mark.parametrize("spoil", [_fifo, _folder])
def test_an_archive_that_is_no_plain_file(
    qterm: Qterm, memory: Path, tmp_path: Path, spoil: Any
) -> None:
    qterm("memory", "delete", "6")
    kept = next((tmp_path / "data").rglob("archive.jsonl"))
    kept.unlink()
    spoil(kept)
    before, data = kept.lstat().st_mode, memory.read_bytes()
    for words in (["archive"], ["archive", "backups"], ["restore", "abc"], ["delete", "6"]):
        refused = qterm("memory", *words)
        assert refused.code == 1, words
        assert len(refused.err.splitlines()) == 1
    assert kept.lstat().st_mode == before
    assert memory.read_bytes() == data


def test_a_home_without_a_name_is_none(qterm: Qterm, memory: Path) -> None:
    assert qterm("memory", "add", "x", "--home", "").code == 1
    assert memory.read_bytes() == TAGGED


def test_a_backup_command_that_spoils_the_file_does_not_hide_the_write(
    qterm: Qterm, memory: Path, environ: dict[str, str]
) -> None:
    environ["QTERM_MEMORY_BACKUP_COMMAND"] = f"sh -c 'rm {memory}; mkdir {memory}; : {{path}}'"
    environ["PATH"] = os.environ["PATH"]
    result = qterm("memory", "delete", "6")
    assert result.code == 0
    assert "Written:" in result.out
    assert "folder" in result.err


def test_a_change_whose_report_can_not_be_written_says_that_it_was_made(
    memory: Path, environ: dict[str, str]
) -> None:
    with Path("/dev/full").open("wb") as full:
        ended = subprocess.run(
            [sys.executable, "-m", "qterm", "memory", "delete", "6"],
            env=environ | {"PYTHONPATH": str(ROOT)},
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert ended.returncode == 1
    assert "Deleted: 1 entry. Written:" in ended.stderr
    assert memory.read_bytes() != TAGGED


def test_nothing_that_a_terminal_obeys_reaches_it(tmp_path: Path, environ: dict[str, str]) -> None:
    evil = "\x1b]0;pwn\x07\x9b2J\u202e"
    home = tmp_path / f"h{evil}"
    (home / "memories").mkdir(parents=True)
    put(home, f"[P1] {evil} one", f"[P3] {evil} two")
    for words in (
        ["list"],
        ["list", "--json"],
        ["plan"],
        ["plan", "--json"],
        ["plan", "--tick", evil],
        ["delete", "1"],
        ["tag", "--suggested"],
        ["migrate", "--to", "schema"],
    ):
        printed = on_a_terminal(["memory", *words, "--home", str(home)], environ)
        assert printed
        assert not {"\x1b", "\x07", "\x9b", "\u202e"} & set(printed), words


def on_a_terminal(words: list[str], environ: dict[str, str]) -> str:
    """What a command line prints on a terminal; questions are answered with no."""
    main, other = pty.openpty()
    started = subprocess.Popen(
        [sys.executable, "-m", "qterm", *words],
        env=environ | {"PYTHONPATH": str(ROOT), "TERM": "xterm"},
        stdin=other,
        stdout=other,
        stderr=other,
    )
    os.close(other)
    os.write(main, b"n\n")
    printed = b""
    with contextlib.suppress(OSError):
        while part := os.read(main, 65_536):
            printed += part
    started.wait(timeout=30)
    os.close(main)
    return printed.decode()
