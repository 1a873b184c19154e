"""A saved plan is not trusted (rule M2)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Qterm
from tests.cli.memory_stage import TAGGED


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
    plan["home"] = "/home/alex/.hermes"


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


def _another_reason(plan: dict[str, Any]) -> None:
    plan["entries"][5]["reason"] = "P2: you ticked this"


def _another_priority(plan: dict[str, Any]) -> None:
    plan["entries"][5]["priority"] = "P2"


def _not_to_be_applied(plan: dict[str, Any]) -> None:
    plan["canApply"] = False


def _a_day_long_ago(plan: dict[str, Any]) -> None:
    plan["today"] = "0001-01-01"


@pytest.mark.parametrize(
    "edit", [_another_reason, _another_priority, _not_to_be_applied, _a_day_long_ago]
)
def test_a_plan_that_shows_something_else_is_refused(
    qterm: Qterm, memory: Path, tmp_path: Path, edit: Any
) -> None:
    plan = tmp_path / "plan.json"
    qterm("memory", "plan", "--policy", "dual", "-o", str(plan))
    result = qterm("memory", "apply", str(hand_edited(plan, edit)))
    assert result.code == 1
    assert len(result.err.splitlines()) == 1
    assert memory.read_bytes() == TAGGED
