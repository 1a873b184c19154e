"""The stage of a rehearsal: a throw-away folder with a home for hermes, a feed, and a model."""

from __future__ import annotations

import asyncio
import shutil
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any, Self

from qterm.hermes.capabilities import recall, remember
from qterm.hermes.locate import HermesPlace, locate
from qterm.hermes.model_state import PROVIDER_KEYS
from qterm.hermes.remote import is_ssh
from qterm.memory.entries import serialise
from qterm.memory.stores import StoreName
from qterm.model import YOU, Q, TaskState, TurnState
from qterm.private import private_folder, write_private
from qterm.rehearsal.memories import MEMORY, USER
from qterm.rehearsal.model_server import ModelServer
from qterm.rehearsal.script import script
from qterm.settings.load import load
from qterm.settings.paths import Paths, resolve_paths

MALLORY, MONEYPENNY = "mallory", "moneypenny"


@dataclass(frozen=True, slots=True)
class Line:
    """Something that was said before the rehearsal began. `elapsed` in seconds, for Q's lines."""

    minutes_ago: int
    persona: str
    text: str
    elapsed: float | None = None


ROLLBACK = """Two steps, then the smoke tests:

```sh
./deploy importer --to 4711
./smoke importer --since 08:51
```

| step | takes |
|---|---|
| deploy | 2 min |
| smoke tests | 40 s |

Build **4711** is the last one that was green."""

STORY = (
    Line(1_490, MONEYPENNY, "The invoices of the week are filed. Nothing is overdue."),
    Line(94, MALLORY, "Two meetings today. The deploy of the importer is out; I am watching it."),
    Line(92, YOU, "Can you check the deploy?"),
    Line(92, Q, "It is green: no errors since it went out, and the queue is empty.", 2.9),
    Line(61, MONEYPENNY, "Invoice 114 is due on Friday: 1,240.00 to Ferrier & Sons."),
    Line(58, YOU, "Thanks. Q, who comes to the review?"),
    Line(58, Q, "Ines and Tom. Mallory takes the notes.", 2.4),
    Line(41, YOU, "How do I roll the importer back, if I have to?"),
    Line(41, Q, ROLLBACK, 3.1),
    Line(33, MALLORY, "The error rate is flat at 0.02 %. I stop watching in an hour."),
    Line(
        12,
        MONEYPENNY,
        "Tom asks whether the review can begin a quarter of an hour later.\n"
        "I told him that you would say.",
    ),
)

DONE_TASK = (
    "Renew the certificates",
    (
        Line(1_400, YOU, "Which certificates run out this month?"),
        Line(1_400, Q, "Two: the importer's and the wiki's, both on the 12th.", 2.2),
        Line(1_390, YOU, "Renew both."),
        Line(1_390, Q, "Done: both are good until March, and the importer was reloaded.", 41.0),
    ),
)
"""A task that is over: it can be read, and reopened."""

OPEN_TASK = "Ship the importer"
"""A task in which nothing was said yet."""

FACTS = (
    ("Prefers short answers, the figure first.", True),
    ("Lives in Lisbon; the team is in Berlin.", True),
    ("Writes British English.", True),
    ("Looks after the importer and its deploys.", True),
    ("Takes the tram on Thursdays.", False),
)

MODE = "Deep work"


@dataclass
class Rehearsal:
    """A rehearsal's stage; use it with `with`. Everything is gone when that ends, however it ends.

    The hermes is the operator's own, chosen as the operator's settings say (`environ`, and `config`
    where another file was named); its home, qterm's data and the model are the rehearsal's. Run
    qterm on it with `config`, `data_dir` and `environ` of the stage. Entering raises
    HermesNotFound where there is no hermes, and OSError where no folder can be made.

    SIGTERM and SIGHUP, where nobody has taken them, end the program as an exception, so that
    the folder goes with it.
    """

    outer_environ: Mapping[str, str]
    outer_config: Path | None = None
    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    folder: Path = field(init=False)
    environ: dict[str, str] = field(init=False)
    place: HermesPlace = field(init=False)
    model: ModelServer = field(init=False)
    _stack: ExitStack = field(init=False)

    @property
    def config(self) -> Path:
        """The config file of the stage."""
        return self.folder / "config.toml"

    @property
    def data_dir(self) -> Path:
        """The data folder of the stage."""
        return self.folder / "data"

    @property
    def hermes_home(self) -> Path:
        """The home hermes works in."""
        return self.folder / "hermes"

    def __enter__(self) -> Self:
        """Set the stage: about 0.1 s, hermes is not started yet."""
        outer = load(config=self.outer_config, environ=self.outer_environ)
        with ExitStack() as stack:
            stack.enter_context(_ended_by_exceptions())
            self.folder = Path(tempfile.mkdtemp(prefix="qterm-rehearsal-"))
            stack.callback(_remove, self.folder)
            private_folder(self.hermes_home)
            wanted = outer.settings.hermes.command
            # The scripted model is here: a hermes on another machine could not reach it.
            choice = _Choice(() if is_ssh(wanted) else wanted, str(self.hermes_home))
            self.place = locate(choice, self.outer_environ)
            self.model = stack.enter_context(ModelServer(script))
            self.environ = _stage_environ(self.outer_environ, self.hermes_home)
            self._write_configs()
            self._write_memory()
            self._hand_over(outer.paths)
            in_own_loop(self._write_feed)
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the model, then remove the folder with all that is in it."""
        self._stack.close()

    def _write_configs(self) -> None:
        import tomli_w

        # What would look things up in the net, or fetch a program, is off: a rehearsal is local.
        write_private(
            self.hermes_home / "config.yaml",
            (
                "model:\n"
                "  default: mock-1\n"
                "  provider: custom\n"
                f"  base_url: {self.model.base_url}\n"
                "  api_key: none\n"
                "  context_length: 128000\n"
                "security:\n"
                "  tirith_enabled: false\n"
            ).encode(),
        )
        hermes = {"command": list(self.place.command), "home": str(self.hermes_home)}
        write_private(self.config, tomli_w.dumps({"hermes": hermes}).encode())

    def _write_memory(self) -> None:
        memories = private_folder(self.hermes_home / "memories")
        for store, entries in ((StoreName.MEMORY, MEMORY), (StoreName.USER, USER)):
            write_private(memories / store.file_name, serialise(entries).encode())

    def _hand_over(self, outer: Paths) -> None:
        """What qterm has learned of this hermes counts here too: the first turn need not ask."""
        known = recall(self.place, outer.cache_dir)
        if known is not None:
            remember(self.place, known, self._paths().cache_dir)

    def _paths(self) -> Paths:
        return resolve_paths(config=self.config, data_dir=self.data_dir, environ=self.environ)

    async def _write_feed(self) -> None:
        from qterm.feed.source import NewTurn, TurnChange
        from qterm.feed.store import open_store

        paths = self._paths()
        begin = self.now()
        clock = [begin]
        feed = await open_store(paths.store_file, locks_dir=paths.locks_dir, now=lambda: clock[0])

        async def tell(task_id: str | None, lines: Sequence[Line]) -> int:
            """Store these lines as they were said; the id of the last one."""
            asked: int | None = None
            last = 0
            for line in lines:
                clock[0] = begin - timedelta(minutes=line.minutes_ago)
                reply_to = asked if line.persona == Q else None
                turn = await feed.append(
                    NewTurn(task_id, line.persona, line.text, TurnState.SENT, reply_to=reply_to)
                )
                if line.elapsed is not None:
                    await feed.update(turn.id, TurnChange(elapsed=line.elapsed))
                asked = turn.id if line.persona == YOU else asked
                last = turn.id
            return last

        try:
            await tell(None, STORY[:1])
            title, lines = DONE_TASK
            clock[0] = begin - timedelta(minutes=lines[0].minutes_ago)
            task = await feed.add_task(title, str(self.folder))
            seen = await tell(task.id, lines)
            await feed.mark_seen(task.id, seen)
            await feed.end_task(task.id, TaskState.DONE)
            await tell(None, STORY[1:])
            await feed.add_task(OPEN_TASK, str(self.folder))
            for text, pinned in FACTS:
                await feed.add_fact(text, pinned=pinned)
            await feed.set_mode(MODE, _next_quarter(begin + timedelta(hours=2)))
        finally:
            await feed.close()


@dataclass(frozen=True, slots=True)
class _Choice:
    """The operator's hermes, in the rehearsal's home."""

    command: tuple[str, ...]
    home: str
    profile: str = ""


def _stage_environ(environ: Mapping[str, str], home: Path) -> dict[str, str]:
    """The operator's environment with the stage's home, and without what leads out of it:
    qterm's own variables, providers' keys, proxies."""
    kept = {
        name: value
        for name, value in environ.items()
        if not name.startswith("QTERM_")
        and name not in PROVIDER_KEYS
        and not name.lower().endswith("_proxy")
    }
    return {**kept, "HERMES_HOME": str(home), "NO_PROXY": "127.0.0.1"}


def _next_quarter(moment: datetime) -> datetime:
    """The next full quarter of an hour: a time one would say."""
    whole = moment.replace(minute=0, second=0, microsecond=0)
    quarters = -((whole - moment) // timedelta(minutes=15))
    return whole + quarters * timedelta(minutes=15)


def in_own_loop(work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Run a coroutine function to its end in a thread of its own: here a loop may run already."""
    failed: list[BaseException] = []

    def run() -> None:
        try:
            asyncio.run(work())
        except BaseException as error:  # noqa: BLE001 - raised again below, in the caller's thread
            failed.append(error)

    thread = threading.Thread(target=run, name="rehearsal-feed")
    thread.start()
    thread.join()
    if failed:
        raise failed[0]


def _remove(folder: Path) -> None:
    """Remove it all; a hermes that is just ending may still write, so look again for a while."""
    until = time.monotonic() + 3
    while folder.exists():
        shutil.rmtree(folder, ignore_errors=True)
        if time.monotonic() > until:
            break
        time.sleep(0.01)


class _ended_by_exceptions:  # noqa: N801 - a context manager, read as a phrase
    """Lets SIGTERM and SIGHUP raise SystemExit where they would end the process on the spot."""

    def __enter__(self) -> None:
        self.taken: list[signal.Signals] = []
        if threading.current_thread() is not threading.main_thread():
            return
        for number in (signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) is signal.SIG_DFL:
                signal.signal(number, _leave)
                self.taken.append(number)

    def __exit__(self, *_error: object) -> None:
        for number in self.taken:
            if signal.getsignal(number) is _leave:
                signal.signal(number, signal.SIG_DFL)


def _leave(number: int, _frame: FrameType | None) -> None:
    raise SystemExit(128 + number)
