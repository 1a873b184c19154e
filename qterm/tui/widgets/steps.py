"""What Q does on the way to an answer: thoughts, tools, requests; plan and usage (no widget here).

It is in memory only and lasts as long as this qterm. Every text in here is foreign and is made fit
for a screen where it is drawn (rule T1).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final

from qterm.hermes.way import (
    Answer,
    Approval,
    Asked,
    AskedNoMore,
    CommandsSeen,
    Diff,
    Happening,
    HermesCommand,
    ModesSeen,
    PlanSeen,
    PlanStep,
    SessionMode,
    ThoughtDelta,
    ToolSeen,
    UsageSeen,
)

KEPT_CHARS: Final = 20_000
"""The most code points that are kept of one argument, result or train of thought."""

KEPT_DIFF_CHARS: Final = 400_000
"""The most code points of one step's diffs, both sides; larger ones are not kept."""

KEPT_STEPS: Final = 200
"""The most steps of one turn; the oldest go first."""

KEPT_TURNS: Final = 50
"""Of so many turns of a thread it is known what Q did."""

THOUGHTS: Final = "thoughts"
ALL: Final = "all"

_OVER = frozenset({"completed", "failed", "ended", "done", "result"})
"""What a tool's state says when it runs no more, whichever way it came."""


class StepState(StrEnum):
    """How a step stands; ENDED: its turn is over, and nobody said how the step went."""

    RUNNING = "…"
    DONE = "done"
    FAILED = "failed"
    ENDED = "ended"
    ASKS = "asks"
    ALLOWED = "allowed"
    DENIED = "denied"


@dataclass(frozen=True, slots=True)
class Step:
    """One tool call, or one request. `began` and `ended` are seconds of the clock."""

    key: str
    title: str
    state: StepState
    began: float
    ended: float | None = None
    kind: str = ""
    detail: str = ""
    result: str = ""
    diffs: tuple[Diff, ...] = ()

    @property
    def is_request(self) -> bool:
        """Whether hermes asked, as against did something."""
        return self.state in {StepState.ASKS, StepState.ALLOWED, StepState.DENIED}

    def seconds(self, now: float) -> float:
        """For how long it ran, or has been running."""
        return (now if self.ended is None else self.ended) - self.began


@dataclass(frozen=True, slots=True)
class StepsShown:
    """The steps of one turn at one moment, to be drawn.

    `turn_id` is the message's, `dropped` how many earlier steps are not kept, `opened` the parts
    that are unfolded (a step's key, THOUGHTS, ALL), `now` the clock in seconds, `width` in cells.
    """

    turn_id: int
    steps: tuple[Step, ...]
    dropped: int
    thoughts: str
    words: int
    opened: frozenset[str]
    is_over: bool
    note: str
    now: float
    width: int

    @property
    def tools(self) -> int:
        """How many tools were used."""
        return self.dropped + sum(not step.is_request for step in self.steps)

    @property
    def asks(self) -> bool:
        """Whether a request stands."""
        return any(step.state is StepState.ASKS for step in self.steps)

    @property
    def seconds(self) -> float:
        """For how long any tool ran; two that ran at once count once."""
        total, until = 0.0, float("-inf")
        for step in sorted(self.steps, key=lambda step: step.began):
            if not step.is_request:
                end = step.began + step.seconds(self.now)
                total += max(end - max(step.began, until), 0.0)
                until = max(until, end)
        return total


@dataclass(slots=True)
class Steps:
    """What Q does for one message. `clock` gives seconds that never go back."""

    clock: Callable[[], float]
    note: str = ""
    is_over: bool = False
    _steps: dict[str, Step] = field(default_factory=dict)
    _dropped: int = 0
    _count: int = 0
    _thoughts: str = ""
    _words: int = 0
    _in_word: bool = False
    _opened: set[str] = field(default_factory=set)

    def __bool__(self) -> bool:
        """Whether there is anything to show."""
        return bool(self._steps or self._words or self.note)

    def think(self, text: str) -> None:
        """More of what the model thinks."""
        if not text:
            return
        joined = self._in_word and not text[0].isspace()
        self._words += len(text.split()) - joined
        self._in_word = not text[-1].isspace()
        if len(self._thoughts) < KEPT_CHARS:
            self._thoughts = (self._thoughts + text)[:KEPT_CHARS]

    def saw(self, tool: ToolSeen) -> None:
        """A tool begins, goes on or has ended; one without an id is known by its name."""
        before = self._find(tool)
        state = StepState.RUNNING
        if tool.state in _OVER:
            state = StepState.FAILED if tool.state == "failed" else StepState.DONE
        ended = None if state is StepState.RUNNING else self.clock()
        if before is None:
            self._count += 1
            key = f"tool {tool.id}" if tool.id else f"{self._count}"
            before = Step(key, tool.name, state, self.clock())
        elif before.ended is not None:
            state, ended = before.state, before.ended  # told late: it has ended all the same
        self._put(
            replace(
                before,
                state=state,
                ended=ended,
                title=tool.name[:KEPT_CHARS] or before.title,
                kind=tool.kind or before.kind,
                detail=tool.detail[:KEPT_CHARS] or before.detail,
                result=tool.result[:KEPT_CHARS] or before.result,
                diffs=_kept(tool.diffs) or before.diffs,
            )
        )

    def _find(self, tool: ToolSeen) -> Step | None:
        if tool.id:
            return self._steps.get(f"tool {tool.id}")
        running = [step for step in self._steps.values() if step.state is StepState.RUNNING]
        named = [step for step in running if step.title == tool.name or not tool.name]
        if not named and tool.state in _OVER and len(running) == 1:
            return running[0]  # 0.22's stream ends a tool without its name
        return named[-1] if named else None

    def asked(self, approval: Approval) -> None:
        """hermes asks before it acts."""
        key = f"request {approval.id}"
        what = approval.what[:KEPT_CHARS]
        self._put(Step(key, what, StepState.ASKS, self.clock(), kind=approval.kind))

    def answered(self, no_more: AskedNoMore, reason: str) -> None:
        """A request is over; `reason` says why where nobody has answered it."""
        step = self._steps.get(f"request {no_more.id}")
        if step is None:
            return
        denied = no_more.answer in {None, Answer.DENY}
        state = StepState.DENIED if denied else StepState.ALLOWED
        result = reason if no_more.answer is None else _ANSWERED[no_more.answer]
        self._put(replace(step, state=state, ended=self.clock(), result=result))

    def end(self) -> None:
        """The turn is over: nothing of it runs any more."""
        self.is_over = True
        self._opened.clear()
        for step in list(self._steps.values()):
            if step.ended is None:
                state = StepState.DENIED if step.is_request else StepState.ENDED
                self._put(replace(step, state=state, ended=self.clock()))

    def _put(self, step: Step) -> None:
        self._steps[step.key] = step
        while len(self._steps) > KEPT_STEPS:
            gone = self._steps.pop(next(iter(self._steps)))
            self._dropped += not gone.is_request

    def running(self) -> str:
        """The title of the tool that runs, the newest where there are several."""
        running = [step for step in self._steps.values() if step.state is StepState.RUNNING]
        return running[-1].title if running else ""

    # -- folds ---------------------------------------------------------------------------------

    def toggle(self, part: str) -> None:
        """Unfold or fold one part: a step's key, THOUGHTS, or ALL of a turn that is over."""
        self._opened ^= {part}

    def step_on(self) -> None:
        """One key for all folds: the lines of a turn that is over, then all there is, then none."""
        parts = {*self._steps, *([THOUGHTS] if self._words else []), ALL}
        if self.is_over and ALL not in self._opened:
            self._opened = {ALL}
        elif self._opened >= parts:
            self._opened.clear()
        else:
            self._opened = parts

    def shown(self, turn_id: int, width: int, *, whole_seconds: bool = False) -> StepsShown:
        """The steps as they stand now, for a line of this many cells."""
        now = self.clock() if any(step.ended is None for step in self._steps.values()) else 0.0
        if whole_seconds and now:
            began = min(step.began for step in self._steps.values() if step.ended is None)
            now = began + int(now - began)
        return StepsShown(
            turn_id=turn_id,
            steps=tuple(self._steps.values()),
            dropped=self._dropped,
            thoughts=self._thoughts,
            words=self._words,
            opened=frozenset(self._opened),
            is_over=self.is_over,
            note=self.note,
            now=now,
            width=width,
        )


_ANSWERED = {
    Answer.ONCE: "allowed once",
    Answer.SESSION: "allowed for this session",
    Answer.ALWAYS: "allowed always",
    Answer.DENY: "denied by you",
}


def _kept(diffs: Sequence[Diff]) -> tuple[Diff, ...]:
    if sum(len(diff.old or "") + len(diff.new) for diff in diffs) > KEPT_DIFF_CHARS:
        return tuple(Diff(diff.path, None, "(too large to show)") for diff in diffs[:10])
    return tuple(diffs)


@dataclass(slots=True)
class ThreadWork:
    """What is known of Q's work in a thread: each turn's steps, and how the session stands."""

    clock: Callable[[], float]
    plan: tuple[PlanStep, ...] = ()
    usage: UsageSeen | None = None
    modes: tuple[SessionMode, ...] = ()
    mode: str = ""
    commands: tuple[HermesCommand, ...] = ()
    _turns: dict[int, Steps] = field(default_factory=dict)

    def steps(self, turn_id: int | None) -> Steps | None:
        """What Q did for a message; None where nothing is known of it."""
        return None if turn_id is None else self._turns.get(turn_id)

    def begin(self, turn_id: int) -> Steps:
        """A message's steps, new ones where there are none; an earlier turn's plan goes."""
        if turn_id not in self._turns:
            self.plan = ()
            self._turns[turn_id] = Steps(self.clock)
            for old in list(self._turns)[:-KEPT_TURNS]:
                del self._turns[old]
        return self._turns[turn_id]

    def take(self, turn_id: int, what: Happening, *, reason: str = "") -> None:
        """Something happens while Q works on a message; `reason`: why a request is over."""
        match what:
            case ToolSeen():
                self.begin(turn_id).saw(what)
            case ThoughtDelta(text):
                self.begin(turn_id).think(text)
            case Asked(approval):
                self.begin(turn_id).asked(approval)
            case AskedNoMore():
                self.begin(turn_id).answered(what, reason)
            case PlanSeen(steps):
                self.begin(turn_id)
                self.plan = steps
            case UsageSeen():
                self.usage = what
            case ModesSeen(current, modes):
                self.mode = current
                self.modes = modes or self.modes
            case CommandsSeen(commands):
                self.commands = commands

    def end(self, turn_id: int) -> None:
        """A message's turn is over."""
        if (steps := self._turns.get(turn_id)) is not None:
            steps.end()

    def newest(self) -> int | None:
        """The newest message for which Q did something that can be shown."""
        return next((turn_id for turn_id in reversed(self._turns) if self._turns[turn_id]), None)

    def mode_name(self) -> str:
        """The session's mode where it is not the usual one, which is the first."""
        if not self.mode or not self.modes or self.mode == self.modes[0].id:
            return ""
        return next((mode.name for mode in self.modes if mode.id == self.mode), self.mode)
