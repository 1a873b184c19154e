"""The first start: what was found of hermes, and what can be done from here."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import Screen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from qterm.services import FirstStart, StartState
from qterm.tui.content import plain
from qterm.tui.widgets.options import Options


class Offer(StrEnum):
    """What the operator can choose."""

    REHEARSE = "rehearse"
    SET_UP = "set-up"
    LOOK_AROUND = "look-around"
    LOOK_AGAIN = "look-again"


_WORDS = {
    Offer.REHEARSE: (
        "Rehearse",
        "The real hermes, but with a small scripted model in place of a paid one, and a feed "
        "that is thrown away afterwards. Costs nothing, sends nothing anywhere.",
    ),
    Offer.SET_UP: (
        "Set up",
        "Runs `hermes setup` here in this terminal: it asks for a provider and a model, and "
        "then you are back.",
    ),
    Offer.LOOK_AROUND: (
        "Look around",
        "Opens qterm as it is. You can write, read, keep facts and search; "
        "Q answers as soon as hermes can.",
    ),
    Offer.LOOK_AGAIN: (
        "Look again",
        "Looks for hermes once more, after you have installed it.",
    ),
}

_KEYS = {
    Offer.REHEARSE: "r",
    Offer.SET_UP: "s",
    Offer.LOOK_AROUND: "l",
    Offer.LOOK_AGAIN: "a",
}
"""The letter that takes an offer."""

_PLACES = (
    ("Home", "one feed of you, Q and the other personas"),
    ("Tasks", "threads in which Q remembers everything until they end"),
)
"""What there is, in a line each."""


def _welcome() -> Content:
    """Who Q is, and what there is."""
    lines = [Content("Here you talk with Q, who is the hermes agent."), Content("")]
    for name, words in _PLACES:
        lines.append(
            Content.assemble(
                Content.styled(f"{name:<7}", "bold"), Content.styled(words, "$foreground-muted")
            )
        )
    return Content("\n").join(lines)


_INSTALL = (
    "Q is the hermes agent, a program of its own. Install it in another terminal:\n\n"
    "    pipx install hermes-agent\n\n"
    "or, if you have it elsewhere, name it in the config: command under [hermes]. Until then "
    "everything works but Q's answers: the feed, search, export, facts, the mode."
)


def offers(state: StartState) -> tuple[Offer, ...]:
    """What can be chosen in this state."""
    if state.kind is FirstStart.NO_HERMES:
        return (Offer.LOOK_AGAIN, Offer.LOOK_AROUND)
    return (Offer.REHEARSE, Offer.SET_UP, Offer.LOOK_AROUND)


class FirstStartScreen(Screen[Offer]):
    """Dismissed with the offer that was taken."""

    BINDINGS: ClassVar = [
        ("r", f"take('{Offer.REHEARSE}')", "Rehearse"),
        ("s", f"take('{Offer.SET_UP}')", "Set up"),
        ("a", f"take('{Offer.LOOK_AGAIN}')", "Look again"),
        ("l,escape", f"take('{Offer.LOOK_AROUND}')", "Look around"),
    ]

    def __init__(self, state: StartState) -> None:
        super().__init__()
        self._state = state

    def compose(self) -> ComposeResult:
        """What was found, what it means, the offers."""
        with VerticalScroll(id="first-start", can_focus=False), Vertical(id="first-start--box"):
            yield Static(Content("q t e r m"), id="first-start--title", markup=False)
            about = Static(_welcome(), classes="first-start--text", markup=False)
            about.display = self._state.kind is not FirstStart.NO_HERMES  # which has more to say
            yield about
            yield Static(plain(self._state.sentence), id="first-start--state", markup=False)
            if self._state.kind is FirstStart.NO_HERMES:
                yield Static(Content(_INSTALL), classes="first-start--text", markup=False)
            yield Options(
                *self._options(),
                id="first-start--offers",
                markup=False,
            )
            yield Static(
                Content("↑ ↓ and enter, or the letter · ctrl+q quits"),
                classes="first-start--hint",
                markup=False,
            )

    def _options(self) -> Iterable[Option | None]:
        for index, offer in enumerate(offers(self._state)):
            if index:
                yield None  # a line between
            yield self._option(offer)

    @staticmethod
    def _option(offer: Offer) -> Option:
        name, words = _WORDS[offer]
        key = Content.styled(f"{_KEYS[offer]} ", "bold $text-accent")
        prompt = Content.assemble(
            key, Content.styled(name, "bold"), "\n", Content.styled(words, "$foreground-muted")
        )
        return Option(prompt, id=offer)

    def on_mount(self) -> None:
        """The first offer is chosen."""
        self.query_one(OptionList).focus()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """An offer was taken."""
        if event.option.id is not None:
            self.dismiss(Offer(event.option.id))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Only what is offered can be taken by its key."""
        if action == "take":
            return Offer(str(parameters[0])) in offers(self._state)
        return True

    def action_take(self, offer: str) -> None:
        """Take an offer by its key."""
        self.dismiss(Offer(offer))
