"""The `qterm` command: its options, its commands, and what ends it."""

from __future__ import annotations

import logging
import sys
from pathlib import Path

import click

from qterm import __version__
from qterm.cli import about, completion, demo, doctor, exit_codes, feed, talk
from qterm.cli.run import Invocation, Refused, internal_error


@click.group(
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.option(
    "--config",
    type=click.Path(path_type=Path, readable=False),
    metavar="FILE",
    help="Read this config file.",
)
@click.option(
    "--data-dir",
    type=click.Path(path_type=Path, readable=False),
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
        demo.open_screen(invocation)


for _command in (
    talk.send,
    talk.post,
    talk.context,
    feed.feed,
    feed.search,
    feed.export,
    feed.hide,
    feed.delete,
    about.facts,
    about.mode,
    doctor.doctor,
    demo.demo,
    completion.completion,
):
    qterm.add_command(_command)


def run(arguments: list[str], invocation: Invocation) -> int:
    """Run one command line; returns its exit code. The only place that ends a command."""
    # Until the log is open, nothing may fall through to standard error.
    logging.getLogger("qterm").addHandler(logging.NullHandler())
    try:
        qterm.main(arguments, prog_name="qterm", standalone_mode=False, obj=invocation)
    except Refused as error:
        error.show()
        return error.code
    except click.exceptions.Exit as error:
        return error.exit_code
    except click.ClickException as error:
        error.show()
        return exit_codes.USAGE if isinstance(error, click.UsageError) else exit_codes.ERROR
    except (click.Abort, KeyboardInterrupt):
        return exit_codes.INTERRUPTED
    except SystemExit as error:
        return error.code if isinstance(error.code, int) else exit_codes.ERROR
    except Exception as error:  # noqa: BLE001 - the last net: one sentence, never a traceback
        return internal_error(error, invocation)
    return exit_codes.OK


def main() -> None:
    """Run the command line of this process."""
    sys.exit(run(sys.argv[1:], Invocation()))
