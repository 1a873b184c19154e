"""Run by the tests on a real terminal: `python -m tests.tui.pty_app FOLDER SCENE`."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import msgspec

from qterm.hermes.way import Failed, FailureKind, HermesEvent, HermesRequest, Replied, TextDelta
from qterm.model import QTERM, Persona, Session
from qterm.services import Services
from qterm.settings.schema import Settings
from qterm.tui import app as tui
from qterm.tui.screens.home import HomeScreen
from tests.cases import cases
from tests.tui.stage import NO_MODEL, READY, Stage, changed, stage

TEXTS = [str(case["text"]) for case in cases("text.json")]


def odd_settings() -> Settings:
    """Every text as a persona's label, too."""
    defaults = Settings()
    odd = tuple(Persona(f"p{n}", text, text) for n, text in enumerate(TEXTS))
    return changed(defaults, personas=(*defaults.personas, *odd))


def odd_answers(request: HermesRequest) -> list[HermesEvent]:
    """A text in pieces as the answer; or, where the message says so, as the reason of a failure."""
    number, _, what = request.prompt.rsplit("\n", 1)[-1].partition(" ")
    text = TEXTS[int(number)] if number.isdigit() else request.prompt
    if what == "fail":
        return [Failed(FailureKind.PROVIDER, text, detail=text)]
    return [*(TextDelta(char) for char in text), Replied(text)]


async def odd(on: Stage) -> None:
    """Every text as a message, an answer, a reason, a fact, the mode, a notice and a draft."""
    for number, text in enumerate(TEXTS):
        turn = await on.post(f"p{number}", text)
        await on.post("q", text, reply_to=turn.id, elapsed=1.0)
        await on.store.add_fact(text)
    await on.store.set_mode(" ".join(TEXTS))
    await on.store.save_draft(None, "\n".join(TEXTS[:12]))


async def odd_tasks(on: Stage) -> None:
    """Every text as a task's title, its folder, its session's name, and said in it."""
    for number, text in enumerate(TEXTS):
        task = await on.store.add_task(f"t{number} {text}", f"/{text}")
        await on.store.bind(task.id, 1, Session(f"id {text}", text, f"s {text}"))
        await on.post("q", text, task_id=task.id)
        await on.post(QTERM, text, task_id=task.id)
        await on.store.save_draft(task.id, text)
    await on.store.add_task("the last one", "/")


async def plain(on: Stage) -> None:
    """A feed with one turn."""
    await on.post("mallory", "hello from afar")


async def held(on: Stage) -> None:
    """The same, and hermes doesn't answer; like the real one, it takes a moment to end."""
    await plain(on)
    on.way.hold()
    close = on.way.close

    async def slowly() -> None:
        await asyncio.sleep(1)
        await close()

    on.way.close = slowly  # type: ignore[method-assign]


async def until_told(on: Stage, folder: Path) -> None:
    """Hermes answers in many pieces, each drawn, once there is a file `go`."""
    await plain(on)
    on.way.held_before = TextDelta
    on.way.hold()

    async def watch() -> None:
        while not (folder / "go").exists():
            await asyncio.sleep(0.02)
        on.way.gate.set()

    on.waiting = asyncio.create_task(watch())  # type: ignore[attr-defined]


def long_answer(_: HermesRequest) -> list[HermesEvent]:
    """Six hundred lines."""
    return [*(TextDelta(f"line {n}\n\n") for n in range(600)), Replied("All of it came.")]


def setup_settings(folder: Path) -> Settings:
    """A hermes whose setup asks something and waits."""
    fake = folder / "hermes"
    fake.write_text(f"#!{sys.executable}\nprint('A question:', flush=True)\ninput()\n")
    fake.chmod(0o755)
    defaults = Settings()
    hermes = msgspec.structs.replace(
        defaults.hermes, command=(str(fake),), home=str(folder / "home")
    )
    return changed(defaults, hermes=hermes)


async def broken(on: Stage) -> None:
    """A fault in qterm: ctrl+t raises."""
    await plain(on)

    def fail(_: HomeScreen) -> None:
        raise RuntimeError("a fault in qterm")

    HomeScreen.action_told = fail  # type: ignore[method-assign, assignment]


async def bare(on: Stage) -> None:
    """What was there already."""


SCENES = {
    "odd": odd,
    "odd-tasks": odd_tasks,
    "held": held,
    "broken": broken,
    "bare": bare,
    "stepped": bare,
    "odd-memory": bare,
}


async def main(folder: Path, scene: str) -> int:
    """Show the scene until it is left."""
    settings = odd_settings() if scene in {"odd", "stepped"} else Settings()
    settings = setup_settings(folder) if scene == "setup" else settings
    if scene == "odd-memory":
        memory = msgspec.structs.replace(settings.memory, home=str(folder / "hermes"))
        settings = changed(settings, memory=memory)
    state = NO_MODEL if scene == "setup" else READY
    notices = tuple(TEXTS) if scene == "odd" else ()
    script = {"odd": odd_answers, "until-told": long_answer}.get(scene)
    async with stage(
        folder, settings=settings, script=script, notices=notices, state=state,
        environ=dict(os.environ),
    ) as on:  # fmt: skip
        if scene == "until-told":
            await until_told(on, folder)
        else:
            await SCENES.get(scene, plain)(on)
        if scene == "odd":
            loop = asyncio.get_running_loop()
            make = tui.make_app

            def with_toasts(services: Services) -> tui.QtermApp:
                made = make(services)
                for number, text in enumerate(TEXTS):
                    loop.call_later(1 + number / 10, made.notify, text)
                return made

            tui.make_app = with_toasts
        try:
            return (await tui.run(on.services)).exit_code
        except RuntimeError as error:
            print(f"It failed: {error}.")
            return 70


if __name__ == "__main__":
    sys.exit(asyncio.run(main(Path(sys.argv[1]), sys.argv[2])))
