"""Asks the gate, and runs the pass where it is due. Nothing in here raises."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path

import msgspec

from qterm.clock import local_now
from qterm.maintenance import gate, state
from qterm.maintenance.report import Outcome, Report, Step, StepState, worked_out
from qterm.maintenance.result import write_result
from qterm.maintenance.standing import Standing, standing
from qterm.settings.load import Loaded

log = logging.getLogger(__name__)

Pass = Callable[[threading.Event], tuple[Step, ...]]
"""Runs the steps; the event, once set, ends them early."""

_BROKE = "The pass broke off: qterm's log says more; it is tried again later."


class Maintenance:
    """The gate and the pass, for one process.

    `loaded` gives the settings in force, `now` the time with its zone, `steps` runs the pass (left
    out: hive-mind, then WORKING.md). What this process remembers: when it ran a pass whose time
    could not be noted, how often passes failed in a row, and what was said already.
    """

    def __init__(
        self,
        loaded: Callable[[], Loaded],
        environ: Mapping[str, str],
        *,
        now: Callable[[], datetime] = local_now,
        steps: Pass | None = None,
    ) -> None:
        self._loaded = loaded
        self._environ = environ
        self._now = now
        self._steps = steps or self._all_steps
        self._ran_at: int | None = None
        self._failures = 0
        self._failed_at = 0
        self._said: set[str] = set()

    @property
    def home(self) -> Path:
        """The user's home folder."""
        return state.user_home(self._environ)

    @property
    def state_path(self) -> Path:
        """Where the time of the last pass is noted."""
        return state.state_path(self.home)

    def standing(self, override: float | None = None) -> Standing:
        """Whether the gate is on and how long the window is; `override` in minutes."""
        return standing(self._loaded(), self._environ, override)

    def is_due(self) -> bool:
        """Whether the gate is on and a pass is due; reads only, and less where it is off."""
        try:
            found = self.standing()
            return found.is_on and self._look(found.window).outcome is Outcome.NOTHING
        except Exception:
            log.exception("the gate could not be asked")
            return False

    def run_if_due(
        self, *, override: float | None = None, stopping: threading.Event | None = None
    ) -> Report:
        """Ask the gate; where it is on and a pass is due, run it. Never raises.

        `override` is a window in minutes. Off means that no file but hermes's `.env` is touched,
        nor even looked at.
        """
        try:
            found = self.standing(override)
            if not found.is_on:
                return Report(Outcome.OFF, self._moment(), found.window)
            report = self._run(found.window, stopping or threading.Event())
            return self._once(report)
        except Exception:
            log.exception("the gate could not be asked")
            return Report(Outcome.FAILED, 0, trouble=_BROKE)

    def run_now(
        self,
        *,
        override: float | None = None,
        is_forced: bool = False,
        stopping: threading.Event | None = None,
    ) -> Report:
        """Run the pass though the gate may be off; `is_forced`: also where none is due."""
        try:
            found = self.standing(override)
            return self._run(found.window, stopping or threading.Event(), is_forced=is_forced)
        except Exception:
            log.exception("the gate could not be asked")
            return Report(Outcome.FAILED, 0, trouble=_BROKE)

    def _run(self, window: float, stopping: threading.Event, *, is_forced: bool = False) -> Report:
        look = self._look(window)
        if not is_forced and look.outcome is not Outcome.NOTHING:
            return look
        with state.lone(self.state_path) as is_alone:
            look = self._look(window)  # once more: another may have been quicker
            if not is_alone:
                return msgspec.structs.replace(look, outcome=Outcome.BUSY)
            if not is_forced and look.outcome is not Outcome.NOTHING:
                return look
            return self._pass(look, stopping)

    def _look(self, window: float) -> Report:
        """Whether a pass is due: then the outcome is NOTHING, so far."""
        now, last = self._moment(), state.read_last(self.state_path)
        outcome = Outcome.NOTHING
        is_remembered = self._ran_at is not None and not gate.due(now, self._ran_at, window)
        if is_remembered or not gate.due(now, last, window):
            outcome = Outcome.NOT_DUE
        elif not gate.due(now, self._failed_at, gate.back_off(self._failures, window)):
            outcome = Outcome.WAITING
        return Report(outcome, now, window, last)

    def _pass(self, look: Report, stopping: threading.Event) -> Report:
        try:
            steps = self._steps(stopping)
            outcome, trouble = worked_out(steps), ""
        except Exception:
            log.exception("a maintenance pass broke off")
            steps, outcome, trouble = (), Outcome.FAILED, _BROKE
        for step in steps:
            log.info("maintenance: %s %s", step.name, step.state.value)
        last = look.last
        if outcome is Outcome.DONE:
            self._failures = 0
            trouble = state.write_last(self.state_path, look.now)
            self._ran_at = look.now if trouble else None
            last = look.now
        else:
            self._failures += 1
            self._failed_at = look.now
        report = Report(outcome, look.now, look.window, last, steps, trouble)
        if report.has_run and not stopping.is_set():  # one that was cut short tells nothing
            write_result(self._loaded().paths.data_dir, report)
        return report

    def _all_steps(self, stopping: threading.Event) -> tuple[Step, ...]:
        from qterm.maintenance import hive_mind, working

        loaded = self._loaded()
        chosen = loaded.settings.maintenance
        first = hive_mind.compact(chosen.hive_mind_cli, self.home, self._environ, stopping=stopping)
        if stopping.is_set():
            return (first,)
        return (first, working.prune(loaded, self._environ, now=self._now))

    def _once(self, report: Report) -> Report:
        """The report without what was said already of what is not set up, or goes on failing."""
        steps = []
        for step in report.steps:
            if step.state is StepState.DONE:
                self._said = {said for said in self._said if not said.startswith(f"{step.name}:")}
            elif step.sentence:
                key = f"{step.name}:{step.sentence}"
                if key in self._said:
                    step = msgspec.structs.replace(step, sentence="")  # noqa: PLW2901
                self._said.add(key)
            steps.append(step)
        trouble = "" if report.trouble in self._said else report.trouble
        self._said.add(report.trouble)
        return msgspec.structs.replace(report, steps=tuple(steps), trouble=trouble)

    def _moment(self) -> int:
        return int(self._now().timestamp() * 1000)
