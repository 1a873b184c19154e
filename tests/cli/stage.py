"""Real qterm processes on a data folder of their own, with a scripted hermes."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

from tests.hermes.fakes import FakeHermes


def wait_for(what: Callable[[], Any], seconds: float = 20) -> Any:
    """Wait until `what` gives something; fails after `seconds`."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := what():
            return found
        time.sleep(0.02)
    raise AssertionError("it did not happen")


@dataclass
class Stage:
    """A data folder, a scripted hermes, and real qterm processes on them."""

    folder: Path
    hermes: FakeHermes
    started: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def environ(self) -> dict[str, str]:
        return {
            "HOME": str(self.folder),
            "PATH": os.environ["PATH"],
            "LANG": "C.UTF-8",
            "QTERM_CONFIG": str(self.folder / "config.toml"),
            "QTERM_DATA_DIR": str(self.folder / "data"),
            "XDG_CACHE_HOME": str(self.folder / "cache"),
        }

    def start(self, *arguments: str, **more: Any) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            [sys.executable, "-m", "qterm", *arguments],
            env=self.environ,
            **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **more},
        )
        self.started.append(process)
        return process

    def run(self, *arguments: str, **more: Any) -> subprocess.CompletedProcess[bytes]:
        process = self.start(*arguments, stdin=subprocess.PIPE)
        out, err = process.communicate(timeout=60, **more)
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)

    def feed(self) -> list[dict[str, Any]]:
        lines = self.run("feed", "--json").stdout.splitlines()
        return [json.loads(line) for line in lines]

    def states(self) -> list[tuple[str, str]]:
        """Every turn's text and state, read past qterm: looking must not change anything."""
        path = self.folder / "data" / "feed.db"
        if not path.exists():
            return []
        with closing(sqlite3.connect(path)) as store:
            try:
                rows = store.execute("SELECT text, state FROM turns ORDER BY id").fetchall()
            except sqlite3.OperationalError:  # it is just being made
                return []
        return [(text.partition("\n")[0], state) for text, state in rows]

    def children(self) -> list[psutil.Process]:
        """What runs because of this stage: the scripted hermes and its tools."""
        marks = (str(self.hermes.script), "sleep 600")
        found = []
        for process in psutil.process_iter(["cmdline"]):
            line = " ".join(process.info["cmdline"] or ())
            if any(mark in line for mark in marks) and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        return found
