"""`qterm facts` and `qterm mode`: what Q should know about the operator."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from qterm.cli import show
from qterm.cli.run import Invocation, Refused, with_services
from qterm.cli.talk import text_of
from qterm.moments import parse_until

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from qterm.model import Fact
    from qterm.services import Services


@click.group()
def facts() -> None:
    """What is worth knowing about you; the first pinned ones go to Q with each home message."""


def _print_facts(found: list[Fact], as_json: bool) -> None:
    if as_json:
        show.out_json([show.fact_json(fact) for fact in found])
        return
    for fact in found:
        place = f"{fact.position:>3}." if fact.pinned else "    "
        show.out(f"{place} {'pinned' if fact.pinned else '      '}  #{fact.id:<4} {fact.text}")


@facts.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print them as JSON.")
@click.pass_obj
def facts_list(invocation: Invocation, as_json: bool) -> None:
    """List the facts: the pinned ones first, in the order in which Q is told."""

    async def work(services: Services) -> None:
        found = await services.feed.facts()
        _print_facts(found, as_json)
        if not found and not as_json:
            show.diagnostic("No facts yet; `qterm facts add TEXT` adds one.")

    with_services(invocation, work)


@facts.command("add")
@click.argument("text")
@click.option("--unpinned", is_flag=True, help="Keep it, but do not tell Q.")
@click.option("--json", "as_json", is_flag=True, help="Print the fact as JSON.")
@click.pass_obj
def facts_add(invocation: Invocation, text: str, unpinned: bool, as_json: bool) -> None:
    """Add a fact, pinned, at the end. `-` reads standard input."""
    text = text_of(text).strip()

    async def work(services: Services) -> None:
        if not text:
            raise Refused("There is nothing to add: the fact is empty.")
        fact = await services.feed.add_fact(text, pinned=not unpinned)
        if as_json:
            show.out_json(show.fact_json(fact))

    with_services(invocation, work)


def _change(
    invocation: Invocation, fact_id: int, change: Callable[[Services], Awaitable[object]]
) -> None:
    """Change one fact that has to be there."""

    async def work(services: Services) -> None:
        if fact_id not in {fact.id for fact in await services.feed.facts()}:
            raise Refused(f"There is no fact #{fact_id}; `qterm facts list` shows the ids.")
        await change(services)

    with_services(invocation, work)


@facts.command("edit")
@click.argument("fact_id", metavar="ID", type=int)
@click.argument("text")
@click.pass_obj
def facts_edit(invocation: Invocation, fact_id: int, text: str) -> None:
    """Change a fact's words."""
    _change(invocation, fact_id, lambda services: services.feed.edit_fact(fact_id, text_of(text)))


@facts.command("pin")
@click.argument("fact_id", metavar="ID", type=int)
@click.pass_obj
def facts_pin(invocation: Invocation, fact_id: int) -> None:
    """Pin a fact: Q is told."""
    _change(invocation, fact_id, lambda services: services.feed.pin_fact(fact_id))


@facts.command("unpin")
@click.argument("fact_id", metavar="ID", type=int)
@click.pass_obj
def facts_unpin(invocation: Invocation, fact_id: int) -> None:
    """Unpin a fact: it is kept, but Q is not told."""
    _change(invocation, fact_id, lambda services: services.feed.pin_fact(fact_id, False))


@facts.command("move")
@click.argument("fact_id", metavar="ID", type=int)
@click.argument("position", type=click.IntRange(min=1))
@click.pass_obj
def facts_move(invocation: Invocation, fact_id: int, position: int) -> None:
    """Put a fact at POSITION (from 1) among the pinned or among the others."""
    _change(invocation, fact_id, lambda services: services.feed.move_fact(fact_id, position))


@facts.command("rm")
@click.argument("fact_id", metavar="ID", type=int)
@click.pass_obj
def facts_remove(invocation: Invocation, fact_id: int) -> None:
    """Remove a fact; its words are printed, so that they can be added again."""

    async def remove(services: Services) -> None:
        show.out((await services.feed.remove_fact(fact_id)).text)

    _change(invocation, fact_id, remove)


@click.command()
@click.argument("text", required=False)
@click.option("--until", metavar="T", help="15:00, +90m, +2h, or 2026-12-01T15:00.")
@click.option("--clear", is_flag=True, help="Have no mode any more.")
@click.option("--json", "as_json", is_flag=True, help="Print the mode as JSON.")
@click.pass_obj
def mode(
    invocation: Invocation, text: str | None, until: str | None, clear: bool, as_json: bool
) -> None:
    """Say what you are at, or show it; a mode whose time has passed is not sent to Q.

    `-` reads standard input.
    """
    if until is not None and (text is None or clear):
        raise click.UsageError("--until needs the mode's TEXT.")
    if clear and text is not None:
        raise click.UsageError("Either TEXT or --clear.")
    text = None if text is None else text_of(text).strip()

    async def work(services: Services) -> None:
        now = services.conversation.now()
        if clear or text == "":
            await services.feed.set_mode(None)
        elif text is not None:
            try:
                end = parse_until(until, now) if until is not None else None
            except ValueError as error:
                raise click.UsageError(str(error)) from error
            await services.feed.set_mode(text, end)
        found = await services.feed.mode()
        if as_json:
            show.out_json(show.mode_json(found, now))
        elif found is None:
            show.out("No mode.")
        else:
            limit = f" until {found.until.astimezone():%A %H:%M}" if found.until else ""
            over = " (its time has passed: Q is not told)" if found.is_over(now) else ""
            show.out(f"{found.text}{limit}{over}")

    with_services(invocation, work)
