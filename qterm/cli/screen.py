"""`qterm` without a command: the screen."""

from __future__ import annotations

import gc
import sys

import click

from qterm.cli import exit_codes
from qterm.cli.run import Invocation, Refused
from qterm.feed.source import FeedError


def open_screen(root: click.Command, invocation: Invocation) -> None:
    """Open the screen; a rehearsal chosen on the first-start screen follows it."""
    # Textual draws on standard error.
    if not (sys.stdin.isatty() and sys.stdout.isatty() and sys.stderr.isatty()):
        raise Refused(
            "The screen needs a terminal; `qterm send TEXT` works without one.", exit_codes.USAGE
        )
    gc.disable()  # what a start makes stays; the app turns it on again with its first frame
    from qterm.tui.app import Leave, run_screen

    try:
        outcome = run_screen(
            invocation.load(), environ=invocation.environ, is_demo=invocation.is_demo
        )
    except FeedError as error:
        raise Refused(str(error)) from error
    if outcome is Leave.REHEARSE:
        from qterm.cli.demo import rehearse

        rehearse(root, [], invocation)
        return
    sys.exit(outcome.exit_code)
