"""The two kinds of thread: what a message carries, where hermes runs, what ties turns together.

Home turns are calls of their own with a context block (rules C1 to C6, `home.py`); a task's turns
continue its session (rules S1 to S6, `task.py`). `thread.py` is what an exchange with hermes knows
of both.
"""
