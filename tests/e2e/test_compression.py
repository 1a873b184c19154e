"""A session that hermes compresses gets another id: the binding moves with it (rule S3)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from qterm.frame import ChatFrame
from qterm.model import TurnState
from qterm.rehearsal.model_server import Answer, ModelServer, user_text
from qterm.services import open_services
from qterm.settings.load import load
from tests.e2e.conftest import CONFIG, HermesLine

# The smallest window hermes takes; a compressed session is a new one, as it was by default once.
SMALL = """\
compression:
  enabled: true
  threshold: 0.5
  protect_first_n: 1
  protect_last_n: 2
  in_place: false
"""


def script(request: dict[str, Any]) -> Answer:
    """Answers of a word, but for one that fills most of the window (hermes cuts repetitions)."""
    text = user_text(request)
    long = " ".join(f"w{number * 7919 % 100003}" for number in range(48_000))
    read = len(json.dumps(request["messages"])) // 4
    return Answer(
        (f"to {text[:20]} {long if text.startswith('number 2') else ''}",), prompt_tokens=read
    )


async def test_the_id_that_moved_is_adopted_and_saved(
    hermes_line: HermesLine, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    with ModelServer(script) as server:
        config = CONFIG.format(base_url=server.base_url).replace("2000000", "64000")
        (home / "config.yaml").write_text(config + SMALL)
        environ = hermes_line.environ() | {
            "HERMES_HOME": str(home),
            "QTERM_DATA_DIR": str(tmp_path / "data"),
            "QTERM_CONFIG": str(tmp_path / "config.toml"),
        }
        (tmp_path / "config.toml").write_text(f'[hermes]\ncommand = ["{hermes_line.program}"]\n')
        services = await open_services(load(environ=environ), environ=environ)
        task = await services.feed.add_task("A long one", str(tmp_path))
        ids = []
        for number in range(6):
            frame = ChatFrame(text=f"number {number}", task_id=task.id)
            async for _ in services.conversation.send(frame):
                pass
            found = await services.feed.task(task.id)
            assert found is not None
            assert found.session is not None
            assert found.session.name == f"q-task-{task.id}", "the name stays"
            ids.append(found.session.id)
        assert ids[0] == ids[1] == ids[2]
        assert ids[-1] != ids[0], "hermes compressed, and the binding moved"
        states = {turn.state for turn in await services.feed.page(task.id)}
        assert states == {TurnState.SENT}
        # The turn after it continued the compressed session: what was last said is in it.
        last = [str(message.get("content")) for message in server.turns[-1]["messages"]]
        assert any(text.startswith("number 4") for text in last)
        assert not any(text.startswith("number 1") for text in last)
        await services.close()
