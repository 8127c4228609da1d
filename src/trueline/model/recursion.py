"""Room on the stack for the frames that a recording adds: a script may call as deep as it may without one."""

from __future__ import annotations

import sys
from threading import get_ident
from typing import Any, Final

# What the deepest of a recording's own calls takes, from wherever in the script it begins; given while one is going on.
_SPARE: Final = 250
# What it takes to begin one, and what wrappers put between a framework and the script's own functions.
_MARGIN: Final = 16


class StackRoom:
    """Raises Python's limit by what is added, and shows the script the limit that it has set itself."""

    def __init__(self) -> None:
        self._get, self._set = sys.getrecursionlimit, sys.setrecursionlimit
        self._scripts = 0
        self._below = 0
        self._added: dict[int, int] = {}
        self._room = 0
        self._spared = 0
        self._in_place = False

    def begin(self, *, below: int = 0) -> None:
        """From now on; so many frames are below the script's own."""
        self._below = max(self._below, below)
        if not self._in_place:
            self._in_place = True
            self._scripts = self._get()
            sys.getrecursionlimit, sys.setrecursionlimit = getrecursionlimit, setrecursionlimit
        self._make()

    def end(self) -> None:
        """The limit is the script's own again, unless frames are still there that were added."""
        if self._in_place and not any(self._added.values()):
            try:
                self._set(self._scripts)
            except RecursionError:
                return
            self._in_place = False
            self._room = self._below = 0
            # Somebody else may have replaced them since.
            if sys.getrecursionlimit is getrecursionlimit:
                sys.getrecursionlimit = self._get
            if sys.setrecursionlimit is setrecursionlimit:
                sys.setrecursionlimit = self._set

    def enter(self, frames: int) -> None:
        """So many frames are added to this thread's stack."""
        thread = get_ident()
        added = self._added[thread] = self._added.get(thread, 0) + frames
        if added > self._room:
            self._room = added
            self._make()

    def leave(self, frames: int) -> None:
        """They are gone."""
        thread = get_ident()
        before = self._added.get(thread, 0)
        if before > frames:
            self._added[thread] = before - frames
        else:
            self._added.pop(thread, None)
        if before >= self._room:
            # The deepest of all threads counts: Python has one limit for them.
            self._room = max(self._added.values(), default=0)
            self._make()

    def __enter__(self) -> None:
        """Room for the recording's own calls, which the script's do not get."""
        if not self._spared and self._in_place:
            # Written out, and before it is counted: here the stack may be at its end.
            self._set(self._scripts + self._below + _MARGIN + self._room + _SPARE)
        self._spared += 1

    def __exit__(self, *_: object) -> None:
        self._spared -= 1
        if not self._spared:
            self._make()

    def _make(self) -> None:
        if self._in_place:
            try:
                spare = _SPARE if self._spared else 0
                self._set(self._scripts + self._below + _MARGIN + self._room + spare)
            except RecursionError:
                # Deeper than that already: the next who leaves tries again.
                return

    @property
    def limit(self) -> int:
        """The script's own."""
        return self._scripts

    def choose(self, limit: Any) -> None:
        """The script sets its limit."""
        if type(limit) is not int or limit < 1:
            self._set(limit)
        # Refused by Python, it stays as it was.
        self._set(limit + self._below + _MARGIN + self._room)
        self._scripts = limit


ROOM: Final = StackRoom()


# Functions, not methods: torch's compiler wants to replace them by its own, and looks at their kind.
def getrecursionlimit() -> int:
    """As Python's."""
    return ROOM.limit


def setrecursionlimit(limit: object, /) -> None:
    """As Python's."""
    ROOM.choose(limit)
