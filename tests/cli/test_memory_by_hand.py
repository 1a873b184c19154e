"""`qterm memory tag`, `edit`, `delete`, `clean`, `migrate` and what brings things back."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.cli.conftest import Qterm
from tests.cli.memory_stage import CASES, FIRST_RUN, TAGGED, entries, put


def test_tags_are_suggested_and_written_only_when_accepted(qterm: Qterm, home: Path) -> None:
    memory = home / "memories" / "MEMORY.md"
    memory.write_bytes((CASES / "first-run-untagged.md").read_bytes())
    before = memory.read_bytes()
    shown = qterm("memory", "tag", "--suggested", "--json").json["suggestions"]
    assert all(each["rule"] for each in shown)
    assert memory.read_bytes() == before
    assert qterm("memory", "tag", "4", "p2").code == 0
    assert entries(memory)[3].startswith("[P2] Prefers")
    assert qterm("memory", "tag", "4", "none").code == 0
    assert memory.read_bytes() == before
    assert qterm("memory", "tag", "--suggested", "--yes").code == 0
    tagged = {each["number"]: each["priority"] for each in shown}
    for number, text in enumerate(entries(memory), 1):
        assert text.startswith(f"[{tagged[number]}] ") if number in tagged else text[0] != "["


def test_changing_a_p1_by_hand_asks_once(qterm: Qterm, memory: Path) -> None:
    for words in (["delete", "1"], ["edit", "1", "x"], ["tag", "1", "P3"]):
        refused = qterm("memory", *words)
        assert refused.code == 1, words
        assert "P1" in refused.err
        assert memory.read_bytes() == TAGGED
    assert qterm("memory", "delete", "1", "--yes").code == 0
    (removed,) = qterm("memory", "archive", "--json").json["removed"]
    assert removed["by"] == "delete"
    assert "operator" in removed["reason"]


def test_an_edit_is_archived_and_taken_back(qterm: Qterm, home: Path) -> None:
    memory = put(home, "[P2] one", "[P2] two")
    assert qterm("memory", "edit", "1", "[P2] another").code == 0
    assert entries(memory) == ["[P2] another", "[P2] two"]
    (removed,) = qterm("memory", "archive", "--json").json["removed"]
    assert removed["text"] == "[P2] one"
    assert qterm("memory", "restore", removed["id"][:5]).code == 0
    assert entries(memory) == ["[P2] one", "[P2] two"]


def test_an_edit_that_would_not_parse_back_is_refused(qterm: Qterm, home: Path) -> None:
    memory = put(home, "[P2] one", "two\n§")
    before = memory.read_bytes()
    for words in (
        ["edit", "1", "a\n§\nb"],
        ["add", "three"],
        ["add", "  "],
        ["add", "[P2] one"],
        ["edit", "1", " "],
        ["edit", "7", "x"],
    ):
        refused = qterm("memory", *words)
        assert refused.code == 1, words
        assert len(refused.err.splitlines()) == 1
    assert memory.read_bytes() == before


def test_cleaning_mends_what_hermes_would_refuse(qterm: Qterm, home: Path) -> None:
    memory = home / "memories" / "MEMORY.md"
    memory.write_bytes("\ufeffa\n§\n\n§\nb\n§\na".encode())
    assert "blank entry at 2" in qterm("memory", "list").err
    assert qterm("memory", "clean").code == 2
    assert qterm("memory", "clean", "--yes").code == 0
    assert memory.read_bytes() == "a\n§\nb".encode()
    assert qterm("memory", "clean").code == 0
    assert qterm("memory", "list").err == ""


def test_migrating_there_and_back(qterm: Qterm, memory: Path) -> None:
    preview = qterm("memory", "migrate", "--to", "schema", "--json")
    assert preview.code == 2
    assert preview.json["sizeAfter"] > preview.json["sizeBefore"]
    assert memory.read_bytes() == TAGGED
    assert qterm("memory", "migrate", "--to", "schema", "--yes").code == 0
    plan = qterm("memory", "plan", "--policy", "schema", "--json").json
    going = [each["number"] - 1 for each in plan["entries"] if each["ticked"]]
    assert going == FIRST_RUN["schema_prunes_after_migrate"]
    assert qterm("memory", "migrate", "--to", "tags", "--yes").code == 0
    assert memory.read_bytes() == TAGGED


def test_the_backup_command_gets_the_backup(
    qterm: Qterm, memory: Path, tmp_path: Path, environ: dict[str, str]
) -> None:
    copy = tmp_path / "copy.md"
    environ["QTERM_MEMORY_BACKUP_COMMAND"] = f"cp {{path}} {copy}"
    environ["PATH"] = os.environ["PATH"]
    assert qterm("memory", "delete", "6").code == 0
    assert copy.read_bytes() == TAGGED
    environ["QTERM_MEMORY_BACKUP_COMMAND"] = "ls {path}/nothing"
    result = qterm("memory", "delete", "6")
    assert result.code == 0
    assert "backup" in result.err
    assert len(qterm("memory", "archive", "backups", "--json").json["backups"]) == 2


def test_pruning_the_archive_is_by_hand(qterm: Qterm, memory: Path) -> None:
    assert qterm("memory", "apply", "--policy", "tags", "--yes").code == 0
    nothing = qterm("memory", "archive", "prune", "--older-than", "1d")
    assert nothing.code == 0
    assert "Nothing was archived before" in nothing.out
    kept = qterm("memory", "archive", "prune", "--older-than", "1d", "--yes", "--json").json
    assert kept["entries"] == 0
    shown = qterm("memory", "archive", "prune", "--older-than", "0d")
    assert "--yes" in shown.err
    gone = qterm("memory", "archive", "prune", "--older-than", "0d", "--yes", "--json").json
    assert gone["entries"] == 3
    assert qterm("memory", "archive", "--json").json["removed"] == []


TYPED_P1 = "type: personal\npriority: p1\nexpires: never\ncontent: Lives in Lisbon"


def test_a_typed_p1_is_guarded_too(qterm: Qterm, home: Path) -> None:
    memory = put(home, TYPED_P1, "tea")
    for words in (["delete", "1"], ["edit", "1", "x"], ["tag", "1", "P3"]):
        assert "P1" in qterm("memory", *words).err
    assert entries(memory)[0] == TYPED_P1
    assert qterm("memory", "list", "--json").json["entries"][0]["priority"] == "P1"
    assert qterm("memory", "tag", "1", "P2", "--yes").code == 0
    assert entries(memory)[0] == TYPED_P1.replace("p1", "p2")
    assert qterm("memory", "tag", "1", "none").code == 1


@pytest.mark.parametrize("before", ["\ufeff[P2] Core host", "[p1] Core host", "[P4]Core host"])
def test_a_tag_takes_the_place_of_what_only_looks_like_one(
    qterm: Qterm, home: Path, before: str
) -> None:
    memory = put(home, before, "tea")
    assert qterm("memory", "tag", "1", "P1").code == 0
    assert entries(memory) == ["[P1] Core host", "tea"]


def test_an_edit_keeps_the_tag(qterm: Qterm, home: Path) -> None:
    memory = put(home, "[P2] Prefers short answers.")
    assert qterm("memory", "edit", "1", "Prefers long answers.").code == 0
    assert entries(memory) == ["[P2] Prefers long answers."]
    assert qterm("memory", "edit", "1", "[P3] Prefers none.").code == 0
    assert entries(memory) == ["[P3] Prefers none."]


def test_cleaning_says_what_it_can_not_mend(qterm: Qterm, home: Path) -> None:
    put(home, "x" * 3_000)
    result = qterm("memory", "clean")
    assert result.code == 0
    assert "can't mend" in result.err
    assert "Nothing to clean" not in result.out
    shown = qterm("doctor", "--json").json["checks"]
    (check,) = [each for each in shown if each["id"] == "memory.memory"]
    assert "clean" not in check["mend"]


def test_working_is_not_migrated(qterm: Qterm, home: Path) -> None:
    working = put(home, "[P3] 2026-11-30 · tea", store="WORKING")
    before = working.read_bytes()
    result = qterm("memory", "migrate", "--to", "schema", "--store", "working", "--yes")
    assert result.code == 1
    assert working.read_bytes() == before


def test_restoring_asks_before_it_takes_a_p1_out(qterm: Qterm, home: Path) -> None:
    memory = put(home, "[P3] two", "one")
    assert qterm("memory", "tag", "1", "P1").code == 0
    (removed,) = qterm("memory", "archive", "--json").json["removed"]
    assert qterm("memory", "restore", removed["id"]).code == 1
    assert entries(memory)[0] == "[P1] two"
    assert qterm("memory", "restore", removed["id"], "--yes").code == 0
    assert entries(memory)[0] == "[P3] two"


def test_a_p1_behind_a_byte_order_mark_is_one(qterm: Qterm, home: Path) -> None:
    put(home, "\ufeff[P1] one", "two")
    assert qterm("memory", "delete", "1").code == 1


def test_a_backup_without_entries_needs_a_second_word(qterm: Qterm, home: Path) -> None:
    memory = put(home, "")
    assert qterm("memory", "add", "one").code == 0
    (kept,) = qterm("memory", "archive", "backups", "--json").json["backups"]
    restore = ["memory", "restore", "--backup", kept["sha256"], "--store", "memory", "--yes"]
    assert qterm(*restore).code == 1
    assert entries(memory) == ["one"]
    assert qterm(*restore, "--allow-empty").code == 0
    assert memory.read_bytes() == b""


def test_an_edit_makes_no_double(qterm: Qterm, home: Path) -> None:
    memory = put(home, "one", "two")
    refused = qterm("memory", "edit", "2", "one")
    assert refused.code == 1
    assert "already" in refused.err
    assert entries(memory) == ["one", "two"]
