"""Maintenance after a turn: at most once a window, a pass tidies up (docs/maintenance.md).

`gate.py` decides (pure), `report.py` is what a pass did in words, `standing.py` reads what the
decision needs, `state.py` keeps when the last pass was. A pass has two steps, `hive_mind.py` and
`working.py`; `run.py` asks the gate and runs it, `after_turn.py` does so beside the conversation.
"""
