"""The memory's own object: which file a change writes first, and what a saved plan must be."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import msgspec
import pytest

from qterm.memory import replacing
from qterm.memory.book import MemoryBook
from qterm.memory.entries import serialise
from qterm.memory.errors import Refused, Unwritable
from qterm.memory.plan import decode_plan, encode_plan
from qterm.settings.schema import MemorySettings
from tests.memory.homes import MEMORY, NOW, WORKING, archive_in, make_home, put

LASTING, PASSING = "[P1] core", "[P3] queued"


@pytest.fixture
def book(tmp_path: Path) -> MemoryBook:
    folder = make_home(tmp_path, serialise((LASTING, PASSING)))
    return MemoryBook(folder.home, archive_in(tmp_path), MemorySettings(), now=lambda: NOW)


def moved(book: MemoryBook) -> None:
    book.apply(book.preview("dual").plan)


def test_what_takes_entries_in_is_written_first(
    book: MemoryBook, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[str] = []
    real = replacing.put

    def watched(path: Path, *arguments: object, **others: object) -> None:
        written.append(path.name)
        real(path, *arguments, **others)  # type: ignore[arg-type]

    monkeypatch.setattr(replacing, "put", watched)
    moved(book)
    assert written == ["WORKING.md", "MEMORY.md"]
    written.clear()
    book.restore(book.archive.removed()[0])
    assert written == ["MEMORY.md", "WORKING.md"]
    moved(book)
    written.clear()
    book.bring_back(book.look(WORKING), 0)
    assert written == ["MEMORY.md", "WORKING.md"]


def test_a_move_that_ends_half_way_doubles_and_loses_nothing(
    book: MemoryBook, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = replacing.put

    def half(path: Path, *arguments: object, **others: object) -> None:
        if path.name == "MEMORY.md":
            raise OSError(5, "the disk is at fault")
        real(path, *arguments, **others)  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr(replacing, "put", half)
        with pytest.raises(Unwritable):
            moved(book)
    assert book.look(MEMORY).entries == (LASTING, PASSING)
    assert book.look(WORKING).entries == ("[P3] 2026-11-30 · queued",)
    moved(book)
    assert book.look(MEMORY).entries == (LASTING,)
    assert book.look(WORKING).entries == ("[P3] 2026-11-30 · queued",)


def test_a_plan_that_shows_another_text_is_refused(book: MemoryBook) -> None:
    plan = book.preview("tags").plan
    first, second = plan.entries
    for entries in (
        (first, msgspec.structs.replace(second, text="[P3] something else")),
        (msgspec.structs.replace(first, text="[P1] cores"), second),
        (first, msgspec.structs.replace(second, number=3)),
    ):
        with pytest.raises(Refused, match="another text"):
            book.apply(msgspec.structs.replace(plan, entries=entries))
    assert book.look(MEMORY).entries == (LASTING, PASSING)
    book.apply(plan)
    assert book.look(MEMORY).entries == (LASTING,)


def test_a_plan_comes_back_as_it_was_saved(book: MemoryBook) -> None:
    put(book.folder.path(WORKING), "[P3] 2026-11-01 · old\n§\n[P3] 2026-11-30 · new")
    plan = book.preview("dual").plan
    assert decode_plan(encode_plan(plan)) == plan


def test_a_plan_of_an_earlier_day_does_what_it_showed(book: MemoryBook) -> None:
    """Its day is part of it: what it stamps and reckons by is what was shown."""
    book.apply(book.preview("dual", today=date(2026, 11, 28)).plan)
    assert book.look(WORKING).entries == ("[P3] 2026-11-28 · queued",)


def test_what_is_there_already_is_not_added_or_restored_again(book: MemoryBook) -> None:
    with pytest.raises(Refused, match="already: it is number 2"):
        book.add(book.look(MEMORY), f" {PASSING}\n")
    book.delete(book.look(MEMORY), [1])
    book.add(book.look(MEMORY), PASSING)
    with pytest.raises(Refused, match="already: it is number 2"):
        book.restore(book.archive.removed()[0])
    assert book.look(MEMORY).entries == (LASTING, PASSING)
