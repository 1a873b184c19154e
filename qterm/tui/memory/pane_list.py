"""Which entries the list shows, in which order, and which are marked: a view, never an edit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from qterm.memory.draft import Draft
from qterm.memory.schema import priority_of
from qterm.memory.tags import Priority
from qterm.tui.words.entry_rows import odd_words


class Order(StrEnum):
    """How the list is sorted; the value is how one says it."""

    FILE = "in the file’s order"
    TAG = "by tag"
    SIZE = "the longest first"


AT_ONCE = 500
"""How many entries are looked at without a thread: a few milliseconds' worth."""

_TAGS = {"p1": Priority.P1, "p2": Priority.P2, "p3": Priority.P3}


@dataclass
class EntryView:
    """`shown` are the indexes of a draft's entries, as the list shows them; `marked` are indexes,
    too. `words` filter: each has to be in the entry, or be a tag or `none`, `odd`, `changed`."""

    words: list[str] = field(default_factory=list)
    order: Order = Order.FILE
    marked: set[int] = field(default_factory=set)
    shown: Sequence[int] = ()

    def fill(self, draft: Draft, line: str) -> None:
        """Find anew which entries are shown."""
        self.take(find(draft, self.words, self.order, line), draft)

    def take(self, shown: Sequence[int], draft: Draft) -> None:
        """Show these of a draft's entries, as far as it still has them."""
        count = len(draft.entries)
        self.marked = {index for index in self.marked if index < count}
        if isinstance(shown, range):
            self.shown = range(min(len(shown), count))
        elif max(shown, default=-1) < count:
            self.shown = shown
        else:
            self.shown = [index for index in shown if index < count]

    def is_quick(self, draft: Draft) -> bool:
        """Whether finding them takes no longer than a frame."""
        return len(draft.entries) <= AT_ONCE or (not self.words and self.order is Order.FILE)

    def row_of(self, index: int) -> int:
        """The row an entry stands in; the nearest one above where it is not shown."""
        if isinstance(self.shown, range):
            return index
        try:
            return list(self.shown).index(index)
        except ValueError:
            return sum(each < index for each in self.shown)

    @property
    def is_whole(self) -> bool:
        """Whether every entry is shown, in the file's order, and none is marked."""
        return not self.words and self.order is Order.FILE and not self.marked

    def next_order(self) -> Order:
        """Sort otherwise."""
        orders = list(Order)
        self.order = orders[(orders.index(self.order) + 1) % len(orders)]
        return self.order


def find(draft: Draft, words: Sequence[str], order: Order, line: str) -> Sequence[int]:
    """The indexes of the entries that all the words leave, in an order; of hermes's `line`.

    It looks at every entry, so of a large store it is asked in a thread (see `is_quick`).
    """
    shown: Sequence[int] = range(len(draft.entries))
    for test in [_test(word, draft, line) for word in words]:
        shown = [index for index in shown if test(index)]
    texts = draft.texts
    if order is Order.TAG:
        shown = sorted(shown, key=lambda index: priority_of(texts[index]) or "P9")
    elif order is Order.SIZE:
        shown = sorted(shown, key=lambda index: -len(texts[index]))
    return shown


def _test(word: str, draft: Draft, line: str) -> Callable[[int], bool]:
    texts = draft.texts
    if word in _TAGS:
        wanted = _TAGS[word]
        return lambda index: priority_of(texts[index]) is wanted
    if word == "none":
        return lambda index: priority_of(texts[index]) is None
    if word == "odd":
        return lambda index: bool(odd_words(texts[index], line, index == 0))
    if word == "changed":
        return draft.changed
    return lambda index: word in texts[index].casefold()
