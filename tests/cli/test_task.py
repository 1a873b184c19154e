"""`qterm task`, `--task` and `again`."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Qterm
from tests.cli.stage import Stage
from tests.hermes.fakes import ID, streamed


def new(qterm: Qterm, title: str = "Ship the importer", *more: str) -> dict[str, Any]:
    made: dict[str, Any] = qterm("task", "new", title, "--json", *more).json
    return made


def test_new_and_list(qterm: Qterm, tmp_path: Path) -> None:
    made = new(qterm, "Ship the importer", "--cwd", str(tmp_path))
    assert re.fullmatch(r"[a-z2-7]{8}", made["id"])
    assert made.pop("createdAt").endswith("Z")
    assert made == {
        "id": made["id"],
        "title": "Ship the importer",
        "state": "open",
        "cwd": str(tmp_path),
        "run": 1,
        "turns": 0,
        "unread": False,
        "session": None,
    }
    assert qterm("task", "list").out == f"{made['id']}  ● Ship the importer\n"
    assert "session  none yet" in qterm("task", "show", made["id"]).out


def test_made_where_you_are(qterm: Qterm) -> None:
    """S8: without --cwd, the folder you are in."""
    assert new(qterm)["cwd"] == str(Path.cwd())


def test_its_life(qterm: Qterm) -> None:
    made = new(qterm)
    assert qterm("task", "rename", made["id"], "Another title").code == 0
    assert qterm("task", "done", made["id"]).out == f"{made['id']}  ✓ Another title\n"
    assert "qterm task new" in qterm("task", "list").err
    assert qterm("task", "list", "--all", "--json").json["state"] == "done"
    refused = qterm("send", "--task", made["id"], "more")
    assert (refused.code, refused.err) == (1, "qterm: The task is done: reopen it to go on.\n")
    assert qterm("task", "done", made["id"]).code == 1
    assert qterm("task", "reopen", made["id"], "--json").json["run"] == 2
    assert "Reopened, run 2" in qterm("feed", "--task", made["id"]).out
    assert qterm("task", "cancel", made["id"]).out.startswith(f"{made['id']}  ✗ ")


@pytest.mark.parametrize(
    "arguments",
    [
        "task show ID",
        "task rename ID x",
        "task done ID",
        "task cancel ID",
        "task reopen ID",
        "send --task ID x",
        "feed --task ID",
        "search --task ID x",
        "export --task ID",
    ],
)
def test_an_unknown_task(qterm: Qterm, arguments: str) -> None:
    result = qterm(*arguments.replace("ID", "nothere1").split())
    assert (result.code, result.out) == (1, "")
    assert "no task “nothere1”" in result.err
    assert result.err.count("\n") == 1


def test_a_task_needs_a_title(qterm: Qterm) -> None:
    assert qterm("task", "new", " ").code == 1
    assert qterm("task", "new", "x", "--cwd", "/nowhere").code == 2


def test_a_folder_on_another_machine(qterm: Qterm, tmp_path: Path) -> None:
    """Over ssh a task's folder is a path there, whether it is here or not; else the home there."""
    ssh = tmp_path / "ssh"
    ssh.write_text("#!/bin/sh\nexit 255\n")
    ssh.chmod(0o755)
    (tmp_path / "config.toml").write_text(f'[hermes]\ncommand = ["{ssh}", "tower"]\n')
    assert new(qterm)["cwd"] == "~"
    for folder in ("/no/such", "~/work"):
        assert new(qterm, "x", "--cwd", folder)["cwd"] == folder
    refused = qterm("task", "new", "x", "--cwd", "work")
    assert refused.code == 1
    assert "a path there: begin it with / or ~/" in refused.err
    sent = qterm("send", "hello")
    assert (sent.code, sent.out) == (3, "")
    assert "ssh could not reach tower: see that" in sent.err


def test_a_thread(stage: Stage) -> None:
    """Two starts of qterm, one session: named after the task, continued by its id."""
    stage.hermes.turns = [streamed("Reader done."), streamed("Writer done.")]
    stage.hermes.write()
    made = json.loads(stage.run("task", "new", "Importer", "--json").stdout)
    first = stage.run("send", "--task", made["id"], "Start with the reader.")
    assert (first.returncode, first.stdout, first.stderr) == (0, b"Reader done.\n", b"")
    assert stage.run("send", "--task", made["id"], "Now the writer.").returncode == 0
    one, two = stage.hermes.calls
    assert "--resume" not in one["argv"]
    assert two["argv"][two["argv"].index("--resume") + 1] == ID
    assert (one["stdin"], two["stdin"]) == ("Start with the reader.", "Now the writer.")
    shown = json.loads(stage.run("task", "show", made["id"], "--json").stdout)
    assert shown["session"]["id"] == ID
    assert shown["session"]["name"] == f"q-task-{made['id']}"
    assert shown["turns"] == 4
    assert shown["unread"] is False, "its answers were printed"
    thread = stage.run("export", "--task", made["id"]).stdout.decode()
    assert thread.startswith("# Run 1\n")
    assert "Writer done." in thread
    assert b"Reader" not in stage.run("feed").stdout, "the home feed holds nothing of it"
    found = stage.run("search", "Reader done", "--task", made["id"], "--json").stdout
    assert len(found.splitlines()) == 1
    dry = json.loads(stage.run("send", "--task", made["id"], "--dry-run", "--json", "x").stdout)
    assert dry["cwd"] == made["cwd"]
    assert ID in dry["argv"]


def test_again(stage: Stage) -> None:
    stage.hermes.turns = [[["err", "it broke\n"], ["exit", 1]], streamed("Now it works.")]
    stage.hermes.write()
    assert stage.run("send", "hello").returncode == 3
    done = stage.run("again", "1", "--json")
    answer = json.loads(done.stdout)
    assert (answer["turn"]["againOf"], answer["reply"]["text"]) == (1, "Now it works.")
    assert stage.run("again", "2").returncode == 1
    assert b"nothing to repeat" in stage.run("again", str(answer["turn"]["id"])).stderr
    assert b"none of yours" in stage.run("again", "999").stderr
