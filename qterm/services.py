"""Puts the parts together: settings in, a feed, a way to hermes and a Conversation out.

The one place that chooses implementations. Both faces, the demo and the tests start here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from qterm.conversation import Conversation
from qterm.feed.source import FeedSource
from qterm.hermes.way import HermesWay
from qterm.settings.load import Loaded, Paths
from qterm.settings.schema import Settings


class FirstStart(StrEnum):
    """What a start finds; everything but READY leads to the first-start screen."""

    READY = "ready"
    NO_MODEL = "no-model"
    NO_HERMES = "no-hermes"


@dataclass(frozen=True, slots=True)
class StartState:
    """What a start finds, in one sentence, with how hermes is called where it was found."""

    kind: FirstStart
    sentence: str
    command: tuple[str, ...] = ()


@dataclass(slots=True)
class Services:
    """The parts, put together. `notices` are sentences the operator should see once."""

    loaded: Loaded
    feed: FeedSource
    way: HermesWay
    conversation: Conversation
    environ: Mapping[str, str]
    notices: tuple[str, ...] = ()
    is_demo: bool = False

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        return self.loaded.settings

    @property
    def paths(self) -> Paths:
        """Where qterm keeps its files."""
        return self.loaded.paths

    def first_start(self) -> StartState:
        """Look for hermes and its model; reads files only and starts nothing."""
        raise NotImplementedError

    async def close(self) -> None:
        """End what runs, then let go of the feed."""
        await self.conversation.close()
        await self.feed.close()
