"""`qterm compact`: the maintenance pass from the shell, by the same gate as after a turn."""

from __future__ import annotations

import math
import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from qterm.cli import exit_codes, show
from qterm.cli.run import Invocation, Refused

if TYPE_CHECKING:
    from qterm.maintenance.report import Report, Step


def _minutes(context: click.Context, param: click.Parameter, value: float | None) -> float | None:
    if value is not None and not (value > 0 and math.isfinite(value * 60_000)):
        raise click.BadParameter("give a number of minutes, more than 0.", context, param)
    return value


@click.command()
@click.option("--if-due", is_flag=True, help="Only where the gate is on and a pass is due.")
@click.option("--force", is_flag=True, help="Also where the last pass was a short while ago.")
@click.option(
    "--window",
    type=float,
    callback=_minutes,
    metavar="MIN",
    help="Minutes between two passes, for this once.",
)
@click.option("--json", "as_json", is_flag=True, help="Print what was done as JSON.")
@click.option(
    "--install-hook", is_flag=True, help="Show the hook's lines for hermes's config.yaml."
)
@click.option("--remove-hook", is_flag=True, help="Take the hook's lines out of it again.")
@click.option("--yes", is_flag=True, help="Write the lines, and have hermes agree to the hook.")
@click.pass_obj
def compact(
    invocation: Invocation,
    if_due: bool,
    force: bool,
    window: float | None,
    as_json: bool,
    install_hook: bool,
    remove_hook: bool,
    yes: bool,
) -> None:
    """Run the maintenance pass: hive-mind compacts, WORKING.md loses what is old.

    By itself at most once a window, whether the gate is on or off; what a pass does is set in the
    config under [maintenance]. MEMORY.md and USER.md are never touched.
    """
    if if_due and force:
        raise click.UsageError("--if-due asks the gate, --force does not: give one of them.")
    if invocation.is_demo:
        raise Refused("The rehearsal runs no maintenance: it would touch your own home.")
    if install_hook or remove_hook:
        _hook(invocation, install=install_hook, remove=remove_hook, yes=yes)
        return
    if yes:
        raise click.UsageError("--yes belongs to --install-hook.")
    from qterm.maintenance.run import Maintenance

    loaded = invocation.load()
    maintenance = Maintenance(lambda: loaded, invocation.environ)
    if if_due:
        report = maintenance.run_if_due(override=window)
    else:
        report = maintenance.run_now(override=window, is_forced=force)
    if as_json:
        show.out_json(report_json(report))
    else:
        _tell(report, is_asked_for=not if_due)
    sys.exit(_code(report, is_asked_for=not if_due))


def _hook(invocation: Invocation, *, install: bool, remove: bool, yes: bool) -> None:
    if install and remove:
        raise click.UsageError("Give one of --install-hook and --remove-hook.")
    from qterm.cli import compact_hook

    if install:
        compact_hook.install_hook(invocation, yes=yes)
    else:
        compact_hook.remove_hook(invocation)


def _tell(report: Report, *, is_asked_for: bool) -> None:
    from qterm.maintenance.report import Outcome, StepState

    for step in report.steps:
        if step.state is StepState.DONE:
            show.out(step.line)
        elif step.sentence:
            show.diagnostic(step.line)
    if report.trouble:
        show.diagnostic(report.trouble)
    if report.outcome is Outcome.NOTHING and is_asked_for:
        show.diagnostic(
            "There is nothing to do in a pass: set up hive-mind, or maintenance.prune_working."
        )
    if not report.has_run and report.outcome is not Outcome.NOTHING:
        show.out(sentence(report))


def sentence(report: Report) -> str:
    """Why no pass was run, in one sentence."""
    from qterm.maintenance.report import Outcome

    match report.outcome:
        case Outcome.OFF:
            return "The gate is off: maintenance.enabled switches it on."
        case Outcome.BUSY:
            return "Another process is at it."
        case _:
            last, due = moment(report.last), moment(next_due(report))
            return f"Not due: the last pass was at {last}, the next is due at {due} (--force: now)."


def next_due(report: Report) -> int | None:
    """When the next pass is due, in milliseconds since the epoch; None: at once."""
    return None if report.last is None else report.last + round(report.window)


def moment(milliseconds: int | None) -> str:
    """A time as people read it."""
    if milliseconds is None:
        return "no time"
    try:
        found = datetime.fromtimestamp(milliseconds / 1000).astimezone()
    except (OverflowError, ValueError, OSError):
        return "a time far off"
    return f"{found:%Y-%m-%d %H:%M}"


def report_json(report: Report) -> dict[str, Any]:
    """A report in the documented form (docs/command-line.md, *JSON*)."""
    return {
        "outcome": report.outcome.value,
        "steps": [_step_json(step) for step in report.steps],
        "windowMinutes": report.window / 60_000,
        "last": _moment_json(report.last),
        "nextDue": _moment_json(next_due(report)),
        "trouble": report.trouble or None,
    }


def _step_json(step: Step) -> dict[str, Any]:
    return {
        "step": step.name,
        "state": step.state.value,
        "sentence": step.sentence or None,
        "counts": dict(step.counts),
        "seconds": round(step.seconds, 3),
    }


def _moment_json(milliseconds: int | None) -> str | None:
    if milliseconds is None:
        return None
    try:
        return show.moment_json(datetime.fromtimestamp(milliseconds / 1000, UTC))
    except (OverflowError, ValueError, OSError):
        return None


def _code(report: Report, *, is_asked_for: bool) -> int:
    from qterm.maintenance.report import Outcome

    failed = report.outcome is Outcome.FAILED
    empty = report.outcome is Outcome.NOTHING and is_asked_for
    return exit_codes.ERROR if failed or empty else exit_codes.OK
