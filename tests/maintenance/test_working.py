"""The working-store step: by age alone, archived first, under hermes's lock."""

from __future__ import annotations

import fcntl
from pathlib import Path

import pytest

from qterm.maintenance import working
from qterm.maintenance.report import Step, StepState
from qterm.memory.archive import Archive, archive_folder
from qterm.memory.book import MemoryBook
from qterm.memory.entries import serialise
from qterm.memory.errors import ChangedMeanwhile
from qterm.settings.schema import HermesSettings, MaintenanceSettings, MemorySettings
from tests.maintenance.homes import Stage, tree

OLD = "[P3] 2026-11-20 · Waiting for the parcel"
FINISHED = "[P3] 2026-11-29 · The parcel is done"
FRESH = "[P3] 2026-11-23 · Seven days are not more than seven"
FUTURE = "[P3] 2099-01-01 · still to come"
KEPT = ("[P1] 2020-01-01 · core", "[P2] 2020-01-01 · likes tea", "2020-01-01 no tag", "[P3] no day")


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    stage = Stage(tmp_path, chosen=MaintenanceSettings(prune_working=True))
    memories = stage.hermes_home / "memories"
    memories.mkdir()
    # Both would be changed by any policy that looks at more than WORKING.md.
    (memories / "MEMORY.md").write_text(f"[P3] 2020-01-01 · done\n§\n{OLD}\n§\n")
    (memories / "USER.md").write_text("[P3] 2020-01-01 · done")
    (memories / "WORKING.md").write_text(serialise((KEPT[0], OLD, FINISHED, FRESH, *KEPT[1:])))
    return stage


def memories(stage: Stage) -> Path:
    return stage.home / ".hermes" / "memories"


def prune(stage: Stage) -> Step:
    return working.prune(stage.loaded(), stage.environ, now=lambda: stage.moment)


def archive(stage: Stage) -> Archive:
    return Archive(archive_folder(stage.loaded().paths.data_dir, stage.home / ".hermes"))


def test_what_is_too_old_goes_by_age_alone(stage: Stage) -> None:
    before = {path: path.read_bytes() for path in memories(stage).glob("[MU]*.md")}
    step = prune(stage)
    assert (step.name, step.state, step.counts) == ("working", StepState.DONE, {"pruned": 1})
    left = (memories(stage) / "WORKING.md").read_text()
    assert left == serialise((KEPT[0], FINISHED, FRESH, *KEPT[1:]))
    assert {path: path.read_bytes() for path in memories(stage).glob("[MU]*.md")} == before
    (removed,) = archive(stage).removed()
    assert (removed.text, removed.by) == (OLD, "maintenance")
    assert "10 days old" in removed.reason


def test_it_can_come_back(stage: Stage) -> None:
    before = (memories(stage) / "WORKING.md").read_bytes()
    prune(stage)
    book = MemoryBook(
        stage.home / ".hermes", archive(stage), MemorySettings(), now=lambda: stage.moment
    )
    book.restore(archive(stage).removed()[0])
    assert (memories(stage) / "WORKING.md").read_bytes() == before


def test_with_nothing_old_nothing_is_touched(stage: Stage) -> None:
    prune(stage)
    before = tree(stage.folder)
    times = [path.stat().st_mtime_ns for path in memories(stage).iterdir()]
    step = prune(stage)
    assert step.state is StepState.DONE
    assert not step.changed
    assert tree(stage.folder) == before
    assert [path.stat().st_mtime_ns for path in memories(stage).iterdir()] == times


def test_without_a_working_store_nothing_is_made(tmp_path: Path) -> None:
    stage = Stage(tmp_path, chosen=MaintenanceSettings(prune_working=True))
    before = tree(tmp_path)
    assert prune(stage).state is StepState.DONE
    assert tree(tmp_path) == before


def test_it_is_off_by_default(stage: Stage) -> None:
    stage.chosen = MaintenanceSettings()
    before = tree(stage.folder)
    step = prune(stage)
    assert (step.state, step.sentence) == (StepState.SKIPPED, "")
    assert tree(stage.folder) == before


def test_it_may_end_up_empty(stage: Stage) -> None:
    (memories(stage) / "WORKING.md").write_text(OLD)
    assert prune(stage).counts == {"pruned": 1}
    assert (memories(stage) / "WORKING.md").read_text() == ""
    assert [each.text for each in archive(stage).removed()] == [OLD]


def test_the_days_are_those_of_the_settings(stage: Stage) -> None:
    stage.memory = MemorySettings(working_days=30)
    assert prune(stage).counts == {"pruned": 0}
    (memories(stage) / "WORKING.md").write_text(serialise((FUTURE, FINISHED)))
    stage.memory = MemorySettings(working_days=0)
    assert prune(stage).counts == {"pruned": 1}
    assert (memories(stage) / "WORKING.md").read_text() == FUTURE


def test_while_hermes_holds_the_lock_nothing_is_written(stage: Stage) -> None:
    before = (memories(stage) / "WORKING.md").read_bytes()
    with (memories(stage) / "WORKING.md.lock").open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        step = prune(stage)
    assert step.state is StepState.FAILED
    assert "locked by another program" in step.sentence
    assert (memories(stage) / "WORKING.md").read_bytes() == before


def test_one_that_is_not_utf_8_is_a_sentence(stage: Stage) -> None:
    (memories(stage) / "WORKING.md").write_bytes(b"\xff\xfe")
    step = prune(stage)
    assert step.state is StepState.FAILED
    assert "not UTF-8" in step.sentence
    assert (memories(stage) / "WORKING.md").read_bytes() == b"\xff\xfe"


def test_an_archive_that_can_not_be_written_keeps_the_entry(stage: Stage) -> None:
    data = stage.loaded().paths.data_dir
    data.mkdir()
    (data / "memory").write_text("a file in the way")
    before = (memories(stage) / "WORKING.md").read_bytes()
    step = prune(stage)
    assert step.state is StepState.FAILED
    assert (memories(stage) / "WORKING.md").read_bytes() == before


def test_where_another_program_was_quicker_it_looks_once_more(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries = []
    real = MemoryBook.prune_working

    def beaten(book: MemoryBook) -> object:
        tries.append(book)
        if len(tries) == 1:
            raise ChangedMeanwhile("changed")
        return real(book)

    monkeypatch.setattr(MemoryBook, "prune_working", beaten)
    assert prune(stage).counts == {"pruned": 1}


def test_with_hermes_on_another_machine_it_is_off_with_one_sentence(stage: Stage) -> None:
    stage.hermes = HermesSettings(command=("ssh", "tower", "hermes"))
    before = tree(stage.folder)
    step = prune(stage)
    assert step.state is StepState.SKIPPED
    assert "another machine" in step.sentence
    assert tree(stage.folder) == before
    stage.memory = MemorySettings(home=str(stage.home / ".hermes"))
    assert prune(stage).counts == {"pruned": 1}, "its folder is declared to be here"
