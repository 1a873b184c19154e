"""The `qterm` command: its options, its commands, and what ends it."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from qterm import __version__
from qterm.cli.lazy import LazyGroup
from qterm.cli.paths import NamedPath
from qterm.cli.run import Invocation, run_command

COMMANDS = {
    "send": "talk",
    "again": "talk",
    "post": "talk",
    "context": "talk",
    "task": "task",
    "feed": "feed",
    "search": "feed",
    "export": "feed",
    "hide": "feed",
    "delete": "feed",
    "facts": "about",
    "mode": "about",
    "memory": "memory",
    "compact": "compact",
    "doctor": "doctor",
    "demo": "demo",
    "completion": "completion",
}
"""Each command, and the module that holds it."""


@click.group(
    cls=LazyGroup,
    lazy=COMMANDS,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.option(
    "--config",
    type=NamedPath(path_type=Path, readable=False),
    metavar="FILE",
    help="Read this config file.",
)
@click.option(
    "--data-dir",
    type=NamedPath(path_type=Path, readable=False),
    metavar="DIR",
    help="Keep the feed and everything else of qterm's in this folder.",
)
@click.option("--debug", is_flag=True, help="Write more into the log.")
@click.version_option(__version__, prog_name="qterm", message="%(prog)s %(version)s")
@click.pass_context
def qterm(context: click.Context, config: Path | None, data_dir: Path | None, debug: bool) -> None:
    """Talk with Q. Without a command, the screen opens."""
    invocation = context.ensure_object(Invocation)
    invocation.config = config or invocation.config
    invocation.data_dir = data_dir or invocation.data_dir
    invocation.debug = debug or invocation.debug
    if context.invoked_subcommand is None:
        from qterm.cli import screen

        screen.open_screen(context.command, invocation)


def run(arguments: list[str], invocation: Invocation) -> int:
    """Run one command line; returns its exit code."""
    return run_command(qterm, arguments, invocation)


def main() -> None:
    """Run the command line of this process."""
    sys.exit(run(sys.argv[1:], Invocation()))
