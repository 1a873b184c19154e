"""A hermes-acp that does what a script says: run as a program, never imported by qterm.

`scripted_peer.py SCRIPT` reads the JSON file SCRIPT: `prompts` is a list of lists of steps, one
list a prompt of each process (the last one is used again); `hello` are steps before the answer to
`initialize`, `missing` the ids of sessions that are not there. What it is told is noted in
SCRIPT.log, one JSON object a line.
"""

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from queue import Queue
from typing import Any

PATH = sys.argv[1]
SCRIPT: dict[str, Any] = json.loads(Path(PATH).read_text())
MODES = {
    "currentModeId": "default",
    "availableModes": [
        {"id": "default", "name": "Default"},
        {"id": "accept_edits", "name": "Edit"},
    ],
}
OPTIONS = [
    {"optionId": "allow_once", "kind": "allow_once", "name": "Allow once"},
    {"optionId": "allow_session", "kind": "allow_always", "name": "Allow for session"},
    {"optionId": "deny", "kind": "reject_once", "name": "Deny"},
]
inbox: Queue[dict[str, Any]] = Queue()
answers: Queue[dict[str, Any]] = Queue()
cancelled = threading.Event()
prompts = itertools.count()


def note(**what: Any) -> None:
    with Path(PATH + ".log").open("a") as file:
        file.write(json.dumps({"pid": os.getpid(), **what}) + "\n")


def say(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def update(session: str, **what: Any) -> None:
    say({"method": "session/update", "params": {"sessionId": session, "update": what}})


def text(session: str, words: str) -> None:
    content = {"type": "text", "text": words}
    update(session, sessionUpdate="agent_message_chunk", content=content)


def read() -> None:
    for line in sys.stdin:
        message = json.loads(line)
        if message.get("method") == "session/cancel":
            note(cancel=True)
            cancelled.set()
        elif "method" in message:
            inbox.put(message)
        else:
            note(answer=message)
            answers.put(message)
    os._exit(0)


class Prompt:
    """One prompt: each step is a method."""

    def __init__(self, session: str, number: object) -> None:
        self.session = session
        self.number = number
        self.is_answered = False

    def run(self, steps: list[list[Any]]) -> None:
        """Do these steps; afterwards the prompt is answered, unless one of them did."""
        for name, *given in steps:
            getattr(self, name if name != "await" else "await_")(*given)
        if not self.is_answered:
            self.answer({"stopReason": "end_turn", "usage": {"totalTokens": 15}})

    def answer(self, result: dict[str, Any]) -> None:
        self.is_answered = True
        say({"id": self.number, "result": result})

    def error(self, code: int, message: str) -> None:
        self.is_answered = True
        say({"id": self.number, "error": {"code": code, "message": message}})

    def text(self, words: str) -> None:
        text(self.session, words)

    def update(self, what: dict[str, Any]) -> None:
        update(self.session, **what)

    def raw(self, line: str) -> None:
        sys.stdout.write(line)
        sys.stdout.flush()

    def err(self, line: str) -> None:
        sys.stderr.write(line)
        sys.stderr.flush()

    def flood(self, size: int) -> None:
        result = [{"type": "content", "content": {"type": "text", "text": "x" * size}}]
        for kind, content in (("tool_call", []), ("tool_call_update", result)):
            self.update(
                {"sessionUpdate": kind, "toolCallId": "t", "title": "flood", "content": content}
            )

    def ask(self, number: object, command: str) -> None:
        ask(self.session, number, command)

    def await_(self) -> None:
        answers.get()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)

    def until_cancelled(self) -> None:
        cancelled.wait()
        cancelled.clear()

    def child(self) -> None:
        child = subprocess.Popen(["sleep", "61"], start_new_session=True)
        note(child=child.pid)

    def deaf(self) -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)

    def die(self, code: int) -> None:
        sys.stdout.flush()
        os._exit(code)

    def hang(self) -> None:
        threading.Event().wait()


def ask(session: str, number: object, command: str) -> None:
    call = {
        "toolCallId": "perm-1",
        "title": f"delete: {command}",
        "kind": "execute",
        "rawInput": {"command": command, "description": "delete in root path"},
    }
    params = {"sessionId": session, "toolCall": call, "options": OPTIONS}
    say({"id": number, "method": "session/request_permission", "params": params})


def answered(message: dict[str, Any]) -> None:
    method, params, number = message["method"], message.get("params", {}), message["id"]
    session = params.get("sessionId", "")
    note(method=method, params=params)
    if method == "initialize":
        hello = SCRIPT.get("hello") or [["answer", {"authMethods": [{"id": "custom"}]}]]
        Prompt("", number).run(hello)
    elif method == "session/new":
        name = f"s{os.getpid()}-{time.monotonic_ns()}"
        say({"id": number, "result": {"sessionId": name, "modes": MODES}})
    elif method == "session/load":
        if session in SCRIPT.get("missing", []):
            say({"id": number, "result": {}})
        else:
            text(session, "what was said before")
            say({"id": number, "result": {"modes": MODES}})
    elif method == "session/prompt":
        scripts = SCRIPT.get("prompts") or [[["text", "Hi."]]]
        Prompt(session, number).run(scripts[min(next(prompts), len(scripts) - 1)])
    else:
        say({"id": number, "result": {}})


def main() -> None:
    threading.Thread(target=read, daemon=True).start()
    while True:
        answered(inbox.get())


if __name__ == "__main__":
    main()
