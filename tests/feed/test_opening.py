from __future__ import annotations

import asyncio
import os
import sqlite3
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from qterm.feed.source import FeedError, TurnChange
from qterm.model import TurnState
from tests.feed.helpers import NOBODY, open_in, other, queued, said


def modes(folder: Path) -> dict[str, int]:
    return {str(f.relative_to(folder)): stat.S_IMODE(f.stat().st_mode) for f in folder.rglob("*")}


@pytest.mark.parametrize("umask", [0o000, 0o077, 0o777])
async def test_everything_is_private_whatever_the_umask(tmp_path: Path, umask: int) -> None:
    data = tmp_path / "deep" / "data"
    before = os.umask(umask)
    try:
        async with await open_in(data) as store:
            await store.append(said("x"))
            found = modes(tmp_path)
    finally:
        os.umask(before)
    folders = {"deep", "deep/data", "deep/data/locks"}
    assert {name for name, mode in found.items() if mode == 0o700} == folders
    assert {name for name, mode in found.items() if mode == 0o600} == {
        "deep/data/feed.sqlite3",
        "deep/data/feed.sqlite3-wal",
        "deep/data/feed.sqlite3-shm",
        "deep/data/locks/open.lock",
    }
    assert set(found) == folders | {n for n, mode in found.items() if mode == 0o600}


async def test_a_store_found_open_to_others_is_closed_for_them(tmp_path: Path) -> None:
    async with await open_in(tmp_path):
        pass
    (tmp_path / "feed.sqlite3").chmod(0o644)
    async with await open_in(tmp_path) as store:
        await store.append(said("x"))
        assert set(modes(tmp_path).values()) == {0o600, 0o700}


@pytest.mark.parametrize(
    "content", [b"This is no database. " * 300, b"\0" * 5000], ids=["words", "zeros"]
)
async def test_a_file_that_is_no_database_is_set_aside(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "feed.sqlite3"
    file.write_bytes(content)
    (tmp_path / "feed.sqlite3-wal").write_bytes(b"old log")
    (tmp_path / "feed.sqlite3-shm").write_bytes(b"old shm")
    async with await open_in(tmp_path) as store:
        (aside,) = store.leftovers
        (notice,) = store.notices
        assert str(aside) in notice
        assert aside.read_bytes() == content
        assert aside.with_name(aside.name + "-wal").read_bytes() == b"old log"
        assert aside.with_name(aside.name + "-shm").exists()
        await store.append(said("a new beginning"))
        assert set(modes(tmp_path).values()) == {0o600, 0o700}
    async with await open_in(tmp_path) as store:
        assert store.notices == ()
        assert [turn.text for turn in await store.page(None)] == ["a new beginning"]


async def test_a_truncated_store_is_set_aside(tmp_path: Path) -> None:
    async with await open_in(tmp_path) as store:
        for n in range(50):
            await store.append(said(f"{n} " * 300))
    file = tmp_path / "feed.sqlite3"
    size = file.stat().st_size
    os.truncate(file, size // 2)
    async with await open_in(tmp_path) as store:
        assert [aside.stat().st_size for aside in store.leftovers] == [size // 2]
        assert str(store.leftovers[0]) in store.notices[0]
        assert await store.page(None) == []


async def test_two_that_start_at_once_on_a_damaged_file_share_the_new_one(tmp_path: Path) -> None:
    (tmp_path / "feed.sqlite3").write_bytes(b"no database " * 1000)
    stores = await asyncio.gather(*(open_in(tmp_path) for _ in range(4)))
    try:
        for n, store in enumerate(stores):
            await store.append(said(f"{n}"))
        assert len(stores[0].leftovers) == 1
        assert sum(len(store.notices) for store in stores) == 1
        assert len(await stores[0].page(None)) == 4
    finally:
        for store in stores:
            await store.close()


async def test_a_newer_store_is_refused_and_not_touched(tmp_path: Path) -> None:
    async with await open_in(tmp_path) as store:
        await store.append(said("x"))
    file = tmp_path / "feed.sqlite3"
    with sqlite3.connect(file) as connection:
        connection.execute("PRAGMA user_version = 999")
    connection.close()
    before = {f.name: (f.read_bytes(), f.stat().st_mtime_ns) for f in tmp_path.glob("feed*")}
    with pytest.raises(FeedError, match=r"newer qterm \(its version is 999") as caught:
        await open_in(tmp_path)
    assert "\n" not in str(caught.value)
    after = {f.name: (f.read_bytes(), f.stat().st_mtime_ns) for f in tmp_path.glob("feed*")}
    assert after == before


async def test_a_newer_version_that_is_only_in_the_log_is_seen_too(tmp_path: Path) -> None:
    async with await open_in(tmp_path):
        pass
    script = f"""
import os, sqlite3
c = sqlite3.connect({str(tmp_path / "feed.sqlite3")!r})
c.execute("PRAGMA user_version = 999")
os.kill(os.getpid(), 9)
"""
    subprocess.run([sys.executable, "-c", script], check=False)
    assert (tmp_path / "feed.sqlite3-wal").stat().st_size > 0
    before = (tmp_path / "feed.sqlite3").read_bytes()
    with pytest.raises(FeedError, match="999"):
        await open_in(tmp_path)
    assert (tmp_path / "feed.sqlite3").read_bytes() == before


async def test_another_programs_database_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "feed.sqlite3"
    with sqlite3.connect(file) as connection:
        connection.execute("CREATE TABLE theirs (x)")
    connection.close()
    before = file.read_bytes()
    with pytest.raises(FeedError, match="another program's database"):
        await open_in(tmp_path)
    assert file.read_bytes() == before


async def test_a_data_folder_that_is_a_file_is_said_so(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("not a folder")
    for folder in (tmp_path / "data", tmp_path / "data" / "deeper"):
        with pytest.raises(FeedError, match=r"data folder .* can't be made .*--data-dir"):
            await open_in(folder)
    assert (tmp_path / "data").read_text() == "not a folder"


async def test_a_store_that_is_a_folder_is_said_so(tmp_path: Path) -> None:
    (tmp_path / "feed.sqlite3").mkdir()
    with pytest.raises(FeedError, match="is not a file: move it away"):
        await open_in(tmp_path)


def test_a_folder_of_another_user_is_said_so() -> None:
    """In a child that is nobody, where the test itself is root; for others `/` is such a folder."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        folder.chmod(0o755)
        if os.geteuid() != 0:
            folder = Path("/")
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            said_ = "opened"
            try:
                if os.geteuid() == 0:
                    os.setgroups([])
                    os.setgid(65534)
                    os.setuid(65534)
                asyncio.run(open_in(folder, migrations=()))
            except BaseException as error:  # noqa: BLE001 - the child ends here, whatever it was
                said_ = f"{type(error).__name__}: {error}"
            os.write(write, said_.encode())
            os._exit(0)
        os.close(write)
        with os.fdopen(read, "rb") as answer:
            text = answer.read().decode()
        os.waitpid(child, 0)
    assert text.startswith("FeedError: The data folder"), text
    assert "Permission denied" in text
    assert "\n" not in text


async def test_a_full_disk_stores_nothing_by_halves_and_keeps_what_is_there(
    tmp_path: Path,
) -> None:
    async with await open_in(tmp_path, max_pages=60) as store:
        kept = await store.append(said("kept"))
        waiting = await store.append(queued(NOBODY, "typed"))
        with pytest.raises(FeedError, match="The disk is full, so nothing was stored: free"):
            await store.append(said("word " * 100_000))
        with pytest.raises(FeedError, match="disk is full"):
            await store.update(kept.id, TurnChange(text="word " * 100_000))
        assert await store.page(None) == [kept, waiting]
        assert await store.search("word") == []
        small = await store.append(said("there is room for this"))
        done = await store.update(waiting.id, TurnChange(state=TurnState.SENT))
    async with await open_in(tmp_path) as store:
        assert await store.page(None) == [kept, done, small]


async def test_a_disk_that_is_full_from_the_start_is_said_so(tmp_path: Path) -> None:
    from qterm.feed.migrations import Step, steps

    first = steps()[0]
    too_much = Step(1, "PRAGMA max_page_count = 5;" + first.sql)
    with pytest.raises(FeedError, match="disk is full"):
        await open_in(tmp_path, migrations=[too_much])
    async with await open_in(tmp_path) as store:
        assert store.notices == ()
        assert (await store.append(said("room again"))).id == 1


async def test_damage_found_later_is_one_sentence(tmp_path: Path) -> None:
    async with await open_in(tmp_path) as store:
        for n in range(200):
            await store.append(said(f"{n} " * 100))
    file = tmp_path / "feed.sqlite3"
    data = bytearray(file.read_bytes())
    for page in range(30, len(data) // 4096 - 3):
        data[page * 4096 : page * 4096 + 64] = b"\xff" * 64
    file.write_bytes(data)
    store = await open_in(tmp_path)
    if store.notices:  # seen at once: set aside
        await store.close()
        return
    with pytest.raises(FeedError, match=r"is damaged .*: close qterm") as caught:
        async for _ in store.export(None):
            pass
    assert "\n" not in str(caught.value)
    await store.close()


async def test_two_processes_write_at_once_without_loss(tmp_path: Path) -> None:
    script = """
store = await open_here()
tell("ready")
await heard()
for n in range(100):
    turn = await store.append(NewTurn(None, "q", "", TurnState.PENDING))
    await store.update(turn.id, TurnChange(text=f"{n}", state=TurnState.SENT))
await store.close()
"""
    async with other(tmp_path, script) as one, other(tmp_path, script) as two:
        for process in (one, two):
            assert await process.line() == "ready"
        for process in (one, two):
            process.say("go")
        assert [await one.ended(), await two.ended()] == [0, 0]
    async with await open_in(tmp_path) as store:
        turns = await store.page(None, limit=1000)
        assert sorted(int(turn.text) for turn in turns) == sorted([*range(100), *range(100)])
        assert len({turn.id for turn in turns}) == 200


async def test_what_was_stored_survives_a_kill(tmp_path: Path) -> None:
    script = """
store = await open_here()
await store.append(NewTurn(None, "you", "typed", TurnState.QUEUED, owner=current_owner()))
await store.save_draft(None, "half a senten")
tell("stored")
await heard()
"""
    async with other(tmp_path, script) as process:
        assert await process.line() == "stored"
        process.process.kill()
        await process.ended()
    async with await open_in(tmp_path) as store:
        assert await store.draft(None) == "half a senten"
        (turn,) = await store.interrupt_orphans()
        assert (turn.text, turn.state) == ("typed", TurnState.INTERRUPTED)
