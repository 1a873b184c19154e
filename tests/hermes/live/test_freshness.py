"""Whether a session is as we left it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from qterm.hermes.live import freshness
from qterm.hermes.live.freshness import Freshness
from qterm.hermes.way import SessionRecord, SessionState


@dataclass
class Store:
    """hermes's store: a file that changes with each message, and what is read of it."""

    home: Path
    messages: list[tuple[str, str]] = field(default_factory=list)
    reads: int = 0
    state: SessionState = SessionState.THERE

    def write(self, *users: str) -> None:
        for user in users:
            self.messages += [("user", user), ("assistant", "Hi.")]
        self.touch()

    def touch(self) -> None:
        with (self.home / "state.db").open("a") as file:
            file.write("x")

    async def read(self, _session: str) -> SessionRecord:
        self.reads += 1
        return SessionRecord(self.state, "", tuple(self.messages))


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    monkeypatch.setattr(freshness, "_PAUSE", 0.01)
    return Store(tmp_path)


@pytest.fixture
def fresh(store: Store) -> Freshness:
    return Freshness(store.home, store.read)


async def test_what_was_never_ours_is_not_fresh(fresh: Freshness) -> None:
    assert not await fresh.is_fresh("s")


async def test_an_untouched_store_is_not_read_again(fresh: Freshness, store: Store) -> None:
    store.write("one")
    fresh.wrote("s")
    assert await fresh.is_fresh("s")
    assert await fresh.is_fresh("s")
    assert store.reads == 1


async def test_other_sessions_change_the_store_and_nothing_else(
    fresh: Freshness, store: Store
) -> None:
    store.write("one")
    fresh.wrote("s")
    await fresh.settled("s")
    store.touch()
    assert await fresh.is_fresh("s")
    assert await fresh.is_fresh("s")
    assert store.reads == 2


async def test_another_writer_is_seen(fresh: Freshness, store: Store) -> None:
    store.write("one")
    fresh.wrote("s")
    await fresh.settled("s")
    store.write("a stranger's")
    assert not await fresh.is_fresh("s")
    assert not await fresh.is_fresh("s")


async def test_one_that_wrote_during_our_turn_is_seen(fresh: Freshness, store: Store) -> None:
    store.write("one")
    fresh.wrote("s")
    await fresh.settled("s")
    store.write("a stranger's", "ours")
    fresh.wrote("s")
    assert not await fresh.is_fresh("s")


async def test_turn_after_turn_of_ours_is_fresh(fresh: Freshness, store: Store) -> None:
    for text in ("one", "two", "three"):
        store.write(text)
        fresh.wrote("s")
        assert await fresh.is_fresh("s")


async def test_what_cannot_be_read_is_not_fresh(fresh: Freshness, store: Store) -> None:
    store.write("one")
    store.state = SessionState.UNKNOWN
    fresh.wrote("s")
    assert not await fresh.is_fresh("s")


def test_the_state_of_what_a_session_begins_with(tmp_path: Path) -> None:
    seen = [freshness.beginning_print(tmp_path)]
    memories = tmp_path / "memories"
    memories.mkdir()
    for path in (memories / "MEMORY.md", memories / "USER.md", tmp_path / "config.yaml"):
        for words in ("a", "b"):
            path.write_text(words)
            seen.append(freshness.beginning_print(tmp_path))
    assert len(set(seen)) == 7
    assert freshness.beginning_print(tmp_path) == seen[-1]
    settings = freshness.settings_print(tmp_path)
    (memories / "MEMORY.md").write_text("c")
    assert freshness.settings_print(tmp_path) == settings


async def test_a_running_hermes_tells_by_the_time_alone(fresh: Freshness, store: Store) -> None:
    stamps = ["10:00", "10:00", "10:05", "10:05"]

    async def stamp() -> str | None:
        return stamps.pop(0)

    store.write("one")
    fresh.wrote("s", stamp)
    await fresh.settled("s")
    store.touch()
    assert await fresh.is_fresh("s", stamp)  # another session was written to
    assert store.reads == 1
    store.write("a stranger's")
    assert not await fresh.is_fresh("s", stamp)
    assert store.reads == 2
