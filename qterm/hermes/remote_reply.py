"""What comes back over ssh: where hermes's own words begin, and why a call went wrong. Pure."""

from __future__ import annotations

import re

import msgspec

from qterm.hermes import failures
from qterm.hermes.remote import BEGUN, Remote
from qterm.hermes.way import Failed, FailureKind, Outcome, Stopped

_REFUSED = re.compile(r"^qterm: ([a-z-]+)$", re.MULTILINE)
_BROKEN = 255
"""What ssh itself ends with; also where a signal ended the command over there."""

_HANGUP = -1


def exit_code(code: int, *, begun: bool) -> int:
    """hermes's exit code, from ssh's: negative where it was ended, be it by the connection.

    A reply that was whole by then counts, as it does where hermes crashes at shut-down.
    """
    return _HANGUP if begun and code == _BROKEN else code


class Preamble:
    """Takes away what a login shell prints before hermes has begun."""

    def __init__(self) -> None:
        self.begun = False
        self._before = b""

    def feed(self, data: bytes) -> bytes:
        """More of standard output, cut anywhere; returns what of it is hermes's."""
        if self.begun:
            return data
        _, found, after = (self._before + data).partition(BEGUN)
        self.begun = bool(found)
        self._before = b"" if found else (self._before + data)[-len(BEGUN) :]
        return after


def went_wrong(
    remote: Remote, code: int, errors: str, *, begun: bool, folder: str = ""
) -> tuple[FailureKind, str] | None:
    """Why a call failed on the way, not in hermes; None where the way was all right.

    `code` is ssh's exit code, `errors` its standard error, `begun` whether hermes was started.
    """
    host, last = remote.host, failures.last_line(errors)
    said = f" ({last})" if last else ""
    if begun:
        if _has_ended(code):
            return None
        return FailureKind.CRASHED, (
            f"The call to hermes on {host} broke off{said}: what Q had begun may still run there; "
            "look there before you send the message again."
        )
    refusals = _REFUSED.findall(errors)
    if refusals:
        return _refusal(remote, refusals[-1], folder)
    if code == _BROKEN:
        return FailureKind.NO_HERMES, (
            f"ssh could not reach {host}{said}: see that `{remote.in_terminal('--version')}` works "
            "in a terminal without asking for anything."
        )
    return FailureKind.NO_HERMES, (
        f"{host} took the connection but did not start hermes (exit code {code}{_and(last)}): "
        f"see what `{remote.in_terminal('--version')}` says in a terminal."
    )


def over_ssh(
    remote: Remote, outcome: Outcome, code: int, errors: str, *, begun: bool, folder: str = ""
) -> Outcome:
    """The outcome as it is to be told: with the way's own failures, and what is not known."""
    if isinstance(outcome, Stopped):
        if begun and _has_ended(code):
            return outcome
        return msgspec.structs.replace(outcome, note=may_still_run(remote))
    if not isinstance(outcome, Failed):
        return outcome
    wrong = went_wrong(remote, code, errors, begun=begun, folder=folder)
    if wrong is not None:
        return msgspec.structs.replace(outcome, kind=wrong[0], reason=wrong[1])
    if outcome.kind is FailureKind.NO_MODEL:
        return msgspec.structs.replace(outcome, reason=no_model(remote))
    return outcome


def may_still_run(remote: Remote) -> str:
    """The sentence for a call that ended here without word from over there."""
    return f"It was ended here; what Q had begun on {remote.host} may still run there."


def no_model(remote: Remote) -> str:
    """The sentence for a hermes over there that has no model."""
    return (
        f"hermes on {remote.host} has no model yet: run `{remote.in_terminal('setup')}`, "
        "then send the message again."
    )


def _refusal(remote: Remote, word: str, folder: str) -> tuple[FailureKind, str]:
    """The sentence for what the script there said no to."""
    host, command = remote.host, remote.command[0]
    if word == "no-hermes":
        return FailureKind.NO_HERMES, (
            f"There is no {command} on {host} that a command over ssh finds: install it there, "
            "or give its whole path in hermes.command."
        )
    if word == "no-folder":
        return FailureKind.CRASHED, (
            f"The folder {folder or '~'} on {host} can't be entered: make it there, or mend its "
            "mode, then send the message again."
        )
    if word == "no-temp":
        return FailureKind.CRASHED, (
            f"No temporary folder can be made on {host}: free some space there, "
            "then send the message again."
        )
    return FailureKind.CRASHED, f"The message did not reach {host} as a whole: send it again."


def _has_ended(code: int) -> bool:
    """Whether ssh brought the exit code of a command that has ended over there."""
    return 0 <= code != _BROKEN


def _and(last: str) -> str:
    return f", {last}" if last else ""
