"""A hermes on another machine: `hermes.command = ["ssh", …, "host", "hermes"]`. Pure.

ssh hands its command to a login shell there, so everything is quoted once, and a small sh script
that never changes does the rest. The text of a turn is no part of it: it goes through standard
input, which stays open for as long as the turn runs. When that closes (the operator stopped it,
qterm was killed, the connection went), the script's other half ends hermes.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from qterm.hermes.environment import DROPPED, DROPPED_PREFIXES

BEGUN = b"qterm:begun\n"
"""What the script prints just before hermes starts; what came earlier is a login shell's."""

_WITH_ARGUMENT = frozenset("BbcDEeFIiJLlmOoPpQRSWw")
_REFUSED = frozenset("fGNnOQsVW")  # with these ssh runs no command, or gives it no input
_PORT = re.compile(r"\s*port\s*[=\s]\s*(\S+)\s*", re.IGNORECASE)
_USER = re.compile(r"\s*user\s*[=\s]\s*(\S+)\s*", re.IGNORECASE)

# In front, since the first of two equal options counts: it must never ask on the terminal.
_FIRST = ("-o", "BatchMode=yes")
# Behind the operator's own: no terminal there; no process that outlives the call and holds its
# pipes open; a host that hangs, and a connection that is dead, are found out.
_LAST = (
    "-T", "-o", "ControlMaster=no", "-o", "ConnectTimeout=15", "-o", "ServerAliveInterval=15",
)  # fmt: skip

_QUOTED = str.maketrans({"'": "'\\''", "\\": "'\\\\'"})

_DROPPED_PATTERN = "|".join([*sorted(DROPPED), *(f"{prefix}*" for prefix in DROPPED_PREFIXES)])

# Holds no single quote and no backslash, so that any login shell passes it on as it is. Its
# arguments: the kind of folder, the folder, the home ("" for hermes's own choice), the bytes of
# text on standard input, what to do with them ("stdin", or the option that takes them), the call.
# The half in the background shares hermes's process group and so keeps its number from being
# given to a stranger; it outlives the call by the moment it takes to tidy up.
SCRIPT = f"""\
set -f
q_stop() {{ [ -z "$q_temp" ] || rm -rf "$q_temp"; echo "qterm: $1" >&2; exit 96; }}
q_where=$1 q_folder=$2 q_home=$3 q_size=$4 q_how=$5 q_temp=
shift 5
for q_name in $(env | cut -d= -f1); do case $q_name in
*[!A-Z0-9_]*) ;;
{_DROPPED_PATTERN}) unset "$q_name" ;;
esac; done
export PYTHONUTF8=1
[ -z "$q_home" ] || export HERMES_HOME="$q_home"
command -v "$1" >/dev/null || PATH=$PATH:$HOME/.local/bin
command -v "$1" >/dev/null || q_stop no-hermes
if [ $q_where = fresh ] || [ $q_where = probe ] || [ $q_size -gt 0 ]; then
q_temp=$(mktemp -d "${{TMPDIR:-/tmp}}/qterm-XXXXXXXX") || q_stop no-temp
fi
case $q_where in
folder) cd "$q_folder" || q_stop no-folder ;;
home) cd || q_stop no-folder ;;
probe) cd "$q_temp" || q_stop no-temp; export HERMES_HOME="$q_temp" ;;
*) cd "$q_temp" || q_stop no-temp ;;
esac
if [ $q_size -gt 0 ]; then
head -c $q_size >"$q_temp/text"
[ $(wc -c <"$q_temp/text") -eq $q_size ] || q_stop cut
fi
exec 3<&0 0</dev/null
case $q_how in
"") ;;
stdin) exec 0<"$q_temp/text" ;;
*) q_text=$(cat "$q_temp/text"; echo .); set -- "$@" "$q_how${{q_text%.}}"; unset q_text ;;
esac
[ $q_size -eq 0 ] || rm "$q_temp/text"
[ $q_where != folder ] || [ -z "$q_temp" ] || rmdir "$q_temp"
{{
trap "" HUP INT
cat
q_runs=
if kill -0 $$; then
q_runs=yes
kill -s INT -- -$$
q_n=0
while kill -0 $$ && [ $q_n -lt 5 ]; do sleep 1; q_n=$((q_n + 1)); done
kill -s KILL $$
fi
case $q_where in
probe) rm -rf "$q_temp" ;;
fresh) rmdir "$q_temp" ;;
esac
[ -z "$q_runs" ] || kill -s KILL -- -$$
}} <&3 3<&- >/dev/null 2>&1 &
exec 3<&-
echo qterm:begun
exec "$@"
"""


class Where(StrEnum):
    """In which folder of the other machine a call runs."""

    FOLDER = "folder"
    """A task's own."""
    FRESH = "fresh"
    """A new and empty one, removed afterwards if it is still empty."""
    HOME = "home"
    """The user's home there."""
    PROBE = "probe"
    """A new and empty one that is hermes's home as well; removed afterwards."""


@dataclass(frozen=True, slots=True)
class Remote:
    """How to get to a hermes on another machine.

    `program` is ssh here, `options` what the operator gives it, `command` how hermes is called
    there. `home` (a path there, as it was set) and `profile` are empty for hermes's own choice.
    `address` is the host, with user and port where they were given: what tells machines apart.
    """

    program: str
    options: tuple[str, ...]
    host: str
    command: tuple[str, ...]
    address: str
    home: str = ""
    profile: str = ""

    @property
    def home_in_words(self) -> str:
        """hermes's home there, as far as it is known from here."""
        if self.home:
            return self.home
        return f"~/.hermes/profiles/{self.profile}" if self.profile else "~/.hermes"

    @property
    def identity(self) -> str:
        """Which hermes it is, `MACHINE:HOME` (rule S3)."""
        return f"{self.address}:{self.home_in_words}"

    def in_terminal(self, *words: str) -> str:
        """The line to type for a call of hermes there that may ask something."""
        program, *others = self.command
        with_profile = ("-p", self.profile) if self.profile else ()
        start = _path(program) if program.startswith("~") else shlex.quote(program)
        call = " ".join([start, *map(shlex.quote, (*others, *with_profile, *words))])
        if self.home:
            call = f"env HERMES_HOME={_path(self.home)} {call}"
        return shlex.join(["ssh", *self.options, "-t", self.host, call])


def is_ssh(command: Sequence[str]) -> bool:
    """Whether a hermes.command leads to another machine."""
    return bool(command) and command[0].rpartition("/")[2] == "ssh"


def parse_remote(
    program: str, words: Sequence[str], *, home: str = "", profile: str = ""
) -> Remote:
    """Read what stands behind `ssh` in hermes.command; without a command it is `hermes`.

    Raises ValueError with a sentence.
    """
    options, host, command, given = _split(words)
    if not host:
        raise ValueError(
            'hermes.command has ssh but no host: make it ["ssh", "HOST", "hermes"], '
            "with ssh's options before the host."
        )
    for letter, _ in given:
        if letter in _REFUSED:
            raise ValueError(
                f"hermes.command has ssh's -{letter}, with which no hermes can be run: "
                "leave it out."
            )
    if home and not home.startswith(("/", "~/")):
        raise ValueError(
            f"hermes.home is a path on {host} and has to begin with / or ~/: {home} does not."
        )
    address = host
    user = _option(given, "l", _USER)
    port = _option(given, "p", _PORT)
    if user and "@" not in host:
        address = f"{user}@{address}"
    if port:
        address = f"{address}:{port}"
    return Remote(program, options, host, command or ("hermes",), address, home, profile)


def remote_argv(
    remote: Remote,
    words: Sequence[str],
    *,
    where: Where,
    folder: str = "",
    size: int = 0,
    how: str = "",
) -> tuple[str, ...]:
    """The arguments of the ssh call that runs `words` there.

    `folder` is the task's, for `Where.FOLDER`. The first `size` bytes of standard input are a
    text: `how` is "stdin" where hermes reads it, else the beginning of the argument it becomes.
    Standard input has to stay open until the call is over.
    """
    program, *others = words
    script_arguments = [
        quote(where), _path(folder), _path(remote.home), str(size), quote(how),
        _path(program), *map(quote, others),
    ]  # fmt: skip
    call = " ".join(["exec sh -c", quote(SCRIPT), "qterm", *script_arguments])
    return (remote.program, *_FIRST, *remote.options, *_LAST, "--", remote.host, call)


def quote(word: str) -> str:
    """A word for the login shell, be it sh, bash, zsh or fish.

    Not shlex.quote: zsh expands a bare `=x`, and fish reads a backslash inside of quotes.
    """
    return f"'{word.translate(_QUOTED)}'"


def _path(path: str) -> str:
    """A path there; `~` is the user's home there."""
    if path == "~" or path.startswith("~/"):
        return f'"$HOME"{quote(path[1:])}'
    return quote(path)


def _split(
    words: Sequence[str],
) -> tuple[tuple[str, ...], str, tuple[str, ...], list[tuple[str, str]]]:
    """Options, host, command, and the options as letter and argument, the way ssh reads them."""
    left = list(words)
    options: list[str] = []
    given: list[tuple[str, str]] = []
    host = ""
    while left:
        word = left.pop(0)
        if word == "--":
            host = host or (left.pop(0) if left else "")
            break
        if len(word) < 2 or word[0] != "-":
            if host:
                left.insert(0, word)
                break
            host = word  # options may follow it, too
            continue
        options.append(word)
        for letter, argument in _letters(word):
            if letter in _WITH_ARGUMENT and not argument and left:
                argument = left.pop(0)  # noqa: PLW2901
                options.append(argument)
            given.append((letter, argument))
    return tuple(options), host, tuple(left), given


def _letters(word: str) -> Iterator[tuple[str, str]]:
    """The options in one word such as `-4A` or `-p2222`."""
    for position, letter in enumerate(word[1:], 1):
        if letter in _WITH_ARGUMENT:
            yield letter, word[position + 1 :]
            return
        yield letter, ""


def _option(given: list[tuple[str, str]], letter: str, named: re.Pattern[str]) -> str:
    """The first value of an option that has a letter and a name (`-p 22`, `-o Port=22`)."""
    for found, value in given:
        if found == letter:
            return value
        if found == "o" and (match := named.fullmatch(value)):
            return match[1]
    return ""
