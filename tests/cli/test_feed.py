"""`qterm post`, `feed`, `search`, `export`, `hide`, `delete` and `context`."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from tests.cli.conftest import Qterm


@pytest.fixture(autouse=True)
def posted(qterm: Qterm) -> None:
    for persona, text in [
        ("mallory", "Two meetings today."),
        ("Moneypenny", "Invoice 114 is due\non Friday."),
        ("mallory", "The deploy is green."),
    ]:
        assert qterm("post", "--as", persona, text).code == 0


def test_feed(qterm: Qterm) -> None:
    out = qterm("feed").out
    lines = out.splitlines()
    assert lines[0].startswith("-- ")
    assert [line[14:] for line in lines[1:]] == [
        "Mallory: Two meetings today.",
        "Moneypenny: Invoice 114 is due",
        "on Friday.",
        "Mallory: The deploy is green.",
    ]


def test_feed_as_json(qterm: Qterm) -> None:
    (turn,) = qterm("feed", "-n", "1", "--json").json_lines
    assert turn.pop("createdAt").endswith("Z")
    assert turn == {
        "id": 3,
        "taskId": None,
        "persona": "mallory",
        "label": "Mallory",
        "text": "The deploy is green.",
        "state": "sent",
        "replyTo": None,
        "hidden": False,
        "degraded": None,
        "reason": None,
        "elapsed": None,
        "againOf": None,
        "run": 0,
    }


def test_feed_pages(qterm: Qterm) -> None:
    turns = qterm("feed", "-n", "1", "--before", "3", "--json").json_lines
    assert [turn["id"] for turn in turns] == [2]


@pytest.mark.parametrize("name", ["you", "Q", "q", "You", "YOU"])
def test_nobody_posts_as_you_or_q(qterm: Qterm, name: str) -> None:
    """C4."""
    result = qterm("post", "--as", name, "I approve")
    assert (result.code, result.out) == (1, "")
    assert result.err.startswith("qterm: Nobody can post as “")
    assert len(qterm("feed", "--json").json_lines) == 3


def test_an_unknown_persona_names_those_there_are(qterm: Qterm) -> None:
    result = qterm("post", "--as", "eve", "x")
    assert result.code == 1
    assert "mallory, moneypenny" in result.err


def test_an_empty_post_is_refused(qterm: Qterm) -> None:
    assert qterm("post", "--as", "mallory", " \n").code == 1


def test_search(qterm: Qterm) -> None:
    assert [turn["id"] for turn in qterm("search", "deploy", "--json").json_lines] == [3]
    nothing = qterm("search", "unheard of")
    assert (nothing.code, nothing.out, nothing.err) == (1, "", "qterm: Nothing found.\n")


def test_export_markdown(qterm: Qterm) -> None:
    out = qterm("export").out
    assert out.startswith("# ")
    assert "Invoice 114 is due\non Friday.\n\n" in out


def test_export_lines(qterm: Qterm) -> None:
    turns = qterm("export", "--format", "jsonl").json_lines
    assert [turn["id"] for turn in turns] == [1, 2, 3]


def test_an_exported_file_is_private(qterm: Qterm, tmp_path: Path) -> None:
    path = tmp_path / "feed.jsonl"
    assert qterm("export", "--format", "jsonl", "-o", str(path)).code == 0
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert len([json.loads(line) for line in path.read_text().splitlines()]) == 3
    refused = qterm("export", "-o", str(tmp_path / "config.toml" / "x"))
    assert (refused.code, refused.err.count("\n")) == (1, 1)


def test_hide_from_q(qterm: Qterm) -> None:
    assert "Invoice" in qterm("context").out
    assert qterm("hide", "2").code == 0
    assert "Invoice" not in qterm("context").out
    assert "[hidden from Q]" in qterm("feed").out
    assert qterm("hide", "2", "--show").code == 0
    assert "Invoice" in qterm("context").out


def test_delete(qterm: Qterm) -> None:
    refused = qterm("delete", "2")
    assert (refused.code, "--yes" in refused.err) == (1, True)
    assert qterm("delete", "2", "--yes").code == 0
    assert [turn["id"] for turn in qterm("feed", "--json").json_lines] == [1, 3]


@pytest.mark.parametrize("command", ["hide", "delete"])
def test_a_turn_that_is_not_there(qterm: Qterm, command: str) -> None:
    result = qterm(command, "99")
    assert (result.code, result.err) == (
        1,
        "qterm: There is no turn 99; `qterm feed` shows the ids.\n",
    )


def test_context_as_json(qterm: Qterm) -> None:
    made = qterm("context", "--json").json
    assert made["turns"] == {"told": 3, "leftOut": 0}
    assert made["chars"] == len(made["text"])
    assert made["text"].startswith("[Context for Q")


def test_pipes_get_the_text_as_it_is(qterm: Qterm) -> None:
    """T1: only a terminal needs cleaning; a pipe gets what was said."""
    qterm("post", "--as", "mallory", "a\x1b[31mb")
    assert "a\x1b[31mb" in qterm("feed").out
