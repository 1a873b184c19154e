"""Unsaved edits: each step, undo and redo, what saving does, what lies on the disk meanwhile."""

from __future__ import annotations

import subprocess
import sys
import time
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qterm.feed.owner import current_owner, is_alive
from qterm.memory.archive import Archive
from qterm.memory.book import MemoryBook
from qterm.memory.draft import Draft, DraftEntry
from qterm.memory.entries import decode, parse, serialise
from qterm.memory.errors import ChangedMeanwhile, Refused
from qterm.memory.merging import Side, follow, merge
from qterm.memory.stores import StoreName
from qterm.memory.tags import Priority
from qterm.memory.unsaved import Unsaved
from qterm.model import Owner
from qterm.settings.schema import MemorySettings

NOW = datetime(2026, 11, 30, 9, 15, tzinfo=UTC)
STORE = StoreName.MEMORY


def book_of(folder: Path, *entries: str) -> MemoryBook:
    path = folder / "home" / "memories" / STORE.file_name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(serialise(entries).encode("utf-8", "surrogatepass"))
    archive = Archive(folder / "archive")
    return MemoryBook(folder / "home", archive, MemorySettings(), now=lambda: NOW)


def draft_of(folder: Path, *entries: str) -> Draft:
    return Draft.of(book_of(folder, *entries).look(STORE))


def test_every_edit_is_one_step(tmp_path: Path) -> None:
    draft = draft_of(tmp_path, "[P1] a", "b", "c")
    assert not draft.has_changes
    assert not draft.can_undo
    draft.set_text(1, " bee ")
    draft.tag([1, 2], Priority.P3)
    draft.add("new")
    draft.delete([0])
    draft.move([2], -2)
    assert list(draft.texts) == ["new", "[P3] bee", "[P3] c"]
    assert [entry.origin for entry in draft.entries] == [None, 1, 2]
    assert draft.undo() == "the move"
    assert draft.undo() == "the deletion"
    assert list(draft.texts) == ["[P1] a", "[P3] bee", "[P3] c", "new"]
    assert draft.redo() == "the deletion"
    assert [draft.undo() for _ in range(5)] == [
        "the deletion",
        "the new entry",
        "2 tags",
        "the edit",
        "",
    ]
    assert list(draft.texts) == ["[P1] a", "b", "c"]
    assert not draft.has_changes
    draft.redo()
    draft.add("other")
    assert draft.redo() == ""  # another way was taken


def test_split_and_merge(tmp_path: Path) -> None:
    draft = draft_of(tmp_path, "[P2] a\nb\n[P1] c", "d", "[P1] e")
    assert draft.split(0, ["[P2] a", "b", " ", "[P1] c"]) == 3
    assert list(draft.texts) == ["[P2] a", "[P2] b", "[P1] c", "d", "[P1] e"]
    assert draft.merge([1, 3, 4]) == 1
    assert list(draft.texts) == ["[P2] a", "[P1] b\nd\ne", "[P1] c"]
    with pytest.raises(Refused, match="nothing to split"):
        draft.split(0, ["[P2] a", "  "])
    with pytest.raises(Refused, match="Mark two"):
        draft.merge([1])


@pytest.mark.parametrize(
    ("entries", "merged"),
    [
        (["b", "[P2]"], "[P2] b"),
        (["[P3]", "[P2]"], "[P2]"),
        (["[P3]", "a", "[P2] b"], "[P2] a\nb"),
        (["[P1] [P2] is a tag", "b"], "[P1] [P2] is a tag\nb"),
    ],
)
def test_what_is_joined_is_what_a_file_can_hold(
    entries: list[str], merged: str, tmp_path: Path
) -> None:
    draft = draft_of(tmp_path, *entries)
    assert draft.merge(range(len(entries))) == 0
    assert draft.texts == (merged,)
    assert draft.trouble() == ""


def test_what_is_joined_must_not_be_there_already(tmp_path: Path) -> None:
    draft = draft_of(tmp_path, "a", "b", "a\nb")
    with pytest.raises(Refused, match="already: it is number 3"):
        draft.merge([0, 1])
    assert not draft.can_undo


def test_doubles_can_be_saved_only_where_the_file_had_them(tmp_path: Path) -> None:
    book = book_of(tmp_path, "a", "a", "b")
    draft = Draft.of(book.look(STORE))
    draft.set_text(2, "c")
    assert draft.trouble() == ""
    draft.take((*draft.entries, DraftEntry("c")), "what came from elsewhere")
    assert draft.trouble() == (
        "Entry 4 is the same as entry 3, and hermes would drop it: change or delete one of them."
    )
    with pytest.raises(Refused, match="Entry 4 is the same"):
        book.save(draft)
    assert book.look(STORE).entries == ("a", "a", "b")


def test_moving_stops_at_the_ends_and_keeps_what_moves_together(tmp_path: Path) -> None:
    draft = draft_of(tmp_path, *"abcde")
    assert draft.move([0, 2], -1) == [0, 2]
    assert draft.move([1, 3], 1) == [2, 4]
    assert draft.texts == tuple("acbed")
    assert draft.move([2, 4], 5) == [2, 4]
    assert draft.move([0], 9) == [4]


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (lambda draft: draft.set_text(0, "  "), "blank"),
        (lambda draft: draft.set_text(0, "b"), "already: it is number 2"),
        (lambda draft: draft.set_text(0, "x\n§\ny"), "two entries"),
        (lambda draft: draft.set_text(0, "half \ud800"), "surrogate"),
        (lambda draft: draft.add(""), "some words"),
        (lambda draft: draft.add("b"), "number 2"),
        (lambda draft: draft.add("§\nc\n§", at=0), "§"),
        (lambda draft: draft.tag([2], None), "can't be tagged"),
        (lambda draft: draft.replace({0: "same", 1: "same"}, "x"), "twice"),
    ],
)
def test_what_no_file_can_hold_is_refused_and_changes_nothing(
    edit: object, words: str, tmp_path: Path
) -> None:
    draft = draft_of(tmp_path, "a", "b", "[P3]")
    with pytest.raises(Refused, match=words):
        edit(draft)  # type: ignore[operator]
    assert not draft.can_undo
    assert list(draft.texts) == ["a", "b", "[P3]"]


def test_saving_writes_it_and_archives_what_went(tmp_path: Path) -> None:
    book = book_of(tmp_path, "[P1] a", "b", "c")
    draft = Draft.of(book.look(STORE))
    draft.set_text(0, "[P1] a, changed")
    draft.tag([1], Priority.P2)
    draft.delete([2])
    draft.add("new", at=0)
    assert draft.p1_touched() == [0]
    (written,) = book.save(draft)
    assert book.look(STORE).entries == ("new", "[P1] a, changed", "[P2] b")
    removed = book.archive.removed()
    assert [(each.text, each.replaced_by, each.by) for each in removed] == [
        ("[P1] a", "[P1] a, changed", "edit"),
        ("b", "[P2] b", "edit"),
        ("c", None, "edit"),
    ]
    assert written.backup is not None
    with pytest.raises(ChangedMeanwhile):
        book.save(draft)  # bound to the bytes of before


def test_emptying_a_store_needs_a_word_of_its_own(tmp_path: Path) -> None:
    book = book_of(tmp_path, "a")
    draft = Draft.of(book.look(STORE))
    draft.delete([0])
    with pytest.raises(Refused, match="empty"):
        book.save(draft)
    assert book.look(STORE).entries == ("a",)
    book.save(draft, allow_empty=True)
    assert book.look(STORE).entries == ()


def test_the_fingerprint_changes_with_the_file_and_writes_nothing(tmp_path: Path) -> None:
    book = book_of(tmp_path, "a")
    before = book.fingerprint()
    assert before == book.fingerprint()
    book_of(tmp_path, "a", "b")
    assert before != book.fingerprint()
    assert not (tmp_path / "archive").exists()


TEXT = st.text(alphabet="ab§\n [P123]\r\u2028é", min_size=0, max_size=8)
ENTRIES = st.lists(TEXT, max_size=6).map(lambda texts: parse(decode(serialise(texts).encode())))
INDEX = st.integers(0, 6)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("set_text"), INDEX, TEXT),
        st.tuples(st.just("tag"), st.lists(INDEX, max_size=3), st.sampled_from([*Priority, None])),
        st.tuples(st.just("add"), TEXT, st.one_of(st.none(), INDEX)),
        st.tuples(st.just("delete"), st.lists(INDEX, max_size=3)),
        st.tuples(st.just("move"), st.lists(INDEX, max_size=3), st.integers(-3, 3)),
        st.tuples(st.just("split"), INDEX, st.lists(TEXT, max_size=3)),
        st.tuples(st.just("merge"), st.lists(INDEX, max_size=3)),
    ),
    max_size=8,
)


def run(draft: Draft, steps: list[tuple[object, ...]]) -> None:
    """Do what can be done of it."""
    for name, *arguments in steps:
        last = len(draft.entries) - 1
        if name in {"set_text", "split"} and arguments[0] > last:  # type: ignore[operator]
            continue
        if name in {"tag", "delete", "move", "merge"}:
            arguments[0] = [index for index in arguments[0] if index <= last]  # type: ignore[attr-defined]
        try:
            getattr(draft, str(name))(*arguments)
        except Refused:
            continue


@settings(max_examples=300, deadline=None)
@given(ENTRIES, STEPS)
def test_any_steps_can_be_undone_and_saved(
    tmp_path_factory: pytest.TempPathFactory, entries: tuple[str, ...], steps: list[object]
) -> None:
    folder = tmp_path_factory.mktemp("draft")
    book = book_of(folder, *entries)
    draft = Draft.of(book.look(STORE))
    start = draft.entries
    run(draft, steps)  # type: ignore[arg-type]
    end = draft.entries
    origins = [each.origin for each in end if each.origin is not None]
    assert len(origins) == len(set(origins))
    while draft.undo():
        pass
    assert draft.entries == start
    while draft.redo():
        pass
    assert draft.entries == end
    assert draft.trouble() == ""
    book.save(draft, allow_empty=True)
    assert book.look(STORE).entries == draft.texts
    archived = Counter(each.text for each in book.archive.removed())
    assert (
        not Counter(draft.look.entries) - Counter(draft.texts) - archived
    )  # nothing is lost (rule M3)


def test_edits_of_a_large_file_cost_little(tmp_path: Path) -> None:
    draft = draft_of(tmp_path, *(f"entry {number}" for number in range(20_000)))
    for number in range(200):
        draft.set_text(number, f"other {number}")
    draft.tag(range(20_000), Priority.P2)
    assert draft.size > 20_000
    draft.undo()
    assert draft.texts[0] == "other 0"


# -- on the disk -----------------------------------------------------------------------------------


def unsaved(folder: Path, pid: int = 0) -> Unsaved:
    owner = Owner(pid, "gone") if pid else current_owner()
    return Unsaved(folder / "unsaved", owner, is_alive)


def test_edits_survive_the_process(tmp_path: Path) -> None:
    draft = draft_of(tmp_path, "a", "b")
    draft.set_text(0, "[P1] aye")
    gone = unsaved(tmp_path, 999_999)
    gone.keep(draft, NOW)
    (found,) = unsaved(tmp_path).find(STORE)
    again = found.edits.draft(draft.look)
    assert again is not None
    assert again.texts == ("[P1] aye", "b")
    assert again.undo()
    assert not again.has_changes
    (path,) = (tmp_path / "unsaved").iterdir()
    assert path.stat().st_mode & 0o777 == 0o600
    assert unsaved(tmp_path).find(StoreName.USER) == []
    unsaved(tmp_path).adopt(found)
    assert unsaved(tmp_path).find(STORE) == []


def test_a_draft_without_changes_is_forgotten(tmp_path: Path) -> None:
    draft = draft_of(tmp_path, "a")
    draft.set_text(0, "b")
    unsaved(tmp_path).keep(draft, NOW)
    draft.undo()
    unsaved(tmp_path).keep(draft, NOW)
    assert list((tmp_path / "unsaved").iterdir()) == []


def test_another_qterms_edits_are_left_alone(tmp_path: Path) -> None:
    """Two at once: each has its own; the other's are found when it is gone."""
    show = "from qterm.feed.owner import current_owner; print(current_owner(), flush=True); input()"
    other = subprocess.Popen(
        [sys.executable, "-c", show], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert other.stdout is not None
    owner = Owner.parse(other.stdout.readline().strip())
    assert owner is not None
    draft = draft_of(tmp_path, "a")
    draft.set_text(0, "theirs")
    Unsaved(tmp_path / "unsaved", owner, is_alive).keep(draft, NOW)
    mine = unsaved(tmp_path)
    assert mine.find(STORE) == []
    draft.set_text(0, "mine")
    mine.keep(draft, NOW)
    other.communicate("\n")
    assert [found.edits.entries[0].text for found in mine.find(STORE)] == ["theirs"]


HEAD = (
    b'{"form":"qterm-memory-edits/1","owner":"1:x","savedAt":"2026-11-30T09:15:00Z",'
    b'"sha256":"","base":[],"store":'
)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x00\xff",
        b"{}",
        b"[" * 100_000,
        b'{"form":"qterm-memory-edits/1","store":"memory","owner":"1:x","savedAt":'
        b'"2026-11-30T09:15:00Z","sha256":"","base":[],"entries":[{"text":"a","origin":4}]}',
        # what no memory file can hold, and what is of another file
        HEAD + b'"memory","entries":[{"text":"a\\n\xc2\xa7\\nb"}]}',
        HEAD + b'"memory","entries":[{"text":" "}]}',
        HEAD + b'"user","entries":[{"text":"a"}]}',
        '{"form":"qterm-memory-edits/1","owner":"²:x"}'.encode(),
        b'{"form":"qterm-memory-edits/1","owner":"%s:x"}' % (b"1" * 5_000),
    ],
)
def test_a_damaged_file_is_put_aside(tmp_path: Path, data: bytes) -> None:
    folder = tmp_path / "unsaved"
    folder.mkdir()
    (folder / "memory-1-x.json").write_bytes(data)
    assert unsaved(tmp_path).find(STORE) == []
    (path,) = unsaved(tmp_path).damaged()
    assert path.read_bytes() == data


def test_one_damaged_file_does_not_take_the_place_of_another(tmp_path: Path) -> None:
    folder = tmp_path / "unsaved"
    folder.mkdir()
    for data in (b"one", b"two"):
        (folder / "memory-1-x.json").write_bytes(data)
        assert unsaved(tmp_path).find(STORE) == []
    assert [path.read_bytes() for path in unsaved(tmp_path).damaged()] == [b"one", b"two"]


@pytest.mark.parametrize("is_alive_still", [True, False])
def test_what_a_later_qterm_wrote_is_left_to_it(tmp_path: Path, is_alive_still: bool) -> None:
    folder = tmp_path / "unsaved"
    folder.mkdir()
    owner = current_owner() if is_alive_still else Owner(999_999, "gone")
    data = b'{"form":"qterm-memory-edits/2","owner":"%s","more":1}' % str(owner).encode()
    path = folder / "memory-1-x.json"
    path.write_bytes(data)
    assert unsaved(tmp_path).find(STORE) == []
    assert path.read_bytes() == data
    assert unsaved(tmp_path).damaged() == ([] if is_alive_still else [path])


def test_what_cannot_be_opened_is_told_and_stays(tmp_path: Path) -> None:
    path = tmp_path / "unsaved" / "memory-1-x.json"
    path.mkdir(parents=True)
    assert unsaved(tmp_path).find(STORE) == []
    assert unsaved(tmp_path).damaged() == [path]


def test_what_a_kill_left_half_written_goes(tmp_path: Path) -> None:
    folder = tmp_path / "unsaved"
    folder.mkdir()
    (folder / ".memory-1-x.json.qterm-0123abcd.tmp").write_bytes(b"half")
    assert unsaved(tmp_path).find(STORE) == []
    assert list(folder.iterdir()) == []


def test_a_folder_that_cannot_be_made_is_one_sentence(tmp_path: Path) -> None:
    draft = draft_of(tmp_path, "a")
    draft.set_text(0, "b")
    (tmp_path / "unsaved").write_text("a file")
    with pytest.raises(Exception, match="save them into the memory file before you quit"):
        unsaved(tmp_path).keep(draft, NOW)


# -- both sides ------------------------------------------------------------------------------------


def both(folder: Path, base: list[str], mine: list[DraftEntry], theirs: list[str]) -> object:
    look = book_of(folder, *theirs).look(STORE)
    return merge(base, tuple(mine), look)


def test_what_each_side_did_is_told_apart(tmp_path: Path) -> None:
    mine = [DraftEntry("a2", 0), DraftEntry("b", 1), DraftEntry("d2", 3), DraftEntry("new", None)]
    theirs = ["a", "b2", "c", "d3", "theirs"]
    merged = merge(list("abcd"), tuple(mine), book_of(tmp_path, *theirs).look(STORE))
    assert [(each.side, each.before, each.mine, each.theirs) for each in merged.differences] == [
        (Side.MINE, "a", "a2", "a"),
        (Side.THEIRS, "b", "b", "b2"),
        (Side.MINE, "c", None, "c"),
        (Side.BOTH, "d", "d2", "d3"),
        (Side.MINE, None, "new", None),
        (Side.THEIRS, None, None, "theirs"),
    ]
    assert merged.join().texts == ("a2", "b2", "d3", "d2", "new", "theirs")
    assert merged.keep_mine().texts == ("a2", "b", "d2", "new")
    kept = merged.take_theirs()
    assert kept.texts == tuple(theirs)
    assert not kept.has_changes
    kept.redo()
    assert kept.texts == ("a2", "b", "d2", "new")


@settings(max_examples=300, deadline=None)
@given(ENTRIES, STEPS, ENTRIES)
def test_joining_loses_no_words_of_either_side(
    tmp_path_factory: pytest.TempPathFactory,
    base: tuple[str, ...],
    steps: list[object],
    theirs: tuple[str, ...],
) -> None:
    folder = tmp_path_factory.mktemp("merge")
    draft = draft_of(folder, *base)
    run(draft, steps)  # type: ignore[arg-type]
    look = book_of(folder, *theirs).look(STORE)
    merged = merge(draft.look.entries, draft.entries, look)
    changed = [each.text for each in draft.entries if each.text not in draft.look.entries]
    added = [text for text in look.entries if text not in draft.look.entries]
    try:
        joined = merged.join().texts
    except Refused:  # neighbours that can't stand beside each other: the operator is told
        return
    assert set(changed) <= set(joined)
    assert set(added) <= set(joined)
    assert len(joined) == len(set(joined))
    assert merged.take_theirs().texts == look.entries


def test_an_entry_that_was_changed_is_told_from_a_new_one_beside_it(tmp_path: Path) -> None:
    base = ["first", "[P2] Backups run nightly on web-2.", "last"]
    theirs = ["first", "Nothing like it", "[P2] Backups run nightly on web-3.", "last"]
    mine = [DraftEntry(text, index) for index, text in enumerate(base)]
    merged = merge(base, tuple(mine), book_of(tmp_path, *theirs).look(STORE))
    assert [(each.before, each.theirs) for each in merged.differences] == [
        (base[1], theirs[2]),
        (None, "Nothing like it"),
    ]


def test_comparing_two_files_that_have_little_in_common_costs_little(tmp_path: Path) -> None:
    """Of 8,000 entries every run of 20 became 19 others: each pair compared took 8 seconds."""
    base = [f"entry number {number} says something of the server" for number in range(8_000)]
    theirs = [
        f"{number} other words wholly unlike them, {number * 7}" if number % 40 < 19 else text
        for number, text in enumerate(base)
        if number % 40 != 19
    ]
    look = book_of(tmp_path, *theirs).look(STORE)
    mine = tuple(DraftEntry(text, index) for index, text in enumerate(base))
    began = time.process_time()
    merged = merge(base, mine, look)
    assert time.process_time() - began < 3
    assert set(merged.join().texts) == set(theirs)


def test_what_was_undone_stays_a_redo_away_when_the_file_changes(tmp_path: Path) -> None:
    """Their file was taken, and then they wrote once more: my words are still there."""
    draft = draft_of(tmp_path, "a", "b")
    draft.set_text(1, "bee")
    draft.add("mine")
    look = book_of(tmp_path, "a", "b", "theirs").look(STORE)
    taken = merge(draft.look.entries, draft.entries, look).take_theirs()
    look = book_of(tmp_path, "a", "b", "theirs", "more").look(STORE)
    followed = follow(taken, look)
    assert not followed.has_changes
    assert followed.texts == look.entries
    assert followed.redo()
    assert followed.texts == ("a", "bee", "mine", "more")


def test_every_step_that_was_undone_is_in_the_redo(tmp_path: Path) -> None:
    draft = draft_of(tmp_path, "a", "b")
    draft.set_text(0, "A")
    draft.add("c")
    draft.undo()
    draft.undo()
    followed = follow(draft, book_of(tmp_path, "a", "b", "x").look(STORE))
    followed.redo()
    assert followed.texts == ("A", "b", "c", "x")
    fresh = draft_of(tmp_path, "a")
    assert not follow(fresh, fresh.look).can_redo
