"""Handing an address to the operator's browser, without letting it near the terminal."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from typing import Final

OPEN_SECONDS: Final = 8.0
"""A browser that still runs after this has begun; nobody waits for its end."""

NO_BROWSER: Final = (
    "No browser could be started from here, as over ssh: copy the address and open it where you "
    "sit."
)
NOT_OPENED: Final = "The browser did not take the address: copy it and open it by hand."

_NONE = 3
_SCRIPT = f"""
import os, sys, webbrowser
try:
    browser = webbrowser.get()
except webbrowser.Error:
    sys.exit({_NONE})
in_terminal = type(browser) is webbrowser.GenericBrowser or browser.name == "elinks"
if in_terminal and not os.environ.get("BROWSER"):
    sys.exit({_NONE})
sys.exit(0 if browser.open(sys.argv[1], 2) else 4)
"""
"""Run apart from qterm: what a browser prints would land on the screen, and one that lives in a
terminal would take this one, which only `$BROWSER` could ask for."""


async def open_in_browser(address: str) -> str:
    """Open an address; returns one sentence with what to do where that did not work."""
    try:
        process = await asyncio.to_thread(_start, address)
    except (OSError, ValueError):
        return NO_BROWSER
    end = asyncio.get_running_loop().time() + OPEN_SECONDS
    while process.poll() is None:
        if asyncio.get_running_loop().time() > end:
            return ""
        await asyncio.sleep(0.05)
    if process.returncode == 0:
        return ""
    return NO_BROWSER if process.returncode == _NONE else NOT_OPENED


def _start(address: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-I", "-c", _SCRIPT, address],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
