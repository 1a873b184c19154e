"""`qterm task`: threads whose session lasts from the first message to the last."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from qterm.cli import show
from qterm.cli.run import Invocation, Refused, with_services
from qterm.model import Task, TaskState

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from qterm.services import Services

_MARKS = {TaskState.OPEN: "●", TaskState.DONE: "✓", TaskState.CANCELLED: "✗"}


def task_json(task: Task) -> dict[str, Any]:
    """A task in the documented form (docs/command-line.md, *JSON*)."""
    bound = task.session
    return {
        "id": task.id,
        "title": task.title,
        "state": task.state.value,
        "cwd": task.cwd,
        "run": task.run,
        "turns": task.turns,
        "unread": task.is_unread,
        "createdAt": show.moment_json(task.created_at),
        "session": {"id": bound.id, "name": bound.name or None, "hermes": bound.hermes}
        if bound
        else None,
    }


def _print(task: Task, as_json: bool) -> None:
    if as_json:
        show.out_json(task_json(task))
    else:
        show.out(f"{task.id}  {_MARKS[task.state]} {task.title}")


@click.group()
def task() -> None:
    """Tasks: each has a thread of its own, in which Q remembers everything until it ends."""


@task.command()
@click.argument("title")
@click.option(
    "--cwd",
    metavar="DIR",
    help="The folder Q works in; else the one you are in (over ssh: your home there).",
)
@click.option("--json", "as_json", is_flag=True, help="Print the task as JSON.")
@click.pass_obj
def new(invocation: Invocation, title: str, cwd: str | None, as_json: bool) -> None:
    """Begin a task and print its id. Q's session begins with the first message."""

    async def work(services: Services) -> None:
        folder = _far_folder(cwd) if services.is_far else _folder(cwd)
        _print(await services.feed.add_task(title, folder), as_json)

    with_services(invocation, work)


def _far_folder(cwd: str | None) -> str:
    """A folder on the machine that hermes is on; whether it is there shows with the first turn."""
    if cwd is None:
        return "~"
    if cwd != "~" and not cwd.startswith(("/", "~/")):
        raise Refused(
            f"hermes is on another machine, so --cwd is a path there: begin it with / or ~/, "
            f"which {cwd} does not."
        )
    return cwd


def _folder(cwd: str | None) -> str:
    if cwd is not None:
        kind = click.Path(exists=True, file_okay=False, resolve_path=True)
        try:
            return str(kind.convert(cwd, None, None))
        except click.BadParameter as error:
            raise click.BadParameter(error.message, param_hint="'--cwd'") from None
    try:
        return str(Path.cwd())
    except OSError as error:
        raise Refused("The folder you are in is gone; name one with --cwd.") from error


@task.command("list")
@click.option("--all", "everything", is_flag=True, help="Done and cancelled ones, too.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line.")
@click.pass_obj
def list_(invocation: Invocation, everything: bool, as_json: bool) -> None:
    """List the open tasks, the one with the newest words first."""

    async def work(services: Services) -> None:
        found = await services.feed.tasks()
        shown = [task for task in found if everything or task.state is TaskState.OPEN]
        for each in shown:
            _print(each, as_json)
        if not shown and not as_json:
            show.diagnostic("No open tasks; `qterm task new TITLE` begins one.")

    with_services(invocation, work)


@task.command("show")
@click.argument("task_id", metavar="ID")
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
@click.pass_obj
def show_(invocation: Invocation, task_id: str, as_json: bool) -> None:
    """Show a task: its state, run, session and folder. `qterm feed --task ID` shows its thread."""

    async def work(services: Services) -> None:
        found = await the_task(services, task_id)
        if as_json:
            show.out_json(task_json(found))
            return
        bound = found.session
        show.out(f"{found.title}\n")
        show.out(f"state    {found.state.value}, run {found.run}, {found.turns} turns")
        show.out(f"folder   {found.cwd}")
        name = (bound.name or "(no name yet)") if bound else ""
        show.out(f"session  {f'{name}, {bound.id}' if bound else 'none yet'}")
        if bound:
            show.out(f"hermes   {bound.hermes}")

    with_services(invocation, work)


async def the_task(services: Services, task_id: str) -> Task:
    """The task with this id; refuses an unknown one."""
    found = await services.feed.task(task_id)
    if found is None:
        raise Refused(f"There is no task “{task_id}”; `qterm task list --all` shows them.")
    return found


def _change(
    invocation: Invocation,
    task_id: str,
    as_json: bool,
    change: Callable[[Services], Awaitable[Task]],
) -> None:
    async def work(services: Services) -> None:
        from qterm.conversation import SendError

        await the_task(services, task_id)
        try:
            _print(await change(services), as_json)
        except SendError as error:
            raise Refused(str(error)) from error

    with_services(invocation, work)


@task.command()
@click.argument("task_id", metavar="ID")
@click.argument("title")
@click.option("--json", "as_json", is_flag=True, help="Print the task as JSON.")
@click.pass_obj
def rename(invocation: Invocation, task_id: str, title: str, as_json: bool) -> None:
    """Give a task another title. Its session keeps its name."""
    _change(invocation, task_id, as_json, lambda s: s.feed.rename_task(task_id, title))


@task.command()
@click.argument("task_id", metavar="ID")
@click.option("--json", "as_json", is_flag=True, help="Print the task as JSON.")
@click.pass_obj
def done(invocation: Invocation, task_id: str, as_json: bool) -> None:
    """Finish a task: it can be read, and written in again once it is reopened."""
    _change(
        invocation, task_id, as_json, lambda s: s.conversation.end_task(task_id, TaskState.DONE)
    )


@task.command()
@click.argument("task_id", metavar="ID")
@click.option("--json", "as_json", is_flag=True, help="Print the task as JSON.")
@click.pass_obj
def cancel(invocation: Invocation, task_id: str, as_json: bool) -> None:
    """Cancel a task: as done, but it says that nothing came of it."""
    _change(
        invocation,
        task_id,
        as_json,
        lambda s: s.conversation.end_task(task_id, TaskState.CANCELLED),
    )


@task.command()
@click.argument("task_id", metavar="ID")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--json", "as_json", is_flag=True, help="Print the task as JSON.")
@click.pass_obj
def reopen(invocation: Invocation, task_id: str, yes: bool, as_json: bool) -> None:
    """Open a task again: Q starts fresh, and knows nothing of the earlier run."""
    if not yes and sys.stdin.isatty():
        click.confirm("Q will start fresh and know nothing of the earlier run. Reopen?", abort=True)
    _change(invocation, task_id, as_json, lambda s: s.conversation.reopen_task(task_id))
