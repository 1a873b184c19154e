"""A plan: a proposal that can be saved and applied later, bound to the files' bytes (pure).

A saved plan is not trusted: `check` compares it with what the policy says of the bytes now (M2).
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from itertools import chain, repeat
from operator import attrgetter
from typing import Annotated

import msgspec

from qterm.memory.errors import Outdated, Refused
from qterm.memory.proposal import Action, Proposal, Ticks
from qterm.memory.stores import StoreName
from qterm.memory.tags import Priority, tags_of
from qterm.settings.schema import MemorySettings

FORM = "qterm-memory-plan/1"
_OF_A_DAY = ("dual", "schema")
"""The policies that go by the day."""
_FRESH_DAYS = 7
"""Days for which such a plan holds: it stamps with its own day, which prunes by it later."""
_ANEW = "Make a new plan: `qterm memory plan`."


class PlanSettings(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """The settings that the policies which can be applied follow."""

    p2_percent: int
    working_days: int
    finished_words: tuple[str, ...]

    @classmethod
    def of(cls, settings: MemorySettings) -> PlanSettings:
        """Those of the settings in force."""
        return cls(settings.p2_percent, settings.working_days, settings.finished_words)


class PlannedStore(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """A file the plan is bound to: SHA-256 of its bytes, empty where there was no file; sizes and
    `limit` in code points (None: no limit)."""

    store: StoreName
    path: str
    sha256: str
    limit: Annotated[int, msgspec.Meta(ge=1)] | None
    before: int
    after: int


class PlannedEntry(
    msgspec.Struct, frozen=True, gc=False, rename="camel", forbid_unknown_fields=True
):
    """What happens to an entry: `number` counts from 1 in its store, `ticked` says that it goes."""

    store: StoreName
    number: int
    priority: Priority | None
    action: Action
    ticked: bool
    reason: str
    text: str


class PlannedTicks(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """What the operator changed: store and number (from 1) of each entry."""

    ticked: tuple[tuple[StoreName, int], ...] = ()
    unticked: tuple[tuple[StoreName, int], ...] = ()

    @classmethod
    def of(cls, ticks: Ticks) -> PlannedTicks:
        """From ticks, whose entries count from 0."""
        return cls(_numbers(ticks.on), _numbers(ticks.off))

    def ticks(self) -> Ticks:
        """Back again."""
        return Ticks(
            frozenset((store, number - 1) for store, number in self.ticked),
            frozenset((store, number - 1) for store, number in self.unticked),
        )


def _numbers(entries: frozenset[tuple[StoreName, int]]) -> tuple[tuple[StoreName, int], ...]:
    return tuple(sorted((store, index + 1) for store, index in entries))


class Plan(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """All of it (its JSON: docs/command-line.md). `today` is the day the policy reckoned with."""

    form: str
    made_at: datetime
    home: str
    policy: str
    today: date
    can_apply: bool
    settings: PlanSettings
    stores: tuple[PlannedStore, ...]
    ticks: PlannedTicks
    entries: tuple[PlannedEntry, ...]

    @property
    def has_work(self) -> bool:
        """Whether anything goes, or is offered."""
        return any(entry.action is not Action.KEEP for entry in self.entries)

    @property
    def offered(self) -> list[PlannedEntry]:
        """The entries that are offered, and not ticked."""
        return [
            entry for entry in self.entries if entry.action is Action.OFFER and not entry.ticked
        ]

    @property
    def emptied(self) -> StoreName | None:
        """The first store that would be left without an entry."""
        return next((each.store for each in self.stores if each.before and not each.after), None)

    @property
    def going(self) -> list[PlannedEntry]:
        """The entries that leave their store."""
        return [entry for entry in self.entries if entry.ticked]


class BoundFile(msgspec.Struct, frozen=True):
    """The file a store was read from."""

    path: str
    sha256: str


def make_plan(
    proposal: Proposal,
    files: Sequence[BoundFile],
    *,
    home: str,
    settings: MemorySettings,
    today: date,
    ticks: Ticks,
    made_at: datetime,
) -> Plan:
    """The plan of a proposal; `files` belong to its documents, in their order."""
    stores = tuple(
        PlannedStore(old.store, file.path, file.sha256, old.limit, old.size, new.size)
        for file, old, new in zip(files, proposal.documents, proposal.after, strict=True)
    )
    documents, made = proposal.documents, proposal.decisions
    texts = [text for document in documents for text in document.entries]
    columns = (  # a file can have 50,000 entries; the decisions are in their order
        chain.from_iterable(repeat(each.store, len(each.entries)) for each in documents),
        chain.from_iterable(range(1, len(each.entries) + 1) for each in documents),
        tags_of(texts),
        map(attrgetter("action"), made),
        map(attrgetter("ticked"), made),
        map(attrgetter("reason"), made),
        texts,
    )
    entries = tuple(map(PlannedEntry, *columns))
    return Plan(
        FORM,
        made_at,
        home,
        proposal.policy,
        today,
        proposal.can_apply,
        PlanSettings.of(settings),
        stores,
        PlannedTicks.of(ticks),
        entries,
    )


def encode_plan(plan: Plan) -> bytes:
    """The plan as JSON; raises Refused where JSON can't hold it."""
    try:
        return msgspec.json.encode(plan) + b"\n"
    except UnicodeEncodeError:
        raise Refused(
            "A plan for this hermes home can't be saved, as its path is not UTF-8: use "
            "`qterm memory apply --policy`."
        ) from None


def decode_plan(data: bytes) -> Plan:
    """A plan from JSON; raises Refused with a sentence."""
    try:
        plan = msgspec.json.decode(data, type=Plan)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Refused(f"This is no plan of qterm's ({error}). {_ANEW}") from None
    if plan.form != FORM:
        raise Refused(f"This plan's form is “{plan.form[:40]}”, qterm knows {FORM}. {_ANEW}")
    for entry in plan.entries:
        if entry.ticked and entry.action is Action.KEEP:
            raise Refused(
                f"{entry.store.file_name}, entry {entry.number}: this plan says that it is kept, "
                f"and that it goes. {_ANEW}"
            )
    return plan


def check_before_reading(
    plan: Plan, *, home: str, settings: MemorySettings, today: date, policies: Sequence[str]
) -> None:
    """See that a plan may be applied here and today at all; raises Refused."""
    if plan.policy not in policies:
        raise Refused(
            f"The policy “{plan.policy[:40]}” can't be applied: it is there to compare with."
            if plan.policy == "legacy"
            else f"There is no policy “{plan.policy[:40]}”. {_ANEW}"
        )
    if plan.home != home:
        raise Refused(
            f"This plan is for the hermes home {plan.home}, not for {home}: give --home, if that "
            "is what you mean."
        )
    if plan.today > today:
        raise Outdated(f"This plan's day, {plan.today}, is still to come.")
    if plan.policy in _OF_A_DAY and (today - plan.today).days > _FRESH_DAYS:
        raise Outdated(f"This plan reckons with {plan.today}, more than a week ago.")
    if not plan.can_apply:
        raise Refused(f"This plan says itself that it can't be applied. {_ANEW}")
    if plan.settings != PlanSettings.of(settings):
        raise Outdated("The settings of the policies are not those of this plan any more.")


def check(plan: Plan, now: Plan) -> None:
    """See that a saved plan is what the policy says of the bytes `now`; raises Refused.

    Nothing that would go may go otherwise: a removal that the policy neither prunes nor offers
    (rule M1) is refused, and so is anything else that is not what was shown (rule M2).
    """
    if len(plan.entries) != len(now.entries):
        raise Refused(f"This plan has not a decision for every entry. {_ANEW}")
    for saved, made in zip(plan.entries, now.entries, strict=True):
        where = f"{saved.store.file_name}, entry {saved.number}"
        if (saved.store, saved.number, saved.text) != (made.store, made.number, made.text):
            raise Refused(f"{where}: this plan shows another text than the file has. {_ANEW}")
        if saved != made:
            if _would(saved) == _would(made):
                raise Refused(f"{where}: this plan was changed by hand. {_ANEW}")
            raise Refused(
                f"{where}: this plan would {_would(saved)}, but the policy “{plan.policy}” would "
                f"{_would(made)} ({made.reason}). {_ANEW}"
            )
    if plan.stores != now.stores:
        raise Outdated("This plan's files, limits or sizes are not those of now.")


def _would(entry: PlannedEntry) -> str:
    if entry.action is Action.KEEP or not entry.ticked:
        return "keep it" if entry.action is not Action.OFFER else "offer it"
    return {"prune": "prune it", "move": "move it", "offer": "prune it, as ticked"}[entry.action]
