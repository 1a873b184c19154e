"""The three standard streams of a command: there, whatever the caller closed, and told when broken.

Imports nothing heavy: `qterm --version` goes through here.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import IO

_WAYS = {"stdin": os.O_RDONLY, "stdout": os.O_RDONLY, "stderr": os.O_WRONLY}
"""How a closed stream is filled in: nothing comes in, what goes out fails, complaints are lost."""


def fill_in() -> None:
    """Put the null device where a standard stream was closed (`<&-`, `>&-`, `2>&-`).

    Else the next file that is opened would take its number. Standard output is filled in so that
    writing fails: an answer nobody can get must not pass for one that was given.
    """
    for number, (name, flags) in enumerate(_WAYS.items()):
        if getattr(sys, name) is not None:
            continue
        handle = os.open(os.devnull, flags)
        if handle != number:
            os.dup2(handle, number)
            os.close(handle)
        mode = "r" if name == "stdin" else "w"
        stream = open(number, mode, encoding="utf-8", errors="replace", closefd=False)  # noqa: SIM115
        setattr(sys, name, stream)


def give_up(stream: IO[str]) -> None:
    """Lead a stream nowhere, once it can't be written.

    Else the interpreter tries once more at its end, complains in its own words, and takes an exit
    code of its own.
    """
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, stream.fileno())
    os.close(null)
