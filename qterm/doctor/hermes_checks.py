"""Looks at hermes: where it is, what it can do, its home, its model."""

from __future__ import annotations

import asyncio
import os
import shlex
import tempfile
from collections.abc import Mapping
from pathlib import Path

from qterm.doctor.check import Check, State
from qterm.doctor.far_checks import far_checks
from qterm.hermes.capabilities import acp_check, probe
from qterm.hermes.locate import INSTALL, PACKAGE, HermesNotFound, HermesPlace, locate
from qterm.hermes.model_state import ModelState, model_reachable, model_state
from qterm.hermes.place import Capabilities, HermesUnusable
from qterm.hermes.remote import is_ssh
from qterm.hermes.way import Transport
from qterm.model import Approvals, TransportChoice
from qterm.settings.load import Loaded


async def hermes_checks(loaded: Loaded, *, environ: Mapping[str, str], python: str) -> list[Check]:
    """Everything about hermes; where there is none, that alone and what it would do unasked."""
    approvals = _approvals(loaded)
    try:
        place = await asyncio.to_thread(locate, loaded.settings.hermes, environ, python=python)
    except HermesNotFound as error:
        mend = (  # pipx puts it on PATH also where pip may not (Debian)
            f"Install it (`pipx install '{PACKAGE}'`, or `{INSTALL}` in an environment), "
            "or set hermes.command, hermes.home and hermes.profile right."
        )
        return [Check("hermes", "hermes", State.FAIL, str(error), mend), approvals]
    if place.remote is not None:
        abilities = await _abilities(place, environ)
        return [_found(place), *abilities, approvals, *far_checks(place.remote, place.home_by)]
    state = await asyncio.to_thread(model_state, place.home, environ)
    abilities, is_live, reachable = await asyncio.gather(
        _abilities(place, environ), _can_be_kept_running(place, environ), _reachable(state)
    )
    transport = transport_check(loaded, is_live)
    approvals = _approvals(loaded, is_live=transport.details["transport"] == Transport.LIVE)
    return [
        _found(place),
        *abilities,
        transport,
        approvals,
        _home(place),
        _model(state, place),
        reachable,
    ]


async def _can_be_kept_running(place: HermesPlace, environ: Mapping[str, str]) -> bool:
    """What `hermes acp --check` says; the asking leaves nothing behind."""
    try:
        with tempfile.TemporaryDirectory(
            prefix="qterm-doctor-", ignore_cleanup_errors=True
        ) as folder:
            return await acp_check(place, environ, Path(folder))
    except (HermesUnusable, OSError):
        return False


def transport_check(loaded: Loaded, is_live: bool) -> Check:
    """Which way turns take: a hermes that is kept running, or one started for each turn."""
    title, choice = "transport", loaded.settings.hermes.transport
    details = {"set": choice.value, "can_be_live": is_live}
    if choice is TransportChoice.SPAWN:
        sentence = 'hermes is started for each turn: hermes.transport is "spawn".'
        details["transport"] = Transport.SPAWN.value
        return Check("hermes.transport", title, State.INFO, sentence, details=details)
    if is_live:
        sentence = "hermes is kept running, and answers at once (`hermes acp --check` says it can)."
        details["transport"] = Transport.LIVE.value
        return Check("hermes.transport", title, State.OK, sentence, details=details)
    details["transport"] = Transport.SPAWN.value
    sentence = (
        "hermes can't be kept running (`hermes acp --check`), so it is started for each turn."
    )
    mend = f"For quicker answers install its extra: `{INSTALL}`."
    state = State.FAIL if choice is TransportChoice.LIVE else State.WARN
    if state is State.FAIL:
        sentence = 'hermes can\'t be kept running, and hermes.transport is "live".'
        mend = f'{mend} Or set hermes.transport to "auto".'
    return Check("hermes.transport", title, state, sentence, mend, details)


def _found(place: HermesPlace) -> Check:
    command = " ".join(place.command)
    by = place.found_by if place.found_by.startswith("beside") else f"by {place.found_by}"
    return Check(
        "hermes",
        "hermes",
        State.OK,
        f"It is {command} (found {by}).",
        details={"command": list(place.command), "found_by": place.found_by},
    )


async def _abilities(place: HermesPlace, environ: Mapping[str, str]) -> list[Check]:
    """The version and what it can do, asked anew; the asking leaves nothing behind."""
    title = "hermes version"
    try:
        with tempfile.TemporaryDirectory(
            prefix="qterm-doctor-", ignore_cleanup_errors=True
        ) as folder:
            known = await probe(place, environ, Path(folder))
    except HermesUnusable as error:
        mend = f"Install hermes again with `{INSTALL}`, or set hermes.command to another one."
        if place.remote is not None:
            mend = f"See that `{place.remote.in_terminal('--version')}` works without asking."
        return [Check("hermes.version", title, State.FAIL, str(error), mend)]
    except OSError as error:
        mend = "Free some space in the temporary folder, or name another with TMPDIR."
        sentence = f"hermes could not be asked: no temporary folder ({error.strerror})."
        return [Check("hermes.version", title, State.FAIL, sentence, mend)]
    return [
        Check(
            "hermes.version",
            title,
            State.OK,
            f"It is {known.version} ({known.version_line}).",
            details={"version": known.version, "line": known.version_line},
        ),
        _how_texts_go(known, place),
    ]


def _how_texts_go(known: Capabilities, place: HermesPlace) -> Check:
    """Which way texts take in and out (docs/hermes.md, *Which arguments*)."""
    details = {
        "query_file": known.query_file,
        "stream_json": known.stream_json,
        "create_if_missing": known.create_if_missing,
        "source": known.source,
        "no_restore_cwd": known.no_restore_cwd,
        "oneshot": known.oneshot,
        "usage_file": known.usage_file,
    }
    title = "hermes abilities"
    if not known.query_file:
        machine = place.remote.host if place.remote is not None else "this machine"
        return Check(
            "hermes.abilities",
            title,
            State.WARN,
            f"hermes {known.version} takes texts in its argument list only: while a turn runs, "
            f"every user of {machine} can read your message and its context there.",
            "On a machine that you share, use a hermes whose `hermes chat --help` names "
            "--query-file.",
            details,
        )
    coming = "word by word" if known.stream_json else "as a whole"
    return Check(
        "hermes.abilities",
        title,
        State.OK,
        f"Texts go to hermes unseen by other users, and answers come {coming}.",
        details=details,
    )


def _approvals(loaded: Loaded, *, is_live: bool = False) -> Check:
    """What hermes may do unasked (rule A1)."""
    asked = loaded.settings.hermes.approvals
    title, name = "approvals", "hermes.approvals"
    details = {"set": asked.value, "in_force": asked.value}
    if asked is Approvals.BYPASS and is_ssh(loaded.settings.hermes.command):
        details["in_force"] = Approvals.DENY.value
        return Check(
            "approvals",
            title,
            State.INFO,
            "Over ssh hermes refuses dangerous commands, also where it was told to run all of "
            "them: whether such a call went well can't be seen from here.",
            details=details,
        )
    if asked is Approvals.BYPASS:
        return Check(
            "approvals",
            title,
            State.WARN,
            "hermes runs every command unasked in the home feed, which holds other programs' text.",
            f'Set {name} to "deny".',
            details,
        )
    if asked is Approvals.ASK and is_live:
        sentence = "hermes asks you before it runs a dangerous command or edits a file."
        return Check("approvals", title, State.OK, sentence, details=details)
    if asked is Approvals.ASK:
        details["in_force"] = Approvals.DENY.value
        return Check(
            "approvals",
            title,
            State.INFO,
            "hermes can't ask where each turn starts it, so dangerous commands are refused.",
            details=details,
        )
    return Check(
        "approvals", title, State.OK, "hermes refuses dangerous commands.", details=details
    )


def _home(place: HermesPlace) -> Check:
    home, title = place.home, "hermes home"
    details = {"path": str(home), "chosen_by": place.home_by, "is_root": place.home_is_root}
    where = f"{home} (chosen by {place.home_by})"
    try:
        there, is_folder = home.exists(), home.is_dir()
    except OSError as error:
        mend = "Set hermes.home to another folder, or mend the mode of the one above it."
        sentence = f"{where} can't be looked at ({error.strerror})."
        return Check("hermes.home", title, State.FAIL, sentence, mend, details)
    if not there:
        return Check(
            "hermes.home",
            title,
            State.INFO,
            f"It is {where}; it is not there yet, and hermes makes it.",
            details=details,
        )
    if not is_folder:
        mend = "Move that file away, or set hermes.home to a folder."
        return Check("hermes.home", title, State.FAIL, f"{where} is not a folder.", mend, details)
    if not os.access(home, os.R_OK | os.W_OK | os.X_OK):
        mend = f"Give yourself the folder: `sudo chown -R $(id -un) {shlex.quote(str(home))}`."
        sentence = f"You can't read and write {where}."
        return Check("hermes.home", title, State.FAIL, sentence, mend, details)
    return Check("hermes.home", title, State.OK, f"It is {where}.", details=details)


def _model(state: ModelState, place: HermesPlace) -> Check:
    details = {
        "is_set": state.is_set,
        "model": state.model,
        "provider": state.provider,
        "base_url": state.base_url,
    }
    if state.is_set:
        return Check("model", "model", State.OK, state.sentence, details=details)
    # Where the home is a root, hermes's sticky profile would win without this.
    words = [*place.command, *(["-p", "default"] if place.home_is_root else []), "setup"]
    call = f"HERMES_HOME={shlex.quote(str(place.home))} {shlex.join(words)}"
    mend = f"Run `{call}`; until then `qterm demo` works."
    return Check("model", "model", State.FAIL, state.sentence, mend, details)


async def _reachable(state: ModelState) -> Check:
    title = "model reachable"
    if not state.is_set:
        return Check("model.reachable", title, State.INFO, "There is no model to ask.")
    answered, sentence = await model_reachable(state)
    details = {"reachable": answered}
    if answered is None:
        return Check("model.reachable", title, State.INFO, sentence, details=details)
    if answered:
        return Check("model.reachable", title, State.OK, sentence, details=details)
    mend = "Start the model's server, or run `hermes setup` to choose another."
    return Check("model.reachable", title, State.FAIL, sentence, mend, details)
