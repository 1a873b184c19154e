"""`qterm facts` and `qterm mode`."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
import time_machine

from tests.cli.conftest import Qterm

NOON = datetime(2026, 11, 30, 12, 0).astimezone()


def facts_of(qterm: Qterm) -> list[tuple[str, bool, int]]:
    found = qterm("facts", "list", "--json").json
    return [(fact["text"], fact["pinned"], fact["position"]) for fact in found]


def test_facts(qterm: Qterm) -> None:
    for text in ("one", "two", "three"):
        assert qterm("facts", "add", text).code == 0
    assert qterm("facts", "move", "3", "1").code == 0
    assert facts_of(qterm) == [("three", True, 1), ("one", True, 2), ("two", True, 3)]
    assert qterm("facts", "unpin", "1").code == 0
    assert facts_of(qterm) == [("three", True, 1), ("two", True, 2), ("one", False, 1)]
    assert qterm("facts", "edit", "1", "uno").code == 0
    assert qterm("facts", "pin", "1").code == 0
    removed = qterm("facts", "rm", "2")
    assert removed.out == "two\n"
    assert facts_of(qterm) == [("three", True, 1), ("uno", True, 2)]
    assert "- three\n- uno\n" in qterm("context").out


def test_the_list_is_readable(qterm: Qterm) -> None:
    qterm("facts", "add", "one")
    qterm("facts", "add", "two", "--unpinned")
    assert qterm("facts", "list").out.splitlines() == [
        "  1. pinned  #1    one",
        "             #2    two",
    ]


def test_no_facts(qterm: Qterm) -> None:
    assert "qterm facts add" in qterm("facts", "list").err
    assert qterm("facts", "add", "  ").code == 1


@pytest.mark.parametrize("arguments", ["pin 9", "unpin 9", "move 9 1", "rm 9", "edit 9 x"])
def test_a_fact_that_is_not_there(qterm: Qterm, arguments: str) -> None:
    result = qterm("facts", *arguments.split())
    assert (result.code, "no fact #9" in result.err) == (1, True)


def test_mode(qterm: Qterm) -> None:
    assert qterm("mode").out == "No mode.\n"
    assert qterm("mode", "Deep work").out == "Deep work\n"
    assert "Mode: Deep work\n" in qterm("context").out
    assert qterm("mode", "--clear").out == "No mode.\n"
    assert qterm("context").out == ""


def test_a_mode_whose_time_has_passed_is_not_sent(qterm: Qterm) -> None:
    with time_machine.travel(NOON, tick=False):
        assert "15:00" in qterm("mode", "Deep work", "--until", "15:00").out
        assert "Mode: Deep work (until 15:00)" in qterm("context").out
    with time_machine.travel(NOON + timedelta(hours=4), tick=False):
        assert qterm("context").out == ""
        assert "its time has passed" in qterm("mode").out
        assert qterm("mode", "--json").json["over"] is True


def test_wrong_use_of_mode(qterm: Qterm) -> None:
    assert qterm("mode", "--until", "15:00").code == 2
    assert qterm("mode", "x", "--clear").code == 2
    assert qterm("mode", "x", "--until", "soon").code == 2
