"""`qterm completion`: the script that makes a shell complete qterm's commands."""

from __future__ import annotations

import click

from qterm.cli import show


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the completion script for SHELL; README.md says where it goes."""
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    assert kind is not None  # click has all three
    script = kind(context.find_root().command, {}, "qterm", "_QTERM_COMPLETE")
    show.out(script.source_template % script.source_vars())
