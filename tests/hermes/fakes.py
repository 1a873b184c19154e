"""Makes a scripted hermes (fake_hermes.py) and tells what it was called with."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

from qterm.hermes.place import HermesPlace

Steps = list[list[Any]]

OLD_CHAT = (
    "usage: hermes chat [-q QUERY] [-Q] [--query QUERY] [--quiet] [--source S] [--no-restore-cwd]\n"
)
NEW_CHAT = OLD_CHAT + "[--query-file PATH] [--format {text,stream-json}] [--create-if-missing]\n"
HELP = "usage: hermes [--oneshot PROMPT] [--usage-file PATH]\n"
USAGE_ERROR: Steps = [
    ["err", "usage: hermes chat [-h]\nhermes: error: unrecognized arguments: --format\n"],
    ["exit", 2],
]
ID = "20261130_155841_cae3a2"


def streamed(*texts: str) -> Steps:
    """A turn of the newer line that goes well."""
    return [
        ["event", "system", {"session_id": ID}],
        *(["event", "text", {"text": text}] for text in texts),
        ["event", "result", {"session_id": ID, "exit_code": 0, "text": "".join(texts)}],
    ]


@dataclass
class FakeHermes:
    """A program in `folder` that acts as a hermes of the older or the newer line."""

    folder: Path
    newer: bool = True
    turns: list[Steps] = field(default_factory=lambda: [streamed("Hi.")])
    more: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        self.program = self.folder / "hermes"
        self.script = self.folder / "script.json"
        fake = Path(__file__).with_name("fake_hermes.py")
        command = shlex.join([sys.executable, "-IS", str(fake), str(self.script)])
        self.program.write_text(f'#!/bin/sh\nexec {command} "$@"\n')
        self.program.chmod(0o755)
        self.home = self.folder / "home"
        self.home.mkdir(exist_ok=True)
        (self.home / "config.yaml").write_text("model: {default: m, provider: custom}\n")
        self.write()

    def write(self) -> None:
        """Write the script anew, after a change of `newer`, `turns` or `more`."""
        script = {
            "version": f"Hermes Agent v{'0.22.2' if self.newer else '0.19.0'} (2026)\n",
            "help": HELP,
            "chat_help": NEW_CHAT if self.newer else OLD_CHAT,
            "turns": self.turns,
            **self.more,
        }
        self.script.write_text(json.dumps(script))

    @property
    def place(self) -> HermesPlace:
        return HermesPlace((str(self.program),), self.home, True, "test", "test")

    @property
    def calls(self) -> list[dict[str, Any]]:
        """The turns it was started for."""
        log = Path(f"{self.script}.log")
        return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []


def environ(tmp_path: Path) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}


def is_gone(pid: int) -> bool:
    """Whether this process is over; an entry nobody has collected yet counts as over."""
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def running() -> list[list[str]]:
    """The arguments of everything this test process has running below it."""
    found = []
    for process in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error):
            found.append(process.cmdline())
    return found


def pids_below() -> set[int]:
    """Everything this test process has running below it."""
    found = set()
    for process in psutil.Process().children(recursive=True):
        if not is_gone(process.pid):
            found.add(process.pid)
    return found
