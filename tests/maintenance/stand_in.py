"""A `hive-mind-cli` that behaves as the real one was seen to; a file beside it says how."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SCRIPT = """#!{python} -IS
import json, os, signal, subprocess, sys, time
here = {folder!r}
how = json.load(open(here + "/how.json"))
with open(here + "/calls", "a") as calls:
    calls.write(json.dumps({{
        "argv": sys.argv[1:],
        "env": dict(os.environ),
        "cwd": os.getcwd(),
        "stdin": sys.stdin.read(),
        "sid": os.getsid(0) == os.getpid(),
        "at": time.time(),
    }}) + "\\n")
def grandchild(own_session=False):
    code = (
        "import signal, time; [signal.signal(n, signal.SIG_IGN) for n in "
        "(signal.SIGTERM, signal.SIGINT, signal.SIGHUP)]; print('ready', flush=True); "
        "time.sleep(600)  # " + here
    )
    child = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, start_new_session=own_session
    )
    child.stdout.readline()
mode = how["mode"]
if mode == "wedged":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    grandchild()
    grandchild(own_session=True)
    time.sleep(600)
if mode == "leaves its server":
    grandchild()
time.sleep(how.get("seconds", 0))
sys.stderr.write(how.get("err", ""))
sys.stdout.write(how["out"])
sys.exit(how.get("code", 0))
"""


def answer(text: Any, **more: Any) -> str:
    """What the command prints for a tool's answer: `text` is the JSON of its first text block."""
    words = text if isinstance(text, str) else json.dumps(text, indent=2)
    result = {"content": [{"type": "text", "text": words}]}
    return json.dumps({"ok": True, "result": result, **more})


COMPACTED = answer(
    {"action": "compact", "temporary_pruned": 12, "deprecated_pruned": 3, "pframes_merged": 4}
)


@dataclass
class HiveMind:
    """The stand-in, in a folder of its own."""

    folder: Path

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        self.path.write_text(SCRIPT.format(python=sys.executable, folder=str(self.folder)))
        self.path.chmod(0o755)
        self.does("answers", COMPACTED)

    @property
    def path(self) -> Path:
        return self.folder / "hive-mind-cli"

    def does(self, mode: str, out: str = "", **more: Any) -> None:
        (self.folder / "how.json").write_text(json.dumps({"mode": mode, "out": out, **more}))

    @property
    def calls(self) -> list[dict[str, Any]]:
        try:
            lines = (self.folder / "calls").read_text().splitlines()
        except FileNotFoundError:
            return []
        return [json.loads(line) for line in lines]

    def left(self) -> list[str]:
        """The command lines of what still runs of it."""
        found = []
        for entry in Path("/proc").iterdir() if Path("/proc").is_dir() else ():
            if not entry.name.isdigit() or int(entry.name) == os.getpid():
                continue
            try:
                line = (entry / "cmdline").read_bytes().decode("utf-8", "replace")
                state = (entry / "stat").read_text().rpartition(")")[2].split()[0]
            except OSError:
                continue
            if str(self.folder) in line and state != "Z":
                found.append(line)
        return found
