"""The hermes hook on the real hermes of both lines: put in, agreed to, fired once a window, out."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from qterm.events import Finished
from qterm.frame import ChatFrame
from qterm.maintenance.gate import FLAG
from qterm.maintenance.hook import agreed, has_consent, hook_state
from qterm.services import open_services
from qterm.settings.load import load
from tests.cli.stage import wait_for
from tests.e2e.conftest import HermesLine, make_home
from tests.maintenance.stand_in import HiveMind

ROOT = Path(__file__).parents[2]
INSTALL = ("--install-hook", "--yes")
COMMENT = "# the operator's own words, kept\n"


class Hooked:
    """A hermes home of its own, qterm's files, and a user's home for the gate's state."""

    def __init__(self, line: HermesLine, folder: Path) -> None:
        self.line = line
        self.folder = folder
        self.hive = HiveMind(folder / "hive")
        self.home = make_home(folder / "user" / "home", line.server.base_url)
        self.config = self.home / "config.yaml"
        self.config.write_text(COMMENT + self.config.read_text())
        self.state = folder / "user" / ".hermes" / ".hive-mind-last-compact"
        self.log = folder / "data" / "qterm.log"
        own = folder / "config.toml"
        own.write_text(
            f'[hermes]\ncommand = ["{line.program}"]\n'
            f"[maintenance]\nhive_mind_cli = {json.dumps(str(self.hive.path))}\n"
        )
        self.environ = line.environ() | {
            "HOME": str(folder / "user"),
            "HERMES_HOME": str(self.home),
            "QTERM_DATA_DIR": str(folder / "data"),
            "QTERM_CONFIG": str(own),
            "XDG_CACHE_HOME": str(line.cache),
            FLAG: "1",
        }

    def qterm(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "qterm", *arguments],
            env=self.environ,
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )

    def hermes(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(self.line.program), *arguments],
            env=self.environ,
            cwd=self.home,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            check=False,
            timeout=120,
        )


@pytest.fixture
def hooked(hermes_line: HermesLine, tmp_path: Path) -> Hooked:
    return Hooked(hermes_line, tmp_path)


def test_it_is_shown_then_written_with_consent_then_taken_out(hooked: Hooked) -> None:
    before = hooked.config.read_bytes()
    shown = hooked.qterm("compact", "--install-hook")
    assert shown.returncode == 0, shown.stderr
    assert "+hooks:" in shown.stdout
    assert "Nothing was written" in shown.stderr
    assert hooked.config.read_bytes() == before
    assert not (hooked.home / "shell-hooks-allowlist.json").exists()

    done = hooked.qterm("compact", "--install-hook", "--yes")
    assert done.returncode == 0, done.stderr
    state = hook_state(hooked.home)
    assert state.has_consent
    assert "hermes has agreed" in done.stdout
    assert COMMENT in hooked.config.read_text()
    assert "hooks_auto_accept" not in hooked.config.read_text()
    assert "from_hook.py" in hooked.hermes("hooks", "list").stdout
    checks = json.loads(hooked.qterm("doctor", "--json").stdout)
    checks = checks["checks"] if isinstance(checks, dict) else checks
    (check,) = [each for each in checks if each["id"] == "maintenance.hook"]
    assert (check["state"], check["details"]["consent"]) == ("ok", True)
    again = hooked.qterm("compact", "--install-hook", "--yes")
    assert "already" in again.stdout

    out = hooked.qterm("compact", "--remove-hook")
    assert out.returncode == 0, out.stderr
    assert hooked.config.read_bytes() == before
    assert not has_consent(hooked.home, state.command)


def test_consent_is_not_asked_for_where_another_hook_would_get_it_too(hooked: Hooked) -> None:
    with hooked.config.open("a") as config:
        config.write("hooks:\n  pre_tool_call:\n    - command: /bin/true\n")
    done = hooked.qterm("compact", "--install-hook", "--yes")
    assert done.returncode == 0
    assert "another hook in its config would get it as well" in done.stderr
    assert not (hooked.home / "shell-hooks-allowlist.json").exists()


def test_it_is_found_again_where_hermes_wrote_its_config_anew(hooked: Hooked) -> None:
    assert hooked.qterm("compact", "--install-hook", "--yes").returncode == 0
    assert "Set display.skin" in hooked.hermes("config", "set", "display.skin", "mono").stdout
    command = hook_state(hooked.home).command
    moved = hooked.qterm("--data-dir", str(hooked.folder / "moved"), "compact", *INSTALL)
    assert moved.returncode == 0, moved.stderr
    assert "hermes has agreed" in moved.stdout
    assert hook_state(hooked.home).command != command
    assert not has_consent(hooked.home, command)

    hooked.hermes("config", "set", "display.skin", "ares")
    out = hooked.qterm("compact", "--remove-hook")
    assert out.returncode == 0, out.stderr
    assert hook_state(hooked.home).command == ""
    assert "hooks:" not in hooked.config.read_text()
    assert "skin: ares" in hooked.config.read_text()
    assert agreed(hooked.home) == []


def test_consent_goes_also_where_somebody_has_taken_the_lines_out(hooked: Hooked) -> None:
    before = hooked.config.read_bytes()
    assert hooked.qterm("compact", "--install-hook", "--yes").returncode == 0
    hooked.config.write_bytes(before)
    out = hooked.qterm("compact", "--remove-hook")
    assert "There is no hook of qterm’s" in out.stdout
    assert "consent with it" in out.stdout
    assert agreed(hooked.home) == []


def test_the_diff_shows_no_secret_beside_the_change(hooked: Hooked) -> None:
    text = hooked.config.read_text().rstrip("\n")
    hooked.config.write_text(f"{text}\nauxiliary:\n  'API_KEY' : sk-123\n  GH_TOKEN: ghp-456\n")
    shown = hooked.qterm("compact", "--install-hook")
    assert "GH_TOKEN: …" in shown.stdout
    assert "sk-123" not in shown.stdout + shown.stderr
    assert "ghp-456" not in shown.stdout + shown.stderr


def test_the_gate_is_that_of_the_users_home_where_hermes_gives_hooks_another(
    hooked: Hooked,
) -> None:
    """hermes 0.22 does so in containers, and anywhere with this mode."""
    (hooked.home / "home").mkdir()
    hooked.environ["TERMINAL_HOME_MODE"] = "profile"
    assert hooked.qterm("compact", "--install-hook", "--yes").returncode == 0
    assert "Hi." in hooked.hermes("-z", "hello").stdout
    wait_for(hooked.state.exists)
    assert not (hooked.home / "home" / ".hermes").exists()


def test_turns_outside_qterm_run_the_gate_once_a_window(hooked: Hooked) -> None:
    assert hooked.qterm("compact", "--install-hook", "--yes").returncode == 0
    calls = [
        ("-z", "hello"),
        ("chat", "-Q", "-q", "hello"),
        ("-z", "hello again"),
    ]
    for number, call in enumerate(calls):
        done = hooked.hermes(*call)
        assert "Hi." in done.stdout, (call, done.stdout, done.stderr)
        if not number:
            wait_for(hooked.state.exists)
    assert len(hooked.hive.calls) == 1
    stamp = hooked.state.read_text()
    hooked.state.write_text(str(int(stamp) - 11 * 60_000))  # the window is over
    hooked.hermes("chat", "-Q", "-q", "later")
    wait_for(lambda: len(hooked.hive.calls) == 2)


async def test_live_turns_run_it_too(hooked: Hooked) -> None:
    assert hooked.qterm("compact", "--install-hook", "--yes").returncode == 0
    environ = hooked.environ | {"PATH": os.environ["PATH"]}
    services = await open_services(load(environ=environ), environ=environ)
    services.conversation.after_turn = lambda: None  # only the hook asks the gate
    try:
        for text in ("one", "two"):
            events = [event async for event in services.conversation.send(ChatFrame(text=text))]
            assert isinstance(events[-1], Finished)
            assert events[-1].turn.state.value == "sent"
    finally:
        await services.close()
    wait_for(hooked.state.exists)
    assert len(hooked.hive.calls) == 1


@pytest.mark.parametrize(
    "payload", [b"", b"\x00\xff not json", b'{"hook_event_name": "post_llm_call"}' * 50_000]
)
def test_the_hook_itself_answers_whatever_happens(payload: bytes, tmp_path: Path) -> None:
    program = ROOT / "qterm" / "maintenance" / "from_hook.py"
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(program), "--data-dir", "/proc/nowhere/at all"],
        input=payload,
        env={"HOME": str(tmp_path)},
        cwd=tmp_path,
        capture_output=True,
        check=False,
        timeout=30,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"{}\n", b"")
