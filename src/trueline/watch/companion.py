"""A watch that takes part in a recorded training.

Nothing here imports NumPy or a framework: a script must find the same world as without TrueLine.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from trueline.record.companion import Companion

if TYPE_CHECKING:
    from trueline.adapters.protocol import Adapter
    from trueline.record.observers import Observers
    from trueline.record.recorded import Recorded
    from trueline.watch.state import Watch
    from trueline.watch.watcher import Watcher


class Watching(Companion):
    """One watcher for each framework, all with the same ``watch``, which is made when the first one has arrived."""

    def __init__(self, make: Callable[[], Watch]) -> None:
        self.watch: Watch | None = None
        self.adapters: list[Adapter] = []
        self._make = make
        self._watchers: list[Watcher] = []

    def observe(self, observers: Observers, recorded: Recorded) -> None:
        """Watch a framework's training."""
        from trueline.watch.watcher import Watcher

        if self.watch is None:
            self.watch = self._make()
        self.adapters.append(recorded.adapter)
        self._watchers.append(Watcher(recorded, observers, self.watch))
        self._watchers[-1].join()

    def script_ended(self) -> None:
        """Look a last time: nothing is to end the script any more."""
        if self.watch is not None:
            self.watch.script_over = True
            for watcher in self._watchers:
                watcher.script_ended()
