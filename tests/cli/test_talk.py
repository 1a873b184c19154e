"""`qterm send` as it ends in odd moments."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path
from types import SimpleNamespace
from typing import NoReturn

import pytest

from qterm.cli.talk import _send
from qterm.conversation import Conversation
from qterm.feed.owner import current_owner
from qterm.feed.source import NewTurn
from qterm.feed.store import open_store
from qterm.frame import ChatFrame
from qterm.model import Turn
from qterm.settings.schema import Settings
from tests.ways import ScriptedWay


async def test_ended_before_the_message_was_stored(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    storing = asyncio.Event()

    class Busy:
        async def append(self, _turn: object) -> NoReturn:
            storing.set()
            await asyncio.sleep(3600)
            raise AssertionError

    way = ScriptedWay()
    conversation = Conversation(Busy(), way, Settings(), current_owner(), tmp_path)  # type: ignore[arg-type]
    services = SimpleNamespace(conversation=conversation, settings=Settings())
    task = asyncio.create_task(_send(services, ChatFrame(text="hello"), as_json=False))  # type: ignore[arg-type]
    await storing.wait()
    await conversation.close()
    assert await asyncio.wait_for(task, 10) == 130
    assert capsys.readouterr().err == "qterm: qterm was ended before the message was sent.\n"
    assert way.requests == []


async def test_ctrl_c_before_the_message_was_stored(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is obeyed as soon as the message is stored; hermes is not started."""
    way = ScriptedWay()
    way.hold()
    async with await open_store(tmp_path / "feed.db", locks_dir=tmp_path / "locks") as store:
        storing = asyncio.Event()

        class Slow:
            def __getattr__(self, name: str) -> object:
                return getattr(store, name)

            async def append(self, turn: NewTurn) -> Turn:
                storing.set()
                await asyncio.sleep(0.2)
                return await store.append(turn)

        conversation = Conversation(Slow(), way, Settings(), current_owner(), tmp_path)  # type: ignore[arg-type]
        services = SimpleNamespace(conversation=conversation, settings=Settings())
        task = asyncio.create_task(_send(services, ChatFrame(text="hello"), as_json=False))  # type: ignore[arg-type]
        await storing.wait()
        os.kill(os.getpid(), signal.SIGINT)
        assert await asyncio.wait_for(task, 10) == 130
        await conversation.close()
