"""The operator's own editor, on a private file that is always removed.

Everything here may wait: the screen's loop goes on meanwhile.
"""

from __future__ import annotations

import asyncio
import shlex
import shutil
import tempfile
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, suppress
from pathlib import Path

from textual.app import SuspendNotSupported

from qterm.private import read_bounded, touch_private

FALLBACKS = ("nano", "vi")
"""What is taken where no editor is set, the first that is there."""

MOST_BYTES = 64 << 20
"""The longest text that is taken back."""

END_SECONDS = 3.0
"""How long an editor may take to end when qterm ends."""


class EditorError(Exception):
    """The text could not be edited; one sentence with what to do."""


def editor_command(environ: Mapping[str, str]) -> list[str]:
    """The operator's editor with its arguments: `$VISUAL`, `$EDITOR`, or one that is there.

    Raises EditorError.
    """
    for name in ("VISUAL", "EDITOR"):
        value = environ.get(name, "").strip()
        if not value:
            continue
        try:
            words = shlex.split(value)
        except ValueError as error:
            raise EditorError(
                f"${name} can't be read, since a quote in it is not closed: mend it where it is "
                "set, then start qterm again."
            ) from error
        if words:
            return words
    for name in FALLBACKS:
        if (found := shutil.which(name, path=environ.get("PATH"))) is not None:
            return [found]
    raise EditorError(
        "No editor is set: put `export EDITOR=nano`, or the editor you like, into your shell's "
        "start file, then start qterm again."
    )


async def edit_text(
    text: str, environ: Mapping[str, str], lend: Callable[[], AbstractContextManager[None]]
) -> str | None:
    """Have the operator edit a text; returns the new one, or None where nothing was changed.

    `lend` gives the terminal away for as long as it lasts. A newline that the editor adds at the
    end is not part of the text. Raises EditorError; the editor is ended when this is cancelled.
    """
    command = editor_command(environ)
    folder: Path | None = None
    try:
        try:
            folder = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix="qterm-"))
            file = folder / "message.md"
            before = text.encode("utf-8", "replace")
            await asyncio.to_thread(_write, file, before)
        except OSError as error:
            raise EditorError(
                f"The file for your editor can't be written ({error.strerror}): make room in "
                f"{tempfile.gettempdir()}."
            ) from error
        code = await _run([*command, str(file)], environ, lend)
        if code != 0:
            raise EditorError(f"{_name(command)} ended with {code}, so your message is as it was.")
        try:
            after = await asyncio.to_thread(read_bounded, file, limit=MOST_BYTES)
        except OSError as error:
            raise EditorError(
                f"What {_name(command)} left can't be read ({error.strerror}), so your message is "
                "as it was."
            ) from error
    finally:
        if folder is not None:  # with whatever the editor left beside the file; not to be cancelled
            shutil.rmtree(folder, ignore_errors=True)
    if after == before:
        return None
    new = after.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")
    if new.endswith("\n") and not text.endswith("\n"):
        new = new[:-1]
    return None if new == text else new


def _write(file: Path, data: bytes) -> None:
    touch_private(file)
    file.write_bytes(data)


async def _run(
    command: list[str],
    environ: Mapping[str, str],
    lend: Callable[[], AbstractContextManager[None]],
) -> int:
    """Run the editor on the terminal; its exit code."""
    try:
        with lend():
            process = await asyncio.create_subprocess_exec(*command, env=dict(environ))
            try:
                return await process.wait()
            except BaseException:
                await _end(process)
                raise
    except SuspendNotSupported as error:
        raise EditorError("This terminal can't be lent to an editor: write here.") from error
    except OSError as error:
        raise EditorError(
            f"{_name(command)} could not be started ({error.strerror}): set VISUAL or EDITOR to an "
            "editor that is there, then start qterm again."
        ) from error


async def _end(process: asyncio.subprocess.Process) -> None:
    for tell in (process.terminate, process.kill):
        with suppress(ProcessLookupError):
            tell()
        with suppress(TimeoutError):
            async with asyncio.timeout(END_SECONDS):
                await process.wait()
                return


def _name(command: list[str]) -> str:
    return f"“{Path(command[0]).name}”"
