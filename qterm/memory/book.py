"""Reviews the memory of one hermes home: looks, plans, and every change, by the one way to write.

What the faces use; synchronous, so a screen calls it in a worker thread. Every change is bound to
the `Look` it was made from: if the file has changed since, nothing is written (rule M6).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from functools import cached_property
from pathlib import Path

from qterm.memory.archive import Archive
from qterm.memory.backup_command import run_backup_command
from qterm.memory.bringing_back import BringingBack
from qterm.memory.draft import Draft
from qterm.memory.entries import faults
from qterm.memory.errors import ChangedMeanwhile, Refused
from qterm.memory.files import MemoryFolder
from qterm.memory.limits import limits
from qterm.memory.look import (
    Look,
    Preview,
    cleaned,
    see_that_it_is_text,
    see_that_they_are_apart,
    would_empty,
)
from qterm.memory.plan import Plan, check, check_before_reading
from qterm.memory.policies import dual
from qterm.memory.policies.registry import Comparison, compare, propose, stray_ticks
from qterm.memory.proposal import NO_TICKS, Proposal, Ticks
from qterm.memory.schema import Migration, to_schema, to_tags, with_priority
from qterm.memory.stores import StoreName
from qterm.memory.tags import Priority
from qterm.memory.unsaved import Unsaved
from qterm.memory.writer import Change, Gone, Written, write
from qterm.settings.keys import POLICIES
from qterm.settings.schema import MemorySettings


class MemoryBook(BringingBack):
    """The memory of the hermes home `home`; backups and archive lie in `archive`'s folder.

    `now` gives the time with its zone; `seconds` is how long a lock is waited for. Every method
    raises a MemoryFault with one sentence where something can't be done.
    """

    def __init__(
        self,
        home: Path,
        archive: Archive,
        settings: MemorySettings,
        *,
        now: Callable[[], datetime],
        hermes_line: str = "",
        seconds: float = 5.0,
    ) -> None:
        self.folder = MemoryFolder(home)
        self.archive = archive
        self.settings = settings
        self.now = now
        self.hermes_line = hermes_line
        self.seconds = seconds

    @property
    def home(self) -> Path:
        """The hermes home."""
        return self.folder.home

    @cached_property
    def unsaved(self) -> Unsaved:
        """Edits that are not in the files yet, this process's and what others have left."""
        from qterm.feed.owner import current_owner, is_alive

        return Unsaved(self.archive.folder / "unsaved", current_owner(), is_alive)

    # Looking: nothing is written (rule M2).

    def look(self, store: StoreName) -> Look:
        """Read a store. A file that is not UTF-8 is shown, and can't be changed."""
        snapshot = self.folder.read(store)
        limit = limits(self.home).get(store)
        found = (
            faults(snapshot.text, snapshot.entries, limit.chars if limit else None)
            if snapshot.text is not None
            else []
        )
        return Look(snapshot, limit, tuple(found))

    def preview(
        self,
        policy: str,
        store: StoreName = StoreName.MEMORY,
        *,
        ticks: Ticks = NO_TICKS,
        today: date | None = None,
        drop_stray: bool = False,
    ) -> Preview:
        """What a policy would do, with these ticks; the day is today unless given.

        A tick on an entry that there is nothing to choose about is refused, or with `drop_stray`
        left out (another tick may have made it so).
        """
        looks = tuple(self.look_at_text(each) for each in self._stores(policy, store))
        see_that_they_are_apart(looks)
        day = today or self.now().date()
        if drop_stray:
            ticks = self._without_stray(policy, looks, ticks, day)
        return self._preview(policy, looks, ticks, day)

    def _without_stray(
        self, policy: str, looks: Sequence[Look], ticks: Ticks, today: date
    ) -> Ticks:
        documents = [look.document for look in looks]
        while ticks != NO_TICKS:
            proposal = propose(policy, documents, self.settings, today, ticks)
            stray = frozenset(stray_ticks(proposal, ticks))
            if not stray:
                break
            ticks = Ticks(ticks.on - stray, ticks.off - stray)
        return ticks

    def compare(self, store: StoreName = StoreName.MEMORY) -> tuple[Look, Comparison]:
        """What every policy would do with the same file."""
        looks = [self.look_at_text(store)]
        working = self.look(StoreName.WORKING)
        if store is StoreName.MEMORY and working.snapshot.is_text:
            looks.append(working)
        documents = [look.document for look in looks]
        return looks[0], compare(documents, self.settings, self.now().date())

    def migration(self, store: StoreName, form: str) -> tuple[Look, Migration]:
        """What turning a store into `schema` or back into `tags` would do and cost (rule M5)."""
        look = self.look_at_text(store)
        if store is StoreName.WORKING:
            raise Refused("WORKING.md keeps its own form: migrate memory or user.")
        return look, self._migrated(look, form)

    def _migrated(self, look: Look, form: str) -> Migration:
        if form == "schema":
            return to_schema(look.entries, self.settings)
        return to_tags(look.entries)

    def _stores(self, policy: str, store: StoreName) -> tuple[StoreName, ...]:
        return (store, StoreName.WORKING) if policy == "dual" else (store,)

    def look_at_text(self, store: StoreName) -> Look:
        """Read a store that is to be planned or changed; raises Unreadable for no UTF-8, too."""
        look = self.look(store)
        see_that_it_is_text(look)
        return look

    def _preview(self, policy: str, looks: Sequence[Look], ticks: Ticks, today: date) -> Preview:
        proposal = propose(policy, [look.document for look in looks], self.settings, today, ticks)
        if ticks != NO_TICKS and (stray := stray_ticks(proposal, ticks)):
            store, index = stray[0]
            raise Refused(_stray(proposal, store, index, is_untick=(store, index) in ticks.off))
        return Preview(self.home, self.settings, proposal, tuple(looks), ticks, today, self.now())

    # Changing: each goes through `write`.

    def apply(self, plan: Plan, *, allow_empty: bool = False) -> tuple[Written, ...]:
        """Do what a plan shows, or nothing (rule M2). `allow_empty`: a store may end up empty."""
        check_before_reading(
            plan,
            home=str(self.home),
            settings=self.settings,
            today=self.now().date(),
            policies=POLICIES,
        )
        stores = [planned.store for planned in plan.stores]
        if not stores or tuple(stores) != self._stores(plan.policy, stores[0]):
            raise Refused("This plan's files are not those of its policy. Make a new plan.")
        looks = tuple(self.look_at_text(store) for store in stores)
        see_that_they_are_apart(looks)
        for planned, look in zip(plan.stores, looks, strict=True):
            if planned.sha256 != look.snapshot.sha256:
                raise ChangedMeanwhile(
                    f"{look.snapshot.path} has changed since the plan was made: nothing was "
                    "written. Make a new plan: `qterm memory plan`."
                )
        found = self._preview(plan.policy, looks, plan.ticks.ticks(), plan.today)
        check(plan, found.plan)
        if (emptied := found.plan.emptied) is not None and not allow_empty:
            raise Refused(would_empty(emptied))
        return self._apply(found)

    def _apply(self, preview: Preview) -> tuple[Written, ...]:
        proposal, changes = preview.proposal, []
        for look in preview.looks:
            gone = tuple(
                Gone(made.index, look.entries[made.index], made.reason)
                for made in proposal.decisions
                if made.ticked and made.store is look.store
            )
            left = proposal.left(look.store).entries
            if left != look.entries:
                changes.append(Change(look.snapshot, left, gone))
        # The one that takes entries in goes first: a crash doubles an entry, and loses none.
        changes.sort(key=lambda change: change.snapshot.store is not StoreName.WORKING)
        return self._write(changes, f"apply {preview.plan.policy}")

    def add(self, look: Look, text: str) -> tuple[Written, ...]:
        """Put an entry at the end."""
        text = text.strip()
        if not text:
            raise Refused("An entry needs some words.")
        if text in look.entries:
            raise Refused(
                f"{look.store.file_name} has that entry already: it is number "
                f"{look.entries.index(text) + 1}."
            )
        return self._change(look, (*look.entries, text), (), "add")

    def edit(
        self, look: Look, texts: Mapping[int, str], *, by: str = "edit"
    ) -> tuple[Written, ...]:
        """Put other texts in the place of entries, by index from 0."""
        entries, gone = list(look.entries), []
        there = Counter(look.entries)
        for index, text in texts.items():
            stripped = text.strip()
            if stripped != entries[index] and there[stripped]:
                raise Refused(
                    f"{look.store.file_name} has that entry already: it is number "
                    f"{look.entries.index(stripped) + 1}."
                )
            if not stripped:
                raise Refused(f"Entry {index + 1} would be blank: delete it instead.")
            if stripped != entries[index]:
                reason = "another tag" if by == "tag" else "another text"
                gone.append(Gone(index, entries[index], reason, replaced_by=stripped))
                entries[index] = stripped
        return self._change(look, tuple(entries), tuple(gone), by)

    def save(self, draft: Draft, *, allow_empty: bool = False) -> tuple[Written, ...]:
        """Write a draft's entries; each that has gone or is another one now is archived."""
        if why := draft.trouble():
            raise Refused(f"{draft.store.file_name} can't be saved so. {why}")
        if draft.look.entries and not draft.entries and not allow_empty:
            raise Refused(would_empty(draft.store))
        return self._change(draft.look, draft.texts, draft.gone(), "edit")

    def fingerprint(self) -> tuple[object, ...]:
        """Tells whether a store's file may have changed since; a look at its state alone."""
        return tuple(self.folder.state(store) for store in StoreName)

    def tag(self, look: Look, priorities: Mapping[int, Priority | None]) -> tuple[Written, ...]:
        """Give entries, by index from 0, another tag, or none."""
        texts = {}
        for index, priority in priorities.items():
            try:
                texts[index] = with_priority(look.entries[index], priority)
            except ValueError as error:
                raise Refused(f"Entry {index + 1} can't be tagged so: {error}.") from None
        return self.edit(look, texts, by="tag")

    def delete(
        self, look: Look, indexes: Sequence[int], *, allow_empty: bool = False
    ) -> tuple[Written, ...]:
        """Take entries out, by index from 0."""
        going = set(indexes)
        entries = tuple(text for index, text in enumerate(look.entries) if index not in going)
        if not entries and not allow_empty:
            raise Refused(would_empty(look.store))
        gone = tuple(
            Gone(index, look.entries[index], "deleted by the operator") for index in sorted(going)
        )
        return self._change(look, entries, gone, "delete")

    def clean(self, look: Look) -> tuple[Written, ...]:
        """Write the file so that hermes can change it: the layout, doubles, a byte order mark."""
        entries, gone = cleaned(look.entries)
        return self._change(look, entries, gone, "clean")

    def migrate(self, look: Look, form: str) -> tuple[Written, ...]:
        """Turn a store into `schema`, or back into `tags`."""
        found = self._migrated(look, form)
        gone = tuple(
            Gone(step.index, step.before, f"migrated to {form}", replaced_by=step.after)
            for step in found.steps
            if step.changed
        )
        return self._change(look, found.entries, gone, f"migrate to {form}")

    def prune_working(self) -> tuple[Written, ...]:
        """Take what is too old out of WORKING.md, by age alone; without such entries nothing is
        touched. It may end up empty: everything that goes is in the archive."""
        look = self.look_at_text(StoreName.WORKING)
        proposal = dual.aged(look.document, self.settings, self.now().date())
        gone = tuple(
            Gone(made.index, look.entries[made.index], made.reason) for made in proposal.going
        )
        if not gone:
            return ()
        left = proposal.left(StoreName.WORKING).entries
        return self._change(look, left, gone, "maintenance")

    def _change(
        self, look: Look, entries: tuple[str, ...], gone: tuple[Gone, ...], by: str
    ) -> tuple[Written, ...]:
        return self._write([Change(look.snapshot, entries, gone)], by)

    def _write(self, changes: Sequence[Change], by: str) -> tuple[Written, ...]:
        return write(
            self.folder, self.archive, changes, by=by, now=self.now(), seconds=self.seconds
        )

    def copy_off(self, written: Sequence[Written]) -> list[str]:
        """Run the operator's `backup_command` for each backup; a sentence for each failure.

        Call it after a change, when the locks are released; it takes a minute at most each.
        """
        command = self.settings.backup_command
        backups = [each.backup for each in written if each.backup is not None and command]
        found = [run_backup_command(command, backup) for backup in backups]
        return [sentence for sentence in found if sentence]


def _stray(proposal: Proposal, store: StoreName, index: int, *, is_untick: bool) -> str:
    name, number = store.file_name, index + 1
    for decision in proposal.decisions:
        if (decision.store, decision.index) == (store, index):
            what = "stays anyway" if is_untick else "can't be ticked"
            return f"Entry {number} of {name} {what} ({decision.reason})."
    return f"{name} has no entry {number}."
