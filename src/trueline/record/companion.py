"""What takes part in a recorded training: a perturbation, an experiment, a watch, a replay …"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trueline.adapters.protocol import Adapter, Installed
    from trueline.model.message import Message
    from trueline.record.observers import Observers
    from trueline.record.recorded import Recorded


class Companion:
    """Takes no part in anything; each kind of it overrides what it does."""

    def begin(self) -> None:
        """Before the script runs, and before any framework is there."""

    def observe(self, observers: Observers, recorded: Recorded) -> None:
        """A framework has arrived: put observers of its training into the list, around the recording's own."""

    def install(self, adapter: Adapter, hooks: Callable[[], Installed]) -> Installed:
        """Put the framework's hooks in place, and what belongs around them."""
        del adapter
        return hooks()

    def is_last(self, step: int) -> bool:
        """Whether no training step is needed after this one, so that the process ends."""
        del step
        return False

    def went_off(self, said: Message) -> None:
        """The recording has ended before the script."""

    def unseen(self, said: Message) -> None:
        """Something trained beside the recording."""

    def finish(self, folder: Path) -> None:
        """The recording is complete."""
