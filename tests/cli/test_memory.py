"""`qterm memory`: what it shows, what a plan does, and what it never touches."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.conftest import Qterm
from tests.cli.memory_stage import FIRST_RUN, TAGGED, entries, put, state

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


def test_the_next_step_does_what_was_shown(qterm: Qterm, memory: Path) -> None:
    shown = qterm("memory", "plan", "--untick", "6,7").out
    (line,) = [line for line in shown.splitlines() if "qterm memory apply" in line]
    words = line[line.index("memory apply") :].split("   ")[0].split()
    assert qterm(*words, "--yes").code == 0
    assert len(entries(memory)) == len(FIRST_RUN["entries"]) - 1
    assert FIRST_RUN["entries"][9]["text"] not in memory.read_text()


def test_what_hermes_keeps_out_of_its_prompt_is_pointed_at(qterm: Qterm, home: Path) -> None:
    put(home, "plain", "zero\u200bwidth", "Keys lie in ~/.ssh")
    out = qterm("memory", "list").out
    assert "it holds the hidden character U+200B." in out
    assert "it names ~/.ssh." in out
    found = json.loads(qterm("memory", "list", "--json").out)["entries"]
    assert [bool(each["keptOut"]) for each in found] == [False, True, True]
    assert found[0]["keptOut"] is None
