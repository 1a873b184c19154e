"""`qterm` and `python -m qterm`: the way in."""

from __future__ import annotations

import sys


def main() -> None:
    """Run qterm. `qterm --version` is answered before anything heavy is imported."""
    if sys.argv[1:] == ["--version"]:
        from qterm import __version__

        print(f"qterm {__version__}")
        return
    from qterm.cli.app import main as cli

    cli()


if __name__ == "__main__":
    main()
