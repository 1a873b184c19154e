"""What the doctor says of a hermes on another machine: it looks at nothing there but hermes."""

from __future__ import annotations

from qterm.doctor.check import Check, State
from qterm.hermes.remote import Remote


def far_checks(remote: Remote, chosen_by: str) -> list[Check]:
    """Home, model and its address: one sentence each on why they can't be looked at from here."""
    host = remote.host
    home = {"path": remote.home_in_words, "chosen_by": chosen_by, "host": host}
    return [
        Check(
            "hermes.home",
            "hermes home",
            State.INFO,
            f"It is {remote.home_in_words} on {host} (chosen by {chosen_by}); its files can't be "
            "looked at from here.",
            details=home,
        ),
        Check(
            "model",
            "model",
            State.INFO,
            f"Which model hermes has on {host} can't be looked at from here: "
            f"`{remote.in_terminal('doctor')}` tells.",
        ),
        Check(
            "model.reachable",
            "model reachable",
            State.INFO,
            f"Whether {host} reaches its model can't be looked at from here: "
            "`qterm send hello` shows it.",
        ),
    ]
