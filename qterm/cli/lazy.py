"""A group whose commands are imported when they are run: none of them is paid for by another."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

import click


class LazyGroup(click.Group):
    """`lazy` says for each command's name which module of `qterm.cli` holds it, under that name."""

    def __init__(self, *args: Any, lazy: Mapping[str, str], **more: Any) -> None:
        super().__init__(*args, **more)
        self._lazy = lazy

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, as click lists them."""
        del ctx
        return sorted(self._lazy)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command itself; None where there is none of that name."""
        if cmd_name not in self.commands and cmd_name in self._lazy:
            module = importlib.import_module(f"qterm.cli.{self._lazy[cmd_name]}")
            self.commands[cmd_name] = getattr(module, cmd_name)
        return super().get_command(ctx, cmd_name)
