"""What the script prints, told line by line with the number of updates that were made before it."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable
from typing import Any, Final, TextIO

_MAX_LINE_CHARACTERS: Final = 2000
# A progress bar begins its line again with a carriage return.
_END: Final = re.compile(r"[\r\n]+")


class Stamped:
    """A stream that writes as the one it stands for, and tells of each whole line."""

    def __init__(self, stream: TextIO, tell: Callable[[str], None]) -> None:
        self._stream = stream
        self._tell = tell
        self._open = ""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """As the stream does."""
        written: int = self._stream.write(text)
        *whole, self._open = _END.split(self._open + text)
        self._open = self._open[:_MAX_LINE_CHARACTERS]
        for line in whole:
            if line.strip():
                self._tell(line[:_MAX_LINE_CHARACTERS])
        return written

    def writelines(self, lines: Iterable[str]) -> None:
        """As the stream does."""
        for line in lines:
            self.write(line)


def stamp_output(tell: Callable[[str], None]) -> None:
    """From now on tell of what this process prints."""
    sys.stdout = Stamped(sys.stdout, tell)
    sys.stderr = Stamped(sys.stderr, tell)
