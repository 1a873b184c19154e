"""The arguments of a hermes call: one pure function of what was probed and what is asked."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from qterm.hermes.place import Capabilities, HermesPlace
from qterm.hermes.remote import Remote, Where, remote_argv
from qterm.hermes.way import Approvals, HermesRequest

MAX_ARGUMENT = 131_072
"""Bytes at which one argument can't be passed any more, its closing NUL counted (E2BIG)."""

ZERO_WIDTH_SPACE = "\u200b"

_QUERY = "--query="
_ONESHOT = "--oneshot="
_LONGEST_PATH = 8_192  # twice PATH_MAX: spaces in a path may be written with a backslash
_PATH_STARTS = ("/", "~", "./", "../")


class Shape(StrEnum):
    """What a call prints (`reply.py` reads each of them)."""

    ONESHOT = "oneshot"
    CHAT = "chat"
    STREAM = "stream"


class Unfit(StrEnum):
    """Why a text can't be sent."""

    EMPTY = "empty"
    TOO_LARGE = "too-large"
    NOT_TEXT = "not-text"


@dataclass(frozen=True, slots=True)
class Call:
    """One hermes call: its arguments, what goes to its standard input, and how to read it.

    `approvals` is what is in force (rule A1). `usage_file` is where hermes writes its report,
    None where it writes none.
    """

    argv: tuple[str, ...]
    stdin: str | None
    shape: Shape
    approvals: Approvals
    usage_file: str | None = None


def in_force(approvals: Approvals, *, is_task: bool, is_far: bool = False) -> Approvals:
    """What a spawned call really does before a dangerous command (rule A1).

    Nobody can be asked there, so `ask` denies; `bypass` concerns home turns only, and no hermes on
    another machine: whether such a call went well is in its usage file, which stays over there.
    """
    if approvals is Approvals.BYPASS and not is_task and not is_far:
        return Approvals.BYPASS
    return Approvals.DENY


def base(place: HermesPlace, capabilities: Capabilities) -> tuple[str, ...]:
    """The start of every call, on another machine as it is given there.

    In a root home `-p default` keeps the sticky profile out.
    """
    command = place.remote.command if place.remote else place.command
    if not capabilities.profiles:
        return command
    if place.home_is_root:
        return (*command, "-p", "default")
    if place.remote and place.remote.profile and not place.remote.home:
        return (*command, "-p", place.remote.profile)
    return command


def build_call(
    capabilities: Capabilities,
    place: HermesPlace,
    request: HermesRequest,
    approvals: Approvals,
    usage_file: str | None = None,
    *,
    is_image: Callable[[str], bool] = lambda _path: False,
) -> Call:
    """The call for one turn, as the matrix in docs/hermes.md says.

    `is_image` tells whether a path, as it is written in a text, leads to an image that is there;
    hermes would take such a text for an attachment. `carries` says beforehand whether it fits.
    """
    force = in_force(approvals, is_task=request.is_task, is_far=place.remote is not None)
    start = base(place, capabilities)
    if force is Approvals.BYPASS:
        report = usage_file if capabilities.usage_file else None
        with_report = ("--usage-file", report) if report else ()
        # The prompt stays as it is: this way takes no attachments.
        argv = (*start, _ONESHOT + request.prompt, *with_report)
        return Call(argv, None, Shape.ONESHOT, force, report)
    chat = [*start, "chat", "-Q"]
    if capabilities.source:
        chat += ["--source", "acp" if request.is_task else "tool"]
    if request.session is not None:
        if capabilities.no_restore_cwd:
            chat.append("--no-restore-cwd")
        chat += ["--resume", request.session]
    prompt = keep_as_text(request.prompt, is_image)
    read = ("--query-file", "-") if capabilities.query_file else ()
    form = ("--format", "stream-json") if capabilities.stream_json else ()
    shape = Shape.STREAM if capabilities.stream_json else Shape.CHAT
    if place.remote is not None:
        words = [*chat, *read, *form]
        return Call(_far(place.remote, words, request, prompt, capabilities), prompt, shape, force)
    given = read or (_QUERY + prompt,)
    return Call((*chat, *given, *form), prompt if read else None, shape, force)


def _far(
    remote: Remote,
    words: list[str],
    request: HermesRequest,
    prompt: str,
    capabilities: Capabilities,
) -> tuple[str, ...]:
    """The ssh call of a turn; its text goes through standard input on either line."""
    return remote_argv(
        remote,
        words,
        where=Where.FOLDER if request.is_task else Where.FRESH,
        folder=str(request.cwd) if request.is_task else "",
        size=len(prompt.encode()),
        how="stdin" if capabilities.query_file else _QUERY,
    )


def carries(
    capabilities: Capabilities, prompt: str, approvals: Approvals, *, is_task: bool = False
) -> Unfit | None:
    """None when a call can take this text, else why not (rule C6).

    An empty text would start hermes's own screen. An argument is limited in bytes of UTF-8 and
    can't hold NUL; standard input has no limit that matters.
    """
    if not prompt.strip():
        return Unfit.EMPTY
    try:
        size = len(prompt.encode())
    except UnicodeEncodeError:  # a lone surrogate
        return Unfit.NOT_TEXT
    if capabilities.query_file and in_force(approvals, is_task=is_task) is not Approvals.BYPASS:
        return None
    if "\x00" in prompt:
        return Unfit.NOT_TEXT
    # The longer prefix, a zero-width space that may come in front, and the closing NUL.
    fits = size + len(_ONESHOT) + 3 + 1 <= MAX_ARGUMENT
    return None if fits else Unfit.TOO_LARGE


def keep_as_text(prompt: str, is_image: Callable[[str], bool]) -> str:
    """The prompt, with a zero-width space in front if hermes would attach a picture instead.

    `hermes chat` does that with a text that begins with the path of an image (both lines; no
    other beginning is special there: `/help`, `@file`, `!ls` and `-x` reach the model unchanged).
    """
    if any(is_image(path) for path in _leading_paths(prompt)):
        return ZERO_WIDTH_SPACE + prompt
    return prompt


def _leading_paths(prompt: str) -> Iterator[str]:
    """Every way hermes may read a path at the start of a text, as it is written there."""
    text = prompt.lstrip()[: _LONGEST_PATH + 1].rstrip()
    quote = text[:1] if text[:1] in {"'", '"'} else ""
    bare = text[len(quote) :]
    drive = len(bare) >= 3 and bare[0].isalpha() and bare[1] == ":" and bare[2] in "\\/"
    if not (bare.startswith(_PATH_STARTS) or bare.startswith("file://") or drive):
        return
    if quote:
        yield bare
        for position, character in enumerate(bare):
            if character == quote:
                yield bare[:position]
        return
    yield text
    for position, character in enumerate(text):
        if character == " ":
            yield text[:position].rstrip()
