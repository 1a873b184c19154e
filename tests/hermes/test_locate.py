"""Which hermes and which home, as hermes itself would choose."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from qterm.hermes.locate import HermesNotFound, locate


@dataclass(frozen=True)
class Choice:
    command: tuple[str, ...] = ()
    home: str = ""
    profile: str = ""


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    program(tmp_path / "bin" / "hermes")
    (tmp_path / "home").mkdir()
    return {"HOME": str(tmp_path / "home"), "PATH": str(tmp_path / "bin")}


def program(path: Path, mode: int = 0o755) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(mode)
    return path


def native(environ: dict[str, str]) -> Path:
    return Path(environ["HOME"]) / ".hermes"


def profile(root: Path, name: str) -> Path:
    made = root / "profiles" / name
    made.mkdir(parents=True)
    return made


def sticky(root: Path, name: str) -> None:
    root.mkdir(parents=True, exist_ok=True)
    (root / "active_profile").write_text(name + "\n")


def test_hermes_on_path_before_the_one_beside_python(
    environ: dict[str, str], tmp_path: Path
) -> None:
    beside = program(tmp_path / "venv" / "hermes")
    place = locate(Choice(), environ, python=str(tmp_path / "venv" / "python"))
    assert place.command == (str(tmp_path / "bin" / "hermes"),)
    assert place.found_by == "PATH"
    environ["PATH"] = str(tmp_path / "nothing")
    place = locate(Choice(), environ, python=str(tmp_path / "venv" / "python"))
    assert place.command == (str(beside),)
    assert "beside" in place.found_by


def test_the_setting_wins_and_may_have_arguments(environ: dict[str, str], tmp_path: Path) -> None:
    mine = program(tmp_path / "mine")
    place = locate(Choice((str(mine), "--x")), environ)
    assert place.command == (str(mine), "--x")
    assert place.found_by == "hermes.command"
    assert locate(Choice(("hermes",)), environ).command == (str(tmp_path / "bin" / "hermes"),)
    program(Path(environ["HOME"]) / "own")
    assert locate(Choice(("~/own",)), environ).command == (f"{environ['HOME']}/own",)


def test_no_hermes_says_how_to_get_one(environ: dict[str, str], tmp_path: Path) -> None:
    environ["PATH"] = str(tmp_path / "nothing")
    with pytest.raises(HermesNotFound, match="pip install"):
        locate(Choice(), environ, python=str(tmp_path / "venv" / "python"))


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (("/no/such/hermes",), "There is no hermes at /no/such/hermes"),
        (("no-such-hermes",), "no-such-hermes on PATH"),
        (("/",), "is a folder"),
        (("ssh", "tower", "hermes"), "There is no ssh on PATH"),
        (("/" + "x" * 300,), "File name too long"),
    ],
)
def test_a_command_that_is_not_there(
    environ: dict[str, str], command: tuple[str, ...], words: str
) -> None:
    with pytest.raises(HermesNotFound, match=words):
        locate(Choice(command), environ)


def test_a_profile_that_can_t_be_looked_at(environ: dict[str, str]) -> None:
    environ["HERMES_HOME"] = "/" + "x" * 300
    with pytest.raises(HermesNotFound, match="File name too long"):
        locate(Choice(profile="work"), environ)


def test_a_hermes_that_can_t_be_executed(environ: dict[str, str], tmp_path: Path) -> None:
    mine = program(tmp_path / "mine", 0o644)  # not even root executes a file without an x bit
    with pytest.raises(HermesNotFound, match="chmod"):
        locate(Choice((str(mine),)), environ)


def test_the_default_home(environ: dict[str, str]) -> None:
    place = locate(Choice(), environ)
    assert (place.home, place.home_is_root, place.home_by) == (native(environ), True, "default")


def test_an_explicit_home_wins_over_everything(environ: dict[str, str], tmp_path: Path) -> None:
    sticky(tmp_path / "mine", "work")
    environ["HERMES_HOME"] = str(tmp_path / "other")
    place = locate(Choice(home=str(tmp_path / "mine")), environ)
    assert (place.home, place.home_is_root) == (tmp_path / "mine", True)
    assert place.home_by == "hermes.home"
    assert locate(Choice(home="~/h"), environ).home == Path(environ["HOME"]) / "h"


def test_hermes_home_is_used_where_nothing_is_sticky(
    environ: dict[str, str], tmp_path: Path
) -> None:
    environ["HERMES_HOME"] = str(tmp_path / "own")
    place = locate(Choice(), environ)
    assert (place.home, place.home_is_root, place.home_by) == (
        tmp_path / "own",
        True,
        "HERMES_HOME",
    )


def test_the_sticky_profile_is_followed_even_where_hermes_home_is_the_root(
    environ: dict[str, str],
) -> None:
    root = native(environ)
    work = profile(root, "work")
    sticky(root, "work")
    for given in ("", str(root)):
        environ["HERMES_HOME"] = given
        place = locate(Choice(), environ)
        assert (place.home, place.home_is_root) == (work, False)
        assert place.home_by == "active_profile"
    sticky(root, "default")
    assert locate(Choice(), environ).home == root


def test_hermes_home_inside_profiles_wins_over_the_sticky_one(environ: dict[str, str]) -> None:
    root = native(environ)
    work, play = profile(root, "work"), profile(root, "play")
    sticky(root, "work")
    environ["HERMES_HOME"] = str(play)
    place = locate(Choice(), environ)
    assert (place.home, place.home_is_root) == (play, False)
    place = locate(Choice(profile="work"), environ)
    assert (place.home, place.home_by) == (work, "hermes.profile")
    assert locate(Choice(profile="default"), environ).home == root


def test_a_profile_lives_in_the_root_of_hermes_home(
    environ: dict[str, str], tmp_path: Path
) -> None:
    work = profile(tmp_path / "own", "work")
    environ["HERMES_HOME"] = str(tmp_path / "own")
    assert locate(Choice(profile="work"), environ).home == work


def test_a_profile_that_is_gone(environ: dict[str, str]) -> None:
    sticky(native(environ), "gone")
    with pytest.raises(HermesNotFound, match=r"“gone”.*hermes profile"):
        locate(Choice(), environ)
    with pytest.raises(HermesNotFound, match="no name"):
        locate(Choice(profile="../x"), environ)


def test_a_link_to_the_root_is_a_root(environ: dict[str, str], tmp_path: Path) -> None:
    native(environ).symlink_to(tmp_path / "elsewhere")
    (tmp_path / "elsewhere").mkdir()
    environ["HERMES_HOME"] = str(tmp_path / "elsewhere")
    assert locate(Choice(), environ).home_is_root


@pytest.mark.parametrize(
    ("home", "profile", "is_root", "identity"),
    [
        ("", "", False, "tower:~/.hermes"),
        ("/srv/hermes", "", True, "tower:/srv/hermes"),
        ("~/h/profiles/work", "x", False, "tower:~/h/profiles/work"),
        ("", "work", False, "tower:~/.hermes/profiles/work"),
    ],
)
def test_a_hermes_on_another_machine(
    environ: dict[str, str], tmp_path: Path, home: str, profile: str, is_root: bool, identity: str
) -> None:
    """Nothing of this machine decides about its home: no variable, no sticky profile, no link."""
    ssh = program(tmp_path / "bin" / "ssh")
    environ["HERMES_HOME"] = str(native(environ))
    sticky(native(environ), "sticky")
    place = locate(Choice(("ssh", "tower"), home=home, profile=profile), environ)
    assert place.command == (str(ssh), "tower")
    assert place.remote is not None
    assert place.remote.command == ("hermes",)
    assert place.remote.identity == identity
    assert place.home_is_root is is_root


@pytest.mark.parametrize(
    ("command", "home", "profile", "words"),
    [
        (("ssh",), "", "", "no host"),
        (("ssh", "-p", "22"), "", "", "no host"),
        (("ssh", "-4n", "tower"), "", "", "ssh's -n"),
        (("ssh", "tower", "-N"), "", "", "ssh's -N"),
        (("ssh", "tower"), "hermes", "", "begin with / or ~/"),
        (("ssh", "tower"), "", "a b", "no name for a hermes profile"),
    ],
)
def test_an_ssh_command_that_can_t_work(
    environ: dict[str, str],
    tmp_path: Path,
    command: tuple[str, ...],
    home: str,
    profile: str,
    words: str,
) -> None:
    program(tmp_path / "bin" / "ssh")
    with pytest.raises(HermesNotFound, match=words):
        locate(Choice(command, home=home, profile=profile), environ)
