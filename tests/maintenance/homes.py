"""A user's home with a hermes in it, settings, and a clock that obeys, for the gate's tests."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from qterm.maintenance.gate import FLAG
from qterm.maintenance.report import Step, StepState
from qterm.maintenance.run import Maintenance
from qterm.settings.load import Loaded, Paths
from qterm.settings.schema import HermesSettings, MaintenanceSettings, MemorySettings, Settings

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
NOW_MS = int(NOW.timestamp() * 1000)


def tree(folder: Path) -> dict[str, bytes | None]:
    """Everything below a folder, with each file's bytes."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
    }


@dataclass
class Stage:
    """One process's gate; `passes` has the moments at which a pass ran."""

    folder: Path
    on: bool = True
    environ: dict[str, str] = field(default_factory=dict)
    moment: datetime = NOW
    chosen: MaintenanceSettings = field(default_factory=MaintenanceSettings)
    hermes: HermesSettings = field(default_factory=HermesSettings)
    memory: MemorySettings = field(default_factory=MemorySettings)
    steps: tuple[Step, ...] = (Step("hive-mind", StepState.DONE, "Done."),)
    passes: list[datetime] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.home = self.folder / "home"
        self.home.mkdir(exist_ok=True)
        self.environ = {"HOME": str(self.home), "PATH": "", **self.environ}
        if self.on:
            self.environ.setdefault(FLAG, "1")

    @property
    def state(self) -> Path:
        return self.home / ".hermes" / ".hive-mind-last-compact"

    @property
    def hermes_home(self) -> Path:
        home = self.home / ".hermes"
        home.mkdir(exist_ok=True)
        return home

    def last(self, text: str | bytes) -> None:
        _ = self.hermes_home
        self.state.write_bytes(text.encode() if isinstance(text, str) else text)

    def ago(self, minutes: float) -> None:
        self.last(str(NOW_MS - round(minutes * 60_000)))

    def later(self, minutes: float) -> None:
        self.moment += timedelta(minutes=minutes)

    def loaded(self) -> Loaded:
        settings = Settings(maintenance=self.chosen, hermes=self.hermes, memory=self.memory)
        data = self.folder / "data"
        return Loaded(settings, {}, (), Paths(data, self.folder / "config.toml", data / "cache"))

    def run_pass(self, stopping: threading.Event) -> tuple[Step, ...]:
        del stopping
        self.passes.append(self.moment)
        return self.steps

    def gate(self, *, real: bool = False) -> Maintenance:
        return Maintenance(
            self.loaded,
            self.environ,
            now=lambda: self.moment,
            steps=None if real else self.run_pass,
        )
