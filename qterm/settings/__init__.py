"""Settings: what can be set, where each value comes from, and where qterm keeps its files.

`schema.py` holds the typed settings with their defaults, `keys.py` each key with what it expects,
`personas.py` the rules for who speaks in the feed. `load.py` reads them in the order flag,
environment, `settings.toml`, `config.toml`, default; `write.py` writes `settings.toml`; `paths.py`
says where things lie. Importing any of it reads nothing.
"""
