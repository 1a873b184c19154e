"""The feed: what was said, by whom, in which thread, with the facts, the mode and the drafts.

`source.py` is the protocol that the rest of qterm knows; `store.py` keeps it in SQLite here, and a
feed on a server can come in behind the same protocol later.
"""
