"""Leaves word for the process that waits: one line of JSON for each thing, written at once."""

from __future__ import annotations

import os
import time

from trueline.model.descriptor import OwnDescriptor
from trueline.model.json_value import Json
from trueline.model.numbers import dump_json


class Teller:
    """Writes to a file that is read while it grows; only the process that was started for it does."""

    def __init__(self, path: str) -> None:
        self._file = OwnDescriptor.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        self._process = os.getpid()
        self._began = time.perf_counter()

    def now(self) -> float:
        """Seconds since the script began."""
        return round(time.perf_counter() - self._began, 6)

    def tell(self, told: str, **fields: Json) -> None:
        """One line; numbers that are not finite are written as words."""
        if os.getpid() != self._process:
            # A data worker.
            return
        try:
            self._file.write_all((dump_json({"told": told, **fields}) + "\n").encode())
        except OSError:
            # A script may close what it has not opened; its run must not end for that.
            return
