"""What hermes calls after a turn: it starts `qterm compact --if-due` beside it and is gone.

hermes waits for a hook, so this imports next to nothing. It reads its standard input to the end,
prints `{}` and exits with 0 whatever happens. The arguments are options for the qterm it starts.
"""

from __future__ import annotations

import os
import sys

_START = (
    "import sys; sys.path.insert(0, sys.argv.pop(1)); "
    "from qterm.__main__ import main; sys.argv[0] = 'qterm'; main()"
)


def main() -> None:
    """Start the pass, answer hermes."""
    try:  # noqa: SIM105 - contextlib would cost more than all of this
        _start(sys.argv[1:])
    except Exception:  # noqa: BLE001, S110 - a hook never gets in the way of a turn
        pass
    try:
        while os.read(0, 65_536):
            pass
        os.write(1, b"{}\n")
    except OSError:  # hermes has gone
        pass
    os._exit(0)


def _start(options: list[str]) -> None:
    """A process in a session of its own, whose parent is gone: nobody waits for it.

    The home is the operator's own: hermes may have given its hooks another (`home_mode`, and in
    containers), where the gate would find neither qterm's config nor the time of the last pass.
    """
    if home := os.environ.get("HERMES_REAL_HOME"):
        os.environ["HOME"] = home
    root = __file__.rpartition(f"{os.sep}qterm{os.sep}")[0]  # pathlib would cost as much as Python
    argv = [sys.executable, "-P", "-c", _START, root, *options, "compact", "--if-due"]
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        return
    try:
        os.setsid()
        if os.fork() == 0:
            null = os.open(os.devnull, os.O_RDWR)
            for number in (0, 1, 2):
                os.dup2(null, number)
            os.closerange(3, 256)
            os.execv(sys.executable, argv)  # noqa: S606 - no shell is wanted
    finally:
        os._exit(0)


if __name__ == "__main__":
    main()
