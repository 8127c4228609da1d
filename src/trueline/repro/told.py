"""What a repeated run has told of its randomness."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trueline.model.location import Location

_MOST = 1 << 24


@dataclass(frozen=True, slots=True)
class Word:
    """One thing that was told."""

    told: str
    line: Location | None
    fields: Mapping[str, Any]

    def __getitem__(self, name: str) -> Any:
        return self.fields.get(name)


@dataclass(frozen=True, slots=True)
class Told:
    """All of it, in order."""

    words: tuple[Word, ...] = ()

    def of(self, told: str, **wanted: Any) -> Iterator[Word]:
        """The words of a kind, with these fields."""
        for one in self.words:
            if one.told == told and all(one[name] == value for name, value in wanted.items()):
                yield one

    def first(self, told: str, **wanted: Any) -> Word | None:
        """The first of them."""
        return next(self.of(told, **wanted), None)

    def seeds(self) -> dict[str, list[Any]]:
        """The seeds that the script has chosen, by line."""
        found: dict[str, list[Any]] = {}
        for one in self.of("seed"):
            found.setdefault(one["site"], []).append(one["value"])
        return found


def read_told(path: Path) -> Told:
    """Empty where nothing was told."""
    try:
        with path.open("rb") as file:
            lines = file.read(_MOST).splitlines()
    except OSError:
        return Told()
    return Told(tuple(word for line in lines if (word := _word(line)) is not None))


def _word(line: bytes) -> Word | None:
    try:
        found = json.loads(line)
        place = Location(found["file"], found["line"]) if found.get("file") else None
        return Word(found["told"], place, {k: v for k, v in found.items() if k not in ("told", "file", "line")})
    except (ValueError, KeyError, TypeError, AttributeError):
        # Cut off by the end of the process.
        return None
