"""`qterm` and `python -m qterm`: the way in."""

from __future__ import annotations

import sys

from qterm import __version__
from qterm.streams import fill_in, give_up


def main() -> None:
    """Run qterm. `qterm --version` is answered before anything heavy is imported.

    Ctrl-c ends it quietly, also while it is still being loaded.
    """
    fill_in()
    try:
        if sys.argv[1:] == ["--version"]:
            _print_version()
        else:
            from qterm.cli.app import main as cli

            cli()
    except KeyboardInterrupt:
        sys.exit(130)


def _print_version() -> None:
    try:
        print(f"qterm {__version__}", flush=True)
    except BrokenPipeError:  # the reader has left
        give_up(sys.stdout)
        sys.exit(1)
    except OSError as error:
        give_up(sys.stdout)
        sys.exit(f"qterm: The output can't be written ({error.strerror}).")


if __name__ == "__main__":
    main()
