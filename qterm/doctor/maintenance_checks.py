"""Looks at the maintenance after a turn: the gate, the last pass, what is set up; reads only."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime

from qterm.clock import local_now
from qterm.doctor.check import Check, State
from qterm.maintenance import gate, hive_mind, hook, state, working
from qterm.maintenance.report import Report, StepState
from qterm.maintenance.result import read_result
from qterm.maintenance.standing import Standing, standing
from qterm.settings.load import Loaded


def maintenance_checks(
    loaded: Loaded, environ: Mapping[str, str], *, now: Callable[[], datetime] = local_now
) -> list[Check]:
    """The gate and where it is set, the window, the last pass, and what a pass would do."""
    found = standing(loaded, environ)
    return [
        _gate(found),
        _last(loaded, environ, found, now()),
        _hive_mind(loaded, environ, found),
        _working(loaded, environ, found),
        _hook(loaded, environ, found),
    ]


def _gate(found: Standing) -> Check:
    details = {
        "on": found.is_on,
        "on_by": found.is_on_by,
        "window_minutes": found.window / gate.MINUTE,
        "window_by": found.window_by,
    }
    window = f"{found.window / gate.MINUTE:,.6g} minutes ({found.window_by})"
    sentence = (
        f"On ({found.is_on_by}): a pass runs after a turn, at most once in {window}."
        if found.is_on
        else f"Off ({found.is_on_by}); on, a pass would run after a turn, at most once in {window}."
    )
    name, title = "maintenance", "maintenance"
    if found.trouble:
        path = found.trouble.partition(" can't be read")[0]
        return Check(
            name, title, State.WARN, f"{sentence} {found.trouble}", f"Mend {path}.", details
        )
    return Check(name, title, State.OK if found.is_on else State.INFO, sentence, details=details)


def _last(loaded: Loaded, environ: Mapping[str, str], found: Standing, now: datetime) -> Check:
    name, title = "maintenance.last", "last pass"
    path = state.state_path(state.user_home(environ))
    last, moment = state.read_last(path), int(now.timestamp() * 1000)
    result = read_result(loaded.paths.data_dir)
    due = gate.due(moment, last, found.window)
    next_due = None if due or last is None else last + round(found.window)
    details = {
        "path": str(path),
        "last": last,
        "next_due": next_due,
        "outcome": result.outcome.value if result else None,
        "outcome_at": result.now if result else None,
    }
    sentence = f"None has succeeded yet ({path})."
    if last is not None:
        then = _words(last)
        sentence = f"{then} ({path})."
        if last > moment:
            sentence = f"{then}, which is still to come ({path}): the clock was set back."
    if result is not None:
        sentence = f"{sentence} {_result(result, last)}"
    if found.is_on:
        when = "with the next turn" if next_due is None else f"at {_words(next_due)}"
        sentence = f"{sentence} The next is due {when}."
    if result is not None and result.outcome.value == "failed" and found.is_on:
        mend = "See what a pass says: `qterm compact --force`."
        return Check(name, title, State.WARN, sentence, mend, details)
    return Check(name, title, State.INFO, sentence, details=details)


def _result(result: Report, last: int | None) -> str:
    """What the last pass of this qterm did; another program's may have run since."""
    said = " ".join(step.line for step in result.steps if step.state is not StepState.SKIPPED)
    said = said or result.trouble or "It did nothing."
    if result.now == last:
        return said
    return f"The last one that qterm tried, at {_words(result.now)}: {said}"


def _hive_mind(loaded: Loaded, environ: Mapping[str, str], found: Standing) -> Check:
    name, title = "maintenance.hive_mind", "hive-mind"
    chosen = loaded.settings.maintenance.hive_mind_cli
    command = hive_mind.find(chosen, state.user_home(environ), environ)
    if isinstance(command, hive_mind.Missing):
        details: dict[str, object] = {"command": None, "found_by": None}
        if command.is_asked_for and found.is_on:
            mend = "Mend maintenance.hive_mind_cli, or leave it out."
            return Check(name, title, State.WARN, command.sentence, mend, details)
        return Check(name, title, State.INFO, command.sentence, details=details)
    details = {"command": list(command.argv), "found_by": command.found_by}
    sentence = f"{' '.join(command.argv)} (by {command.found_by})."
    return Check(name, title, State.OK, sentence, details=details)


def _working(loaded: Loaded, environ: Mapping[str, str], found: Standing) -> Check:
    name, title = "maintenance.working", "pruning WORKING.md"
    is_on = loaded.settings.maintenance.prune_working
    days = loaded.settings.memory.working_days
    details = {"on": is_on, "working_days": days}
    if not is_on:
        sentence = "Off: maintenance.prune_working switches it on."
        return Check(name, title, State.INFO, sentence, details=details)
    if why := working.refusal(loaded, environ):
        if not found.is_on:
            return Check(name, title, State.INFO, why, details=details)
        mend = "Set memory.home, or maintenance.prune_working to false."
        return Check(name, title, State.WARN, why, mend, details)
    sentence = f"On: a pass archives what is older than {days} days, and takes it out."
    return Check(name, title, State.OK, sentence, details=details)


def _words(milliseconds: int) -> str:
    try:
        found = datetime.fromtimestamp(milliseconds / 1000).astimezone()
    except (OverflowError, ValueError, OSError):
        return "a time far off"
    return f"{found:%Y-%m-%d %H:%M}"


def _hook(loaded: Loaded, environ: Mapping[str, str], found: Standing) -> Check:
    name, title = "maintenance.hook", "hermes hook"
    try:
        place = hook.find(loaded, environ)
    except hook.HookError as error:
        return Check(name, title, State.INFO, str(error))
    stands = hook.hook_state(place.home)
    details = {
        "path": str(stands.path),
        "command": stands.command,
        "consent": stands.has_consent,
    }
    if stands.trouble:
        return Check(name, title, State.INFO, stands.trouble, "", details)
    if not stands.command:
        sentence = (
            "Not installed: turns made outside qterm ask no gate. `qterm compact --install-hook` "
            "shows what it takes."
        )
        return Check(name, title, State.INFO, sentence, "", details)
    if stands.program:
        sentence = f"It starts {stands.program}, which is not there any more."
        mend = "`qterm compact --install-hook --yes` writes it anew."
        return Check(name, title, State.WARN, sentence, mend, details)
    if not stands.has_consent:
        sentence = f"In {stands.path}, but hermes has no consent to it, so it is not fired."
        mend = "`qterm compact --install-hook --yes` has hermes ask for it."
        return Check(name, title, State.WARN, sentence, mend, details)
    off = "" if found.is_on else " The gate is off, so it does nothing yet."
    sentence = f"In {stands.path}, and hermes has consent to it.{off}"
    return Check(name, title, State.OK, sentence, "", details)
