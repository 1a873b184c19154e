"""How settings are read and kept, beside the screens."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from textual.message import Message

from qterm.services import Services
from qterm.settings.load import load_again
from qterm.tui.desk import messages


@dataclass
class Keeping:
    """`post` brings a message to whoever asked. What is kept is kept one after the other."""

    services: Services
    post: Callable[[Message], object]
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def read(self, name: str = "") -> None:
        """Read the settings anew, after a change of `name`, or since another qterm kept some."""
        services = self.services
        loaded = await asyncio.to_thread(load_again, services.loaded, environ=services.environ)
        self.post(messages.SettingsRead(loaded, name))

    async def keep(self, name: str, value: object) -> None:
        """Keep a setting in settings.toml, or let go of it (None)."""
        from qterm.settings.write import SettingsError, write_setting

        async with self._lock:
            try:
                await asyncio.to_thread(write_setting, self.services.paths, name, value)
            except SettingsError as error:
                self.post(messages.SettingRefused(name, str(error)))
            else:
                await self.read(name)
