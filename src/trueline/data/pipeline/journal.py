"""Where a pipeline's process is: written before each call, so that who outlives it can tell what it died of."""

from __future__ import annotations

import faulthandler
import os
import re
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from trueline.model.location import Location

_RECORD: Final = struct.Struct("<qqq")
_FRAME: Final = re.compile(r'File "(.+)", line (\d+) in ')
_NONE: Final = -1
# What importing and building have unless a user says otherwise, and what a framework's own import has in any case.
PATIENCE: Final = 120.0
BEFORE_SAMPLES: Final = ("importing", "building")
# What the process is about, by number.
DOING: Final = (
    "importing",
    "building",
    "walking",
    "length",
    "order",
    "epochs",
    "batching",
    "repeating",
    "workers",
    "running",
    "passage",
)


class Journal:
    """The writing end, in the process; what takes longer than its seconds ends it, its stack written down.

    ``limit`` is for each sample, ``building`` for the user's code before the first of them.
    """

    def __init__(self, folder: Path, limit: float, building: float) -> None:
        self._place = os.open(folder / "place", os.O_WRONLY | os.O_CREAT)
        # Open as long as the process is there.
        self._stack = open(folder / "stack", "w", encoding="utf-8")  # noqa: PTH123, SIM115
        self._limit, self._building = limit, building
        self._asides = 0
        self._doing = 0
        faulthandler.enable(self._stack)

    def doing(self, what: str) -> None:
        """Another part of the work begins."""
        self._doing = DOING.index(what)
        self.at(_NONE, _NONE)
        self.alive()

    def at(self, sample: int, operator: int) -> None:
        """Before a call of an operator."""
        os.pwrite(self._place, _RECORD.pack(self._doing, sample, operator), 0)

    def alive(self) -> None:
        """The time that is left begins anew."""
        limit = self._building if DOING[self._doing] in BEFORE_SAMPLES else self._limit
        if self._asides:
            limit = max(limit, PATIENCE)
        os.utime(self._place)
        faulthandler.dump_traceback_later(limit, exit=True, file=self._stack)

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Around what is not the user's code: a limit is not to be used up by the import of a framework."""
        self._asides += 1
        self.alive()
        try:
            yield
        finally:
            self._asides -= 1
            self.alive()

    def rest(self) -> None:
        """Nothing is under way."""
        faulthandler.cancel_dump_traceback_later()


class Left:
    """What a process that has ended has left: what it did, for which sample, in which operator, and its stack."""

    def __init__(self, folder: Path) -> None:
        found = _read(folder / "place")
        doing, sample, operator = _RECORD.unpack(found) if len(found) == _RECORD.size else (0, _NONE, _NONE)
        self.doing = DOING[doing] if 0 <= doing < len(DOING) else DOING[0]
        self.sample = sample if sample >= 0 else None
        self.operator = operator if operator >= 0 else None
        stack = _read(folder / "stack").decode("utf-8", "replace")
        self.timed_out = stack.startswith("Timeout")
        # The innermost call comes first.
        main = (
            stack.rpartition("Thread 0x")[2] if "Current thread" not in stack else stack.partition("Current thread")[2]
        )
        self.frames = [Location(file, int(line)) for file, line in reversed(_FRAME.findall(main))]


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError:
        return b""
