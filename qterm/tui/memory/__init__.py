"""The memory mode: hermes's memory files on the screen, what a prune would do, what was kept.

`pane` is the mode itself (F4); the other screens are rooms over it. All of them ask
`desk/memory_work.py`, which works in threads, and show rows that `words/` makes.
"""
