"""The memory of the real hermes: it writes, qterm prunes and restores, it writes again."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from qterm.events import Finished
from qterm.frame import ChatFrame
from qterm.memory.book import MemoryBook
from qterm.memory.opening import open_memory
from qterm.memory.stores import StoreName
from qterm.model import TurnState
from qterm.rehearsal.model_server import Answer, content_text
from qterm.services import Services, open_services
from qterm.settings.load import load
from tests.e2e.conftest import HermesLine


@pytest.fixture
def environ(hermes_line: HermesLine, tmp_path: Path) -> dict[str, str]:
    (tmp_path / "config.toml").write_text(f'[hermes]\ncommand = ["{hermes_line.program}"]\n')
    shutil.rmtree(hermes_line.home / "memories", ignore_errors=True)
    return hermes_line.environ() | {
        "QTERM_DATA_DIR": str(tmp_path / "data"),
        "QTERM_CONFIG": str(tmp_path / "config.toml"),
        "XDG_CACHE_HOME": str(hermes_line.cache),
    }


@pytest.fixture
async def services(environ: dict[str, str]) -> AsyncIterator[Services]:
    opened = await open_services(load(environ=environ), environ=environ)
    yield opened
    await opened.close()


def memory_call(**arguments: Any) -> Any:
    """A model that calls hermes's memory tool once, then says that it did."""

    def script(request: dict[str, Any]) -> Answer:
        if any(message["role"] == "tool" for message in request["messages"]):
            return Answer(("Noted.",))
        return Answer(("",), tool=("memory", {"target": "memory", **arguments}))

    return script


def told(line: HermesLine) -> str:
    """What hermes itself told the model, in the newest turn."""
    messages = line.server.turns[-1]["messages"]
    return "\n".join(content_text(m["content"]) for m in messages if m["role"] == "system")


async def note(services: Services, line: HermesLine, **arguments: Any) -> None:
    if arguments["action"] == "replace" and line.newer:
        arguments["action"] = "patch"  # 0.22 offers its model no other way to change an entry
    line.answers(memory_call(**arguments))
    events = [event async for event in services.conversation.send(ChatFrame(text="note this"))]
    end = events[-1]
    assert isinstance(end, Finished)
    assert end.turn.state is TurnState.SENT, end.turn.reason


def entries(book: MemoryBook) -> list[str]:
    return list(book.look(StoreName.MEMORY).entries)


async def test_hermes_writes_before_and_after(
    hermes_line: HermesLine, services: Services, environ: dict[str, str]
) -> None:
    book = open_memory(load(environ=environ), environ)
    assert book.home == hermes_line.home
    book.add(book.look(StoreName.MEMORY), "[P1] The host is core01.")
    await note(services, hermes_line, action="add", content="[P3] The move is done.")
    assert entries(book) == ["[P1] The host is core01.", "[P3] The move is done."]

    book.apply(book.preview("tags").plan)
    assert entries(book) == ["[P1] The host is core01."]
    (removed,) = book.archive.removed()

    await note(services, hermes_line, action="add", content="[P2] Prefers tea.")
    assert "[P1] The host is core01." in told(hermes_line)
    assert "The move is done." not in told(hermes_line)  # a home turn sees the prune at once
    book.restore(removed)
    wanted = ["[P1] The host is core01.", "[P3] The move is done.", "[P2] Prefers tea."]
    assert entries(book) == wanted

    await note(
        services,
        hermes_line,
        action="replace",
        old_text="[P2] Prefers tea.",
        content="[P2] Prefers cocoa.",
    )
    assert entries(book) == [*wanted[:2], "[P2] Prefers cocoa."]
    assert not book.look(StoreName.MEMORY).faults


async def test_hermes_refuses_what_the_list_says_it_refuses(
    hermes_line: HermesLine, services: Services, environ: dict[str, str]
) -> None:
    memory = hermes_line.home / "memories" / "MEMORY.md"
    memory.parent.mkdir()
    memory.write_bytes("a thing\n§\n\n§\nb thing".encode())
    await note(services, hermes_line, action="replace", old_text="b thing", content="c thing")
    book = open_memory(load(environ=environ), environ)  # hermes has been asked for its version now
    look = book.look(StoreName.MEMORY)
    assert book.hermes_line == ("0.22" if hermes_line.newer else "0.19")
    is_refused = bool(look.refusals(book.hermes_line))
    assert is_refused != ("c thing" in look.entries)
    assert is_refused != hermes_line.newer
    book.clean(look)
    await note(services, hermes_line, action="replace", old_text="a thing", content="d thing")
    assert entries(book)[0] == "d thing"
