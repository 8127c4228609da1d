"""A word to all threads that measure: nobody waits for the result any more."""

from __future__ import annotations

import threading


class Stopping:
    """Raised by one thread, heeded by the others at the next piece of work."""

    def __init__(self) -> None:
        self._asked = threading.Event()

    def ask(self) -> None:
        """Let every measurement that is under way end."""
        self._asked.set()

    def forget(self) -> None:
        """All have ended: what is measured from now on is wanted again."""
        self._asked.clear()

    def heed(self) -> None:
        """End here if that was asked for."""
        if self._asked.is_set():
            raise InterruptedError


stopping = Stopping()
