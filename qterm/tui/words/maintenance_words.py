"""What a toast says of a maintenance pass."""

from __future__ import annotations

from qterm.maintenance.report import Outcome, Report


def said_of(report: Report) -> tuple[str, bool]:
    """The words, a line a step, and whether something failed; none where nothing is new."""
    is_fault = report.outcome is Outcome.FAILED or bool(report.trouble)
    return "\n".join(report.lines), is_fault
