"""The part of the app that takes other settings while it runs: theme, keys, and the rest."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from textual.screen import ModalScreen, Screen

from qterm.tui.commands.command import Command, Place
from qterm.tui.commands.registry import unknown_commands
from qterm.tui.desk import messages
from qterm.tui.offers import Offers
from qterm.tui.words.themes import counterpart

if TYPE_CHECKING:
    from qterm.settings.load import Loaded
    from qterm.settings.schema import Settings
    from qterm.tui.memory.pane import MemoryScreen
    from qterm.tui.screens.home import HomeScreen
    from qterm.tui.screens.thread import ThreadScreen


def is_room(screen: Screen[object]) -> bool:
    """Whether one is only looking around on a screen."""
    return bool(getattr(screen, "IS_ROOM", False))


class Preferences(Offers, inherit_bindings=False):
    """`written` are the settings as the files have them, also those that count later."""

    home: HomeScreen | None
    _written: Loaded | None = None
    _last_themes: dict[bool, str]

    @property
    def written(self) -> Loaded:
        """The settings as the files have them; some count only from the next start on."""
        return self._written or self.services.loaded

    def mode_screens(self) -> Sequence[ThreadScreen | MemoryScreen]:
        """The screens of the modes that are there."""
        raise NotImplementedError

    def follow_themes(self) -> None:
        """Note which themes were on the screen, from now on."""
        self._last_themes = {self.current_theme.dark: self.theme}
        self.theme_changed_signal.subscribe(
            self, lambda theme: self._last_themes.__setitem__(theme.dark, theme.name)
        )

    def odd_keys(self) -> Iterable[str]:
        """A sentence for each command under `[keys]` that there is not."""
        for command_id in unknown_commands(self.services.settings.keys):
            yield (
                f"There is no command “{command_id}”, so its keys are ignored: the help (f1) has "
                "the names of all on the right."
            )

    # -- commands ------------------------------------------------------------------------------

    async def run_command(self, command: Command, screen: Screen[object]) -> None:
        """Run a command that was chosen in the palette, on the screen it was opened over."""
        from qterm.tui.commands.palette import can_run

        if can_run(command, screen):
            namespace = self if command.place is Place.APP else screen
            await self.run_action(command.action.removeprefix("screen."), namespace)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """No key of the app's counts while a screen waits for any key."""
        if self.screen_stack and getattr(self.screen, "TAKES_EVERY_KEY", False):
            return False
        return super().check_action(action, parameters)

    def action_settings(self) -> None:
        """Show the settings; once there, go back."""
        from qterm.tui.screens.settings import SettingsScreen

        if isinstance(self.screen, SettingsScreen):
            self.screen.dismiss()
        elif self.is_reachable(self.screen):
            self.push_screen(SettingsScreen())

    def action_doctor(self) -> None:
        """Show what the doctor finds; once there, go back."""
        from qterm.tui.screens.doctor import DoctorScreen

        if isinstance(self.screen, DoctorScreen):
            self.screen.action_close()
        else:
            self.push_screen(DoctorScreen(self.services))

    def action_help(self) -> None:
        """Show the keys of this screen; once there, go back."""
        from qterm.tui.screens.help import HelpScreen

        if isinstance(self.screen, HelpScreen):
            self.screen.dismiss()
            return
        where = getattr(self.screen, "TITLE_WORDS", "") or "this screen"
        here = getattr(self.screen, "PLACES", ())
        self.push_screen(HelpScreen(where, here, self.services.settings.keys))

    async def leave_rooms(self) -> None:
        """Go back to the thread below, if one is only looking around."""
        while is_room(self.screen):
            await self.pop_screen()

    def is_reachable(self, screen: Screen[object]) -> bool:
        """Whether one can go elsewhere from a screen: not from a question."""
        return not isinstance(screen, ModalScreen) or is_room(screen)

    def action_theme(self) -> None:
        """Change between light and dark, and keep it."""
        dark = self.current_theme.dark
        last = self._last_themes.get(not dark, "")
        self._keep_theme(counterpart(self.theme, last, dark=dark))

    def action_choose_theme(self) -> None:
        """Try the themes, and keep one."""
        from qterm.tui.screens.choose_theme import ChooseTheme

        def chosen(name: str | None) -> None:
            if name is not None:
                self._keep_theme(name)

        self.push_screen(ChooseTheme(), chosen)

    def _keep_theme(self, name: str) -> None:
        self.theme = name
        self.desk.keep_setting("screen.theme", name)

    # -- what was kept -------------------------------------------------------------------------

    def settings_told(self, message: messages.SettingsRead | messages.SettingRefused) -> None:
        """The settings were read anew, or one could not be kept."""
        from qterm.tui.screens.settings import SettingsScreen

        if isinstance(message, messages.SettingsRead):
            self.take_settings(message.loaded)
        asked = [each for each in self.screen_stack if isinstance(each, SettingsScreen)]
        for screen in asked:
            screen.post_message(message)
        if isinstance(message, messages.SettingRefused) and not asked:
            self.notify(message.sentence, severity="error")

    def take_settings(self, loaded: Loaded) -> None:
        """Let other settings count, as far as they can while qterm runs."""
        before = self.services.settings
        self._written = loaded
        self.services.take(loaded)
        now = self.services.settings
        if now == before:
            return
        if now.screen.theme != before.screen.theme:
            self.theme = now.screen.theme
        if now.keys != before.keys:
            self._take_keys(now)
        for screen in self.mode_screens():
            screen.settings_changed(before)

    def _take_keys(self, settings: Settings) -> None:
        self.common.look.keys = self.common.task_look.keys = settings.keys
        self.set_keymap(dict(settings.keys))
