"""`qterm memory restore` and `archive`: what was removed, and how it comes back (rule M3)."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path

import click

from qterm.cli import memory_show, show
from qterm.cli.memory_run import (
    STORES,
    ask,
    ask_about_p1,
    change,
    home_option,
    index_of,
    json_option,
    memory_book,
    store_name,
    yes_option,
)
from qterm.cli.memory_words import count, say
from qterm.cli.run import Invocation, Refused


@click.command()
@click.argument("entry_id", metavar="[ID]", required=False)
@click.option("--backup", metavar="HASH", help="A whole file, as `archive backups` names it.")
@click.option(
    "--working", "number", type=int, metavar="N", help="Entry N of WORKING.md, back to MEMORY.md."
)
@click.option("--store", type=click.Choice(STORES), help="The file that --backup replaces.")
@click.option("--allow-empty", is_flag=True, help="--backup may leave the file without an entry.")
@yes_option
@home_option
@json_option
@click.pass_obj
def restore(
    invocation: Invocation,
    entry_id: str | None,
    backup: str | None,
    number: int | None,
    store: str | None,
    allow_empty: bool,
    yes: bool,
    home: Path | None,
    as_json: bool,
) -> None:
    """Bring one archived entry back (ID as `qterm memory archive` shows it), or a whole file."""
    if sum(given is not None for given in (entry_id, backup, number)) != 1:
        raise click.UsageError("Give the ID of an entry, --backup or --working, one of them.")
    if backup is None and (store or allow_empty):
        raise click.UsageError("--store and --allow-empty belong to --backup.")
    from qterm.memory.entries import DELIMITER
    from qterm.memory.look import takes_the_place_of
    from qterm.memory.stores import StoreName

    with memory_book(invocation, home) as book:
        if entry_id is not None:
            removed = book.archive.find(entry_id)
            look = book.look(removed.store)
            ask_about_p1(look, takes_the_place_of(look, removed), "Replace", yes=yes)
            done = f"Entry {removed.id} is back in {removed.store.file_name}."
            change(book, lambda: book.restore(removed), done, as_json=as_json)
        elif number is not None:
            look = book.look(StoreName.WORKING)
            index = index_of(look, number)
            done = "It is back in MEMORY.md."
            change(book, lambda: book.bring_back(look, index), done, as_json=as_json)
        else:
            found, data = book.backup(str(backup), store_name(store))
            look = book.look(found)
            kept = count(data.count(DELIMITER.encode()) + 1, "entry", "entries")
            there = count(len(look.entries), "entry", "entries")
            ask(f"Put the backup ({kept}) in the place of {look.snapshot.path} ({there})?", yes=yes)
            change(
                book,
                lambda: book.restore_backup(look, data, allow_empty=allow_empty),
                "The whole file is back.",
                as_json=as_json,
            )


@click.group(invoke_without_command=True)
@click.option("--store", type=click.Choice(STORES), help="Only those of one file.")
@click.option("-n", "newest", type=click.IntRange(min=1), help="The newest N.")
@home_option
@json_option
@click.pass_context
def archive(
    context: click.Context, store: str | None, newest: int | None, home: Path | None, as_json: bool
) -> None:
    """Show what was removed or replaced: when, by what and why, newest last."""
    if context.invoked_subcommand is not None:
        if store or newest or as_json:
            raise click.UsageError(
                f"--store, -n and --json belong behind `archive {context.invoked_subcommand}`, as "
                "far as it takes them."
            )
        context.meta["memory-home"] = home
        return
    invocation: Invocation = context.obj
    with memory_book(invocation, home) as book:
        found = book.archive.removed(store_name(store))
        if newest is not None:
            found = found[-newest:]
        if as_json:
            show.out_json({"removed": [memory_show.removed_json(each) for each in found]})
        else:
            memory_show.print_archive(found)


@archive.command()
@home_option
@json_option
@click.pass_context
def backups(context: click.Context, home: Path | None, as_json: bool) -> None:
    """Show the whole files that were kept, newest first."""
    with memory_book(context.obj, home or context.meta.get("memory-home")) as book:
        found = book.archive.backups()
        if as_json:
            show.out_json({"backups": found})
        else:
            memory_show.print_backups(found)


_AGE = re.compile(r"(\d{1,5})([dwy])")
_DAYS = {"d": 1, "w": 7, "y": 365}


@archive.command()
@click.option("--older-than", "age", required=True, metavar="AGE", help="Such as 90d, 12w or 2y.")
@yes_option
@home_option
@json_option
@click.pass_context
def prune(context: click.Context, age: str, yes: bool, home: Path | None, as_json: bool) -> None:
    """Delete archived entries and backups for good; nothing else of qterm's ever does."""
    match = _AGE.fullmatch(age.strip())
    if match is None:
        raise click.BadParameter("give days, weeks or years: 90d, 12w or 2y.", param_hint="AGE")
    days = int(match[1]) * _DAYS[match[2]]
    with memory_book(context.obj, home or context.meta.get("memory-home")) as book:
        try:
            before = book.now() - timedelta(days=days)
        except OverflowError:
            raise Refused(f"{age} is longer than there have been days.") from None
        entries, files, size = book.archive.older(before)
        what = f"{count(entries, 'entry', 'entries')} and {count(files, 'backup', 'backups')}"
        if entries or files:
            ask(f"Delete {what} ({size:,} bytes) for good?", yes=yes)
            entries, files, size = book.archive.prune(before)
        if as_json:
            show.out_json({"entries": entries, "backups": files, "bytes": size})
        elif entries or files:
            say(f"Deleted: {what} ({size:,} bytes).")
        else:
            say(f"Nothing was archived before {before:%d %B %Y %H:%M}.")
