"""The hermes hook: its lines in hermes's config, and hermes's consent to it.

hermes fires a hook only once the operator has agreed to its command. Consent lies in hermes's own
list (`shell-hooks-allowlist.json`, both lines), which only hermes writes.
"""

from __future__ import annotations

import contextlib
import difflib
import hashlib
import json
import re
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from qterm.hermes.environment import child_environment
from qterm.hermes.locate import locate
from qterm.hermes.place import HermesNotFound, HermesPlace
from qterm.hermes.remote import is_ssh
from qterm.maintenance.hook_config import (
    EVENT,
    EditError,
    is_ours,
    load,
    others,
    ours,
    with_hook,
    without_hook,
)
from qterm.memory import replacing
from qterm.private import private_file, private_folder, read_bounded
from qterm.settings.load import Loaded

LIMIT = 16 << 20
ASK_SECONDS = 60.0
"""How long hermes may take to note its consent."""


class HookError(Exception):
    """The hook can't be put in or taken out; one sentence with what to do. Nothing was changed."""


@dataclass(frozen=True, slots=True)
class Edit:
    """A change of hermes's config that was not made yet; `before` is None where there is none."""

    path: Path
    before: bytes | None
    after: bytes
    command: str

    @property
    def changes(self) -> bool:
        """Whether there is anything to write."""
        return (self.before or b"") != self.after

    @property
    def diff(self) -> str:
        """The change as a unified diff; what may be a secret beside it is not shown."""
        old = (self.before or b"").decode("utf-8", "replace").splitlines(keepends=True)
        new = self.after.decode("utf-8", "replace").splitlines(keepends=True)
        name = str(self.path)
        lines = difflib.unified_diff(old, new, name, f"{name} (afterwards)")
        return "".join(_shown(line) for line in lines)


_SECRET = re.compile(r"(?i)^( .*?(?:key|token|secret|password|authorization)\w*['\"]?\s*:)\s*\S.*$")


def _shown(line: str) -> str:
    return _SECRET.sub(r"\1 …", line.rstrip("\n")) + "\n"


@dataclass(frozen=True, slots=True)
class HookState:
    """How the hook stands: its command where it is in the config, and whether hermes agreed."""

    path: Path
    command: str
    has_consent: bool
    trouble: str = ""

    @property
    def program(self) -> str:
        """What the command starts, where it is not there any more; else empty."""
        words = _words(self.command)
        paths = [word for word in words[:4] if word.startswith("/")]
        return next((path for path in paths if not Path(path).exists()), "")


def hook_command(options: Sequence[str]) -> str:
    """The command in the config: an absolute path, and the options for the same files.

    hermes splits it as a shell would, without one.
    """
    program = Path(__file__).with_name("from_hook.py").resolve()
    return shlex.join([sys.executable, "-I", "-S", str(program), *options])


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:
        return []


def find(loaded: Loaded, environ: Mapping[str, str]) -> HermesPlace:
    """The hermes whose config is meant. Raises HookError where it is elsewhere, or nowhere."""
    if is_ssh(loaded.settings.hermes.command):
        raise HookError(
            "hermes is on another machine, and so is its config: run `qterm compact "
            "--install-hook` there."
        )
    try:
        return locate(loaded.settings.hermes, environ)
    except HermesNotFound as error:
        raise HookError(str(error)) from None


def install(home: Path, options: Sequence[str]) -> Edit:
    """What putting the hook into this home's config changes. Raises HookError; writes nothing."""
    path, before, text = _read(home)
    command = hook_command(options)
    try:
        after = with_hook(text, command)
    except EditError as error:
        raise HookError(f"{path} was left as it is: {error}.") from None
    return Edit(path, before, _encode(before, after), command)


def remove(home: Path) -> Edit:
    """What taking the hook out changes. Raises HookError; writes nothing."""
    path, before, text = _read(home)
    try:
        after = without_hook(text)
    except EditError as error:
        raise HookError(f"{path} was left as it is: {error}.") from None
    return Edit(path, before, _encode(before, after), "")


def _read(home: Path) -> tuple[Path, bytes | None, str]:
    path = home / "config.yaml"
    try:
        data = read_bounded(path, limit=LIMIT)
    except FileNotFoundError:
        return path, None, ""
    except OSError as error:
        raise HookError(
            f"{path} can't be read ({error.strerror}): mend its mode, or what stands in its place."
        ) from None
    try:
        return path, data, data.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError:
        raise HookError(f"{path} is not UTF-8: save it as UTF-8 with an editor first.") from None


def _encode(before: bytes | None, text: str) -> bytes:
    mark = b"\xef\xbb\xbf" if before is not None and before.startswith(b"\xef\xbb\xbf") else b""
    return mark + text.encode()


def write(edit: Edit, data_dir: Path) -> Path | None:
    """Make a change; returns where in qterm's data folder the bytes of before are kept.

    Raises HookError.
    """
    kept = None
    try:
        if edit.before is not None:
            folder = private_folder(data_dir / "hermes-config")
            kept = folder / f"config-{hashlib.sha256(edit.before).hexdigest()[:12]}.yaml"
            with private_file(kept) as file:
                file.write(edit.before)

        def last_look() -> None:
            with contextlib.suppress(FileNotFoundError):
                if read_bounded(edit.path, limit=LIMIT) != (edit.before or b""):
                    raise HookError(f"{edit.path} has changed just now: look again, and repeat it.")

        edit.path.parent.mkdir(parents=True, exist_ok=True)
        replacing.check(edit.path)
        replacing.put(edit.path, edit.after, last_look=last_look)
    except OSError as error:
        said = replacing.sentence(edit.path, error)
        raise HookError(f"{said}; it is as it was.") from None
    return kept


# -- consent -----------------------------------------------------------------------------------


def has_consent(home: Path, command: str) -> bool:
    """Whether hermes has noted the operator's consent to this command."""
    return (EVENT, command) in approvals(home)


def approvals(home: Path) -> set[tuple[str, str]]:
    """What hermes has noted consent to, by event and command; empty where that can't be read."""
    try:
        found: Any = json.loads(read_bounded(home / "shell-hooks-allowlist.json", limit=LIMIT))
    except (OSError, ValueError, RecursionError):
        return set()
    entries = found.get("approvals") if isinstance(found, dict) else None
    return {
        (str(entry.get("event")), str(entry.get("command")))
        for entry in (entries if isinstance(entries, list) else [])
        if isinstance(entry, dict)
    }


def ask_consent(place: HermesPlace, environ: Mapping[str, str], command: str) -> str:
    """Have hermes note its consent by one approved start; empty where it did, else a sentence.

    That start would approve every hook in the config: where others wait for consent it is not
    made.
    """
    known = approvals(place.home)
    if (EVENT, command) in known:
        return ""
    waiting = [pair for pair in others(_config(place.home)) if pair not in known]
    if waiting:
        many = "another hook" if len(waiting) == 1 else f"{len(waiting)} other hooks"
        return (
            f"hermes was not asked for consent, since {many} in its config would get it as well: "
            "start `hermes` once in a terminal, and agree to this one."
        )
    env = {**child_environment(environ, place.home), "HERMES_ACCEPT_HOOKS": "1"}
    _run([*place.command, "acp", "--check"], env)
    if has_consent(place.home, command):
        return ""
    return (
        "hermes did not note its consent, so it won’t fire the hook yet: start `hermes` once in a "
        "terminal, and agree."
    )


def revoke(place: HermesPlace, environ: Mapping[str, str], *, keep: str = "") -> str:
    """Have hermes forget its consent to every command of qterm's but one; empty where it did, else
    a sentence. That of a qterm that was elsewhere before goes as well."""
    for command in agreed(place.home, keep):
        env = child_environment(environ, place.home)
        _run([*place.command, "hooks", "revoke", command], env)
    left = agreed(place.home, keep)
    if not left:
        return ""
    return f"hermes still has its consent: run `hermes hooks revoke {shlex.quote(left[0])}`."


def agreed(home: Path, keep: str = "") -> list[str]:
    """The commands of qterm's, but for one, that hermes has noted its consent to."""
    known = {command for _, command in approvals(home)}
    return sorted(command for command in known if is_ours(command) and command != keep)


def _run(argv: Sequence[str], env: Mapping[str, str]) -> None:
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        subprocess.run(
            argv,
            env=dict(env),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=ASK_SECONDS,
            check=False,
        )


def _config(home: Path) -> Any:
    try:
        return load(_read(home)[2])
    except (HookError, EditError):
        return None


def hook_state(home: Path) -> HookState:
    """How the hook stands in this home; reads only."""
    path = home / "config.yaml"
    try:
        found = ours(load(_read(home)[2]))
    except HookError as error:
        return HookState(path, "", has_consent=False, trouble=str(error))
    except EditError as error:
        return HookState(path, "", has_consent=False, trouble=f"{path}: {error}.")
    command = found[0] if found else ""
    return HookState(path, command, has_consent=bool(command) and has_consent(home, command))
