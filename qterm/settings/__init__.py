"""Settings: what can be set, where each value comes from, and where qterm keeps its files.

`schema.py` names every key with its default, `load.py` reads them in the order flag, environment,
`settings.toml`, `config.toml`, default; `paths.py` says where things lie.
"""
