"""hermes asks before it acts: the panel with what, where and why, and the question behind “always”.

The only screens with a double border; nothing that is said in a thread can look like one, nor
answer it. Keys that were meant for the editor answer nothing: a key counts only after a pause.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import ClassVar, Generic, TypeVar

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.events import Key
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Button, Static

from qterm.hermes.way import Answer, Approval
from qterm.tui.content import one_line, with_controls
from qterm.tui.requests import Request
from qterm.tui.words.step_words import diff_lines

QUIET_SECONDS = 0.6
"""Tab and enter count once nothing came for so long since the question was drawn."""

SHOWN_CHARS = 100_000
"""The most code points of a command that the panel draws; it says so where there are more."""

DIFF_LINES = 2_000
"""The most lines of an edit that the panel draws; it says so where there are more."""

SHORT_CHARS = 160
"""The most code points of where and why beside the answers; all of it stands with the command."""

_TITLE = "hermes asks before it acts"
_WANTS = {
    "execute": "Q wants to run this command",
    "edit": "Q wants to change this file",
    "delete": "Q wants to delete this",
    "move": "Q wants to move this",
    "fetch": "Q wants to fetch this",
    "read": "Q wants to read this",
}
_DIM = "$foreground-muted"

Result = TypeVar("Result")


class Guarded(ModalScreen[Result], Generic[Result]):
    """A question that opens while somebody may be typing (rule A2).

    Escape is the safe answer, at once. Every other answer takes two keys that nobody types in a
    message, tab and then enter, and these count only after a pause that began when the question
    was drawn. Whatever else is typed puts the focus back on the safe answer and begins the pause
    anew. `clock` gives seconds that never go back.
    """

    SAFE: ClassVar[str] = ""
    """The id of the safe answer's button."""

    def __init__(self, clock: Callable[[], float]) -> None:
        super().__init__()
        self.clock = clock
        self._since = clock()
        self._is_armed = self.is_drawn = False

    @property
    def is_armed(self) -> bool:
        """Whether keys count."""
        is_quiet = self.clock() - self._since >= QUIET_SECONDS
        if not self._is_armed and self.is_drawn and is_quiet:
            self._is_armed = True
        return self._is_armed

    def drawn(self) -> None:
        """The question can be read from now on: what was pressed before was meant for else."""
        self.is_drawn = True
        self.disarm()

    def disarm(self) -> None:
        """Keys count only after another pause, and the safe answer is chosen."""
        self._since, self._is_armed = self.clock(), False
        for button in self.query(f"#{self.SAFE}").results(Button):
            button.focus()

    def on_key(self, event: Key) -> None:
        """Take the keys before any binding does: also enter on a button, and the scrolling."""
        if event.key == "escape":
            event.stop()
            self.escaped()
        elif event.key in {"up", "down", "pageup", "pagedown"}:
            return
        elif event.key not in {"tab", "shift+tab", "enter"} or not self.is_armed:
            event.stop()
            self.disarm()
        elif event.key != "enter":
            event.stop()
            step = self.focus_next if event.key == "tab" else self.focus_previous
            step(Button)

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """A button answers, by enter or by a click, which may be as accidental as a key."""
        event.stop()
        if self.is_armed:
            self.pressed(str(event.button.id))

    def escaped(self) -> None:
        """The safe answer."""
        raise NotImplementedError

    def pressed(self, button_id: str) -> None:
        """A button was meant."""
        raise NotImplementedError


class ApprovalPanel(Guarded[Answer | None]):
    """One request; dismissed with the answer, or with None where it is over.

    `thread` is where it belongs, in words; `more` says how many wait behind it.
    """

    SAFE = "deny"
    BINDINGS: ClassVar = [
        ("up", "read(-1)", "Up"),
        ("down", "read(1)", "Down"),
        ("pageup", "read(-10)", "Up"),
        ("pagedown", "read(10)", "Down"),
    ]

    def __init__(
        self, request: Request, thread: str, clock: Callable[[], float], more: Callable[[], int]
    ) -> None:
        super().__init__(clock)
        self.request = request
        self._thread, self._more = thread, more
        self._over = self._is_closed = False

    @property
    def approval(self) -> Approval:
        """What hermes asks."""
        return self.request.approval

    def compose(self) -> ComposeResult:
        """What, where, why, how long still, and the answers with the safe one first."""
        with Vertical(id="approval") as box:
            box.border_title = Content(_TITLE)
            yield Static(self._wants(), markup=False, id="approval--wants")
            with VerticalScroll(id="approval--what"):
                yield from self._what()
            with Vertical(id="approval--foot"):
                reasons = self._reasons()
                for index, (name, words) in enumerate(reasons, 1):
                    last = " -last" if index == len(reasons) else ""
                    with Horizontal(classes=f"approval--row{last}"):
                        yield Static(Content(name), markup=False, classes="approval--name")
                        shown = with_controls(_short(words))
                        yield Static(shown, markup=False, classes="approval--value")
                yield Static(self._left(), markup=False, id="approval--left")
                with Horizontal(id="approval--buttons"):
                    yield from self._buttons()

    def _reasons(self) -> list[tuple[str, str]]:
        said = {"", *(diff.path for diff in self.approval.diffs)}  # a diff names its file
        reasons = [("Where", self.approval.where), ("Why", self.approval.why)]
        return [(name, words.strip()) for name, words in reasons if words.strip() not in said]

    def _wants(self) -> Content:
        wants = _WANTS.get(self.approval.kind, "Q wants to do this")
        return Content.assemble(
            Content.styled(wants, "bold"), Content.styled(f" · {self._thread}", _DIM)
        )

    def _what(self) -> Iterable[Widget]:
        approval = self.approval
        lines: list[Content] = []
        if not approval.diffs or approval.what.strip() not in {"", approval.where.strip()}:
            lines.append(with_controls(approval.what[:SHOWN_CHARS].rstrip()))
        if (rest := len(approval.what) - SHOWN_CHARS) > 0:
            words = f"… {rest:,} more characters are not shown: deny what you can't read."
            lines.append(Content.styled(words, "bold $text-error"))
        for diff in approval.diffs:
            shown, left = diff_lines(diff, most=DIFF_LINES, indent="")
            lines += shown
            if left:
                words = f"… {left:,} more lines are not shown: deny what you can't read."
                lines.append(Content.styled(words, "bold $text-error"))
        for name, words in self._reasons():
            if _short(words) != words:
                lines += [Content(""), Content.styled(f"{name}, all of it", _DIM)]
                lines.append(with_controls(words[:SHOWN_CHARS]))
        yield Static(Content("\n").join(lines), markup=False)

    def _buttons(self) -> Iterable[Widget]:
        answers = self.approval.answers
        yield Button(Content("Deny (esc)"), id="deny", compact=True)
        if Answer.ONCE in answers:
            yield Button(Content("Allow once"), id="once", compact=True)
        if Answer.SESSION in answers:
            yield Button(Content("For this session"), id="session", compact=True)
        if Answer.ALWAYS in answers:
            yield Button(Content("Always…"), id="always", variant="error", compact=True)

    def on_mount(self) -> None:
        """The safe answer has the focus; the seconds go on."""
        self.query_one("#deny", Button).focus()
        self.call_after_refresh(self._fit)
        self.call_after_refresh(self.drawn)
        self.set_interval(0.25, self._tick)

    def on_screen_resume(self) -> None:
        """Another question is gone: a key meant for it is not meant for this one."""
        self.disarm()
        if self._over:
            self._close(None)

    def on_resize(self) -> None:
        """Another height: the answers stay in view."""
        self.call_after_refresh(self._fit)

    def _fit(self) -> None:
        """What is asked scrolls in the rows that the rest leaves."""
        box, what = self.query_one("#approval"), self.query_one("#approval--what")
        rest = sum(child.outer_size.height for child in box.children if child is not what)
        rest += (
            box.gutter.height
            + what.gutter.height
            + sum(child.styles.margin.height for child in box.children)
        )
        what.styles.max_height = max(self.size.height - rest - 2, 3)

    def action_read(self, lines: int) -> None:
        """Scroll what is asked, wherever the focus is."""
        self.query_one(VerticalScroll).scroll_relative(y=lines, animate=False)

    def _tick(self) -> None:
        self.query_one("#approval--left", Static).update(self._left())
        self.query_one("#approval--buttons").set_class(not self.is_armed, "-waits")

    def _left(self) -> Content:
        left = self.request.left(self.clock())
        parts = []
        if left is not None:
            style = "bold $text-error" if left <= 10 else _DIM
            words = f"{left} s left, then hermes denies it" if left else "hermes denies it now"
            parts.append(Content.styled(words, style))
        if more := self._more():
            words = "1 more request waits" if more == 1 else f"{more} more requests wait"
            parts.append(Content.styled(words, "$text-warning"))
        parts.append(Content.styled("tab and enter answer", _DIM))
        return Content.styled(" · ", _DIM).join(parts)

    def over(self) -> None:
        """hermes waits no more: close, at the latest when no other question stands above."""
        self._over = True
        above = self.app.screen
        if isinstance(above, AlwaysQuestion):
            above.dismiss(False)
        elif above is self:
            self._close(None)

    def escaped(self) -> None:
        """Deny."""
        self._answer(Answer.DENY)

    def pressed(self, button_id: str) -> None:
        """An answer; “always” is one only after a second question."""
        answer = Answer(button_id)
        if answer is not Answer.ALWAYS:
            self._answer(answer)
            return
        question = AlwaysQuestion(self.approval.why, self.clock)
        self.app.push_screen(question, self._always)

    def _always(self, yes: bool | None) -> None:
        if yes:
            self.call_later(self._answer, Answer.ALWAYS)  # once this is the screen again

    def _answer(self, answer: Answer) -> None:
        if not self._over and self.app.screen is self:
            self._over = True
            self._close(answer)

    def _close(self, answer: Answer | None) -> None:
        if not self._is_closed:
            self._is_closed = True
            self.dismiss(answer)


class AlwaysQuestion(Guarded[bool]):
    """What “always” means: hermes writes a whole pattern into its config. The focus is on no."""

    SAFE = "no"

    def __init__(self, why: str, clock: Callable[[], float]) -> None:
        super().__init__(clock)
        self._why = why

    def compose(self) -> ComposeResult:
        """The pattern, what comes of it, and the safe answer first."""
        pattern = with_controls(self._why.strip()[:2_000] or "(hermes does not say which)", "bold")
        with Vertical(id="approval") as box:
            box.border_title = Content("Always?")
            yield Static(
                Content("hermes would write this pattern into its own config:"), markup=False
            )
            yield Static(pattern, markup=False, id="approval--pattern")
            yield Static(
                Content(
                    "From then on it runs whatever matches it unasked: in every session, in every "
                    "program that uses this hermes, until you take it out of its config.yaml."
                ),
                markup=False,
            )
            with Horizontal(id="approval--buttons"):
                yield Button(Content("No (esc)"), id="no", compact=True)
                yield Button(Content("Always allow this"), id="yes", variant="error", compact=True)

    def on_mount(self) -> None:
        """The safe answer has the focus."""
        self.query_one("#no", Button).focus()
        self.call_after_refresh(self.drawn)

    def escaped(self) -> None:
        """No."""
        self.dismiss(False)

    def pressed(self, button_id: str) -> None:
        """An answer."""
        self.dismiss(button_id == "yes")


def _short(words: str) -> str:
    """A reason or place for the foot, where it must not push the answers away."""
    line = " ".join(words.split())
    return line if len(line) <= SHORT_CHARS else f"{line[:SHORT_CHARS]}…"


def thread_words(title: str | None) -> str:
    """Where a request belongs: the home feed, or a task by its title."""
    return "in the home feed" if title is None else f"in “{one_line(title, 40).plain}”"
