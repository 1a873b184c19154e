"""Pictures of the search, of a turn that was gone to, and of what is taken out of the feed."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion
from textual.pilot import Pilot
from textual.widgets import Input

from tests.tui.pictures import (
    MARKS,
    NARROW,
    WIDE,
    Scene,
    Then,
    as_it_is,
    picture,
    pressing,
    shows,
    some_tasks,
)
from tests.tui.stage import READY, Stage, until
from tests.tui.test_home import home
from tests.tui.test_search import at

pytestmark = MARKS

CODE = """Read it line by line, so that a large file never has to fit into memory:

```python
def read_rows(path: Path, *, encoding: str = "utf-8-sig", delimiter: str = ";") -> Iterator[Row]:
    with path.open(encoding=encoding, newline="") as lines:
        for number, fields in enumerate(csv.reader(lines, delimiter=delimiter), start=1):
            if not any(fields):
                continue  # an empty line in the middle of the file means nothing, and is no error
            yield Row(number, tuple(field.strip() for field in fields))
```

Then try it on the file of last week:

```sh
python -m importer read exports/2026-11-23.csv --encoding latin-1 --delimiter ';' --limit 20 | head
```

The [manual](https://docs.example.org/importer/reading#encodings) has the other options, and
<https://example.org/tickets/114> the file that failed."""


async def long_feed(on: Stage) -> None:
    """A long feed at home, and tasks with threads."""
    on.hands.moment -= timedelta(days=3)
    for number in range(40):
        await on.post("mallory" if number % 3 else "moneypenny", f"Report {number}: all is well.")
    await on.post("mallory", "The deploy of the importer waits for the certificates of web-2.")
    for number in range(40, 80):
        await on.post("mallory" if number % 3 else "moneypenny", f"Report {number}: all is well.")
    on.hands.moment += timedelta(days=3)
    await some_tasks(on)


async def with_code(on: Stage) -> None:
    asked = await on.post("you", "How do I read the CSV?", elapsed=4.1)
    await on.post("q", CODE, reply_to=asked.id, elapsed=4.1)


async def searched(pilot: Pilot[Any], on: Stage, words: str, then: str) -> None:
    await pilot.press("ctrl+f", *words)
    on.app.screen.query_one(Input).cursor_blink = False
    await shows(pilot, on, then)


def searching(words: str, then: str) -> Then:
    async def search(pilot: Pilot[Any], on: Stage) -> None:
        await searched(pilot, on, words, then)

    return search


async def gone_to(pilot: Pilot[Any], on: Stage) -> None:
    await searched(pilot, on, "certificates of web-2", "1 turn")
    found = (await on.store.search("certificates of web-2"))[0]
    await pilot.press("enter")
    await at(pilot, on, found)


def on_the_answer(key: str, words: str) -> Then:
    async def press(pilot: Pilot[Any], on: Stage) -> None:
        await shows(pilot, on, "reads" if key == "" else "the file that failed")
        home(on).feed.focus()
        await until(pilot, lambda: home(on).feed.selected_turn() is not None)
        await pressing(key, words)(pilot, on)

    return press


async def link_asked(pilot: Pilot[Any], on: Stage) -> None:
    await on_the_answer("o", "Which one?")(pilot, on)
    await pilot.press("enter")
    await shows(pilot, on, "Open this address")


async def deceiving(on: Stage) -> None:
    await on.post(
        "q",
        "See [https://www.example.org](http://www.example.org@xn--exmple-cua.org/sign-in?next="
        + "%2Faccount%2Fdetails&token=" * 8
        + ") for **all** of it.",
    )


async def deceived(pilot: Pilot[Any], on: Stage) -> None:
    home(on).feed.focus()
    await until(pilot, lambda: home(on).feed.selected_turn() is not None)
    await pilot.press("o")
    await shows(pilot, on, "Open this address")


async def export_asked(pilot: Pilot[Any], on: Stage) -> None:
    await pilot.press("ctrl+p", *"export this", "enter")
    await shows(pilot, on, "Write this thread")
    path = on.app.screen.query_one("#path", Input)
    path.value, path.cursor_blink = "/home/alex/qterm-home-2026-11-30.md", False
    path.cursor_position = len("/home/alex/qterm-home-2026-11-30")  # the real name is dated today


PICTURES: dict[str, Scene] = {
    "search": (WIDE, READY, long_feed, searching("importer", "newest first")),
    "search-80": (NARROW, READY, long_feed, searching("importer", "newest first")),
    "search-nothing": (WIDE, READY, long_feed, searching("zeppelin", "Nothing in the feed")),
    "search-gone-to": (WIDE, READY, long_feed, gone_to),
    "search-gone-to-80": (NARROW, READY, long_feed, gone_to),
    "code-80": (NARROW, READY, with_code, as_it_is),
    "code": (WIDE, READY, with_code, as_it_is),
    "code-choose": (WIDE, READY, with_code, on_the_answer("y", "blocks of code")),
    "link-choose-80": (NARROW, READY, with_code, on_the_answer("o", "Which one?")),
    "link-question": (WIDE, READY, with_code, link_asked),
    "link-deceiving-80": (NARROW, READY, deceiving, deceived),
    "export-80": (NARROW, READY, with_code, export_asked),
}


@pytest.mark.parametrize("name", PICTURES)
async def test_picture(name: str, tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    await picture(name, PICTURES[name], tmp_path, snapshot)
