"""`qterm compact --install-hook` and `--remove-hook`: the pass after turns made outside qterm."""

from __future__ import annotations

from qterm.cli import show
from qterm.cli.run import Invocation, Refused
from qterm.maintenance.after_turn import own_options
from qterm.maintenance.hook import (
    Edit,
    HookError,
    agreed,
    ask_consent,
    find,
    install,
    remove,
    revoke,
    write,
)


def install_hook(invocation: Invocation, *, yes: bool) -> None:
    """Show the change to hermes's config; write it, and have hermes agree, with `yes`."""
    loaded = invocation.load()
    try:
        place = find(loaded, invocation.environ)
        edit = install(place.home, own_options(loaded.paths))
        if not edit.changes:
            show.out(f"The hook is in {edit.path} already.")
        else:
            show.out(edit.diff.rstrip("\n"))
        if not yes:
            if edit.changes:
                show.diagnostic(
                    "Nothing was written. --yes writes it and has hermes agree to the command: "
                    "hermes fires no hook before that."
                )
            return
        _write(edit, invocation)
        if sentence := ask_consent(place, invocation.environ, edit.command):
            show.diagnostic(sentence)
        else:
            show.out("hermes has agreed to it: it counts from its next start on.")
        if sentence := revoke(place, invocation.environ, keep=edit.command):
            show.diagnostic(sentence)
    except HookError as error:
        raise Refused(str(error)) from None
    _say_gate(invocation)


def remove_hook(invocation: Invocation) -> None:
    """Take the hook's own lines out of hermes's config, and have hermes forget its consent."""
    loaded = invocation.load()
    try:
        place = find(loaded, invocation.environ)
        edit = remove(place.home)
        had_consent = bool(agreed(place.home))
        if edit.changes:
            show.out(edit.diff.rstrip("\n"))
            _write(edit, invocation)
        else:
            show.out(f"There is no hook of qterm’s in {edit.path}.")
        if sentence := revoke(place, invocation.environ):
            show.diagnostic(sentence)
        elif edit.changes or had_consent:
            show.out("It is out, and hermes’s consent with it.")
    except HookError as error:
        raise Refused(str(error)) from None


def _write(edit: Edit, invocation: Invocation) -> None:
    if not edit.changes:
        return
    kept = write(edit, invocation.load().paths.data_dir)
    show.out(f"{edit.path} is written." + (f" As it was: {kept}" if kept else ""))


def _say_gate(invocation: Invocation) -> None:
    from qterm.maintenance.standing import standing

    if not standing(invocation.load(), invocation.environ).is_on:
        show.diagnostic(
            "The gate is off, so the hook does nothing yet: set maintenance.enabled = true."
        )
