"""What the app offers where hermes has no model, or is not there."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

from textual.app import SuspendNotSupported

from qterm.services import FirstStart, Services
from qterm.tui.common import Common
from qterm.tui.desk.desk import Desk
from qterm.tui.screens.first_start import FirstStartScreen, Offer
from qterm.tui.terminal.ending import Leave
from qterm.tui.terminal.lending import Lending

if TYPE_CHECKING:
    from qterm.hermes.place import HermesPlace


class Offers(Lending, inherit_bindings=False):
    """The part of the app that begins where hermes is not ready."""

    services: Services
    common: Common
    desk: Desk

    def common_changed(self) -> None:
        """What the screens share is other now."""
        raise NotImplementedError

    def leave(self, how: Leave) -> None:
        """End what runs, keep the draft, then leave."""
        raise NotImplementedError

    def look_at_hermes(self) -> None:
        """Find out which hermes answers, and how it is reached."""
        self.desk.look_at_hermes()
        self.desk.look_at_standing()
        self.call_after_refresh(self.services.way.warm)  # never before the first screen

    def offer(self) -> None:
        """Show what can be done where hermes has no model, or is not there."""
        self.push_screen(FirstStartScreen(self.common.state), self._offer_taken)

    def _offer_taken(self, offer: Offer | None) -> None:
        match offer:
            case Offer.REHEARSE:
                self.leave(Leave.REHEARSE)
            case Offer.SET_UP:
                self._set_up()
                self._look_again()
            case Offer.LOOK_AGAIN:
                self._look_again()
            case _:
                pass

    def _set_up(self) -> None:
        """Run `hermes setup` in this terminal; the screen comes back afterwards."""
        from qterm.hermes.environment import child_environment
        from qterm.hermes.place import HermesNotFound

        try:
            place = self.services.find_hermes()
            environ = child_environment(self.services.environ, place.home)
            with self.lend_terminal():
                code = subprocess.run(setup_command(place), env=environ, check=False).returncode
        except HermesNotFound as error:
            self.notify(str(error), severity="error")
            return
        except SuspendNotSupported:
            self.notify("Run `hermes setup` in another terminal, then look again.")
            return
        except OSError as error:
            self.notify(f"hermes could not be started: {error.strerror}.", severity="error")
            return
        if code:
            self.notify(f"`hermes setup` ended with {code}.", severity="warning")

    def _look_again(self) -> None:
        self.common.state = self.services.first_start()
        self.common_changed()
        if self.common.state.kind is FirstStart.READY:
            self.look_at_hermes()
            self.notify("Q is ready.")
        else:
            self.offer()


def setup_command(place: HermesPlace) -> list[str]:
    """The call that sets hermes up in the home that qterm uses, whatever profile is sticky."""
    return [*place.command, *(("-p", "default") if place.home_is_root else ()), "setup"]
