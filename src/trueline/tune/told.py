"""What a process with an experiment in it has told, read while it tells more."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from trueline.model.numbers import decode

# What is read at once; the rest comes with the next look.
_MAX_READ_BYTES: Final = 1 << 26

Word = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Update:
    """One update of the weights: its number from 0, its loss (None: none was seen), and all that was told of it."""

    step: int
    loss: float | None
    skipped: bool
    seconds: float
    fields: Word


class Listener:
    """Reads what is new in a file that another process writes to."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._at = 0

    def more(self) -> list[Word]:
        """The whole lines that were written since."""
        try:
            with self._path.open("rb") as file:
                file.seek(self._at)
                found = file.read(_MAX_READ_BYTES)
        except OSError:
            return []
        whole = found[: found.rfind(b"\n") + 1]
        self._at += len(whole)
        return [word for line in whole.splitlines() if (word := _word(line)) is not None]


def _word(line: bytes) -> Word | None:
    try:
        found = json.loads(line)
    except ValueError:
        return None
    return found if isinstance(found, dict) and isinstance(found.get("told"), str) else None


def update_of(word: Word) -> Update | None:
    """An update, where that is what was told."""
    if word["told"] != "update":
        return None
    loss = word.get("loss")
    return Update(word["step"], None if loss is None else decode(loss), word["skipped"], word["t"], word)


def updates(words: Sequence[Word]) -> list[Update]:
    """All updates, in order."""
    return [found for word in words if (found := update_of(word)) is not None]


def lines(words: Sequence[Word]) -> Iterator[tuple[int, str]]:
    """What the script has printed: the number of updates before it, and the line."""
    return ((int(word["step"]), str(word["text"])) for word in words if word["told"] == "line")
