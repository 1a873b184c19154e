"""`qterm memory`: look at hermes's memory, see what a policy would prune, and apply that."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from qterm.cli import exit_codes, memory_plan, memory_show, show
from qterm.cli.memory_edit import add, clean, delete, edit, migrate, tag
from qterm.cli.memory_restore import archive, restore
from qterm.cli.memory_run import (
    MemoryGroup,
    Place,
    ask,
    change,
    index_of,
    memory_book,
    numbers_of,
    place_options,
    yes_option,
)
from qterm.cli.memory_words import count, say
from qterm.cli.run import Invocation, Refused

if TYPE_CHECKING:
    from qterm.memory.book import MemoryBook
    from qterm.memory.look import Preview
    from qterm.memory.plan import Plan
    from qterm.memory.proposal import Ticks
    from qterm.memory.stores import StoreName

_NUMBER = re.compile(r"0{0,9}[1-9][0-9]{0,8}")
PLAN_LIMIT = 256 << 20
"""Bytes of a plan that are read."""


@click.group(cls=MemoryGroup)
def memory() -> None:
    """Q's long-term memory: see each entry, what a prune would remove and why, and bring it back.

    Exit codes: 0 done, or nothing to do; 2 there is something to do (plan, clean, migrate); 1 it
    could not be done.
    """


@memory.command("list")
@click.argument("numbers", metavar="[N…]", callback=numbers_of, nargs=-1)
@place_options
@click.pass_obj
def list_(invocation: Invocation, numbers: tuple[int, ...], place: Place) -> None:
    """Show the entries with their numbers, tags and sizes, and what is odd about the file.

    With N only these entries, whole.
    """
    with memory_book(invocation, place.home) as book:
        look = book.look(place.store)
        chosen = [index_of(look, number) for number in numbers]
        if place.as_json:
            show.out_json(memory_show.look_json(look, book, chosen))
        else:
            memory_show.print_look(look, book, chosen)


_POLICY = click.option(
    "--policy",
    type=click.Choice(["tags", "dual", "schema", "legacy"]),
    help="What to follow; else memory.policy of the config (tags).",
)
_TICK = click.option(
    "--tick", "ticked", multiple=True, metavar="N", help="Prune an entry that is only offered."
)
_UNTICK = click.option(
    "--untick",
    "unticked",
    multiple=True,
    metavar="N",
    help="Keep an entry that would go (working:N for one of WORKING.md).",
)


@memory.command()
@_POLICY
@_TICK
@_UNTICK
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Save the plan, for `qterm memory apply FILE`.",
)
@click.option("--compare", is_flag=True, help="All policies side by side, instead of one plan.")
@place_options
@click.pass_obj
def plan(
    invocation: Invocation,
    policy: str | None,
    ticked: tuple[str, ...],
    unticked: tuple[str, ...],
    output: Path | None,
    compare: bool,
    place: Place,
) -> None:
    """Show what a policy would prune, and why. Writes nothing.

    Exits with 0 when there is nothing to do, with 2 when there is.
    """
    if compare and (policy or ticked or unticked or output):
        raise click.UsageError("--compare shows all policies: give no policy, ticks or file.")
    with memory_book(invocation, place.home) as book:
        if compare:
            look, found = book.compare(place.store)
            if place.as_json:
                show.out_json(memory_show.comparison_json(look, found))
            else:
                memory_show.print_comparison(look, found)
            return
        preview = _preview(book, policy, place.store, ticked, unticked)
        if output is not None:
            _save(book, preview.plan, output)
        _print_plan(book, preview, memory_plan.PREVIEW, place.as_json)
        if not place.as_json:
            memory_plan.print_next_step(preview.plan, output, place, is_demo=invocation.is_demo)
        if preview.plan.has_work:
            sys.exit(exit_codes.WORK_TO_DO)


def _preview(
    book: MemoryBook,
    policy: str | None,
    store: StoreName,
    ticked: tuple[str, ...],
    unticked: tuple[str, ...],
) -> Preview:
    return book.preview(
        policy or book.settings.policy, store, ticks=_ticks(store, ticked, unticked)
    )


def _ticks(store: StoreName, ticked: tuple[str, ...], unticked: tuple[str, ...]) -> Ticks:
    from qterm.memory.proposal import Ticks

    def entries(words: tuple[str, ...]) -> frozenset[tuple[StoreName, int]]:
        return frozenset(
            (in_store, number - 1)
            for word in words
            for each in word.split(",")
            for in_store, number in [_entry(each.strip(), store)]
        )

    return Ticks(entries(ticked), entries(unticked))


def _entry(word: str, store: StoreName) -> tuple[StoreName, int]:
    from qterm.memory.stores import StoreName

    name, colon, number = word.rpartition(":")
    known = {each.value: each for each in StoreName}
    if (colon and name not in known) or not _NUMBER.fullmatch(number):
        raise click.BadParameter(
            f"“{word}” is no entry: give its number, such as 3 or working:3.",
            param_hint="'--tick' / '--untick'",
        )
    return known[name] if colon else store, int(number)


def _save(book: MemoryBook, plan: Plan, output: Path) -> None:
    from qterm.memory.plan import encode_plan
    from qterm.private import write_private

    data = encode_plan(plan)
    real = Path(os.path.realpath(output))
    kept_in = [book.home, *(book.folder.path(each.store).parent for each in plan.stores)]
    folders = [os.path.realpath(folder) for folder in [*kept_in, book.archive.folder.parent]]
    if any(Path(folder) in real.parents for folder in folders):
        raise Refused(f"{output} lies among hermes's files or qterm's own: save it elsewhere.")
    if os.path.lexists(real) and not _is_plan(real):
        raise Refused(f"{output} is there already, and is no plan: choose another name.")
    try:
        write_private(output, data)
    except OSError as error:
        raise Refused(f"{output} can't be written: {error.strerror}.") from error


def _is_plan(path: Path) -> bool:
    """Whether a file is a saved plan, so that another may take its place."""
    from qterm.memory.plan import FORM
    from qterm.private import read_bounded

    try:
        return read_bounded(path, limit=PLAN_LIMIT).startswith(f'{{"form":"{FORM}"'.encode())
    except OSError:
        return False


def _print_plan(book: MemoryBook, preview: Preview, heading: str, as_json: bool) -> None:
    if as_json:
        show.out_json(preview.plan)
    else:
        memory_plan.print_plan(preview.plan, heading, preview.looks, book)


@memory.command("apply")
@click.argument(
    "plan_file",
    metavar="[PLAN]",
    required=False,
    type=click.Path(path_type=Path, readable=False),
)
@_POLICY
@_TICK
@_UNTICK
@click.option("--allow-empty", is_flag=True, help="A file may end up without an entry.")
@yes_option
@place_options
@click.pass_obj
def apply_(
    invocation: Invocation,
    plan_file: Path | None,
    policy: str | None,
    ticked: tuple[str, ...],
    unticked: tuple[str, ...],
    allow_empty: bool,
    yes: bool,
    place: Place,
) -> None:
    """Do what a saved PLAN shows, at once, or what --policy would: shown whole, asked, done."""
    if (plan_file is None) == (policy is None):
        raise click.UsageError("Give a plan file or --policy, one of them.")
    if plan_file is not None and (ticked or unticked):
        raise click.UsageError("A saved plan has its own ticks: make a new one with others.")
    from qterm.memory.look import would_empty

    with memory_book(invocation, place.home) as book:
        if plan_file is not None:
            made = _read_plan(plan_file)
            if place.as_json:
                show.out_json(made)
            else:
                memory_plan.print_plan(made, memory_plan.TO_DO, (), book)
        else:
            preview = _preview(book, policy, place.store, ticked, unticked)
            made = preview.plan
            _print_plan(book, preview, memory_plan.TO_DO, place.as_json)
            if made.going and made.can_apply:
                if made.emptied is not None and not allow_empty:
                    raise Refused(would_empty(made.emptied))
                ask(f"Write this ({count(len(made.going), 'entry', 'entries')})?", yes=yes)
        if not made.going and made.offered and not place.as_json:
            book.apply(made, allow_empty=allow_empty)  # it may be refused all the same
            say("Nothing is ticked, so nothing is written: --tick N prunes what is offered.")
            return
        change(
            book,
            lambda: book.apply(made, allow_empty=allow_empty),
            "Done, as shown.",
            as_json=place.as_json,
        )


def _read_plan(path: Path) -> Plan:
    from qterm.memory.plan import decode_plan
    from qterm.private import read_bounded

    try:
        return decode_plan(read_bounded(path, limit=PLAN_LIMIT))
    except OSError as error:
        raise Refused(f"{path} can't be read: {error.strerror}.") from error


for _command in (tag, add, edit, delete, clean, migrate, restore, archive):
    memory.add_command(_command)
