"""A hermes that does what a script says: run as a program, never imported by qterm.

`fake_hermes.py SCRIPT ARGUMENT…` reads the JSON file SCRIPT: `version`, `help` and `chat_help` are
what it prints for these, `turns` a list of lists of steps, one list a call (the last one is used
again). Each call is noted in SCRIPT.log as one JSON line.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

Arguments = list[str]


def main() -> None:
    path, *argv = sys.argv[1:]
    script = json.loads(Path(path).read_text())
    if argv[:2] == ["-p", "default"]:
        argv = argv[2:]
    if argv[:1] == ["--version"]:
        run(script.get("version_steps") or [["out", script["version"]]], argv)
    elif argv[:1] == ["--help"]:
        sys.stdout.write(script["help"])
    elif argv[:2] == ["chat", "--help"]:
        sys.stdout.write(script["chat_help"])
    elif argv[:2] == ["acp", "--check"]:
        sys.exit(script.get("acp_check", 0))
    elif argv[:2] == ["sessions", "export"]:
        text = script.get("export") or exported(path, argv[-1])
        run(script.get("export_steps") or [["out", text]], argv)
    elif argv[:2] == ["sessions", "rename"]:
        rename(path, argv[2], argv[-1])
    else:
        turn(path, script, argv)


def titles(path: str) -> dict[str, str]:
    file = Path(path + ".titles")
    found: dict[str, str] = json.loads(file.read_text()) if file.exists() else {}
    return found


def exported(path: str, session: str) -> str:
    title = titles(path).get(session)
    if title is None:
        return ""
    return json.dumps({"id": session, "title": title, "messages": []}) + "\n"


def rename(path: str, session: str, title: str) -> None:
    """As 0.19 does it: a title that is taken is a sentence, and exit 0."""
    found = titles(path)
    if title in found.values():
        print(f"Error: Title '{title}' is already in use")
        return
    Path(path + ".titles").write_text(json.dumps(found | {session: title}))


def turn(path: str, script: dict[str, Any], argv: Arguments) -> None:
    given = sys.stdin.read() if "--query-file" in argv and script.get("reads", True) else None
    entry = {"argv": argv, "stdin": given, "cwd": str(Path.cwd()), "env": dict(os.environ)}
    with Path(path + ".log").open("a+") as log:
        log.seek(0)
        number = len(log.readlines())
        log.write(json.dumps(entry) + "\n")
    turns = script["turns"]
    run(turns[min(number, len(turns) - 1)], argv)


def run(steps: list[list[Any]], argv: Arguments) -> None:
    for name, *values in steps:
        STEPS[name](argv, *values)


def out(_: Arguments, text: str, times: int = 1) -> None:
    sys.stdout.write(text * times)
    sys.stdout.flush()


def err(_: Arguments, text: str, times: int = 1) -> None:
    sys.stderr.write(text * times)
    sys.stderr.flush()


def raw(_: Arguments, hexadecimal: str) -> None:
    sys.stdout.buffer.write(bytes.fromhex(hexadecimal))
    sys.stdout.flush()


def event(_: Arguments, kind: str, values: dict[str, Any]) -> None:
    out(_, json.dumps({"type": kind, **values}) + "\n")


def pid(_: Arguments) -> None:
    event(_, "text", {"text": f"{os.getpid()}\n"})


def ignore(_: Arguments, *names: str) -> None:
    for name in names:
        signal.signal(getattr(signal, name), signal.SIG_IGN)


def exit_on(_: Arguments, name: str, code: int) -> None:
    signal.signal(getattr(signal, name), lambda *_: os._exit(code))


def tool(_: Arguments, seconds: float, holds_pipe: bool = False) -> None:
    """A grandchild in a session of its own, as hermes starts its tools."""
    where = None if holds_pipe else subprocess.DEVNULL
    child = subprocess.Popen(
        ["sleep", str(seconds)],
        start_new_session=True,
        stdin=subprocess.DEVNULL,
        stdout=where,
        stderr=where,
    )
    event(_, "text", {"text": f"{child.pid}\n"})


def usage(argv: Arguments, values: dict[str, Any]) -> None:
    Path(argv[argv.index("--usage-file") + 1]).write_text(json.dumps(values))


STEPS: dict[str, Callable[..., object]] = {
    "out": out,
    "err": err,
    "raw": raw,
    "event": event,
    "pid": pid,
    "ignore": ignore,
    "exit_on": exit_on,
    "tool": tool,
    "usage": usage,
    "sleep": lambda _, seconds: time.sleep(seconds),
    "exit": lambda _, code: sys.exit(code),
    "kill": lambda _, number: os.kill(os.getpid(), number),
    "remove": lambda _, path: Path(path).unlink(),
}

if __name__ == "__main__":
    main()
