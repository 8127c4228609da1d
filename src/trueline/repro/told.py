"""What a repeated run has told of its randomness."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from trueline.model.json_value import Json, JsonObject
from trueline.model.location import Location

_MAX_BYTES: Final = 1 << 24


@dataclass(frozen=True, slots=True)
class Word:
    """One thing that was told."""

    told: str
    line: Location | None
    fields: JsonObject

    def __getitem__(self, name: str) -> Any:
        return self.fields.get(name)


@dataclass(frozen=True, slots=True)
class Told:
    """All of it, in order."""

    words: tuple[Word, ...] = ()

    def of(self, told: str, **wanted: Json) -> Iterator[Word]:
        """The words of a kind, with these fields."""
        for word in self.words:
            if word.told == told and all(word[name] == value for name, value in wanted.items()):
                yield word

    def first(self, told: str, **wanted: Json) -> Word | None:
        """The first of them."""
        return next(self.of(told, **wanted), None)

    def seeds(self) -> dict[str, list[Json]]:
        """The seeds that the script has chosen, by line."""
        found: dict[str, list[Json]] = {}
        for word in self.of("seed"):
            found.setdefault(word["site"], []).append(word["value"])
        return found


def read_told(path: Path) -> Told:
    """Empty where nothing was told."""
    try:
        with path.open("rb") as file:
            lines = file.read(_MAX_BYTES).splitlines()
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
