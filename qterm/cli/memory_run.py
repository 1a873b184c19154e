"""What the memory commands share: their options, opening the memory, asking, and reporting."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from qterm.cli import exit_codes, show
from qterm.cli.memory_words import note, say
from qterm.cli.paths import NamedPath
from qterm.cli.run import Invocation, Refused
from qterm.safe_text import safe_line
from qterm.streams import give_up

if TYPE_CHECKING:
    from qterm.memory.book import MemoryBook
    from qterm.memory.look import Look
    from qterm.memory.stores import StoreName
    from qterm.memory.writer import Written

F = TypeVar("F", bound=Callable[..., Any])
STORES = ("memory", "user", "working")


class MemoryGroup(click.Group):
    """The memory commands: a usage error is an error, since 2 means that there is work to do."""

    usage_exit_code = exit_codes.ERROR


@dataclass(frozen=True, slots=True)
class Place:
    """Which file of which hermes home, and whether the answer is JSON."""

    store: StoreName
    home: Path | None
    as_json: bool


def place_options(command: F) -> F:
    """`--store`, `--home` and `--json`, as one argument `place`."""

    @wraps(command)
    def call(*args: Any, store: str, home: Path | None, as_json: bool, **others: Any) -> Any:
        from qterm.memory.stores import StoreName

        return command(*args, place=Place(StoreName(store), home, as_json), **others)

    return cast("F", _STORE(home_option(json_option(call))))


_STORE = click.option(
    "--store",
    type=click.Choice(STORES),
    default="memory",
    show_default=True,
    help="MEMORY.md (Q's notes), USER.md (about you) or WORKING.md (passing things).",
)


def home_option(command: F) -> F:
    """`--home`."""
    return click.option(
        "--home",
        type=NamedPath(path_type=Path, readable=False),
        metavar="DIR",
        help="The hermes home; else the one hermes would use.",
    )(command)


def json_option(command: F) -> F:
    """`--json`."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON.")(command)


def yes_option(command: F) -> F:
    """`--yes`."""
    return click.option("--yes", is_flag=True, help="Do not ask.")(command)


def numbers_of(
    context: click.Context, param: click.Parameter, value: tuple[str, ...]
) -> tuple[int, ...]:
    """Numbers of entries, each `3`, or several as `3,5`, in the order in which they were given."""
    words = [word.strip() for each in value for word in each.split(",")]
    for word in words:
        if not (word.isascii() and word.isdigit() and len(word) < 10):
            raise click.BadParameter(
                f"“{word}” is no entry: give its number, such as 3 or 3,5.", context, param
            )
    return tuple(int(word) for word in words)


@contextmanager
def memory_book(invocation: Invocation, home: Path | None) -> Iterator[MemoryBook]:
    """The memory of a hermes home; what can't be done becomes one sentence and exit code 1."""
    from qterm.memory.errors import MemoryFault
    from qterm.memory.opening import open_memory

    try:
        yield open_memory(invocation.load(), invocation.environ, home=home)
    except MemoryFault as error:
        raise Refused(str(error)) from error


def store_name(store: str | None) -> StoreName | None:
    """The store of an option that may be left out."""
    from qterm.memory.stores import StoreName

    return StoreName(store) if store else None


def index_of(look: Look, number: int) -> int:
    """An entry's place in its store, from 0, by its number in `qterm memory list`."""
    if not 1 <= number <= len(look.entries):
        option = "" if look.store.value == "memory" else f" --store {look.store.value}"
        raise Refused(
            f"{look.store.file_name} has no entry {number}: `qterm memory list{option}` shows the "
            "numbers."
        )
    return number - 1


def ask(question: str, *, yes: bool) -> None:
    """Ask, unless `--yes` was given; without a terminal nothing is done without it."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise Refused("Nobody is there to ask: add --yes, if that is what you want.")
    if not click.confirm(safe_line(question), err=True):
        raise Refused("Nothing was written.")


def ask_about_p1(look: Look, indexes: Sequence[int], what: str, *, yes: bool) -> None:
    """Changing a P1 entry by hand asks once (memory.md)."""
    from qterm.memory.look import p1_among

    found = p1_among(look, indexes)
    for index in found:
        note(f"Entry {index + 1} is P1: {safe_line(look.entries[index])}")
    if found:
        ask(f"{what} what is P1?", yes=yes)


def change(
    book: MemoryBook, work: Callable[[], Sequence[Written]], done: str, *, as_json: bool
) -> None:
    """Do a change and report it; ctrl-c in between waits until both are through.

    `done` is a sentence that says what was done.
    """
    with _uninterrupted():
        written = work()
        try:
            _report(book, written, done, as_json=as_json)
        except OSError as error:
            give_up(sys.stdout)
            paths = ", ".join(str(each.path) for each in written) or "nothing"
            raise Refused(
                f"{done} Written: {paths}. Only this report can't be ({error.strerror}): "
                "`qterm memory archive` shows what was archived."
            ) from error


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Hold ctrl-c back: a change that was made and not reported would be made again."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _frame: came.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if came:
        raise KeyboardInterrupt


def _report(book: MemoryBook, written: Sequence[Written], done: str, *, as_json: bool) -> None:
    """Say what was done, where the old bytes are, and how the backup command fared."""
    if not as_json and written:
        say(done)  # before the backup command, which may take a while
    complaints = book.copy_off(written)
    if as_json:
        show.out_json(
            {"written": [written_json(each) for each in written], "backupCommand": complaints}
        )
    elif not written:
        say("Nothing to write: the file is so already.")
    for each in written if not as_json else ():
        say(f"Written: {each.path}")
        if each.backup is not None:
            say(f"  as it was: `qterm memory restore --backup {each.backup.stem[:12]}`")
        if each.removed:
            say(f"  archived, for `qterm memory restore ID`: {', '.join(each.removed)}")
    for complaint in complaints:
        note(complaint)
    for store in {each.store for each in written}:
        _warn_of_limit(book, store)


def written_json(written: Written) -> dict[str, Any]:
    """A write in the documented form (docs/command-line.md, *JSON*)."""
    return {
        "store": written.store.value,
        "path": str(written.path),
        "before": written.before or None,
        "after": written.after,
        "backup": str(written.backup) if written.backup else None,
        "archived": list(written.removed),
    }


def _warn_of_limit(book: MemoryBook, store: StoreName) -> None:
    from qterm.memory.errors import MemoryFault

    try:
        look = book.look(store)
    except MemoryFault as error:  # somebody has changed it since: what was written was written
        note(str(error))
        return
    if look.limit is not None and look.document.size > look.limit.chars:
        note(
            f"{look.store.file_name} is over its limit ({look.document.size:,} of "
            f"{look.limit.chars:,} characters): until it is shorter, hermes adds nothing to it."
        )


def entry_text(argument: str) -> str:
    """The text of an entry, from an argument or with `-` from standard input.

    Raises Refused where it is not UTF-8: what Q remembers is not guessed at.
    """
    if argument != "-":
        try:
            return os.fsencode(argument).decode("utf-8").strip()
        except UnicodeDecodeError:
            raise Refused("That text is not UTF-8: write it as UTF-8.") from None
    data = sys.stdin.buffer.read()
    try:
        return data.decode("utf-8").removeprefix("\ufeff").strip()
    except UnicodeDecodeError:
        raise Refused("Standard input is not UTF-8: pass the text as UTF-8.") from None
