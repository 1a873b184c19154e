"""`qterm doctor`: what qterm found, and a mend for each fault."""

from __future__ import annotations

import click

from qterm.cli import exit_codes, show
from qterm.cli.run import Invocation


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print the checks as JSON.")
@click.pass_obj
def doctor(invocation: Invocation, as_json: bool) -> None:
    """Look at hermes, its model, the store and the config. Changes nothing."""
    import asyncio
    import sys

    from qterm.doctor import examine

    checks = asyncio.run(examine(invocation.load(), environ=invocation.environ))
    if as_json:
        show.out_json({"checks": [check.as_json() for check in checks]})
    else:
        for check in checks:
            for line in check.lines():
                show.out(line)
    failed = any(check.state == "fail" for check in checks)
    sys.exit(exit_codes.ERROR if failed else exit_codes.OK)
