"""The arguments of a call: the matrix in docs/hermes.md, and what a call can carry."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qterm.hermes.argv import (
    MAX_ARGUMENT,
    ZERO_WIDTH_SPACE,
    Shape,
    Unfit,
    build_call,
    carries,
    in_force,
    keep_as_text,
)
from qterm.hermes.pictures import is_picture
from qterm.hermes.place import Capabilities, HermesPlace
from qterm.hermes.way import Approvals, HermesRequest

OLD = Capabilities(
    version="0.19.0",
    version_line="Hermes Agent v0.19.0",
    source=True,
    no_restore_cwd=True,
    oneshot=True,
    usage_file=True,
)
NEW = msgspec.structs.replace(
    OLD, version="0.22.2", query_file=True, stream_json=True, create_if_missing=True
)
PLACE = HermesPlace(("/bin/hermes",), Path("/home/alex/.hermes"), True, "PATH", "default")
HOME = HermesRequest("k", "-hi", Path("/tmp"))
FIRST = replace(HOME, is_task=True)
LATER = replace(FIRST, session="20261130_155841_cae3a2")
ROOT = ("/bin/hermes", "-p", "default")


def argv(known: Capabilities, request: HermesRequest, approvals: Approvals) -> tuple[str, ...]:
    return build_call(known, PLACE, request, approvals, "/u.json").argv


def test_a_home_turn_that_denies() -> None:
    assert argv(OLD, HOME, Approvals.DENY) == (
        *ROOT,
        "chat",
        "-Q",
        "--source",
        "tool",
        "--query=-hi",
    )
    call = build_call(NEW, PLACE, HOME, Approvals.DENY, "/u.json")
    stream = ("--query-file", "-", "--format", "stream-json")
    assert call.argv == (*ROOT, "chat", "-Q", "--source", "tool", *stream)
    assert call.stdin == "-hi"
    assert call.shape is Shape.STREAM
    assert call.usage_file is None


@pytest.mark.parametrize("known", [OLD, NEW])
def test_a_home_turn_that_bypasses(known: Capabilities) -> None:
    call = build_call(known, PLACE, HOME, Approvals.BYPASS, "/u.json")
    assert call.argv == (*ROOT, "--oneshot=-hi", "--usage-file", "/u.json")
    assert call.shape is Shape.ONESHOT
    assert call.stdin is None
    assert call.usage_file == "/u.json"
    assert call.approvals is Approvals.BYPASS


def test_a_task_s_turns() -> None:
    first = (*ROOT, "chat", "-Q", "--source", "acp")
    later = (*first, "--no-restore-cwd", "--resume", "20261130_155841_cae3a2")
    stream = ("--query-file", "-", "--format", "stream-json")
    assert argv(OLD, FIRST, Approvals.DENY) == (*first, "--query=-hi")
    assert argv(NEW, FIRST, Approvals.DENY) == (*first, *stream)
    assert argv(OLD, LATER, Approvals.DENY) == (*later, "--query=-hi")
    assert argv(NEW, LATER, Approvals.DENY) == (*later, *stream)


@pytest.mark.parametrize("known", [OLD, NEW])
@pytest.mark.parametrize("request_", [FIRST, LATER])
def test_a_task_never_bypasses(known: Capabilities, request_: HermesRequest) -> None:
    """Rule A1: bypass concerns home turns only."""
    call = build_call(known, PLACE, request_, Approvals.BYPASS, "/u.json")
    assert "chat" in call.argv
    assert call.approvals is Approvals.DENY


def test_ask_denies_where_hermes_can_t_ask() -> None:
    assert in_force(Approvals.ASK, is_task=False) is Approvals.DENY
    assert argv(OLD, HOME, Approvals.ASK) == argv(OLD, HOME, Approvals.DENY)


def test_a_profile_s_home_needs_no_flag() -> None:
    place = replace(PLACE, home=Path("/home/alex/.hermes/profiles/work"), home_is_root=False)
    assert build_call(OLD, place, HOME, Approvals.DENY).argv[:3] == ("/bin/hermes", "chat", "-Q")


def test_a_text_never_becomes_an_argument_where_it_can_go_another_way() -> None:
    """An argument list can be read by every user of the machine."""
    secret = replace(HOME, prompt="the word is swordfish")
    assert "swordfish" not in "".join(argv(NEW, secret, Approvals.DENY))


@given(st.text(min_size=1))
def test_the_text_is_passed_unchanged(text: str) -> None:
    request = replace(HOME, prompt=text)
    assert argv(OLD, request, Approvals.DENY)[-1] == "--query=" + text
    assert argv(OLD, request, Approvals.BYPASS)[3] == "--oneshot=" + text
    assert build_call(NEW, PLACE, request, Approvals.DENY).stdin == text


def test_the_largest_argument_that_fits() -> None:
    overhead = len("--oneshot=") + len(ZERO_WIDTH_SPACE.encode()) + 1
    fits = "x" * (MAX_ARGUMENT - overhead)
    assert carries(OLD, fits, Approvals.DENY) is None
    assert carries(OLD, fits + "x", Approvals.DENY) is Unfit.TOO_LARGE
    assert carries(OLD, "日" * 43_700, Approvals.DENY) is Unfit.TOO_LARGE
    assert carries(NEW, "x" * 3_000_000, Approvals.DENY) is None
    assert carries(NEW, "x" * 3_000_000, Approvals.BYPASS) is Unfit.TOO_LARGE
    assert carries(NEW, "x" * 3_000_000, Approvals.BYPASS, is_task=True) is None


def test_what_can_t_be_passed_at_all() -> None:
    for empty in ("", " \n\t "):
        assert carries(NEW, empty, Approvals.DENY) is Unfit.EMPTY
    assert carries(OLD, "a\x00b", Approvals.DENY) is Unfit.NOT_TEXT
    assert carries(NEW, "a\ud800b", Approvals.DENY) is Unfit.NOT_TEXT


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("a.png", "my cat.JPG", "note.txt"):
        (tmp_path / name).write_bytes(b"x")
    (tmp_path / "link").symlink_to(tmp_path / "a.png")
    (tmp_path / "folder.png").mkdir()
    return tmp_path


def shield(text: str, folder: Path) -> bool:
    """Whether the text gets a zero-width space in front."""
    environ = {"HOME": str(folder), "PICTURES": str(folder)}
    kept = keep_as_text(text, lambda path: is_picture(path, cwd=folder, environ=environ))
    assert kept in {text, ZERO_WIDTH_SPACE + text}
    return kept != text


@pytest.mark.parametrize(
    "text",
    [
        "{0}/a.png",
        "  {0}/a.png what is this?",
        "./a.png what",
        "~/a.png what",
        "file://{0}/a.png",
        "{0}/my cat.JPG what",
        "{0}/my\\ cat.JPG what",
        '"{0}/my cat.JPG" what',
        "'./a.png'",
        '"./a.png',
        "{0}/link what",
        "/$PICTURES/a.png",
        "/${{PICTURES}}/a.png what",
    ],
)
def test_a_path_of_a_picture_stays_a_text(text: str, folder: Path) -> None:
    assert shield(text.format(folder), folder)


@pytest.mark.parametrize(
    "text",
    [
        "{0}/note.txt what",
        "{0}/missing.png what",
        "{0}/folder.png what",
        "a.png what",
        "look at {0}/a.png",
        "/help",
        "/",
        "~nobody-of-that-name/a.png",
        "/" + "x" * 300_000,
        "/" + " x" * 100_000,
        "/a\x00b.png",
        "-x",
        "@file:note.txt",
        "!ls",
        '"',
        "file://[broken",
    ],
)
def test_every_other_text_stays_unchanged(text: str, folder: Path) -> None:
    assert not shield(text.replace("{0}", str(folder)), folder)
