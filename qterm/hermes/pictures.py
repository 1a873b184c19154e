"""Whether a path at the start of a text leads to a picture that hermes would attach."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

# What both lines take for an image.
_SUFFIXES = frozenset(
    {".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".tiff", ".tif", ".svg", ".ico"}
)


_VARIABLE = re.compile(r"\$(?:(\w+)|\{([^}]*)\})", re.ASCII)


def is_picture(written: str, *, cwd: Path, environ: Mapping[str, str]) -> bool:
    """Whether this path, as it is written in a text, is an image file that is there.

    Read as hermes reads it: quotes, `file://`, `~`, variables, backslashes before spaces, relative
    to `cwd`, the suffix taken from where a link leads.
    """
    token = written.strip()
    if len(token) >= 2 and token[0] == token[-1] and token[0] in "\"'":
        token = token[1:-1].strip()
    token = token.replace("\\ ", " ")
    if not token:
        return False
    try:
        return _leads_to_picture(token, cwd, environ)
    except (OSError, ValueError, RuntimeError):  # too long, NUL in it, a user who is not there
        return False


def could_be_picture(written: str) -> bool:
    """Whether this path may be a picture's on another machine, where it can't be looked at."""
    token = written.strip().strip("\"'").rstrip()
    return PurePosixPath(token).suffix.lower() in _SUFFIXES


def _leads_to_picture(token: str, cwd: Path, environ: Mapping[str, str]) -> bool:
    if token.startswith("file://"):
        token = unquote(urlsplit(token).path)
    if token.startswith("~/") and environ.get("HOME"):
        token = environ["HOME"] + token[1:]
    elif token.startswith("~"):
        token = str(Path(token).expanduser())
    token = _VARIABLE.sub(lambda found: environ.get(found[1] or found[2], found[0]), token)
    drive = token.replace("\\", "/")
    if len(drive) >= 3 and drive[1:3] == ":/" and drive[0].isalpha():
        token = f"/mnt/{drive[0].lower()}/{drive[3:]}"
    path = cwd / token
    return path.is_file() and path.resolve().suffix.lower() in _SUFFIXES
