"""What Q does in words: its steps below an answer, its plan and how full the session is.

All titles, arguments, results and thoughts come from hermes: none reaches a widget but through
`content.py`.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from textual.content import Content
from textual.style import Style

from qterm.hermes.way import Diff, PlanStep, UsageSeen
from qterm.tui.content import one_line, plain, with_controls
from qterm.tui.widgets.steps import ALL, THOUGHTS, Step, StepsShown, StepState
from qterm.tui.words.durations import seconds_words, ticking_words

FOLD = "fold"
"""The key in a style's meta: what a click there unfolds, as a turn's id and a part."""

RESULT_LINES = 40
"""The most lines of one argument, result or diff below an answer."""

DIFF_CHARS = 400_000
"""Texts longer than this together are not compared line by line."""

_NOTE = "$foreground-muted"
_STYLES = {
    StepState.RUNNING: "$text-warning",
    StepState.DONE: "$text-success",
    StepState.FAILED: "bold $text-error",
    StepState.ENDED: _NOTE,
    StepState.ASKS: "bold $text-warning",
    StepState.ALLOWED: "$text-success",
    StepState.DENIED: "$text-error",
}
_MARK_CELLS = 8


def step_lines(shown: StepsShown) -> list[Content]:
    """The lines below an answer: one for all where the turn is over, else one each."""
    lines: list[Content] = []
    if shown.is_over and shown.words + len(shown.steps):
        lines.append(_summary(shown))
    if not shown.is_over or ALL in shown.opened:
        lines += _each(shown)
    if shown.note:
        lines.append(plain(shown.note, _NOTE))
    return lines


def _fold(shown: StepsShown, part: str, *, force: bool | None = None) -> Content:
    is_open = part in shown.opened if force is None else force
    return Content.styled("▾ " if is_open else "▸ ", _NOTE)


def _clickable(line: Content, shown: StepsShown, part: str) -> Content:
    return line.stylize(Style.from_meta({FOLD: (shown.turn_id, part)}))


def _summary(shown: StepsShown) -> Content:
    parts = []
    if tools := shown.tools:
        noun = "1 tool" if tools == 1 else f"{tools} tools"
        parts.append(f"{noun}, {seconds_words(shown.seconds)}")
    if asked := sum(step.is_request for step in shown.steps):
        denied = sum(step.state is StepState.DENIED for step in shown.steps)
        words = "asked once" if asked == 1 else f"asked {asked} times"
        parts.append(words + (f", {denied} denied" if denied and asked > 1 else ""))
        if denied and asked == 1:
            parts[-1] += ", denied"
    if shown.words:
        parts.append(f"thought {_words(shown.words)}")
    line = Content.assemble(_fold(shown, ALL), Content.styled(" · ".join(parts), _NOTE))
    return _clickable(line, shown, ALL)


def _words(count: int) -> str:
    return "1 word" if count == 1 else f"{count:,} words"


def _each(shown: StepsShown) -> list[Content]:
    lines = []
    if shown.words:
        verb = "thought" if shown.is_over else "thinking…"
        words = Content.styled(f"{verb} {_words(shown.words)}", _NOTE)
        line = Content.assemble(_fold(shown, THOUGHTS), words)
        lines.append(_clickable(line, shown, THOUGHTS))
        if THOUGHTS in shown.opened:
            lines.append(_text(shown.thoughts, f"italic {_NOTE}"))
    if shown.dropped:
        lines.append(Content.styled(f"  … {shown.dropped:,} earlier tools", _NOTE))
    for step in shown.steps:
        lines.append(_clickable(_line(step, shown), shown, step.key))
        if step.key in shown.opened:
            lines += _inside(step)
    return lines


def _line(step: Step, shown: StepsShown) -> Content:
    """Fold, state, title cut to what is left, time."""
    seconds = step.seconds(shown.now)
    time = ticking_words(seconds) if step.ended is None else seconds_words(seconds)
    if step.is_request:
        time = step.result or "waits for you"
    title = max(shown.width - 2 - _MARK_CELLS - len(time) - 2, 8)
    return Content.assemble(
        _fold(shown, step.key),
        Content.styled(f"{step.state.value:<{_MARK_CELLS}}", _STYLES[step.state]),
        one_line(step.title or "a tool", title),
        Content.styled(f"  {time}", _NOTE),
    )


def _inside(step: Step) -> list[Content]:
    """What a step's fold holds: all of its title, its arguments, its diff, its result."""
    parts = [_text(step.title, "")] if step.is_request else []
    if step.detail:
        parts.append(_text(step.detail, ""))
    for diff in step.diffs:
        lines, left = diff_lines(diff, most=RESULT_LINES)
        parts += [*lines, *([_more(left)] if left else [])]
    if step.result and not step.is_request:
        parts.append(_text(step.result, _NOTE))
    return parts or [Content.styled("    (hermes tells no more of it)", _NOTE)]


def _text(text: str, style: str) -> Content:
    """A text of few lines, set in; what is left out is said."""
    lines = plain(text.rstrip()).plain.expandtabs(4).split("\n")
    shown = [f"    {line}" for line in lines[:RESULT_LINES]]
    words = Content.styled("\n".join(shown), style) if style else Content("\n".join(shown))
    left = len(lines) - RESULT_LINES
    return Content.assemble(words, "\n", _more(left)) if left > 0 else words


def _more(lines: int) -> Content:
    return Content.styled(f"    … {lines:,} more {'line' if lines == 1 else 'lines'}", _NOTE)


def diff_lines(diff: Diff, *, most: int, indent: str = "    ") -> tuple[list[Content], int]:
    """An edit as a unified diff with its file's name, and how many lines were left out.

    Controls are shown as visible stand-ins: what is to be allowed hides nothing.
    """
    old, new = (diff.old or "").splitlines(), diff.new.splitlines()
    what = "new file" if diff.old is None else "edit"
    path = with_controls(diff.path, "bold")
    head = Content.assemble(Content.styled(f"{indent}{what} ", _NOTE), path)
    if len(diff.new) + len(diff.old or "") > DIFF_CHARS:
        words = f"{indent}too large to compare: {len(old):,} lines before, {len(new):,} after"
        return [head, Content.styled(words, "$text-warning")], 0
    if diff.old is None:
        lines = [f"+{line}" for line in new]
    else:
        lines = list(difflib.unified_diff(old, new, lineterm="", n=3))[2:]
    shown = [_diff_line(line, indent) for line in lines[:most]]
    if not lines:
        shown = [Content.styled(f"{indent}(no line changes)", _NOTE)]
    return [head, *shown], max(len(lines) - most, 0)


def _diff_line(line: str, indent: str) -> Content:
    style = {"+": "$text-success", "-": "$text-error", "@": _NOTE}.get(line[:1], "")
    return with_controls(f"{indent}{line.expandtabs(4)}", style)


def plan_words(plan: Sequence[PlanStep], width: int) -> Content | None:
    """The plan in short, `plan 2/5: write the reader`; None where there is none."""
    if not plan:
        return None
    ahead = [step for step in plan if step.state != "completed"]
    now = next((step for step in ahead if step.state == "in_progress"), ahead[0] if ahead else None)
    if now is None:
        return Content(f"plan {len(plan)}/{len(plan)} done")
    start = f"plan {plan.index(now) + 1}/{len(plan)}: "
    return Content.assemble(start, one_line(now.text, max(width - len(start), 6)))


def usage_words(usage: UsageSeen | None) -> str:
    """How full the session is, `context 12 %`; nothing where that is not known."""
    if usage is None or usage.size <= 0 or usage.used < 0:
        return ""
    percent = usage.used * 100 / usage.size
    return "context <1 %" if 0 < percent < 1 else f"context {int(percent)} %"
