"""Edits of a file that somebody else has changed meanwhile: what each side did, and three ways on.

Pure. Nothing is decided here: the operator chooses, and each choice is a draft on the file as it is
now, so that nothing is lost and every one can be undone.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum

from qterm.memory.draft import Draft, DraftEntry, Entries
from qterm.memory.errors import Refused
from qterm.memory.look import Look

FEW = 20
"""Up to so many entries between two that stayed are compared by what they say."""

ALIKE = 0.6
"""From which likeness on (0 to 1) an entry counts as changed, not as another one."""


COMPARED = 1_000
"""Code points of an entry that likeness goes by."""

EFFORT = 200_000
"""Code points that are compared altogether; what is left then counts as deleted and as new, which
loses nothing."""


class Side(StrEnum):
    """Whose change it is."""

    MINE = "mine"
    THEIRS = "theirs"
    BOTH = "both"


@dataclass(frozen=True, slots=True)
class Difference:
    """An entry that is not as it was on one side or on both: its text of before, mine, and theirs.

    None: it was not there, or is not there any more.
    """

    side: Side
    before: str | None
    mine: str | None
    theirs: str | None


@dataclass(frozen=True)
class Merge:
    """What came of both sides; `differences` in the order of the file as it was, new ones last."""

    look: Look
    base: tuple[str, ...]
    mine: Entries
    differences: tuple[Difference, ...]
    _place: dict[int, int]
    """Where an entry of the base is in the file now."""

    @property
    def both(self) -> list[Difference]:
        """The entries that both have changed."""
        return [each for each in self.differences if each.side is Side.BOTH]

    def _mine(self) -> Entries:
        return tuple(
            DraftEntry(each.text, None if each.origin is None else self._place.get(each.origin))
            for each in self.mine
        )

    def keep_mine(self) -> Draft:
        """The entries as I have them, on the file as it is now."""
        draft = Draft.of(self.look)
        draft.take(_once(self._mine()), "your edits")
        return draft

    def take_theirs(self) -> Draft:
        """The file as it is now; my edits are one redo away."""
        draft = self.keep_mine()
        draft.undo()
        return draft

    def join(self) -> Draft:
        """What both did: where both changed the same entry, both texts stay, mine behind theirs."""
        now = self.look.entries
        mine = {each.origin: each.text for each in self.mine if each.origin is not None}
        back = {place: index for index, place in self._place.items()}
        joined: list[DraftEntry] = []
        for place, text in enumerate(now):
            index = back.get(place)
            if index is None:  # they have added it
                joined.append(DraftEntry(text, place))
                continue
            own, before = mine.get(index), self.base[index]
            if text == before:
                if own is not None:
                    joined.append(DraftEntry(own, place))
            else:  # they have changed it; what I deleted stays in their words
                joined.append(DraftEntry(text, place))
                if own not in {None, before, text}:
                    joined.append(DraftEntry(own or ""))
        self._add_mine(joined)
        draft = Draft.of(self.look)
        draft.take(_once(joined), "both sides’ edits")
        return draft

    def _add_mine(self, joined: list[DraftEntry]) -> None:
        """What I added, and what I changed and they deleted, behind what stands before it here."""
        places = {each.text: number for number, each in enumerate(joined)}
        behind: dict[int, list[DraftEntry]] = defaultdict(list)
        last = -1
        for each in self.mine:
            is_lost = each.origin is not None and each.origin not in self._place
            is_changed = each.origin is not None and self.base[each.origin] != each.text
            if each.origin is None or (is_lost and is_changed):
                if each.text not in places:
                    behind[last].append(DraftEntry(each.text))
            else:
                last = places.get(each.text, last)
        for number in sorted(behind, reverse=True):
            joined[number + 1 : number + 1] = behind[number]


def follow(draft: Draft, look: Look) -> Draft:
    """A draft without edits on the file as `look` sees it now; what was undone stays a redo away.

    The redo then joins it with what others have written meanwhile, and takes nothing of that.
    """
    again = draft.undone()
    if again is None:
        return Draft.of(look)
    try:
        followed = merge(draft.look.entries, again, look).join()
    except Refused:  # neighbours that can't stand beside each other in the file as it is now
        return Draft.of(look)
    followed.undo()
    return followed


def merge(base: Sequence[str], mine: Entries, look: Look) -> Merge:
    """Compare my entries, whose origins count in `base`, with the file as `look` sees it now."""
    theirs, place = _theirs(base, look.entries)
    own = {each.origin: each.text for each in mine if each.origin is not None}
    found = []
    for index, before in enumerate(base):
        my, its = own.get(index), theirs.get(index)
        if my == before and its == before:
            continue
        side = Side.MINE if its == before else Side.THEIRS if my == before else Side.BOTH
        if not (side is Side.BOTH and my == its):
            found.append(Difference(side, before, my, its))
    found += [Difference(Side.MINE, None, each.text, None) for each in mine if each.origin is None]
    taken = set(place.values())
    found += [
        Difference(Side.THEIRS, None, None, text)
        for number, text in enumerate(look.entries)
        if number not in taken
    ]
    return Merge(look, tuple(base), mine, tuple(found), place)


def _theirs(base: Sequence[str], now: Sequence[str]) -> tuple[dict[int, str], dict[int, int]]:
    """What each entry of the base is now, and where; one that has gone is in neither.

    Entries with the same text belong together; as many new ones as have gone, between the same two,
    are those that were changed, otherwise those that are alike. Linear in the number of entries.
    """
    waiting: dict[str, deque[int]] = defaultdict(deque)
    for number, text in enumerate(now):
        waiting[text].append(number)
    place: dict[int, int] = {}
    for index, text in enumerate(base):
        if waiting[text]:
            place[index] = waiting[text].popleft()
    taken = set(place.values())
    gaps: dict[int, list[int]] = defaultdict(list)  # the new ones behind an entry that stayed
    last = -1
    for number in range(len(now)):
        if number in taken:
            last = number
        else:
            gaps[last].append(number)
    last = -1
    lost: dict[int, list[int]] = defaultdict(list)
    for index in range(len(base)):
        if index in place:
            last = place[index]
        else:
            lost[last].append(index)
    effort = EFFORT
    for before, gone in lost.items():
        new = gaps[before]
        if len(gone) == len(new):
            place.update(zip(gone, new, strict=True))
        elif new and max(len(gone), len(new)) <= FEW and effort > 0:
            old, others = [base[each] for each in gone], [now[each] for each in new]
            found, effort = _alike(old, others, effort)
            place.update({gone[index]: new[number] for index, number in found.items()})
    return {index: now[number] for index, number in place.items()}, place


def _alike(gone: Sequence[str], new: Sequence[str], effort: int) -> tuple[dict[int, int], int]:
    """Of those that have gone, which new one each has become: the most alike ones, in order.

    With it what is left of the effort.
    """
    found: dict[int, int] = {}
    start = 0
    for index, text in enumerate(gone):
        matcher = SequenceMatcher(None, "", text[:COMPARED])  # the second one is looked at once
        best, place = ALIKE, -1
        for number in range(start, len(new)):
            effort -= min(len(text), COMPARED) + min(len(new[number]), COMPARED)
            if effort < 0:
                return found, effort
            matcher.set_seq1(new[number][:COMPARED])
            if matcher.real_quick_ratio() < best or matcher.quick_ratio() < best:
                continue
            ratio = matcher.ratio()
            if ratio > best or (place < 0 and ratio >= ALIKE):
                best, place = ratio, number
        if place >= 0:
            found[index] = place
            start = place + 1
    return found, effort


def _once(entries: Sequence[DraftEntry]) -> Entries:
    """The same without later doubles, which hermes would drop."""
    seen: dict[str, DraftEntry] = {}
    for each in entries:
        seen.setdefault(each.text, each)
    return tuple(seen.values())
