"""`qterm feed`, `search`, `export`, `hide` and `delete`: what was said."""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from qterm.cli import show
from qterm.cli.run import Invocation, Refused, labels, with_services
from qterm.cli.talk import TASK, text_of
from qterm.cli.task import the_task
from qterm.exporting import day_line
from qterm.feed.source import FeedError
from qterm.model import Turn

if TYPE_CHECKING:
    from qterm.services import Services


@click.command()
@click.option(
    "-n", "count", type=click.IntRange(min=1), default=20, show_default=True, help="How many turns."
)
@click.option("--before", type=int, metavar="ID", help="Only turns before this one.")
@TASK
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line.")
@click.pass_obj
def feed(
    invocation: Invocation, count: int, before: int | None, task_id: str | None, as_json: bool
) -> None:
    """Print the newest turns of the home feed (or of a task's thread), oldest first."""

    async def work(services: Services) -> None:
        if task_id is not None:
            await the_task(services, task_id)
        turns = await services.feed.page(task_id, before=before, limit=count)
        _print(services, turns, as_json)
        if task_id is not None and turns:
            with suppress(FeedError):  # what was said counts, not the mark
                await services.feed.mark_seen(task_id, turns[-1].id)

    with_services(invocation, work)


@click.command()
@click.argument("text")
@click.option(
    "-n", "count", type=click.IntRange(min=1), default=20, show_default=True, help="How many turns."
)
@TASK
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line.")
@click.pass_obj
def search(
    invocation: Invocation, text: str, count: int, task_id: str | None, as_json: bool
) -> None:
    """Print the turns that hold TEXT, over the whole feed, newest last.

    `-` reads standard input.
    """
    text = text_of(text)

    async def work(services: Services) -> int:
        if task_id is not None:
            await the_task(services, task_id)
        found = await services.feed.search(text, task_id=task_id, limit=count)
        _print(services, found[::-1], as_json)
        if not found:
            show.diagnostic("Nothing found.")
        return 0 if found else 1

    with_services(invocation, work)


def _print(services: Services, turns: list[Turn], as_json: bool) -> None:
    names, day = labels(services), ""
    for turn in turns:
        if as_json:
            show.out_json(show.turn_json(turn, names))
            continue
        if (line := day_line(turn)) != day:
            day = line
            show.out(f"-- {day} --")
        show.out(show.turn_lines(turn, names))


@click.command()
@click.option(
    "--format", "form", type=click.Choice(["md", "jsonl"]), default="md", show_default=True
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write into FILE, readable by you alone, instead of standard output.",
)
@TASK
@click.pass_obj
def export(invocation: Invocation, form: str, output: Path | None, task_id: str | None) -> None:
    """Write the whole home feed (or a task's thread) as Markdown or as one JSON object a line."""

    async def work(services: Services) -> None:
        if task_id is not None:
            await the_task(services, task_id)
        from qterm.cli.exporting import export_lines

        lines = export_lines(services, form, task_id)
        if output is None:
            async for text in lines:
                show.out(text, newline=False)
            return
        from qterm.exporting import write_text

        try:
            await write_text(output, lines, fresh=False)
        except OSError as error:
            raise Refused(f"{output} can't be written: {error.strerror}.") from error

    with_services(invocation, work)


async def _turn(services: Services, turn_id: int) -> Turn:
    turn = await services.feed.turn(turn_id)
    if turn is None:
        raise Refused(f"There is no turn {turn_id}; `qterm feed` shows the ids.")
    return turn


@click.command()
@click.argument("turn_id", metavar="ID", type=int)
@click.option("--show", "shown", is_flag=True, help="Show it to Q again.")
@click.pass_obj
def hide(invocation: Invocation, turn_id: int, shown: bool) -> None:
    """Hide a turn from Q: it stays in the feed, but no message carries it any more."""

    async def work(services: Services) -> None:
        await _turn(services, turn_id)
        await services.feed.hide(turn_id, not shown)

    with_services(invocation, work)


@click.command()
@click.argument("turn_id", metavar="ID", type=int)
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.pass_obj
def delete(invocation: Invocation, turn_id: int, yes: bool) -> None:
    """Delete a turn for good. What hermes keeps of it in its own database stays there."""

    async def work(services: Services) -> None:
        turn = await _turn(services, turn_id)
        if turn.state.is_open:
            raise Refused(f"Turn {turn_id} is still under way; stop it first.")
        if not yes:
            if not sys.stdin.isatty():
                raise Refused("Nobody is there to ask: add --yes to delete.")
            show.out(show.turn_lines(turn, labels(services)))
            click.confirm("Delete this turn for good?", abort=True)
        await services.feed.delete(turn_id)

    with_services(invocation, work)
