from __future__ import annotations

from pathlib import Path

from qterm.hermes.environment import child_environment


def test_what_weakens_or_changes_a_turn_is_dropped() -> None:
    dropped = dict.fromkeys(
        [
            "HERMES_YOLO_MODE",
            "HERMES_ACCEPT_HOOKS",
            "HERMES_SAFE_MODE",
            "HERMES_SESSION_ID",
            "HERMES_SESSION_SOURCE",
            "HERMES_IGNORE_RULES",
            "HERMES_IGNORE_USER_CONFIG",
            "HERMES_KANBAN_TASK",
            "HERMES_SINGLE_QUERY_SESSION",
            "TERMINAL_CWD",
        ],
        "1",
    )
    kept = {"PATH": "/bin", "HERMES_INFERENCE_MODEL": "m", "OPENAI_API_KEY": "k", "LANG": "C"}
    made = child_environment({**dropped, **kept, "HERMES_HOME": "/other"}, Path("/home"))
    assert made == {**kept, "HERMES_HOME": "/home", "PYTHONUTF8": "1"}
