"""Suggested tags, each with the rule that fired: accepted one by one, or all after a look."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.content import Content

from qterm.memory.draft import Draft, Entries
from qterm.memory.schema import priority_of, with_priority
from qterm.memory.tags import Priority, Suggestion, suggest
from qterm.tui.commands.registry import Place, bindings
from qterm.tui.content import one_line, plain, with_controls
from qterm.tui.desk import messages
from qterm.tui.memory.rows_room import RowsRoom
from qterm.tui.screens.ask import Question
from qterm.tui.widgets.row_list import RowList
from qterm.tui.words.entry_rows import MUTED, first_words, odd_words, tag_words

if TYPE_CHECKING:
    from qterm.tui.common import Common

Found = list[tuple[int, Suggestion | None]]


@dataclass(frozen=True)
class Tagged:
    """The entries with the accepted tags: how many those are, and the step in words."""

    entries: Entries
    count: int
    words: str


class SuggestedRows(RowList):
    """The rows; what can be done with them are commands."""

    BINDINGS: ClassVar = bindings(Place.SUGGESTED)


class SuggestedScreen(RowsRoom):
    """The entries of a draft without a tag; `tagged` is told how many were tagged, in one step.

    `now` is the draft as the pane has it: another one, once somebody else has changed the file.
    """

    TITLE_WORDS: ClassVar = "Suggested tags"
    PLACES: ClassVar = (Place.SUGGESTED, Place.ROOM)
    AUTO_FOCUS = "#rows"

    def __init__(
        self,
        common: Common,
        draft: Draft,
        *,
        tagged: Callable[[int], None],
        now: Callable[[], Draft | None],
    ) -> None:
        self.draft, self._tagged, self._now = draft, tagged, now
        self.found: Found | None = None
        self._suggested = 0
        self.taken: dict[int, Priority] = {}
        """The tags that are accepted, by the entry's index."""
        super().__init__(common)

    def make_rows(self) -> RowList:
        """With the keys of the suggestions."""
        return SuggestedRows(self.row, id="rows")

    def on_mount(self) -> None:
        """Look which rules fire."""
        self.tell()
        self._look()

    def _look(self) -> None:
        texts, settings = self.draft.texts, self.common.services.settings.memory

        def look(_book: object) -> Found:
            untagged = [index for index, text in enumerate(texts) if priority_of(text) is None]
            made = [(index, suggest(texts[index], settings)) for index in untagged]
            return sorted(made, key=lambda pair: pair[1] is None)

        self.work.ask("suggest", look)

    @on(messages.MemoryDone)
    def _done(self, event: messages.MemoryDone) -> None:
        match event.found:
            case list() as found:
                self.found = found
                self._suggested = sum(each is not None for _, each in found)
                self.show(len(found))
            case Tagged() as tagged:
                self._put(tagged)

    @on(messages.MemoryFailed)
    def _failed(self, event: messages.MemoryFailed) -> None:
        self.app.notify(event.sentence, severity="error")

    @property
    def chosen(self) -> int | None:
        """The index of the entry with the cursor."""
        row = self.rows.chosen
        return None if row is None or self.found is None else self.found[row][0]

    # -- what is shown -------------------------------------------------------------------------

    def heading(self) -> Content:
        """What this is."""
        return Content.styled(f"Suggested tags for {self.draft.store.file_name}", "bold")

    def head(self) -> Content:
        """How many there are, and what accepting means."""
        if self.found is None:
            return Content("Looking…")
        if not self.found:
            return Content("Every entry has a tag.")
        lines = [
            Content(
                f"Suggestions for {self._suggested:,} of {len(self.found):,} untagged entries. "
                "Only what you accept is tagged, as an edit that can be undone."
            )
        ]
        if self.taken:
            lines.append(plain(f"Accepted: {self._counts()}.", "bold $text-success"))
        return Content("\n").join(lines)

    def _counts(self) -> str:
        counts = Counter(self.taken.values())
        return ", ".join(f"{counts[each]:,} {each}" for each in Priority if counts[each])

    def row(self, row: int, width: int) -> Content:
        """One entry: what is accepted, what is suggested, its first words, the rule."""
        if self.found is None or row >= len(self.found):
            return Content("")
        index, found = self.found[row]
        taken = self.taken.get(index)
        mark = Content.styled("☑ ", "$text-success") if taken else Content("☐ ")
        word = tag_words(taken) if taken else tag_words(found.priority if found else None)
        sign = " " if taken or found is None else "?"
        head = Content.assemble(mark, word, sign, " " * (4 - word.cell_length - len(sign)))
        room = width - head.cell_length
        rule = f"it {found.rule}" if found else "no rule fires"
        wide = min(max(room // 2, 12), 52)
        words = first_words(self.draft.texts[index], max(room - wide - 2, 8))
        gap = " " * max(room - wide - words.cell_length, 1)
        return Content.assemble(head, words, gap, one_line(rule, wide, MUTED))

    def detail(self, row: int | None) -> Content:
        """The whole entry, and what fired."""
        if self.found is None or row is None or row >= len(self.found):
            return Content("")
        index, found = self.found[row]
        text = self.draft.texts[index]
        if found is None:
            why = Content.styled("No rule fires: 1, 2 or 3 give it a tag all the same.", MUTED)
        else:
            why = Content.assemble(
                Content.styled(f"{found.priority}? ", "bold"),
                plain(f"It {found.rule}: {', '.join(found.words)}."),
            )
        lines = [why]
        if odd := odd_words(text, "", index == 0):
            lines.append(plain(f"! {odd}", "$text-warning"))
        return Content("\n").join([*lines, with_controls(text[:20_000])])

    def can_now(self) -> set[str]:
        """What can be done now."""
        words = set()
        if self.found:
            words.add("accept")
        if self.taken:
            words.add("take")
        return words

    # -- commands ------------------------------------------------------------------------------

    def action_accept(self) -> None:
        """Accept the suggestion, or take that back; the cursor goes on."""
        row = self.rows.chosen
        if row is None or self.found is None:
            return
        index, found = self.found[row]
        if index in self.taken:
            del self.taken[index]
        elif found is not None:
            self.taken[index] = found.priority
        else:
            self.app.notify("Nothing is suggested for this entry: 1, 2 or 3 give it a tag.")
            return
        self.tell()
        self.rows.action_cursor(1)

    def action_choose(self, name: str) -> None:
        """Give the entry a tag of one’s own choice, or none."""
        if (index := self.chosen) is None:
            return
        if name:
            self.taken[index] = Priority(name)
        else:
            self.taken.pop(index, None)
        self.tell()
        self.rows.action_cursor(1)

    def action_accept_all(self) -> None:
        """Accept every suggestion, or none where all are accepted."""
        suggested = {index: each.priority for index, each in self.found or () if each is not None}
        if suggested.keys() <= self.taken.keys():
            self.taken.clear()
        else:
            self.taken = {**suggested, **self.taken}
        self.tell()

    def action_take(self) -> None:
        """Ask once, then tag what was accepted."""
        if not self.taken:
            return
        many = "1 entry" if len(self.taken) == 1 else f"{len(self.taken):,} entries"
        question = Question(
            f"Tag {many} ({self._counts()})? It becomes an edit that is not saved yet, and can be "
            "undone.",
            yes="Tag",
            no="Go back",
        )
        self.app.push_screen(question, lambda yes: self._tag() if yes else None)

    def _tag(self) -> None:
        if (draft := self._now()) is not self.draft:
            self._follow(draft)
            return
        taken, copy = dict(self.taken), Draft(self.draft.look, self.draft.entries)

        def tag(_book: object) -> Tagged:
            texts = copy.texts
            changed = {}
            for index, priority in taken.items():
                try:
                    changed[index] = with_priority(texts[index], priority)
                except ValueError:
                    continue  # it has no words but its near tag
            many = "1 tag" if len(changed) == 1 else f"{len(changed):,} tags"
            words = f"{many} that were suggested"
            copy.replace(changed, words)
            return Tagged(copy.entries, len(changed), words)

        self.work.ask("tag", tag)

    def _put(self, tagged: Tagged) -> None:
        if (draft := self._now()) is not self.draft:
            self._follow(draft)
            return
        self.draft.take(tagged.entries, tagged.words)
        self.dismiss()
        self._tagged(tagged.count)

    def _follow(self, draft: Draft | None) -> None:
        """Look again, at what the pane has now; what was accepted stays with its entry."""
        name = self.draft.store.file_name
        if draft is None:
            self.app.notify(f"{name} can’t be read now: wait, or leave.", severity="error")
            return
        before, where = self.draft.texts, {text: index for index, text in enumerate(draft.texts)}
        taken = self.taken.items()
        self.taken = {where[before[at]]: tag for at, tag in taken if before[at] in where}
        self.draft, self.found = draft, None
        self.app.notify(
            f"{name} has changed meanwhile, so nothing is tagged yet: look again.",
            severity="warning",
        )
        self._look()

    def action_close(self) -> None:
        """What was accepted and not taken is asked about."""
        if not self.taken:
            super().action_close()
            return
        question = Question(
            f"Leave without tagging? Accepted so far: {self._counts()}.",
            yes="Leave them untagged",
            no="Go back",
        )
        self.app.push_screen(question, self._leave)

    def _leave(self, yes: bool | None) -> None:
        if yes:
            self.dismiss()
