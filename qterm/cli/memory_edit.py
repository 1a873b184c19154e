"""`qterm memory tag`, `add`, `edit`, `delete`, `clean` and `migrate`: changes by hand."""

from __future__ import annotations

import sys

import click

from qterm.cli import exit_codes, memory_show
from qterm.cli.memory_run import (
    Place,
    ask_about_p1,
    change,
    entry_text,
    index_of,
    memory_book,
    numbers_of,
    place_options,
    yes_option,
)
from qterm.cli.memory_words import count, say
from qterm.cli.run import Invocation


def _tag(context: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """A tag as one types it (P1, p1, [P1], none) as `P1`, `P2`, `P3` or `none`."""
    word = (value or "").strip("[] ")
    if value is None or word.upper() in {"P1", "P2", "P3"}:
        return word.upper() or None
    if word.lower() != "none":
        raise click.BadParameter(f"“{value}” is no tag: give P1, P2, P3 or none.", context, param)
    return "none"


NUMBER = click.argument("number", metavar="N", type=int)


@click.command()
@click.argument("number", metavar="[N]", type=int, required=False)
@click.argument(
    "priority",
    metavar="[P1|P2|P3|none]",
    callback=_tag,
    required=False,
)
@click.option("--suggested", is_flag=True, help="Show the suggested tags; with --yes accept them.")
@yes_option
@place_options
@click.pass_obj
def tag(
    invocation: Invocation,
    number: int | None,
    priority: str | None,
    suggested: bool,
    yes: bool,
    place: Place,
) -> None:
    """Tag entry N as P1 (never pruned), P2 or P3 (goes first), or take its tag away.

    With --suggested: what each entry without a tag might deserve, with the rule that fired; nothing
    is written unless --yes accepts them all.
    """
    from qterm.memory.tags import Priority, suggest

    if suggested == (number is not None) or (number is not None and priority is None):
        raise click.UsageError("Give a number and a tag, or --suggested.")
    with memory_book(invocation, place.home) as book:
        look = book.look(place.store)
        if number is not None:
            index = index_of(look, number)
            wanted = None if priority == "none" else Priority(str(priority))
            if wanted is not Priority.P1:
                ask_about_p1(look, [index], "Change the tag of", yes=yes)
            done = f"Entry {number} is {wanted or 'without a tag'} now."
            change(book, lambda: book.tag(look, {index: wanted}), done, as_json=place.as_json)
            return
        found = {
            index: suggestion
            for index, text in enumerate(look.entries)
            if (suggestion := suggest(text, book.settings))
        }
        if not (place.as_json and yes):
            memory_show.print_suggestions(look, found, as_json=place.as_json, is_accepted=yes)
        if yes and (found or place.as_json):
            tags = {index: suggestion.priority for index, suggestion in found.items()}
            done = f"{count(len(tags), 'entry has its tag', 'entries have their tags')} now."
            change(book, lambda: book.tag(look, tags), done, as_json=place.as_json)


@click.command()
@click.argument("text")
@place_options
@click.pass_obj
def add(invocation: Invocation, text: str, place: Place) -> None:
    """Add an entry at the end; `-` reads standard input."""
    text = entry_text(text)
    with memory_book(invocation, place.home) as book:
        look = book.look(place.store)
        done = f"Added as entry {len(look.entries) + 1}."
        change(book, lambda: book.add(look, text), done, as_json=place.as_json)


@click.command()
@NUMBER
@click.argument("text")
@yes_option
@place_options
@click.pass_obj
def edit(invocation: Invocation, number: int, text: str, yes: bool, place: Place) -> None:
    """Put TEXT in the place of entry N; `-` reads standard input. The old text is archived.

    The entry keeps its tag, unless TEXT begins with one.
    """
    from qterm.memory.tags import retag, tag_of

    text = entry_text(text)
    with memory_book(invocation, place.home) as book:
        look = book.look(place.store)
        index = index_of(look, number)
        ask_about_p1(look, [index], "Change", yes=yes)
        tag = tag_of(look.entries[index])
        if text and tag is not None and tag_of(text) is None:
            text = retag(text, tag)
        done = f"Entry {number} has another text now."
        change(book, lambda: book.edit(look, {index: text}), done, as_json=place.as_json)


@click.command()
@click.argument("numbers", metavar="N…", callback=numbers_of, nargs=-1, required=True)
@click.option("--allow-empty", is_flag=True, help="The file may end up without an entry.")
@yes_option
@place_options
@click.pass_obj
def delete(
    invocation: Invocation, numbers: tuple[int, ...], allow_empty: bool, yes: bool, place: Place
) -> None:
    """Take entries out of the file. They are archived; `qterm memory restore` brings them back."""
    with memory_book(invocation, place.home) as book:
        look = book.look(place.store)
        indexes = [index_of(look, number) for number in numbers]
        ask_about_p1(look, indexes, "Delete", yes=yes)
        done = f"Deleted: {count(len(set(indexes)), 'entry', 'entries')}."
        change(
            book,
            lambda: book.delete(look, indexes, allow_empty=allow_empty),
            done,
            as_json=place.as_json,
        )


@click.command()
@yes_option
@place_options
@click.pass_obj
def clean(invocation: Invocation, yes: bool, place: Place) -> None:
    """Mend what keeps hermes from changing a file: blank entries, stray space, doubles.

    Without --yes it only shows what would change, and exits with 2 when there is something.
    """
    from qterm.memory.look import can_be_cleaned, cleaned

    with memory_book(invocation, place.home) as book:
        look = book.look_at_text(place.store)
        entries, gone = cleaned(look.entries)
        is_unclean = bool(can_be_cleaned(look))
        if not (yes and place.as_json):
            memory_show.print_cleaning(look, entries, gone, as_json=place.as_json)
        if yes and (is_unclean or place.as_json):
            change(book, lambda: book.clean(look), "Cleaned.", as_json=place.as_json)
        elif is_unclean:
            if not place.as_json:
                store = f" --store {place.store.value}" if place.store.value != "memory" else ""
                say(f"Nothing has been written: `qterm memory clean --yes{store}` does it.")
            sys.exit(exit_codes.WORK_TO_DO)


@click.command()
@click.option(
    "--to", "form", type=click.Choice(["schema", "tags"]), required=True, help="Which form."
)
@yes_option
@place_options
@click.pass_obj
def migrate(invocation: Invocation, form: str, yes: bool, place: Place) -> None:
    """Turn tagged entries into typed ones (schema), or back; shows what it costs and what is lost.

    Without --yes it only shows that, and exits with 2 when there is something to do.
    """
    with memory_book(invocation, place.home) as book:
        look, found = book.migration(place.store, form)
        if not (yes and place.as_json):
            memory_show.print_migration(look, found, form, as_json=place.as_json, is_accepted=yes)
        if found.entries == look.entries:
            if yes and place.as_json:
                change(book, tuple, "", as_json=True)
            return
        if not yes:
            if not place.as_json:
                store = f" --store {place.store.value}" if place.store.value != "memory" else ""
                say(f"`qterm memory migrate --to {form} --yes{store}` does it.")
            sys.exit(exit_codes.WORK_TO_DO)
        change(
            book, lambda: book.migrate(look, form), f"Migrated to {form}.", as_json=place.as_json
        )
