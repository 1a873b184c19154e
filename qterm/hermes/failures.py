"""One clear sentence for a turn that ended badly, with what to do. Pure."""

from __future__ import annotations

import re
import signal

from qterm.hermes.way import FailureKind

EMPTY = "The model gave an empty answer: send the message again, or choose another model."
NO_MODEL = "hermes has no model yet: run `hermes setup`, then send the message again."
BROKE_OFF = "The answer broke off before its end: send the message again."
IN_USE = (
    "This session is open in another window or terminal: close it there, "
    "then send the message again."
)
SESSION_LOST = "hermes no longer has this session."

_DETAIL_CHARS = 4_000
_LINE_CHARS = 200
_TOOL_CHARS = 2_000
_STATUS = re.compile(r"\bHTTP (\d{3})\b|\bError code: (\d{3})\b")
_NO_MODEL = re.compile(
    r"isn't configured yet|no API keys or providers found|Run:\s+hermes setup"
    r"|No inference provider configured"
)
_PROVIDER = re.compile(
    r"^(HTTP \d{3}|API call failed|Error code: \d{3}|Connection error|Request timed out)",
    re.IGNORECASE,
)


def explain(exit_code: int, said: str, errors: str) -> tuple[FailureKind, str]:
    """What kind of failure it is, and its sentence.

    `said` is what hermes gave as its answer or its error, `errors` its standard error, `exit_code`
    the process's, negative for a signal.
    """
    if "hermes-refusal-reason: SESSION_NOT_OWNED" in errors:
        return FailureKind.IN_USE, IN_USE
    if exit_code > 0 and _NO_MODEL.search(said or errors):
        return FailureKind.NO_MODEL, NO_MODEL
    first = _telling_line(said)
    if exit_code < 0:
        return FailureKind.CRASHED, (
            f"hermes was ended by {_signal_name(exit_code)} before it had answered: "
            "send the message again."
        )
    if _is_traceback(said) or (not first and _is_traceback(errors)):
        last = last_line(errors if _is_traceback(errors) else said)
        return FailureKind.CRASHED, (
            f"hermes broke off with an error ({last}): look at the details, or run `hermes doctor`."
        )
    if first:
        return FailureKind.PROVIDER, _provider(first, said)
    last = last_line(errors)
    ended = f"hermes ended with exit code {exit_code} and no answer"
    if last:
        ended += f" ({last})"
    return FailureKind.CRASHED, f"{ended}: look at the details, or run `hermes doctor`."


def excerpt(printed: str, errors: str) -> str:
    """What can be unfolded below the sentence: the end of what hermes printed, bounded."""
    parts = [part.strip() for part in (printed[-_DETAIL_CHARS:], errors[-_DETAIL_CHARS:])]
    return "\n".join(part for part in parts if part)[-_DETAIL_CHARS:]


def clip(text: str, limit: int = _TOOL_CHARS) -> str:
    """The text, cut with a mark where it is longer than that."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _provider(first: str, said: str) -> str:
    status = _STATUS.search(said)
    code = int(status[1] or status[2]) if status else 0
    if code in {401, 403}:
        return f"The model's provider refused the key ({first}): mend it with `hermes setup`."
    if code == 402:
        return f"The model's provider asks for payment ({first}): see to your account there."
    if code == 404:
        return f"The model's provider does not have this model ({first}): run `hermes model`."
    if code == 429:
        return f"The model's provider has had too many requests ({first}): wait, then send again."
    if code >= 500 or _PROVIDER.match(first):
        return f"The model's provider can't be used now ({first}): wait, then send again."
    return f"hermes gave no answer but an error ({first}): look at the details, then send again."


def _is_traceback(text: str) -> bool:
    return "Traceback (most recent call last)" in text


def _telling_line(text: str) -> str:
    """The line with the provider's status where there is one, else the first."""
    lines = [line for line in text[:_DETAIL_CHARS].splitlines() if line.strip()]
    best = next((line for line in lines if _STATUS.search(line)), lines[0] if lines else "")
    return _tidy(best.removeprefix("Provider said: "))


def last_line(text: str) -> str:
    """The last line that says something, tidied up; empty when there is none."""
    for line in reversed(text[-_DETAIL_CHARS:].splitlines()):
        if line.strip() and not line.startswith("session_id: "):
            return _tidy(line)
    return ""


def _tidy(line: str) -> str:
    return clip(" ".join(line.split()), _LINE_CHARS).rstrip(".")


def _signal_name(exit_code: int) -> str:
    try:
        return f"signal {-exit_code} ({signal.Signals(-exit_code).name})"
    except ValueError:
        return f"signal {-exit_code}"
