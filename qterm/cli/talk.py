"""`qterm send`, `post` and `context`: a message to Q, somebody else's message, what Q is told."""

from __future__ import annotations

import asyncio
import os
import shlex
import signal
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING

import click

from qterm.cli import exit_codes, show
from qterm.cli.run import Invocation, Refused, labels, with_services
from qterm.feed.source import FeedError
from qterm.model import RESERVED_PERSONAS, Approvals, TurnState
from qterm.safe_text import safe_line

if TYPE_CHECKING:
    from collections.abc import Callable

    from qterm.conversation import Conversation
    from qterm.events import Event, Finished
    from qterm.frame import ChatFrame
    from qterm.services import Services


def text_of(argument: str) -> str:
    """The text of an argument; `-` reads standard input as UTF-8.

    An argument is bytes. Those that the locale could not read are UTF-8 too, as far as they can be.
    """
    if argument != "-":
        with suppress(UnicodeEncodeError):
            if any("\udc80" <= sign <= "\udcff" for sign in argument):
                return os.fsencode(argument).decode("utf-8", "replace")
        return argument
    return sys.stdin.buffer.read().decode("utf-8", "replace").removeprefix("\ufeff")


TASK = click.option("--task", "task_id", metavar="ID", help="In this task's thread.")
APPROVE = click.option(
    "--approve",
    type=click.Choice(["once", "session"]),
    help="Allow what hermes asks about, each time or for its session; else it is denied.",
)


@click.command()
@click.argument("text")
@TASK
@click.option("--json", "as_json", is_flag=True, help="Print the turn and its answer as JSON.")
@click.option("--dry-run", is_flag=True, help="Print the call that would be made; send nothing.")
@APPROVE
@click.pass_obj
def send(
    invocation: Invocation,
    text: str,
    task_id: str | None,
    as_json: bool,
    dry_run: bool,
    approve: str | None,
) -> None:
    """Send TEXT to Q and print the answer. `-` reads standard input."""
    text = text_of(text)

    async def work(services: Services) -> int:
        from qterm.frame import ChatFrame

        frame = ChatFrame(text=text, task_id=task_id)
        if dry_run:
            return await _dry_run(services, frame, as_json=as_json)
        return await _send(services, frame, as_json=as_json, approve=approve)

    with_services(invocation, work)


@click.command()
@click.argument("turn_id", metavar="ID", type=int)
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--json", "as_json", is_flag=True, help="Print the turn and its answer as JSON.")
@APPROVE
@click.pass_obj
def again(
    invocation: Invocation, turn_id: int, yes: bool, as_json: bool, approve: str | None
) -> None:
    """Send a message once more that failed, was stopped or was interrupted.

    In a task it says first what hermes's session already holds of it.
    """

    async def work(services: Services) -> int:
        from qterm.frame import ChatFrame
        from qterm.model import YOU

        turn = await services.feed.turn(turn_id)
        if turn is None or turn.persona != YOU:
            raise Refused(f"Message {turn_id} is none of yours; `qterm feed` shows the ids.")
        if not turn.state.can_be_sent_again:
            raise Refused(f"Message {turn_id} is {turn.state.value}: there is nothing to repeat.")
        if (held := await services.conversation.held(turn)) and not yes:
            if not sys.stdin.isatty():
                raise Refused(f"{held} Add --yes to send it all the same.")
            show.diagnostic(held)
            click.confirm("Send it all the same?", abort=True)
        frame = ChatFrame(text=turn.text, task_id=turn.task_id)
        return await _send(services, frame, as_json=as_json, again_of=turn.id, approve=approve)

    with_services(invocation, work)


async def _send(
    services: Services,
    frame: ChatFrame,
    *,
    as_json: bool,
    again_of: int | None = None,
    approve: str | None = None,
) -> int:
    from qterm.conversation import SendError
    from qterm.events import Accepted, Finished, NotStored, ReplyText, TakenBack

    talk = _Talk(services.conversation, frame.task_id, prints=not as_json)
    code: int | None = None
    with talk.signals():
        try:
            async for event in services.conversation.send(frame, again_of=again_of):
                talk.tell(event)
                await _asked(services, event, approve)
                match event:
                    case Accepted(turn):
                        talk.accepted(turn.id)
                    case ReplyText(delta=delta) if not as_json:
                        talk.stream(delta)
                    case NotStored(text=words, reason=reason):
                        talk.clear()
                        if words:
                            show.out(words)
                        what = "The answer" if words else "How the message fared"
                        show.diagnostic(f"{what} is not stored. {reason}")
                        return exit_codes.ERROR
                    case TakenBack():
                        talk.clear()
                        show.diagnostic("Taken back: the message was not sent.")
                        code = exit_codes.INTERRUPTED
                    case Finished():
                        # Now: a session that began is still given its name after this.
                        talk.clear()
                        talk.is_over = True
                        code = _report(services, event, talk, as_json=as_json)
                        if frame.task_id is not None and event.reply is not None:
                            with suppress(FeedError):  # the answer counts, not the mark
                                await services.feed.mark_seen(frame.task_id, event.reply.id)
                        sys.stdout.flush()
        except SendError as error:
            raise Refused(str(error)) from error
        finally:
            talk.clear()
    if code is None:  # closed before the message was stored, or its end could not be
        show.diagnostic("qterm was ended before the message was sent.")
        return exit_codes.INTERRUPTED
    return code


async def _asked(services: Services, event: Event, approve: str | None) -> None:
    """Answer hermes's request: denied, unless `--approve` says otherwise (rule A1)."""
    from qterm.events import Began, Meanwhile
    from qterm.hermes.way import Answer, Asked, Transport

    match event:
        case Began(transport=Transport.SPAWN) if approve:
            show.diagnostic(
                "There is nothing to approve: hermes is started for this turn, and refuses what is "
                "dangerous."
            )
        case Meanwhile(turn=turn, what=Asked(approval)):
            answer = Answer(approve) if approve else Answer.DENY
            if answer not in approval.answers:
                can_once = approve is not None and Answer.ONCE in approval.answers
                answer = Answer.ONCE if can_once else Answer.DENY
            said = "Denied" if answer is Answer.DENY else f"Allowed ({answer.value})"
            hint = " `--approve once` allows it." if answer is Answer.DENY else ""
            why = f" ({safe_line(approval.why)})" if approval.why else ""
            show.diagnostic(f"{said}: {safe_line(approval.what)}{why}.{hint}")
            await services.conversation.answer(turn.id, approval.id, answer)


def _report(services: Services, end: Finished, talk: _Talk, *, as_json: bool) -> int:
    turn, reply = end.turn, end.reply
    if as_json:
        names = labels(services)
        show.out_json(
            {
                "turn": show.turn_json(turn, names),
                "reply": show.turn_json(reply, names) if reply else None,
                "detail": turn.detail or None,
            }
        )
    elif reply is not None:
        talk.finish(reply.text)
    if turn.degraded:
        show.diagnostic(f"{turn.degraded.sentence}.")
    if turn.state is TurnState.SENT:
        return exit_codes.OK
    if turn.state is TurnState.STOPPED:
        show.diagnostic("Stopped; what had come of the answer is kept.")
        if turn.reason:
            show.diagnostic(turn.reason)
        return exit_codes.INTERRUPTED
    show.diagnostic(turn.reason)
    return exit_codes.NO_ANSWER


class _Talk:
    """One turn on a terminal: the wait, the answer line by line, ctrl-c.

    Whole lines only: an escape sequence that is cut in two by the stream must not slip through.
    """

    def __init__(self, conversation: Conversation, task_id: str | None, *, prints: bool) -> None:
        self.conversation = conversation
        self.task_id = task_id
        self.turn_id: int | None = None
        self._streams = prints and sys.stdout.isatty()
        self._waits = sys.stderr.isatty()
        self._came, self._printed, self._since = "", 0, time.monotonic()
        self._doing = ""
        self._ticker: asyncio.Task[None] | None = None
        self._again: set[asyncio.Task[object]] = set()
        self._early = self._told = self.is_over = False

    def accepted(self, turn_id: int) -> None:
        """The message is stored: a ctrl-c that came before can be obeyed now."""
        self.turn_id = turn_id
        if self._early:
            self._interrupted(signal.SIGINT)

    def signals(self) -> _Signals:
        return _Signals(self._interrupted)

    def tell(self, event: Event) -> None:
        from qterm.events import Began, Waiting

        match event:
            case Waiting(ahead=ahead):
                self._doing = f"waiting for {ahead} message{'s' if ahead > 1 else ''} before it"
            case Began(approvals=approvals):
                self._since = time.monotonic()
                if approvals is Approvals.BYPASS and not self._told:
                    self._told = True
                    show.diagnostic(
                        'Q runs tools unasked in this turn (hermes.approvals is "bypass").'
                    )
                self._doing = "Q is thinking · ctrl-c stops"
        if self._waits and self._ticker is None:
            self._ticker = asyncio.create_task(self._tick())

    async def _tick(self) -> None:
        while True:
            if self._doing and not self._came:
                seconds = int(time.monotonic() - self._since)
                show.status(f"{self._doing} · {seconds} s")
            await asyncio.sleep(0.5)

    def clear(self) -> None:
        if self._ticker is not None:
            self._ticker.cancel()
            show.status("")
            self._ticker, self._waits = None, False

    def stream(self, delta: str) -> None:
        if not self._streams:
            return
        self._came += delta
        end = self._came.rfind("\n") + 1
        if end > self._printed:
            self.clear()
            show.out(self._came[self._printed : end], newline=False)
            self._printed = end

    def finish(self, text: str) -> None:
        shown = self._came[: self._printed]
        show.out(text.removeprefix(shown))

    def _interrupted(self, number: signal.Signals) -> None:
        """Ctrl-c stops the turn (or takes back one that waits); other signals end qterm.

        Once the answer is there, ctrl-c ends it too: the session gets its name with the next turn.
        """
        task: asyncio.Task[object]
        if number is not signal.SIGINT or self.is_over:
            task = asyncio.create_task(self.conversation.close())
        elif self.turn_id is None:
            self._early = True
            return
        elif self.conversation.running(self.task_id) is not None:
            task = asyncio.create_task(self.conversation.stop(self.task_id))
        else:
            task = asyncio.create_task(self.conversation.take_back(self.turn_id))
        self._again.add(task)
        task.add_done_callback(self._again.discard)


class _Signals:
    """While it lasts, SIGINT, SIGTERM and SIGHUP call `handler` instead of ending the process."""

    _NUMBERS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

    def __init__(self, handler: Callable[[signal.Signals], None]) -> None:
        self._handler = handler

    def __enter__(self) -> None:
        loop = asyncio.get_running_loop()
        for number in self._NUMBERS:
            loop.add_signal_handler(number, self._handler, number)

    def __exit__(self, *_: object) -> None:
        loop = asyncio.get_running_loop()
        for number in self._NUMBERS:
            with suppress(ValueError):
                loop.remove_signal_handler(number)


async def _dry_run(services: Services, frame: ChatFrame, *, as_json: bool) -> int:
    from qterm.hermes.place import HermesNotFound, HermesUnusable

    try:
        call = await services.dry_run(frame)
    except (HermesNotFound, HermesUnusable, ValueError) as error:  # SendError is one
        raise Refused(str(error)) from error
    if as_json:
        show.out_json(call)
        return exit_codes.OK
    show.out(f"cd {shlex.quote(str(call.cwd))}")
    for name, value in sorted(call.environ.items()):
        show.out(f"export {name}={shlex.quote(value)}")
    for name in call.dropped:
        show.out(f"unset {name}")
    show.out(shlex.join(call.argv))
    if call.stdin is not None:
        show.out(f"# on standard input:\n{call.stdin}")
    if call.degraded:
        show.diagnostic("The message would go without its context.")
    return exit_codes.OK


@click.command()
@click.option("--as", "persona", required=True, metavar="PERSONA", help="Who says it.")
@click.argument("text")
@click.option("--json", "as_json", is_flag=True, help="Print the stored turn as JSON.")
@click.pass_obj
def post(invocation: Invocation, persona: str, text: str, as_json: bool) -> None:
    """Put TEXT into the home feed as PERSONA; Q is not asked. `-` reads standard input."""
    text = text_of(text)

    async def work(services: Services) -> None:
        from qterm.feed.source import NewTurn

        key = _persona_key(services, persona)
        if not text.strip():
            raise Refused("There is nothing to post: the message is empty.")
        turn = await services.feed.append(NewTurn(None, key, text, TurnState.SENT))
        if as_json:
            show.out_json(show.turn_json(turn, labels(services)))

    with_services(invocation, work)


def _persona_key(services: Services, name: str) -> str:
    """The key of a persona given by key or label, in any case; nobody posts as you or q (C4)."""
    wanted = name.strip().casefold()
    for persona in services.settings.personas:
        if wanted in {persona.key.casefold(), persona.label.casefold()}:
            if persona.key in RESERVED_PERSONAS:
                raise Refused(f"Nobody can post as “{persona.label}”: use `qterm send`.")
            return persona.key
    others = [p.key for p in services.settings.personas if p.key not in RESERVED_PERSONAS]
    raise Refused(f"There is no persona “{name}”; the config knows {', '.join(others) or 'none'}.")


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON, with its counts.")
@click.pass_obj
def context(invocation: Invocation, as_json: bool) -> None:
    """Print what Q would be told with a home message now."""

    async def work(services: Services) -> None:
        made = await services.conversation.context()
        if as_json:
            show.out_json(show.context_json(made, services.conversation.now()))
        elif made.text:
            show.out(made.text)
        else:
            show.diagnostic("Nothing: the feed is empty, and there are no facts and no mode.")

    with_services(invocation, work)
