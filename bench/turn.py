"""A spawned turn inside a running Conversation against the bare hermes call it makes."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

from bench.ratio import Ratio, measure
from qterm.conversation import Conversation
from qterm.events import Finished
from qterm.feed.owner import current_owner
from qterm.feed.store import open_store
from qterm.frame import ChatFrame
from qterm.hermes.environment import child_environment
from qterm.hermes.locate import locate
from qterm.hermes.spawn import SpawnWay
from qterm.hermes.way import HermesRequest
from qterm.model import TurnState
from qterm.private import private_folder
from qterm.rehearsal.model_server import Answer, ModelServer
from qterm.settings.schema import HermesSettings, Settings

CONFIG = """model:
  default: mock-1
  provider: custom
  base_url: {url}
  api_key: none
"""


async def ratios(folder: Path, hermes: Path, line: str, *, runs: int = 10) -> list[Ratio]:
    """The ratio for one hermes; `folder` is a scratch folder."""
    home = private_folder(folder / "hermes")
    settings = Settings(hermes=HermesSettings(command=(str(hermes),), home=str(home)))
    environ = dict(os.environ)
    with ModelServer(lambda _request: Answer(("All green.",))) as model:
        (home / "config.yaml").write_text(CONFIG.format(url=model.base_url))
        store = await open_store(folder / "feed.db", locks_dir=folder / "locks")
        way = SpawnWay(
            lambda: locate(settings.hermes, environ),
            approvals=settings.hermes.approvals,
            cache_dir=folder / "cache",
            environ=environ,
        )
        cwd = private_folder(folder / "cwd")
        conversation = Conversation(store, way, settings, current_owner(), cwd)

        async def turn() -> None:
            async for event in conversation.send(ChatFrame(text="Is the deploy green?")):
                if isinstance(event, Finished):
                    assert event.turn.state is TurnState.SENT, event.turn.reason

        async def bare() -> None:
            _, composed = await conversation.compose(ChatFrame(text="Is it green?"))
            call = await way.dry_run(HermesRequest("bare", composed.prompt, cwd))
            process = await asyncio.create_subprocess_exec(
                *call.argv,
                cwd=cwd,
                env=child_environment(environ, home),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
            )
            await process.communicate((call.stdin or "").encode())
            assert process.returncode == 0

        try:
            name = f"a spawned turn : the bare hermes {line} call it makes"
            return [await measure(name, 1.05, turn, bare, runs=runs)]
        finally:
            await conversation.close()
            await store.close()
