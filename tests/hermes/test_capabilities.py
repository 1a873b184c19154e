"""Asking a hermes what it can do, and remembering it."""

from __future__ import annotations

import json
import stat
from dataclasses import replace
from pathlib import Path

import pytest

from qterm.hermes import capabilities
from qterm.hermes.capabilities import HermesUnusable, forget, probe, recall, remember, version_line
from tests.hermes.fakes import FakeHermes, environ, pids_below


@pytest.fixture
def fake(tmp_path: Path) -> FakeHermes:
    return FakeHermes(tmp_path / "fake")


async def test_what_each_line_can_do(fake: FakeHermes, tmp_path: Path) -> None:
    found = await probe(fake.place, environ(tmp_path), tmp_path / "cache")
    assert found.version == "0.22.2"
    assert found.query_file and found.stream_json and found.create_if_missing
    assert found.source and found.no_restore_cwd and found.oneshot and found.usage_file
    fake.newer = False
    fake.write()
    found = await probe(fake.place, environ(tmp_path), tmp_path / "cache")
    assert found.version == "0.19.0"
    assert not (found.query_file or found.stream_json or found.create_if_missing)
    assert found.source and found.usage_file


async def test_looking_never_writes_into_the_operator_s_home(
    fake: FakeHermes, tmp_path: Path
) -> None:
    fake.program.write_text(
        '#!/bin/sh\ntouch "$HERMES_HOME/looked"\necho Hermes 1.0.0 --query --quiet\n'
    )
    await probe(fake.place, environ(tmp_path), tmp_path / "cache")
    assert not (fake.home / "looked").exists()
    assert (tmp_path / "cache" / "probe-home" / "looked").exists()
    assert stat.S_IMODE((tmp_path / "cache" / "probe-home").stat().st_mode) == 0o700


@pytest.mark.parametrize(
    ("program", "words"),
    [
        ("#!/bin/sh\necho rubbish\n", "does not answer like a hermes"),
        ("#!/bin/sh\necho; printf '\\377\\000\\n'\n", "does not answer like a hermes"),
        ("#!/bin/sh\necho broken >&2; exit 3\n", "exit code 3 (broken)"),
        ("#!/bin/sh\nkill -9 $$\n", "signal 9"),
        ("#!/no/such/interpreter\n", "can't be started"),
        ("", "can't be started"),
    ],
)
async def test_one_that_can_t_be_talked_with_is_one_sentence(
    fake: FakeHermes, tmp_path: Path, program: str, words: str
) -> None:
    fake.program.write_text(program)
    with pytest.raises(HermesUnusable) as caught:
        await probe(fake.place, environ(tmp_path), tmp_path / "cache")
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


async def test_one_that_hangs_is_given_up_and_ended(fake: FakeHermes, tmp_path: Path) -> None:
    fake.program.write_text("#!/bin/sh\nsleep 60\n")
    before = pids_below()
    with pytest.raises(HermesUnusable, match=r"no answer in 0\.5 s"):
        await probe(fake.place, environ(tmp_path), tmp_path / "cache", seconds=0.5)
    assert pids_below() <= before


async def test_a_cache_that_can_t_be_made_is_no_reason_to_stop(
    fake: FakeHermes, tmp_path: Path
) -> None:
    (tmp_path / "cache").write_text("a file")
    known = await probe(fake.place, environ(tmp_path), tmp_path / "cache" / "below")
    assert known.query_file


async def test_what_was_learned_is_remembered_for_this_very_file(
    fake: FakeHermes, tmp_path: Path
) -> None:
    cache = tmp_path / "cache"
    found = await probe(fake.place, environ(tmp_path), cache)
    assert recall(fake.place, cache) is None
    remember(fake.place, found, cache)
    assert recall(fake.place, cache) == found
    assert stat.S_IMODE((cache / "hermes.json").stat().st_mode) == 0o600
    other = replace(fake.place, command=(*fake.place.command, "--x"))
    assert recall(other, cache) is None
    remember(other, found, cache)
    fake.program.write_text(fake.program.read_text() + "\n")
    assert recall(fake.place, cache) is None
    forget(other, cache)
    assert len(json.loads((cache / "hermes.json").read_bytes())) == 1
    fake.program.unlink()
    assert recall(fake.place, cache) is None


@pytest.mark.parametrize("content", [b"", b"{broken", b"[{}]", b"\xff", b'[{"command": 3}]'])
async def test_a_broken_cache_is_as_good_as_none(
    fake: FakeHermes, tmp_path: Path, content: bytes
) -> None:
    cache = tmp_path / "cache"
    cache.mkdir()
    (cache / "hermes.json").write_bytes(content)
    assert recall(fake.place, cache) is None
    found = await probe(fake.place, environ(tmp_path), cache)
    remember(fake.place, found, cache)
    assert recall(fake.place, cache) == found


async def test_the_version_s_line(fake: FakeHermes, tmp_path: Path) -> None:
    line = await version_line(fake.place, environ(tmp_path), tmp_path / "cache")
    assert line == "Hermes Agent v0.22.2 (2026)"


async def test_whether_it_can_be_kept_running(fake: FakeHermes, tmp_path: Path) -> None:
    for code in (0, 1):
        fake.program.write_text(f'#!/bin/sh\n[ "$*" = "acp --check" ] && exit {code}\nexit 9\n')
        found = await capabilities.acp_check(fake.place, environ(tmp_path), tmp_path / "cache")
        assert found is (code == 0)
