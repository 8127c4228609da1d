"""The tail of another process's output."""

from __future__ import annotations

import os
import threading
from typing import IO


class Tail:
    """Reads a stream in a thread, and keeps its last bytes."""

    def __init__(self, stream: IO[bytes], most: int) -> None:
        self._kept = b""
        self._most = most
        self._thread = threading.Thread(target=self._read, args=(stream,), daemon=True)
        self._thread.start()

    def _read(self, stream: IO[bytes]) -> None:
        with stream:
            while block := os.read(stream.fileno(), 1 << 16):
                self._kept = (self._kept + block)[-self._most :]

    def text(self, patience: float) -> str:
        """What has arrived by now; the last output of a process that has just ended may still be on its way."""
        self._thread.join(patience)
        return self._kept.decode("utf-8", "replace")

    def last_line(self, patience: float) -> str:
        """The last non-empty line."""
        lines = [line.strip() for line in self.text(patience).splitlines()]
        return next((line for line in reversed(lines) if line), "")
