"""`qterm memory`: what it shows, what it writes, and what it never touches."""

from __future__ import annotations

import fcntl
import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from tests.cases import DATA
from tests.cli.conftest import Qterm

CASES = DATA / "memory"
FIRST_RUN = json.loads((CASES / "first-run.json").read_text())


@pytest.fixture
def home(tmp_path: Path, environ: dict[str, str]) -> Path:
    """A hermes home, chosen by HERMES_HOME."""
    home = tmp_path / "hermes"
    (home / "memories").mkdir(parents=True)
    environ["HERMES_HOME"] = str(home)
    return home


def put(home: Path, *entries: str, store: str = "MEMORY") -> Path:
    path = home / "memories" / f"{store}.md"
    path.write_bytes("\n§\n".join(entries).encode())
    return path


def entries(path: Path) -> list[str]:
    return path.read_text().split("\n§\n")


TAGGED = (CASES / "first-run-tagged.md").read_bytes()


@pytest.fixture
def memory(home: Path) -> Path:
    path = home / "memories" / "MEMORY.md"
    path.write_bytes(TAGGED)
    return path


def state(home: Path) -> dict[str, Any]:
    """Bytes, times, modes and names of everything in a folder."""
    found: dict[str, Any] = {}
    for path in [home, *sorted(home.rglob("*"))]:
        about = path.lstat()
        data = path.read_bytes() if path.is_file() else None
        names = sorted(each.name for each in path.iterdir()) if path.is_dir() else None
        found[str(path)] = (about.st_mtime_ns, about.st_ctime_ns, about.st_mode, data, names)
    return found


READ_ONLY = [
    ["list"],
    ["list", "--json"],
    ["list", "--store", "user"],
    ["list", "--store", "working"],
    ["plan"],
    ["plan", "--json"],
    ["plan", "--policy", "dual"],
    ["plan", "--policy", "schema"],
    ["plan", "--policy", "legacy"],
    ["plan", "--compare"],
    ["plan", "--compare", "--json"],
    ["plan", "--store", "user"],
    ["tag", "--suggested"],
    ["tag", "--suggested", "--json"],
    ["clean"],
    ["migrate", "--to", "schema"],
    ["migrate", "--to", "tags"],
    ["archive"],
    ["archive", "backups"],
]


def test_looking_writes_nothing(qterm: Qterm, home: Path, tmp_path: Path) -> None:
    memories = home / "memories"
    (home / "config.yaml").write_text("memory:\n  memory_char_limit: 0\n")
    (home / "state.db").write_bytes(b"SQLite format 3\0")
    (memories / "MEMORY.md").write_bytes(
        b"\xef\xbb\xbf[P1] one\r\n\xc2\xa7\r\n[P3] two\r\n\xc2\xa7\r\n[P3] two\r\n\xc2\xa7\r\n\r\n"
        b"\xc2\xa7\r\nthree"
    )
    (memories / "USER.md").write_bytes(b"[P2] likes tea\n")
    (memories / "WORKING.md").write_bytes("[P3] 2020-01-01 · old".encode())
    (memories / "MEMORY.md.lock").touch()
    before = state(home)
    for words in READ_ONLY:
        result = qterm("memory", *words)
        assert result.code in {0, 2}, (words, result)
        assert result.out, words
    assert qterm("memory", "plan", "-o", str(tmp_path / "plan.json")).code == 2
    assert qterm("doctor").code in {0, 1}
    assert state(home) == before


def test_a_home_that_is_not_there_stays_so(qterm: Qterm, home: Path) -> None:
    (home / "memories").rmdir()
    home.rmdir()
    for words in READ_ONLY:
        assert qterm("memory", *words).code == 0, words
    assert not home.exists()


def test_a_plan_says_what_would_go_and_why(qterm: Qterm, memory: Path) -> None:
    result = qterm("memory", "plan")
    assert result.code == 2
    assert "nothing has been written" in result.out
    going, _, staying = result.out.partition("stays")
    for index, entry in enumerate(FIRST_RUN["entries"]):
        assert (entry["text"] in going) == (index in FIRST_RUN["tags_prunes"])
        assert (entry["text"][:40] in staying) != (index in FIRST_RUN["tags_prunes"])
    assert str(memory) in result.out
    assert "qterm memory apply" in result.out
    assert memory.read_bytes() == TAGGED


def test_nothing_to_do_exits_with_0(qterm: Qterm, home: Path) -> None:
    put(home, "[P1] a", "untagged: done and complete")
    result = qterm("memory", "plan")
    assert result.code == 0
    assert "Nothing to do" in result.out


def test_apply_does_what_the_plan_shows_and_nothing_else(
    qterm: Qterm, memory: Path, tmp_path: Path
) -> None:
    plan = tmp_path / "plan.json"
    assert qterm("memory", "plan", "-o", str(plan)).code == 2
    assert plan.stat().st_mode & 0o777 == 0o600
    result = qterm("memory", "apply", str(plan))
    assert result.code == 0, result
    wanted = [
        f"[{entry['priority']}] {entry['text']}"
        for index, entry in enumerate(FIRST_RUN["entries"])
        if index not in FIRST_RUN["tags_prunes"]
    ]
    assert entries(memory) == wanted
    again = qterm("memory", "apply", str(plan))
    assert again.code == 1
    assert "has changed since the plan" in again.err


def test_an_entry_comes_back_where_it_was(qterm: Qterm, memory: Path) -> None:
    assert qterm("memory", "apply", "--policy", "tags", "--yes").code == 0
    removed = qterm("memory", "archive", "--json").json["removed"]
    assert [each["text"] for each in removed] == [
        f"[P3] {FIRST_RUN['entries'][index]['text']}" for index in FIRST_RUN["tags_prunes"]
    ]
    assert all(each["by"] == "apply tags" and each["reason"] for each in removed)
    for each in removed:
        assert qterm("memory", "restore", each["id"]).code == 0
    assert memory.read_bytes() == TAGGED
    twice = qterm("memory", "restore", removed[0]["id"])
    assert twice.code == 1
    assert "already" in twice.err


def test_a_whole_file_comes_back_byte_for_byte(qterm: Qterm, home: Path) -> None:
    memory = home / "memories" / "MEMORY.md"
    data = b"[P1] a\r\n\xc2\xa7\r\n[P3] b\r\n"
    memory.write_bytes(data)
    assert qterm("memory", "apply", "--policy", "tags", "--yes").code == 0
    assert memory.read_bytes() == b"[P1] a"
    (kept,) = qterm("memory", "archive", "backups", "--json").json["backups"]
    refused = qterm("memory", "restore", "--backup", kept["sha256"][:12])
    assert refused.code == 1
    assert "--yes" in refused.err
    assert qterm("memory", "restore", "--backup", kept["sha256"][:12], "--yes").code == 0
    assert memory.read_bytes() == data


def test_a_broken_file_is_replaced_by_its_backup(qterm: Qterm, memory: Path) -> None:
    assert qterm("memory", "delete", "6").code == 0
    (kept,) = qterm("memory", "archive", "backups", "--json").json["backups"]
    memory.write_bytes(b"caf\xe9")
    assert qterm("memory", "restore", "--backup", kept["sha256"], "--yes").code == 0
    assert memory.read_bytes() == TAGGED
    backups = qterm("memory", "archive", "backups", "--json").json["backups"]
    assert len(backups) == 2  # the broken one, too


def test_apply_by_policy_prints_the_plan_first_and_asks(qterm: Qterm, memory: Path) -> None:
    refused = qterm("memory", "apply", "--policy", "tags")
    assert refused.code == 1
    assert "--yes" in refused.err
    assert "Shark game updates complete" in refused.out
    assert memory.read_bytes() == TAGGED
    done = qterm("memory", "apply", "--policy", "tags", "--yes", "--json")
    plan, written = done.json_lines
    assert plan["policy"] == "tags"
    assert [each["number"] for each in plan["entries"] if each["ticked"]] == [6, 7, 10]
    assert written["written"][0]["path"] == str(memory)


def hand_edited(plan: Path, edit: Any) -> Path:
    made = json.loads(plan.read_text())
    edit(made)
    plan.write_text(json.dumps(made))
    return plan


def _prune_a_p1(plan: dict[str, Any]) -> None:
    plan["entries"][0].update(action="prune", ticked=True)


def _drop_what_it_keeps(plan: dict[str, Any]) -> None:
    plan["entries"][0]["ticked"] = True


def _no_limit(plan: dict[str, Any]) -> None:
    plan["stores"][0]["limit"] = 0


def _tick_a_p1(plan: dict[str, Any]) -> None:
    plan["ticks"]["ticked"] = [["memory", 1]]


def _untagged_text(plan: dict[str, Any]) -> None:
    plan["entries"][0].update(text="[P3] something", priority="P3", action="prune", ticked=True)


def _legacy(plan: dict[str, Any]) -> None:
    plan.update(policy="legacy", canApply=True)


def _other_settings(plan: dict[str, Any]) -> None:
    plan["settings"]["p2Percent"] = 1


def _other_day(plan: dict[str, Any]) -> None:
    plan["today"] = "2999-01-01"


def _fewer(plan: dict[str, Any]) -> None:
    plan["entries"].pop()


def _two_stores(plan: dict[str, Any]) -> None:
    plan["stores"].append({**plan["stores"][0], "store": "working"})


def _elsewhere(plan: dict[str, Any]) -> None:
    plan["stores"][0]["path"] = "/etc/passwd"


def _another_home(plan: dict[str, Any]) -> None:
    plan["home"] = "/root/.hermes"


def _keep_one_that_goes(plan: dict[str, Any]) -> None:
    plan["entries"][5]["ticked"] = False


def _unknown_field(plan: dict[str, Any]) -> None:
    plan["more"] = 1


@pytest.mark.parametrize(
    "edit",
    [
        _prune_a_p1,
        _drop_what_it_keeps,
        _no_limit,
        _tick_a_p1,
        _untagged_text,
        _legacy,
        _other_settings,
        _other_day,
        _fewer,
        _two_stores,
        _elsewhere,
        _another_home,
        _keep_one_that_goes,
        _unknown_field,
    ],
)
def test_a_plan_edited_by_hand_is_refused(
    qterm: Qterm, memory: Path, tmp_path: Path, edit: Any
) -> None:
    plan = tmp_path / "plan.json"
    qterm("memory", "plan", "-o", str(plan))
    result = qterm("memory", "apply", str(hand_edited(plan, edit)))
    assert result.code == 1
    assert result.err.startswith("qterm: ")
    assert len(result.err.splitlines()) == 1
    assert memory.read_bytes() == TAGGED


def test_what_is_no_plan_is_refused(qterm: Qterm, memory: Path, tmp_path: Path) -> None:
    for data in (b"", b"[]", b'{"form": "x"}', b"\xff", b"[" * 100_000):
        (tmp_path / "plan.json").write_bytes(data)
        result = qterm("memory", "apply", str(tmp_path / "plan.json"))
        assert result.code == 1
        assert len(result.err.splitlines()) == 1
    assert qterm("memory", "apply", str(tmp_path / "none.json")).code == 1
    assert qterm("memory", "apply", str(tmp_path)).code == 1
    assert memory.read_bytes() == TAGGED


def test_a_tick_and_an_untick(qterm: Qterm, home: Path) -> None:
    (home / "config.yaml").write_text("memory:\n  memory_char_limit: 70\n")
    memory = put(home, "[P1] " + "a" * 20, "[P2] " + "b" * 20, "[P2] " + "c" * 20, "[P3] gone")
    shown = qterm("memory", "plan", "--json").json
    assert [each["action"] for each in shown["entries"]] == ["keep", "offer", "keep", "prune"]
    assert [each["ticked"] for each in shown["entries"]] == [False, False, False, True]
    for wrong in ("1", "3", "9", "0", "x", "user:1"):
        refused = qterm("memory", "plan", "--tick", wrong)
        assert refused.code == 1, wrong
    assert (
        qterm("memory", "apply", "--policy", "tags", "--tick", "2", "--untick", "4", "--yes").code
        == 0
    )
    assert entries(memory) == ["[P1] " + "a" * 20, "[P2] " + "c" * 20, "[P3] gone"]


def test_emptying_a_file_needs_a_second_word(qterm: Qterm, home: Path) -> None:
    memory = put(home, "[P3] a", "[P3] b")
    refused = qterm("memory", "apply", "--policy", "tags", "--yes")
    assert refused.code == 1
    assert "--allow-empty" in refused.err
    assert entries(memory) == ["[P3] a", "[P3] b"]
    assert qterm("memory", "delete", "1", "2").code == 1
    assert qterm("memory", "apply", "--policy", "tags", "--yes", "--allow-empty").code == 0
    assert memory.read_bytes() == b""


def test_dual_moves_and_brings_back(qterm: Qterm, memory: Path, home: Path) -> None:
    assert qterm("memory", "apply", "--policy", "dual", "--yes").code == 0
    working = home / "memories" / "WORKING.md"
    moved = [FIRST_RUN["entries"][index]["text"] for index in FIRST_RUN["dual_moves"]]
    assert [each.partition(" · ")[2] for each in entries(working)] == moved
    assert not any(text in memory.read_text() for text in moved)
    first = qterm("memory", "archive", "--json").json["removed"][0]
    assert qterm("memory", "restore", first["id"]).code == 0
    assert entries(memory)[5] == f"[P3] {moved[0]}"
    assert len(entries(working)) == 2
    assert qterm("memory", "restore", "--working", "1").code == 0
    assert entries(memory)[-1] == f"[P3] {moved[1]}"
    assert [each.partition(" · ")[2] for each in entries(working)] == [moved[2]]


def test_legacy_shows_what_it_would_lose_and_can_not_be_applied(qterm: Qterm, memory: Path) -> None:
    result = qterm("memory", "plan", "--policy", "legacy")
    assert result.code == 2
    assert "can't be applied" in result.out
    refused = qterm("memory", "apply", "--policy", "legacy", "--yes")
    assert refused.code == 1
    assert memory.read_bytes() == TAGGED
    compared = qterm("memory", "plan", "--compare", "--json").json
    drops = [
        each["number"] - 1 for each in compared["entries"] if each["decisions"]["legacy"]["ticked"]
    ]
    assert drops == FIRST_RUN["legacy_drops"]
    assert compared["lost"]["legacy"] == [1, 2, 3]
    assert not compared["lost"]["tags"]


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


def test_a_plan_takes_the_place_of_a_link_that_leads_nowhere(
    qterm: Qterm, memory: Path, tmp_path: Path
) -> None:
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    assert qterm("memory", "plan", "-o", str(loop)).code == 2
    assert qterm("memory", "apply", str(loop)).code == 0
    assert memory.read_bytes() != TAGGED


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


def test_the_doctor_shows_the_memory_and_what_is_kept(qterm: Qterm, memory: Path) -> None:
    checks = {each["id"]: each for each in qterm("doctor", "--json").json["checks"]}
    assert checks["memory.memory"]["details"]["entries"] == 10
    assert checks["memory.user"]["state"] == "info"
    assert checks["memory.archive"]["state"] == "info"
    qterm("memory", "apply", "--policy", "tags", "--yes")
    checks = {each["id"]: each for each in qterm("doctor", "--json").json["checks"]}
    assert checks["memory.archive"]["details"]["entries"] == 3
    assert checks["memory.archive"]["details"]["backups"] == 1
    memory.write_bytes(b"a\n\xc2\xa7\n\n\xc2\xa7\nb")
    checks = {each["id"]: each for each in qterm("doctor", "--json").json["checks"]}
    assert checks["memory.memory"]["state"] == "warn"


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
    before = time.monotonic()
    assert qterm("memory", "restore", "--backup", backup, "--yes").code == 0
    assert time.monotonic() - before < 10
    assert len(entries(memory)) == 50_000


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


def test_nothing_says_that_it_did_not_write_when_it_did(qterm: Qterm, home: Path) -> None:
    for words in (
        ["tag", "--suggested", "--yes"],
        ["apply", "--policy", "tags", "--yes"],
        ["migrate", "--to", "schema", "--yes"],
        ["clean", "--yes"],
    ):
        put(home, "We always ask.", "[P2] tea", "[P3] gone", "[P2] tea")
        result = qterm("memory", *words)
        assert result.code == 0
        assert "Written:" in result.out, words
        assert "othing has been written" not in result.out, words
        assert "othing was written" not in result.out, words


def test_what_is_only_offered_has_its_next_step(qterm: Qterm, home: Path) -> None:
    put(home, "[P1] " + "a" * 1_900, "[P2] tea")
    shown = qterm("memory", "plan")
    assert shown.code == 2
    assert "qterm memory apply --policy tags --tick 2" in shown.out
    applied = qterm("memory", "apply", "--policy", "tags")
    assert applied.code == 0
    assert "--tick" in applied.out
    stays = qterm("memory", "plan", "--untick", "1")
    assert stays.code == 1
    assert "stays anyway" in stays.err


def test_an_entry_can_be_read_whole(qterm: Qterm, home: Path) -> None:
    put(home, "one", "two\nlines of it", "three")
    shown = qterm("memory", "list", "2,3").out
    assert "lines of it" in shown
    assert "one" not in shown.splitlines()[2]
    assert qterm("memory", "list", "9").code == 1
    assert qterm("memory", "delete", "1,3").code == 0


def test_what_would_empty_a_file_is_said_before_it_is_asked(qterm: Qterm, home: Path) -> None:
    put(home, "[P3] gone")
    assert "--allow-empty" in qterm("memory", "plan").out
    refused = qterm("memory", "apply", "--policy", "tags")
    assert "empty" in refused.err
    assert "--yes" not in refused.err


def test_the_way_from_a_full_memory_to_tags(qterm: Qterm, home: Path) -> None:
    put(home, "We always ask.", "[P2] tea")
    for words in (["list"], ["plan"]):
        assert "1 entry has no tag" in qterm("memory", *words).out


def test_the_working_notes_are_in_what_q_is_told(qterm: Qterm, memory: Path, home: Path) -> None:
    put(home, "[P3] 2026-11-30 · the parcel is late", store="WORKING")
    assert "Working notes:\n- 2026-11-30 · the parcel is late" in qterm("context").out


def test_the_doctor_says_that_a_file_is_over_its_limit(qterm: Qterm, home: Path) -> None:
    put(home, "a" * 700, "b" * 700, store="USER")
    checks = {each["id"]: each for each in qterm("doctor", "--json").json["checks"]}
    assert checks["memory.user"]["state"] == "warn"
    assert "adds nothing more" in checks["memory.user"]["sentence"]


def test_working_is_not_migrated(qterm: Qterm, home: Path) -> None:
    working = put(home, "[P3] 2026-11-30 · tea", store="WORKING")
    before = working.read_bytes()
    result = qterm("memory", "migrate", "--to", "schema", "--store", "working", "--yes")
    assert result.code == 1
    assert working.read_bytes() == before


def test_the_next_step_does_what_was_shown(qterm: Qterm, memory: Path) -> None:
    shown = qterm("memory", "plan", "--untick", "6,7").out
    (line,) = [line for line in shown.splitlines() if "qterm memory apply" in line]
    words = line[line.index("memory apply") :].split("   ")[0].split()
    assert qterm(*words, "--yes").code == 0
    assert len(entries(memory)) == len(FIRST_RUN["entries"]) - 1
    assert FIRST_RUN["entries"][9]["text"] not in memory.read_text()
