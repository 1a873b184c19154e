"""Paths as options take them."""

from __future__ import annotations

from typing import Any

import click


class NamedPath(click.Path):
    """A path that has a name: `--data-dir "$UNSET"` must not mean the folder one is in."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The path; fails for an empty name."""
        if not value:
            self.fail("the name is empty.", param, ctx)
        return super().convert(value, param, ctx)
