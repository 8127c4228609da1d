"""Which thread's training is recorded: steps of concurrent threads are no sequence."""

from __future__ import annotations

import threading
from collections.abc import Callable
from threading import get_ident


class TrainingThread:
    """The first thread that trains; others that train are left out, with one notice."""

    def __init__(self, notice: Callable[[], None], thread: int | None = None) -> None:
        """``thread`` is recorded until another trains first; None for all of them."""
        self._notice = notice
        self._thread = thread
        self._trains = False
        self._others: set[int] = set()

    def trains(self) -> bool:
        """This thread computes gradients or updates weights; returns whether it is the recorded one."""
        me = get_ident()
        if me == self._thread:
            self._trains = True
            return True
        if self._trains and _is_alive(self._thread):
            if not self._others:
                self._notice()
            self._others.add(me)
            return False
        self._thread, self._trains = me, True
        self._others.discard(me)
        return True

    def is_recorded(self) -> bool:
        """Whether this thread may belong to the recorded training."""
        return self._thread is None or self._thread == get_ident()

    def may_fetch(self) -> bool:
        """Whether its batches may: a thread that does not train may fetch for the one that does."""
        return self.is_recorded() or get_ident() not in self._others


def _is_alive(thread: int | None) -> bool:
    return any(running.ident == thread for running in threading.enumerate())
