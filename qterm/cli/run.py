"""Runs a command: opens the services, turns every error into one sentence and an exit code."""

from __future__ import annotations

import asyncio
import io
import logging
import os
import sys
import traceback
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click

from qterm.cli import exit_codes, show
from qterm.feed.source import FeedError
from qterm.safe_text import safe_text
from qterm.streams import give_up

if TYPE_CHECKING:
    from qterm.services import Services
    from qterm.settings.load import Loaded

log = logging.getLogger(__name__)


class Refused(click.ClickException):
    """Something that can't be done; the message is one sentence."""

    def __init__(self, message: str, exit_code: int = exit_codes.ERROR) -> None:
        super().__init__(message)
        self.code = exit_code

    def show(self, file: object = None) -> None:
        """Print the sentence on standard error."""
        show.diagnostic(self.message)


@dataclass
class Invocation:
    """What the options in front of the command say."""

    config: Path | None = None
    data_dir: Path | None = None
    debug: bool = False
    environ: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    is_demo: bool = False
    said: set[str] = field(default_factory=set)

    def load(self) -> Loaded:
        """The settings; what is wrong in them is said once, on standard error."""
        from qterm.log import start_log
        from qterm.settings.load import load

        loaded = load(config=self.config, data_dir=self.data_dir, environ=self.environ)
        start_log(loaded.paths.log_file, debug=self.debug)
        for problem in loaded.problems:
            if problem.sentence not in self.said:
                self.said.add(problem.sentence)
                show.diagnostic(problem.sentence)
        return loaded


Work = Callable[["Services"], Awaitable[int | None]]


def with_services(invocation: Invocation, work: Work) -> NoReturn:
    """Open the services, do the work, close them, and end with its exit code."""

    async def main() -> int:
        from qterm.services import open_services

        services = await open_services(
            invocation.load(), environ=invocation.environ, is_demo=invocation.is_demo
        )
        try:
            for notice in services.notices:
                show.diagnostic(notice)
            return await work(services) or exit_codes.OK
        finally:
            await services.close()

    try:
        code = asyncio.run(main())
    except FeedError as error:
        raise Refused(str(error)) from error
    except KeyboardInterrupt:
        code = exit_codes.INTERRUPTED
    sys.exit(code)


def run_command(root: click.Command, arguments: list[str], invocation: Invocation) -> int:
    """Run one command line; returns its exit code. The only place that ends a command."""
    # Until the log is open, nothing may fall through to standard error.
    logging.getLogger("qterm").addHandler(logging.NullHandler())
    try:
        root.main(arguments, prog_name="qterm", standalone_mode=False, obj=invocation)
    except Refused as error:
        error.show()
        return error.code
    except click.exceptions.Exit as error:
        return error.exit_code
    except click.ClickException as error:
        said = io.StringIO()
        error.show(said)
        with show.complaining():
            # What was typed may be in it, and a terminal would obey that (rule T1).
            click.echo(safe_text(said.getvalue()), err=True, nl=False)
        return _usage_code(error) if isinstance(error, click.UsageError) else exit_codes.ERROR
    except (click.Abort, KeyboardInterrupt):
        return exit_codes.INTERRUPTED
    except SystemExit as error:
        return error.code if isinstance(error.code, int) else exit_codes.ERROR
    except Exception as error:  # noqa: BLE001 - the last net: one sentence, never a traceback
        if isinstance(error, OSError) and _is_printing(error):
            give_up(sys.stdout)
            show.diagnostic(
                f"The output can't be written ({error.strerror}): make room, or send it "
                "elsewhere. What was said stays in the feed."
            )
            return exit_codes.ERROR
        return _internal_error(error, invocation)
    return exit_codes.OK


def _usage_code(error: click.UsageError) -> int:
    """The exit code of a usage error: its command's, or that of a group the command is in."""
    context = error.ctx
    while context is not None:
        if (code := getattr(context.command, "usage_exit_code", None)) is not None:
            return int(code)
        context = context.parent
    return exit_codes.USAGE


def _is_printing(error: OSError) -> bool:
    """Whether it came from standard output: all that is printed, click's help too, is echoed."""
    frames = traceback.walk_tb(error.__traceback__)
    return any(frame.f_code is click.echo.__code__ for frame, _ in frames)


def _internal_error(error: Exception, invocation: Invocation) -> int:
    """Say that qterm itself failed, and where the details lie; never a traceback."""
    log.error("internal error", exc_info=error)
    show.diagnostic(
        f"Something went wrong inside qterm ({type(error).__name__}); nothing that was said is "
        "lost. `qterm doctor` names the log with the details."
    )
    if invocation.debug:
        traceback.print_exception(error)
    return exit_codes.INTERNAL


def labels(services: Services) -> dict[str, str]:
    """The personas' labels by key."""
    return {persona.key: persona.label for persona in services.settings.personas}
