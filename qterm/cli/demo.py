"""`qterm demo`: any command as a rehearsal."""

from __future__ import annotations

import sys
from contextlib import ExitStack

import click

from qterm.cli.run import Invocation, Refused, run_command


@click.command(
    context_settings={"ignore_unknown_options": True, "help_option_names": []},
    add_help_option=False,
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@click.pass_obj
def demo(invocation: Invocation, arguments: tuple[str, ...]) -> None:
    """Rehearse: the real hermes with a scripted model, in a throw-away folder.

    Without ARGUMENTS the screen opens; with them that command runs: `qterm demo send "hello"`.
    Nothing is left behind, and nothing of yours is touched.
    """
    if arguments in {("--help",), ("-h",)}:
        click.echo(click.get_current_context().get_help())
        return
    root = click.get_current_context().find_root().command
    sys.exit(rehearse(root, list(arguments), invocation))


def rehearse(root: click.Command, arguments: list[str], invocation: Invocation) -> int:
    """Run a command line inside a rehearsal; returns its exit code."""
    from qterm.feed.source import FeedError
    from qterm.hermes.place import HermesNotFound
    from qterm.rehearsal.demo import Rehearsal

    with ExitStack() as stack:
        try:
            stage = stack.enter_context(Rehearsal(invocation.environ, invocation.config))
        except (HermesNotFound, FeedError) as error:
            raise Refused(str(error)) from error
        except OSError as error:
            raise Refused(
                f"The rehearsal's folder can't be made ({error.strerror}): make room in the "
                "temporary folder, or name another one in TMPDIR."
            ) from error
        inner = Invocation(
            config=stage.config,
            data_dir=stage.data_dir,
            debug=invocation.debug,
            environ=stage.environ,
            is_demo=True,
        )
        return run_command(root, arguments, inner)
