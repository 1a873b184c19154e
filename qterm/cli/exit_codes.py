"""Every exit code of qterm, in one place (docs/command-line.md)."""

OK = 0
"""Done."""

ERROR = 1
"""It could not be done; standard error says why in one sentence."""

USAGE = 2
"""The command line was not understood."""

WORK_TO_DO = 2
"""`qterm memory` only: nothing was written, and there is something to do."""

NO_ANSWER = 3
"""The message is stored, but Q did not answer; standard error says why."""

INTERNAL = 70
"""A fault in qterm itself; the log holds the details."""

INTERRUPTED = 130
"""Stopped with ctrl-c."""
