"""Unsaved edits of one store: its entries as they are to be, with undo and redo (pure).

Nothing here is written. `Draft.entries` say where each of them came from, so that saving knows what
has gone and what took its place (`MemoryBook.save`, rules M3 and M6).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from operator import attrgetter

import msgspec

from qterm.memory.entries import DELIMITER, serialise, size, unwritable
from qterm.memory.errors import Refused
from qterm.memory.keeping import Gone
from qterm.memory.look import Look
from qterm.memory.schema import priority_of, read_schema, with_priority
from qterm.memory.stores import StoreName
from qterm.memory.tags import Priority, retag, strip_tag

STEPS = 1_000
"""How many steps can be undone."""


class DraftEntry(msgspec.Struct, frozen=True, gc=False):
    """An entry as it is to be. `origin` counts from 0 in the file; None: it is new."""

    text: str
    origin: int | None = None


Entries = tuple[DraftEntry, ...]
_text_of = attrgetter("text")


class Draft:
    """The edits of the store that `look` saw. Every edit is one step that can be undone.

    An edit that can't be kept in the file raises Refused with a sentence, and changes nothing.
    Entries count from 0.
    """

    def __init__(self, look: Look, entries: Entries) -> None:
        self.look = look
        self._entries = entries
        self._texts: tuple[str, ...] | None = None
        self._compared: tuple[Entries, Look, bool] | None = None
        self._undo: list[tuple[str, Entries]] = []
        self._redo: list[tuple[str, Entries]] = []

    @classmethod
    def of(cls, look: Look) -> Draft:
        """No edits yet."""
        return cls(look, tuple(map(DraftEntry, look.entries, range(len(look.entries)))))

    def copy(self) -> Draft:
        """The same entries without what can be undone: for a thread."""
        return Draft(self.look, self._entries)

    @property
    def store(self) -> StoreName:
        """Which store it is."""
        return self.look.store

    @property
    def entries(self) -> Entries:
        """The entries as they are to be, in the file's order."""
        return self._entries

    @property
    def texts(self) -> tuple[str, ...]:
        """Their texts."""
        if self._texts is None:
            self._texts = tuple(map(_text_of, self._entries))
        return self._texts

    @property
    def size(self) -> int:
        """Code points of the joined text, as hermes counts."""
        return size(self.texts)

    @property
    def has_changes(self) -> bool:
        """Whether saving would change the entries of the file."""
        known = self._compared
        if known is None or known[0] is not self._entries or known[1] is not self.look:
            # asked at every key, and a file can have 50,000 entries
            known = self._compared = (self._entries, self.look, self.texts != self.look.entries)
        return known[2]

    def changed(self, index: int) -> bool:
        """Whether an entry is new, or has another text than in the file."""
        entry = self._entries[index]
        return entry.origin is None or self.look.entries[entry.origin] != entry.text

    # -- edits ---------------------------------------------------------------------------------

    def set_text(self, index: int, text: str) -> bool:
        """Put another text in the place of an entry; False where it is the same."""
        text = _clean(text)
        if not text:
            raise Refused(f"Entry {index + 1} would be blank: delete it instead.")
        if text == self._entries[index].text:
            return False
        self._see_that_it_is_new(text)
        self._put({index: text}, "the edit")
        return True

    def tag(self, indexes: Iterable[int], priority: Priority | None) -> int:
        """Give entries another tag, or none; returns how many have changed."""
        texts = {}
        for index in dict.fromkeys(indexes):
            old = self._entries[index].text
            try:
                new = with_priority(old, priority)
            except ValueError as error:
                raise Refused(f"Entry {index + 1} can't be tagged so: {error}.") from None
            if new != old:
                texts[index] = new
        self.replace(texts, "the tag" if len(texts) == 1 else f"{len(texts):,} tags")
        return len(texts)

    def replace(self, texts: dict[int, str], words: str) -> None:
        """Put other texts in the place of several entries, in one step that `words` name."""
        if texts:
            after = Counter(self.texts)
            after.subtract(self._entries[index].text for index in texts)
            for text in texts.values():
                if after[text]:
                    raise self._there_already(text)
                after[text] += 1
            self._put(texts, words)

    def add(self, text: str, at: int | None = None) -> int:
        """Put a new entry in front of the one at `at`, at the end unless given; its index."""
        text = _clean(text)
        if not text:
            raise Refused("An entry needs some words.")
        self._see_that_it_is_new(text)
        index = len(self._entries) if at is None else max(min(at, len(self._entries)), 0)
        before, behind = self._entries[:index], self._entries[index:]
        self._take((*before, DraftEntry(text), *behind), "the new entry", [index, index + 1])
        return index

    def delete(self, indexes: Iterable[int]) -> int:
        """Take entries out; returns how many."""
        going = set(indexes)
        if going:
            left = tuple(each for index, each in enumerate(self._entries) if index not in going)
            words = "the deletion" if len(going) == 1 else f"{len(going):,} deletions"
            self._take(left, words, _junctions(going))
        return len(going)

    def move(self, indexes: Iterable[int], step: int) -> list[int]:
        """Move entries by so many places, together; where they are now.

        They stop at the first and the last place.
        """
        moving = sorted(set(indexes))
        if not moving or not step:
            return moving
        last = len(self._entries) - 1
        step = max(step, -moving[0]) if step < 0 else min(step, last - moving[-1])
        if not step:
            return moving
        targets = {index + step: self._entries[index] for index in moving}
        chosen = set(moving)
        rest = iter([each for index, each in enumerate(self._entries) if index not in chosen])
        moved = tuple(
            targets[index] if index in targets else next(rest)
            for index in range(len(self._entries))
        )
        low, high = min(*moving, *targets), max(*moving, *targets)
        self._take(moved, "the move", range(low, high + 2))
        return sorted(targets)

    def split(self, index: int, parts: Sequence[str]) -> int:
        """Make several entries of one; the first keeps its tag. Returns how many there are.

        A tag of the whole entry goes to each part that has none.
        """
        cleaned = [text for part in parts if (text := _clean(part))]
        if len(cleaned) < 2:
            raise Refused("There is nothing to split: put the cursor between two lines of text.")
        priority = priority_of(self._entries[index].text)
        if priority is not None and read_schema(self._entries[index].text) is None:
            head, *rest = cleaned
            cleaned = [
                head,
                *(part if priority_of(part) else retag(part, priority) for part in rest),
            ]
        others = Counter(self.texts)
        others[self._entries[index].text] -= 1
        for text in cleaned:
            if others[text]:
                raise self._there_already(text)
            others[text] += 1
        made = [DraftEntry(cleaned[0], self._entries[index].origin)]
        made += [DraftEntry(text) for text in cleaned[1:]]
        entries = (*self._entries[:index], *made, *self._entries[index + 1 :])
        self._take(entries, "the split", range(index, index + len(made) + 1))
        return len(made)

    def merge(self, indexes: Iterable[int]) -> int:
        """Make one entry of several, where the first of them is; its index.

        Their texts follow each other on lines of their own, behind the highest of their tags.
        """
        chosen = sorted(set(indexes))
        if len(chosen) < 2:
            raise Refused("Mark two entries or more, then join them.")
        texts = [self._entries[index].text for index in chosen]
        if any(read_schema(text) is not None for text in texts):
            raise Refused("Typed entries can't be joined: each is a form of its own. Edit one.")
        tags = [tag for text in texts if (tag := priority_of(text)) is not None]
        merged = "\n".join(part for text in texts if (part := strip_tag(text).strip()))
        if tags:
            merged = f"[{min(tags)}] {merged}".rstrip()
        others = Counter(self.texts)
        others.subtract(texts)
        if others[merged]:
            raise self._there_already(merged)
        going = set(chosen[1:])
        entries = list(self._entries)
        entries[chosen[0]] = DraftEntry(merged, entries[chosen[0]].origin)
        left = tuple(each for index, each in enumerate(entries) if index not in going)
        self._take(left, "the join", [chosen[0], chosen[0] + 1, *_junctions(going)])
        return chosen[0]

    def take(self, entries: Entries, words: str) -> None:
        """Take other entries as one step that `words` name: what came of another screen."""
        self._take(entries, words, range(len(entries) + 1))

    # -- undo ----------------------------------------------------------------------------------

    @property
    def can_undo(self) -> bool:
        """Whether there is a step to undo."""
        return bool(self._undo)

    @property
    def can_redo(self) -> bool:
        """Whether there is a step to redo."""
        return bool(self._redo)

    def undone(self) -> Entries | None:
        """The entries with all that was undone; None where nothing was."""
        return self._redo[0][1] if self._redo else None

    def undo(self) -> str:
        """Take the last step back; what it was, in words (`the tag`), empty where there is none."""
        return self._step(self._undo, self._redo)

    def redo(self) -> str:
        """Do the step again that was taken back last; what it was, empty where there is none."""
        return self._step(self._redo, self._undo)

    def _step(self, of: list[tuple[str, Entries]], onto: list[tuple[str, Entries]]) -> str:
        if not of:
            return ""
        words, entries = of.pop()
        onto.append((words, self._entries))
        self._set(entries)
        return words

    # -- what saving would do ------------------------------------------------------------------

    def gone(self) -> tuple[Gone, ...]:
        """The entries of the file that would no longer be there as they were, for the archive."""
        now = {each.origin: each.text for each in self._entries if each.origin is not None}
        gone = []
        for index, text in enumerate(self.look.entries):
            new = now.get(index)
            if new is None:
                gone.append(Gone(index, text, "deleted by the operator"))
            elif new != text:
                reason = "another tag" if strip_tag(new) == strip_tag(text) else "another text"
                gone.append(Gone(index, text, reason, replaced_by=new))
        return tuple(gone)

    def p1_touched(self) -> list[int]:
        """The P1 entries, by index in the file, that would be changed or deleted: asked once."""
        return [each.index for each in self.gone() if priority_of(each.text) is Priority.P1]

    def trouble(self) -> str:
        """Why it can't be saved, in one sentence; empty where it can."""
        if not self.look.snapshot.is_text:
            return "The file is not UTF-8, so it can only be shown."
        if why := unwritable(self.texts):
            return why
        if len(set(self.texts)) < len(self.texts):  # those of the file itself may stay
            had = Counter(self.look.entries)
            for text, count in Counter(self.texts).items():
                if count > max(had[text], 1):
                    first = self.texts.index(text) + 1
                    second = self.texts.index(text, first) + 1
                    return (
                        f"Entry {second} is the same as entry {first}, and hermes would drop it: "
                        "change or delete one of them."
                    )
        return ""

    # -- inside --------------------------------------------------------------------------------

    def _put(self, texts: dict[int, str], words: str) -> None:
        entries = list(self._entries)
        for index, text in texts.items():
            entries[index] = DraftEntry(text, entries[index].origin)
        self._take(tuple(entries), words, [each for index in texts for each in (index, index + 1)])

    def _take(self, entries: Entries, words: str, junctions: Iterable[int]) -> None:
        """`junctions` are the places, in the new order, before which something has changed."""
        if not self.look.snapshot.is_text:
            raise Refused("The file is not UTF-8: save it as UTF-8 with an editor first.")
        for place in dict.fromkeys(junctions):
            beside = [each.text for each in entries[max(place - 1, 0) : place + 1]]
            if why := _why_apart(beside):
                raise Refused(why)
        if entries == self._entries:
            return
        self._undo.append((words, self._entries))
        del self._undo[:-STEPS]
        self._redo.clear()
        self._set(entries)

    def _set(self, entries: Entries) -> None:
        self._entries = entries
        self._texts = None

    def _see_that_it_is_new(self, text: str) -> None:
        if text in self.texts:
            raise self._there_already(text)

    def _there_already(self, text: str) -> Refused:
        name = self.store.file_name
        if text not in self.texts:
            return Refused(f"{name} would have the same entry twice, and hermes drops the second.")
        number = self.texts.index(text) + 1
        return Refused(f"{name} has that entry already: it is number {number}.")


def _clean(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n").strip()


def _junctions(going: Iterable[int]) -> list[int]:
    """Where neighbours meet that were apart, once these have gone."""
    return [index - before for before, index in enumerate(sorted(going))]


def _why_apart(texts: Sequence[str]) -> str:
    """Why neighbours can't stand in a file so; empty where they can."""
    if all(text.isascii() or ("§" not in text and max(text) < "\ud800") for text in texts):
        return ""
    if not unwritable(texts):
        return ""
    if any(DELIMITER in text for text in texts):
        return (
            "A line with nothing but § would make two entries of it: put another character on "
            "that line, or split the entry there."
        )
    try:
        serialise(texts).encode("utf-8")
    except UnicodeEncodeError:
        return "It holds half a character (a lone surrogate), which no file can hold."
    return (
        "An entry that begins or ends with a line of nothing but § would be split elsewhere by "
        "hermes: put another character on that line."
    )
