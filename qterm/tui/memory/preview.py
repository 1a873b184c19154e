"""The dry run: what a policy would do with every entry and why. Nothing is written by looking."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.content import Content

from qterm.memory.errors import ChangedMeanwhile, Outdated
from qterm.memory.look import Preview
from qterm.memory.proposal import NO_TICKS, Action, Decision, Ticks
from qterm.memory.schema import Migration
from qterm.memory.stores import StoreName
from qterm.tui.commands.registry import Place, bindings
from qterm.tui.content import plain
from qterm.tui.desk import messages
from qterm.tui.memory.ask_long import LongQuestion
from qterm.tui.memory.rows_room import RoomWork, RowsRoom, Write
from qterm.tui.screens.ask import Question
from qterm.tui.screens.sheets import Sheet
from qterm.tui.widgets.row_list import RowList
from qterm.tui.words.diff_rows import diff_content, preview_diff
from qterm.tui.words.plan_rows import (
    EXPLAINED,
    PlanRows,
    applied_words,
    apply_question,
    changed_words,
    lost_words,
    migration_words,
    policy_tabs,
)

if TYPE_CHECKING:
    from qterm.memory.book import MemoryBook
    from qterm.memory.writer import Written
    from qterm.tui.common import Common


class PreviewRows(RowList):
    """The rows; what can be done with them are commands."""

    BINDINGS: ClassVar = bindings(Place.PREVIEW)


class PreviewScreen(RowsRoom):
    """`store` is looked at, `policy` shown first; `write` writes what is applied.

    Every question to the policy is asked in a thread; the newest one counts.
    """

    TITLE_WORDS: ClassVar = "Preview"
    PLACES: ClassVar = (Place.PREVIEW, Place.ROOM)
    AUTO_FOCUS = "#rows"

    def __init__(
        self, common: Common, store: StoreName, policy: str, *, backups: str, write: Write
    ) -> None:
        self.store, self._backups, self._write = store, backups, write
        self.policies = ["tags", "schema", "legacy"]
        if store is StoreName.MEMORY:
            self.policies.insert(1, "dual")
        self.policy = policy if policy in self.policies else self.policies[0]
        self._ticks: dict[str, Ticks] = {}
        self.made: PlanRows | None = None
        self._shown: list[Decision] = []
        self._only_going = False
        self._reckoning = True
        self._asked = 0
        self._is_writing = False
        self._refused = ""
        self._sentence = ""
        super().__init__(common)

    def make_rows(self) -> RowList:
        """With the keys of the preview."""
        return PreviewRows(self.row, id="rows")

    def on_mount(self) -> None:
        """Ask the policy."""
        self.tell()
        self._ask()

    # -- asking the policy ---------------------------------------------------------------------

    def _ask(self) -> None:
        policy, store = self.policy, self.store
        ticks = self._ticks.get(policy, NO_TICKS)
        self._reckoning = True
        self._asked += 1
        number = self._asked

        def preview(book: MemoryBook) -> tuple[int, PlanRows]:
            found = book.preview(policy, store, ticks=ticks, drop_stray=True)
            return number, PlanRows.of(found)

        self.work.ask("preview", preview, leaves_nothing=True)

    @on(messages.MemoryDone)
    def _done(self, event: messages.MemoryDone) -> None:
        match event.what, event.found:
            case "preview", (int() as number, PlanRows() as made) if number == self._asked:
                self._show_preview(made)  # an older one knows nothing of the newest tick
            case "diff", list() as lines:
                self.app.push_screen(Sheet("What would change", diff_content(lines)))
            case "migration", (Preview(), Migration() as migration, str() as form):
                self._ask_migration(migration, form)

    @on(messages.MemoryFailed)
    def _failed(self, event: messages.MemoryFailed) -> None:
        if event.what != "preview":
            self.app.notify(event.sentence, severity="error", timeout=12)
            return
        self._reckoning = False
        self.made, self._shown = None, []
        self._sentence, self._refused = event.sentence, ""
        self.show(0)

    def write_failed(self, event: messages.MemoryFailed) -> None:
        """Say why; where what was shown does not hold any more, there is a new preview of it."""
        self._is_writing = False
        self._sentence = event.sentence
        match event.error:
            case ChangedMeanwhile():
                self._refused = "The file has changed meanwhile, so nothing was written"
            case Outdated(why=why):
                self._refused = f"{why.removesuffix('.')}, so nothing was written"
        if self._refused:
            self._sentence = ""
            self._ask()
        self.tell()

    def _show_preview(self, made: PlanRows) -> None:
        before, preview = self.made, made.preview
        self._reckoning = False
        if self._refused:
            what = ""
            if before is not None and before.preview.hashes != preview.hashes:
                now = preview.proposal.documents
                what = f" ({changed_words(before.proposal.documents, now)})"
            self._sentence = (
                f"{self._refused}{what}. This is a new preview: look again, then apply it."
            )
            self._refused = ""
        elif before is None or before.proposal.policy != preview.proposal.policy:
            self._sentence = ""
        self._ticks[self.policy] = preview.ticks
        self.made = made
        self._fill()

    def _fill(self) -> None:
        made = self.made
        decisions = list(made.proposal.decisions) if made is not None else []
        if self._only_going and made is not None:
            decisions = made.notable
        chosen = self.chosen
        self._shown = decisions
        row = None
        if chosen is not None:
            place = (chosen.store, chosen.index)
            row = next(
                (
                    number
                    for number, each in enumerate(decisions)
                    if (each.store, each.index) == place
                ),
                None,
            )
        self.show(len(decisions), row)

    @property
    def chosen(self) -> Decision | None:
        """The decision with the cursor."""
        row = self.rows.chosen
        return None if row is None or row >= len(self._shown) else self._shown[row]

    # -- what is shown -------------------------------------------------------------------------

    def heading(self) -> Content:
        """That nothing was written is true until apply says otherwise."""
        if self.is_over:
            return Content.styled("Preview: it was applied", "bold")
        still = " · reckoning anew…" if self.made is not None and self._reckoning else ""
        return Content.assemble(
            Content.styled("Preview: nothing has been written", "bold"),
            Content.styled(still, "$foreground-muted"),
        )

    def head(self) -> Content:
        """The policies, what the chosen one does, and the sizes before and after."""
        tabs = policy_tabs(self.policies, self.policy)
        lines = [
            Content.assemble("Policy ", tabs),
            plain(EXPLAINED[self.policy], "$foreground-muted"),
        ]
        made = self.made
        if made is None or made.proposal.policy != self.policy:
            lines.append(Content("Reckoning… esc leaves." if self._reckoning else ""))
        else:
            lines += made.sizes
            if lost := lost_words(made):
                lines.append(plain(lost, "bold $text-error"))
            elif not made.proposal.has_work:
                lines.append(Content.styled("There is nothing to prune.", "$text-success"))
        if self._is_writing:
            lines.append(Content.styled("Writing…", "$text-warning"))
        elif self._sentence:
            lines.append(plain(self._sentence, "$text-warning"))
        return Content("\n").join(lines)

    def row(self, row: int, width: int) -> Content:
        """One entry."""
        if self.made is None or row >= len(self._shown):
            return Content("")
        return self.made.row(self._shown[row], width)

    def detail(self, row: int | None) -> Content:
        """The whole entry, and why it stays or goes."""
        if self.made is None or row is None or row >= len(self._shown):
            return Content("")
        return self.made.detail(self._shown[row])

    def can_now(self) -> set[str]:
        """What can be done with the preview as it is."""
        made = self.made
        if made is None or made.proposal.policy != self.policy:
            return set()
        words = {"diff", "compare"}
        if self._is_writing or self.is_over:
            return words
        chosen = self.chosen
        if chosen is not None and chosen.action is not Action.KEEP:
            words.add("tick")
        if made.offered:
            words.add("offered")
        if made.proposal.can_apply and made.has_going:
            words.add("apply")
        if self.policy == "schema":
            words.add("migrate")
        return words

    # -- commands ------------------------------------------------------------------------------

    def action_policy(self, step: int) -> None:
        """Look at another policy, in place."""
        place = self.policies.index(self.policy)
        self.policy = self.policies[(place + step) % len(self.policies)]
        self._sentence = ""
        self.made, self._shown = None, []
        self.show(0)
        self._ask()

    def action_tick(self) -> None:
        """Tick the entry, or untick it; the policy reckons anew."""
        made, chosen = self.made, self.chosen
        if made is None or chosen is None:
            return
        if chosen.action is Action.KEEP:
            self.app.notify(f"This entry stays: {chosen.reason}.")
            return
        self._set([chosen], ticked=not made.is_ticked(chosen))

    def action_offered(self) -> None:
        """Tick everything that is offered, or nothing of it."""
        if self.made is not None:
            offered = self.made.offered
            ticked = not all(map(self.made.is_ticked, offered))
            self._set(offered, ticked=ticked)

    def _set(self, decisions: list[Decision], *, ticked: bool) -> None:
        assert self.made is not None
        ticks = self._ticks.get(self.policy, NO_TICKS)
        on_, off = set(ticks.on), set(ticks.off)
        for each in decisions:
            place = (each.store, each.index)
            self.made.ticked[place] = ticked
            wanted, other = (on_, off) if ticked else (off, on_)
            other.discard(place)
            if (each.action is Action.OFFER) == ticked:
                wanted.add(place)
        self._ticks[self.policy] = Ticks(frozenset(on_), frozenset(off))
        self.tell()
        self._ask()

    def action_only_going(self) -> None:
        """Show only what goes or is offered, or everything."""
        self._only_going = not self._only_going
        self._fill()

    def action_diff(self) -> None:
        """Show what would change, line by line."""
        if self.made is not None:
            preview = self.made.preview
            self.work.ask("diff", lambda _book: preview_diff(preview))

    def action_compare(self) -> None:
        """Show all policies side by side."""
        from qterm.tui.memory.comparison import ComparisonScreen

        self.app.push_screen(ComparisonScreen(self.common, self.store))

    # -- writing -------------------------------------------------------------------------------

    def action_apply(self) -> None:
        """Ask once, with what will go and where the copy lies; then do it."""
        made = self.made
        if made is None or "apply" not in self.can_now():
            return
        if self._reckoning:
            self.app.notify("The policy is still reckoning: apply it once the sizes are new.")
            return
        preview = made.preview
        if not made.going():
            self.app.notify("Nothing is ticked, so there is nothing to apply.")
            return
        question = LongQuestion(apply_question(made, self._backups), yes="Apply it", no="Go back")
        self.app.push_screen(question, lambda yes: self._see_emptied(preview) if yes else None)

    def _see_emptied(self, preview: Preview) -> None:
        emptied = next(
            (
                after.store
                for before, after in zip(
                    preview.proposal.documents, preview.proposal.after, strict=True
                )
                if before.entries and not after.entries
            ),
            None,
        )
        if emptied is None:
            self._apply(preview, allow_empty=False)
            return
        question = Question(
            f"This would leave {emptied.file_name} empty. Is that what you want? Everything is "
            "archived first.",
            yes="Leave it empty",
            no="Go back",
        )
        self.app.push_screen(
            question, lambda yes: self._apply(preview, allow_empty=True) if yes else None
        )

    def _apply(self, preview: Preview, *, allow_empty: bool) -> None:
        home = self.home

        def apply(book: MemoryBook) -> tuple[Content, tuple[Written, ...]]:
            written = book.apply(preview.plan, allow_empty=allow_empty)
            return applied_words(preview, written, home), written

        self._begin(apply)

    def _begin(self, work: RoomWork) -> None:
        """Have something written: the pane tells what came of it, wherever one is by then."""
        self._is_writing, self._sentence = True, ""
        self.tell()
        self._write(self, work)

    def action_migrate(self) -> None:
        """Show what turning the file into the typed form does and costs, or turning it back."""
        store = self.store

        def look(book: MemoryBook) -> tuple[Preview, Migration, str]:
            from qterm.memory.schema import read_schema

            preview = book.preview("schema", store)
            typed = sum(read_schema(text) is not None for text in preview.looks[0].entries)
            form = "tags" if typed * 2 > len(preview.looks[0].entries) else "schema"
            return preview, book.migration(store, form)[1], form

        self.work.ask("migration", look, leaves_nothing=True)

    def _ask_migration(self, migration: Migration, form: str) -> None:
        if not any(step.changed for step in migration.steps):
            self.app.notify("There is nothing to write: no entry would change.")
            return
        question = LongQuestion(migration_words(migration, form), yes="Write it", no="Go back")
        made = self.made

        def answered(yes: bool | None) -> None:
            if yes and made is not None:
                look = made.preview.looks[0]
                done = Content("The file is written in the other form.")
                self._begin(lambda book: (done, book.migrate(look, form)))

        self.app.push_screen(question, answered)
